"""Sampling: draws of mentions or sentences for people to judge, and scores estimated from these."""
