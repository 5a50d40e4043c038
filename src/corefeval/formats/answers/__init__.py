"""Answers of language models: coreference that was written, laid on the tokens of a key.

`prompts` asks, and reads exact answers in its own styles back. `records` takes answers out of
files, `reading` finds their documents and makes the corpus, `pages` tries every form on an answer
and keeps the best reading. A form is tags in a copy (`conventions`) or a list: `trees` parses it,
`shapes` says what its parts are, `grammar` makes units of them, and `items` reads lines and
remarks. `placing` puts units of both kinds on the key. `lookup` has what all of them share, and
`ledgers` says what became of what was written.
"""
