"""Keys and responses with errors of every kind, analysed."""

from __future__ import annotations

from hypothesis import strategies as st

from corefeval import corpus_from_arrays, corpus_from_entities
from corefeval.analysis.errors import analyse
from strategies import spans


def by_position(mention) -> str:
    return ("name", "nominal", "pronoun")[mention.start % 3]


def by_label(mention) -> str:
    return ("name", "nominal", "pronoun")[int(mention.label) % 3]


def as_documents(documents) -> tuple[dict, dict]:
    pairs = list(enumerate(documents))
    return (
        {str(number): key for number, (key, _) in pairs},
        {str(number): response for number, (_, response) in pairs},
    )


def labelled(documents, **options):
    key, response = as_documents(documents)
    options.setdefault("features", {"kind": by_label})
    return analyse(corpus_from_entities(key), corpus_from_entities(response), **options)


@st.composite
def sides(draw) -> tuple:
    """Two corpora of spans that may overlap, be the same, or be on one side only."""
    n_documents = draw(st.integers(1, 3))
    corpus = []
    for _ in range(2):
        chosen = draw(
            st.lists(st.tuples(st.integers(0, n_documents - 1), spans(9)), unique=True, max_size=14)
        )
        entity = [draw(st.integers(0, 3)) for _ in chosen]
        corpus.append(
            corpus_from_arrays(
                entity=entity,
                document=[document for document, _ in chosen],
                start=[span[0] for _, span in chosen],
                end=[span[1] for _, span in chosen],
                document_ids=[str(number) for number in range(n_documents)],
            )
        )
    return tuple(corpus)
