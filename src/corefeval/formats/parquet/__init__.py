"""Corpora in Parquet: a row for each document, a list for each property of its mentions."""
