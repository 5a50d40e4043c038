"""CoNLL-2011/2012: one token per line, coreference as brackets in the last column."""
