"""Suites: many corpora, many systems, and what they come to.

This module imports nothing: who reads a suite need not wait for who draws one.
"""
