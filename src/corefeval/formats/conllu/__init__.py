"""CorefUD: CoNLL-U with coreference in the MISC column."""
