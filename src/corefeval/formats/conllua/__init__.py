"""Universal Anaphora: CoNLL-U Plus with columns of markables, bridging and discourse deixis."""
