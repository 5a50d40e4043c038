"""Small CoNLL documents, made of their coreference cells."""

from __future__ import annotations

PLAIN = """#begin document (story); part 000
story 0 0 Ada NNP (1)
story 0 1 met VBD -
story 0 2 the DT (2
story 0 3 captain NN 2)

story 0 0 She PRP (1)
story 0 1 smiled VBD -
#end document
"""
HEADER, END = "#begin document (d); part 000\n", "#end document\n"


def rows(*cells: str, name: str = "d") -> str:
    """Token lines with the given coreference cells; an empty cell ends the sentence."""
    lines = [f"{name} 0 {i} word{i} NN {cell}" if cell else "" for i, cell in enumerate(cells)]
    return "\n".join(lines) + "\n"


def document(*cells: str, name: str = "d") -> str:
    """A document with its first and last line."""
    return f"#begin document ({name}); part 000\n{rows(*cells, name=name)}{END}"


BROKEN = (
    "#begin document(a);\n"
    + rows("(1", "(2", "1)", "foo", "(3)|(3)", "(3)")
    + END
    + rows("(4)", "(4)")
    + document("(1)", "(1)")
    + document("7)", "(1)")
)


def entities(corpus, document=0):
    """The entities of a document as sets of spans."""
    return {
        frozenset((mention.start, mention.end) for mention in entity.mentions)
        for entity in corpus[document].entities
    }


def body(*rows: str, name: str = "(d); part 000") -> str:
    return "\n".join((f"#begin document {name}", *rows, "#end document", ""))
