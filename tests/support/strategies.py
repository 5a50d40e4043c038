"""Random documents and corpora for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def entities(draw, max_mentions: int = 9, first: int = 0) -> list[list[int]]:
    """Some mentions out of a range, put into entities."""
    chosen = draw(st.lists(st.integers(first, first + max_mentions), unique=True, max_size=10))
    owners = draw(st.lists(st.integers(0, 4), min_size=len(chosen), max_size=len(chosen)))
    groups: dict[int, list[int]] = {}
    for mention, owner in sorted(zip(chosen, owners, strict=True)):
        groups.setdefault(owner, []).append(mention)
    return list(groups.values())


documents = st.tuples(entities(), entities())
corpora = st.lists(documents, min_size=1, max_size=4)


@st.composite
def spans(draw, n_tokens: int) -> tuple[int, int]:
    start = draw(st.integers(0, n_tokens - 1))
    return start, draw(st.integers(start + 1, min(n_tokens, start + 5)))
