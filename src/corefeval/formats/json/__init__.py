"""JSON and JSON lines, in the kinds that coreference tools write."""
