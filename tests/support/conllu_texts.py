"""Small CoNLL-U documents, made of their token lines."""

from __future__ import annotations

HEADER = "# global.Entity = eid-etype-head"


def row(number: object, word: str, misc: str = "_", head: object = "_", upos: str = "NOUN") -> str:
    return "\t".join(
        (str(number), word, word.lower(), upos, "NN", "_", str(head), "dep", "_", misc)
    )


def text(*rows: str, header: str | None = HEADER, name: str | None = "doc") -> str:
    lines = [f"# newdoc id = {name}"] if name is not None else []
    lines += [header] if header else []
    return "\n".join((*lines, *rows, "", ""))


def entities(corpus, document=0):
    return {
        entity.name: {mention.positions for mention in entity.mentions}
        for entity in corpus[document].entities
    }


PLAIN = text(
    "# sent_id = s1",
    "# s_type = decl",
    row(1, "Ada", "Entity=(e1-person-1)"),
    row(2, "met"),
    row(3, "the", "SpaceAfter=No|Entity=(e2-person-2"),
    row(4, "captain", "Entity=e2)"),
    "",
    "# sent_id = s2",
    row(1, "She", "Entity=(e1-person-1)"),
)
