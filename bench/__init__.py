"""Benchmarks: ratios from one run against something else, never seconds alone."""
