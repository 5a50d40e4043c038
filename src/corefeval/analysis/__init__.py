"""Analysis: what is in a corpus, beyond its scores."""
