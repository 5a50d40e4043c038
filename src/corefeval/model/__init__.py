"""The model: a columnar corpus, and views of its documents for people."""

from corefeval.model.builder import CorpusBuilder, DocumentBuilder
from corefeval.model.construction import corpus_from_arrays, corpus_from_entities
from corefeval.model.corpus import Corpus, find_document
from corefeval.model.joining import join
from corefeval.model.relations import NO_RELATIONS, Relation, Relations
from corefeval.model.tokens import DocumentTokens, TokenDifference, Tokens, TokenTable
from corefeval.model.views import Document, DocumentId, Entity, Mention

__all__ = [
    "NO_RELATIONS",
    "Corpus",
    "CorpusBuilder",
    "Document",
    "DocumentBuilder",
    "DocumentId",
    "DocumentTokens",
    "Entity",
    "Mention",
    "Relation",
    "Relations",
    "TokenDifference",
    "TokenTable",
    "Tokens",
    "corpus_from_arrays",
    "corpus_from_entities",
    "find_document",
    "join",
]
