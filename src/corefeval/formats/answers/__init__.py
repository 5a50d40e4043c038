"""Answers of language models: coreference that was written, laid upon the tokens of a key."""
