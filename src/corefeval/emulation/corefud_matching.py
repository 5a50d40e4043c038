"""Mentions of CorefUD files as corefud-scorer 1.2 compares them, and which it takes for the same.

A mention's *identity* is its places, in head match with the place of its head. Its hash is that of
the program's own objects, because the program's order of mentions with the same start, end and size
is that of a Python set. An identity in several entities is one mention for matching (that of the
first), and belongs to the last of them wherever its entity is looked up.

Zeros are matched first, then equal identities, then the rest. Zeros and the rest are matched by the
heaviest assignment over the whole document at once, solved by scipy on a dense matrix whose rows
and columns are sorted mentions. Where there are several heaviest assignments, which one comes out
depends on all other rows and columns, also on those that match nothing. No other rule describes it,
so that the matrix has to be made.

Mentions that the sort does not tell apart stand as they come out of Python sets. So these are made
in the program's own steps: copies and differences of sets may have another order than the sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.emulation.corefud_brackets import Bracketed
from corefeval.emulation.corefud_sentences import NodePlace, Sentence, SentenceFile
from corefeval.model.arrays import plain_rows
from corefeval.protocol import Protocol

Dependencies = frozenset[tuple[NodePlace, str]]  # parents' places and relations of an empty node


@dataclass(eq=False, slots=True)
class Mention:
    """A mention of a document: equal to another one where their identities are the same."""

    places: tuple[NodePlace, ...]
    span: frozenset[NodePlace]
    head: NodePlace
    is_zero: bool
    dependencies: Dependencies
    file: str
    line: int
    head_counts: bool
    code: int = field(repr=False)

    @staticmethod
    def of(file: SentenceFile, mention: Bracketed, *, head_counts: bool) -> Mention:
        """What the program keeps of a mention; it parses DEPS of every head on the way."""
        span, head = frozenset(mention.places), file.nodes.place[mention.head]
        code = hash((span, frozenset({head}))) if head_counts else hash(span)
        dependencies = _parse_dependencies(file, mention.head)
        is_zero, line = file.nodes.is_empty(mention.head), file.nodes.line[mention.head]
        return Mention(
            mention.places, span, head, is_zero, dependencies, file.file, line, head_counts, code
        )

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, mention: object) -> bool:
        if not isinstance(mention, Mention):
            return NotImplemented
        return self.places == mention.places and (not self.head_counts or self.head == mention.head)

    @property
    def order(self) -> tuple[NodePlace, NodePlace, int]:
        """Mentions are sorted by their first place, their last, and how many there are."""
        return (self.places[0], self.places[-1], len(self.places))

    def __str__(self) -> str:
        ids = ",".join(str(place[1]) for place in self.places)
        return f"{self.places[0][0]}:{ids}*{self.head[1]}"


Entities = list[list[Mention]]


def make_entities(
    file: SentenceFile, entities: list[list[Bracketed]], protocol: Protocol
) -> Entities:
    """The entities of a document: each identity once in an entity, then singletons dropped."""
    head_counts = protocol.match == "head"
    distinct = []
    for entity in entities:
        mentions = [Mention.of(file, mention, head_counts=head_counts) for mention in entity]
        distinct.append(list(dict.fromkeys(mentions)))
    return [entity for entity in distinct if protocol.singletons == "keep" or len(entity) > 1]


def _parse_dependencies(file: SentenceFile, head: int) -> Dependencies:
    """The parents and relations in DEPS; the root is place 0 of the sentence."""
    if file.nodes.deps[head] == "_":
        return frozenset()
    dependencies = []
    sentence = file.sentence_of(head)
    for entry in file.nodes.deps[head].split("|"):
        parent, colon, relation = entry.partition(":")
        place = _find_parent(file, sentence, parent)
        if not colon or place is None:
            raise InputError(
                "DEPS of the head of a mention names a node that its sentence lacks",
                file=file.file,
                line=file.nodes.line[head],
                found=excerpt(entry),
                expected="PARENT:RELATION, PARENT being 0, a word or an empty node such as 5.1 "
                "(corefud-scorer never finds 5.10)",
            )
        dependencies.append((place, relation))
    return frozenset(dependencies)


def _find_parent(file: SentenceFile, sentence: Sentence, parent: str) -> NodePlace | None:
    if "." in parent:  # as text, so that 5.10, which is the number 5.1, is never found
        ids = (file.nodes.id[node] for node in sentence.nodes)
        return next(((sentence.number, id) for id in ids if str(id) == parent), None)
    if not parent.isdecimal() or len(parent) > 9 or int(parent) > len(sentence.words):
        return None
    return (sentence.number, int(parent))


Pair = tuple[Mention, Mention]
Edge = tuple[int, int, float]  # a row, a column, and what they weigh together: more than 0

MOST_EDGES = 2_000_000
MOST_CELLS = 400_000_000  # 3.2 GB, twice


def match_mentions(key: Entities, response: Entities, match: str, zeros: str) -> list[Pair]:
    """The pairs of a document, one-to-one; a mention that is in several entities stands once.

    `match` is exact, partial or head; `zeros` is place or align.
    """
    key_set = {mention for entity in key for mention in entity}
    response_set = {mention for entity in response for mention in entity}
    key_left, response_left = key_set.copy(), response_set.copy()
    zero_pairs: list[Pair] = []
    if zeros == "align":
        key_zeros = {mention for mention in key_set if mention.is_zero}
        response_zeros = {mention for mention in response_set if mention.is_zero}
        if key_zeros and response_zeros:
            zero_pairs = _assign(key_zeros, response_zeros, "zeros")
            key_left = key_left - {mention for mention, _ in zero_pairs}
            response_left = response_left - {mention for _, mention in zero_pairs}
    same_key = {mention: mention for mention in key_left if mention in response_left}
    same_response = {mention: mention for mention in response_left if mention in key_left}
    same_pairs = [(mention, same_response[mention]) for mention in same_key]
    key_left = key_left - set(same_key)
    response_left = response_left - set(same_response)
    if match == "exact" or not key_left or not response_left:
        return same_pairs + zero_pairs
    # Anew, one by one: a difference may be a copy with holes, in another order.
    key_left, response_left = set(iter(key_left)), set(iter(response_left))
    return same_pairs + _assign(key_left, response_left, match) + zero_pairs


def _assign(key: set[Mention], response: set[Mention], match: str) -> list[Pair]:
    """The pairs of a heaviest assignment; of several, that of the program."""
    from scipy.optimize import linear_sum_assignment

    rows = sorted(key, key=lambda mention: mention.order)
    columns = sorted(response, key=lambda mention: mention.order)
    edges = list(islice(_list_edges(rows, columns, match), MOST_EDGES + 1))
    if len(edges) > MOST_EDGES:
        raise _too_many(rows[0].file, f"more than {MOST_EDGES:,} pairs of mentions could match")
    if len(rows) * len(columns) > MOST_CELLS:
        raise _too_many("", f"{len(rows):,} and {len(columns):,} mentions are left to match")
    matrix = np.zeros((len(rows), len(columns)))
    for row, column, weight in edges:
        matrix[row, column] = weight
    chosen = plain_rows(*linear_sum_assignment(-matrix))
    return [(rows[row], columns[column]) for row, column in chosen if matrix[row, column] > 0]


def _too_many(file: str, text: str) -> InputError:
    return InputError(
        "the document is too large for corefud-scorer's way of matching mentions",
        file=file or None,
        found=text,
        fix="cut it into several documents, or score without the emulation",
    )


def _list_edges(key: Sequence[Mention], response: Sequence[Mention], match: str) -> Iterator[Edge]:
    """What mentions may be paired: those of one head or, as zeros, of one sentence.

    In partial match the response has the key's head in it, whatever its own head is.
    """
    heads, weigh = {mention.head for mention in key}, _WEIGHTS[match]
    columns: dict[object, list[int]] = {}
    for column, mention in enumerate(response):
        for place in heads & mention.span if match == "partial" else {mention.head}:
            columns.setdefault(place[0] if match == "zeros" else place, []).append(column)
    for row, mention in enumerate(key):
        for column in columns.get(mention.head[0] if match == "zeros" else mention.head, ()):
            if weight := weigh(mention, response[column]):
                yield row, column, weight


def _head_weight(key: Mention, response: Mention) -> float:
    """The share of the key's places that both have."""
    return len(key.span & response.span) * 1.0 / len(key.span)


def _partial_weight(key: Mention, response: Mention) -> float:
    """The share of the key's places that the response has, which must lie inside it."""
    return _head_weight(key, response) if response.span <= key.span else 0.0


def _zero_weight(key: Mention, response: Mention) -> float:
    """10 · F of the heads' parents with relations + F of parents alone, whatever else they span."""
    for mention in (key, response):
        if not mention.dependencies:
            raise InputError(
                "corefud-scorer divides by 0 when it compares a zero without DEPS with another one",
                file=mention.file,
                line=mention.line,
                expected="enhanced dependencies of the empty node, such as 3:nsubj",
                fix="add them, or match zeros by place (--zeros place, the program's -z linear)",
            )
    parents = [frozenset(place for place, _ in mention.dependencies) for mention in (key, response)]
    return 10 * _f_score(key.dependencies, response.dependencies) + _f_score(*parents)


def _f_score(key_items: frozenset[object], response_items: frozenset[object]) -> float:
    common = len(key_items & response_items)
    precision, recall = common / len(key_items), common / len(response_items)
    return 2 * precision * recall / (precision + recall) if common else 0.0


_WEIGHTS = {"zeros": _zero_weight, "head": _head_weight, "partial": _partial_weight}
