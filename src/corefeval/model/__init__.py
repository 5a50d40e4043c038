"""The model: a columnar corpus, and views of its documents for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval.checks import import_on_demand
from corefeval.model.construction import corpus_from_arrays, corpus_from_entities
from corefeval.model.corpus import (
    DEIXIS,
    IDENTITY,
    LAYERS,
    NON_REFERRING,
    Corpus,
    DocumentId,
    FileName,
)
from corefeval.model.identity import TokenDifference, find_difference
from corefeval.model.relations import BRIDGING, NO_RELATIONS, SPLIT, Relation, Relations
from corefeval.model.token_tables import (
    DocumentTokens,
    select_tokens,
    tokens_of_documents,
    tokens_of_texts,
)
from corefeval.model.tokens import Tokens

if TYPE_CHECKING:
    from corefeval.model.builder import CorpusBuilder
    from corefeval.model.joining import join
    from corefeval.model.views import Document, Mention

# What a score of two CoNLL files does without is imported when it is first used.
_HOMES = {
    "CorpusBuilder": ".builder",
    **dict.fromkeys(("Document", "Mention"), ".views"),
    "join": ".joining",
}
__getattr__ = import_on_demand(__name__, _HOMES)

__all__ = [
    "BRIDGING",
    "DEIXIS",
    "IDENTITY",
    "LAYERS",
    "NON_REFERRING",
    "NO_RELATIONS",
    "SPLIT",
    "Corpus",
    "CorpusBuilder",
    "Document",
    "DocumentId",
    "DocumentTokens",
    "FileName",
    "Mention",
    "Relation",
    "Relations",
    "TokenDifference",
    "Tokens",
    "corpus_from_arrays",
    "corpus_from_entities",
    "find_difference",
    "join",
    "select_tokens",
    "tokens_of_documents",
    "tokens_of_texts",
]
