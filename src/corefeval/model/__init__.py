"""The model: a columnar corpus, and views of its documents for people."""

from corefeval.model.construction import corpus_from_arrays, corpus_from_entities
from corefeval.model.corpus import Corpus, find_document
from corefeval.model.identifiers import DocumentId
from corefeval.model.tokens import TokenDifference, Tokens
from corefeval.model.views import Document, Entity, Mention

__all__ = [
    "Corpus",
    "Document",
    "DocumentId",
    "Entity",
    "Mention",
    "TokenDifference",
    "Tokens",
    "corpus_from_arrays",
    "corpus_from_entities",
    "find_document",
]
