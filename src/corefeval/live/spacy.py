"""spaCy documents: an entity is a span group `coref_clusters_…`, as spacy-experimental makes them.

The groups `coref_head_clusters_…`, which it makes on the way, are no entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corefeval.diagnostics import Notice, excerpt
from corefeval.live.naming import Named, first_name
from corefeval.model import Corpus, CorpusBuilder

PREFIX = "coref_clusters_"


def recognises(value: object) -> bool:
    """Whether this is a spaCy `Doc`."""
    return any(
        base.__name__ == "Doc" and base.__module__.startswith("spacy.tokens")
        for base in type(value).__mro__
    )


def identifier(doc: Any) -> str:
    """`user_data["doc_id"]`, the extension `doc._.doc_id`, or `user_data["id"]`."""
    extension = doc._.doc_id if doc.has_extension("doc_id") else None
    return first_name(doc.user_data.get("doc_id"), extension, doc.user_data.get("id"))


def corpus(documents: Sequence[Named], name: str) -> Corpus:
    """The corpus of spaCy documents; spans have exclusive ends."""
    builder = CorpusBuilder(name=name, source=name or None)
    others: dict[str, None] = {}
    found = False
    for named, doc in documents:
        starts = [s.start for s in doc.sents] if doc.has_annotation("SENT_START") else None
        tags = {"tag": [token.tag_ for token in doc]} if doc.has_annotation("TAG") else {}
        document = builder.document(
            named, words=[token.text for token in doc], sentence_starts=starts, columns=tags
        )
        parsed = doc.has_annotation("DEP")
        for group, spans in doc.spans.items():
            if not group.startswith(PREFIX):
                others[group] = None
                continue
            found = True
            for span in spans:
                head = span.root.i if parsed and len(span) else None
                document.mention(group.removeprefix(PREFIX), span.start, span.end, head=head)
    if others and not found:
        builder.notices.append(_no_groups(tuple(others), name))
    return builder.build()


def _no_groups(others: tuple[str, ...], name: str) -> Notice:
    listed = ", ".join(map(excerpt, others[:3])) + (", …" if len(others) > 3 else "")
    message = f"{name}: no span group is called {PREFIX}…, only {listed}: there are no entities"
    return Notice("no-span-groups", message, len(others), others)
