"""Suites: many corpora, many systems, and what they come to.

This module imports nothing, so that reading a suite does not wait for what draws its tables.
"""
