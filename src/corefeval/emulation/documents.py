"""Documents as other programs see them: entities as lists of mentions, in some order.

A mention is the pair of its first and last token, or whatever else a program tells mentions apart
by; where there are no tokens, it is the label that it was given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, Notices, PairingError, excerpt, note
from corefeval.formats.conll.tokens import ConllLines
from corefeval.live import spans_reading, with_positions
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import plain_rows
from corefeval.pairing import pair
from corefeval.pairing.regrouping import join_groups
from corefeval.protocol import Protocol, Spans, programs_with

Mention = Any  # hashable; a tuple (first token, last token, gaps …) where there are tokens
Entities = list[list[Mention]]
_BRACKET = re.compile(r"\(?[^()|]+\)?")


@dataclass(frozen=True, slots=True)
class Document:
    """The entities of both sides of a document; `index` is None where all documents are one."""

    name: str
    index: int | None
    key: Entities
    response: Entities

    @property
    def sides(self) -> tuple[Entities, Entities]:
        """Both sides, the key first."""
        return self.key, self.response


@dataclass(frozen=True, slots=True)
class Paired:
    """Both corpora with the same documents in the same places, and what was noticed.

    `spans` says how plain (start, end) mentions were read, where they were; `dropped` is how many
    repeated mentions of either side were left out; `is_one` that all documents are taken as one.
    """

    key: Corpus
    response: Corpus
    spans: Spans
    notices: Notices = ()
    dropped: tuple[int, int] = (0, 0)
    is_one: bool = False

    @property
    def has_spans(self) -> bool:
        """Whether mentions are spans of tokens."""
        return self.key.labels is None and self.response.labels is None


def pair_corpora(key: Corpus, response: Corpus, protocol: Protocol) -> Paired:
    """Pair documents as the protocol says; plain (start, end) mentions become spans of tokens.

    With `pairing:one` documents are only put beside each other, as many as the longer side has.
    """
    if protocol.pairing == "one":
        _check_units(key, response)
        _check_sentences(key, response, protocol)
        number = max(len(key.documents), len(response.documents))
        names = [DocumentId(str(place)) for place in range(number)]
        places = np.arange(number)
        key, response = (
            side.select_documents(np.where(places < len(side.documents), places, -1), names)
            for side in (key, response)
        )
        notices = (*key.notices, *response.notices)
        paired = Paired(key, response, protocol.spans, notices, is_one=True)
    else:
        try:
            pairing = pair(key, response, protocol)
        except PairingError as error:
            for name, mark in (("missing", "key document"), ("extra", "response document")):
                if getattr(protocol, name) == "error" and mark in error.problem:
                    raise PairingError(
                        f"{error.problem}, which stops {programs_with(name, 'error')}",
                        file=error.file,
                        found=error.found,
                        fix=error.fix,
                    ) from None
            raise
        (key, response), joined = join_groups((pairing.key, pairing.response), protocol.across)
        notices = (*pairing.key.notices, *pairing.response.notices, *pairing.notices, *joined)
        paired = Paired(key, response, pairing.spans or protocol.spans, notices)
    return _with_spans(paired)


def _with_spans(paired: Paired) -> Paired:
    """Both sides with token positions, where they have plain spans."""
    sides = paired.key, paired.response
    if any(side.labels is None for side in sides):
        return paired
    readings = {spans_reading(side, paired.spans) for side in sides if side.n_mentions}
    if None in readings or not readings:
        return paired
    reading: Spans = "inclusive" if "inclusive" in readings else "exclusive"
    placed = list(sides)
    for place, opposite in enumerate(sides[::-1]):
        with suppress(InputError):  # two numbers, but no spans: they are labels
            placed[place] = with_positions(sides[place], opposite, reading, guessed=False)
    return replace(paired, key=placed[0], response=placed[1])


def _check_units(key: Corpus, response: Corpus) -> None:
    """Raise a PairingError where documents are taken as one and sides count other units."""
    sides = [side.tokens for side in (key, response) if side.tokens is not None]
    units = ["characters" if tokens.has_texts else "tokens" for tokens in sides]
    if len(set(units)) > 1:
        raise PairingError(
            "--pairing one compares positions as they are, but the sides count different things",
            file=response.name or None,
            found=f"{units[1]} in the response",
            expected=f"{units[0]} as in the key",
            fix="leave out --pairing one, to map texts to tokens, or convert one side",
        )


def _check_sentences(key: Corpus, response: Corpus, protocol: Protocol) -> None:
    if protocol.missing != "error" or key.tokens is None or response.tokens is None:
        return
    n_key, n_response = key.tokens.starts.size, response.tokens.starts.size
    if n_key != n_response:
        raise PairingError(
            f"the numbers of sentences differ, which stops {programs_with('pairing', 'one')}",
            file=response.name or None,
            found=f"{n_response:,} sentences in the response",
            expected=f"{n_key:,} as in the key",
            fix="give both sides the same sentences; --missing empty scores them as they are, "
            "shifted, and --pairing name pairs documents by their names",
        )


def list_documents(paired: Paired, protocol: Protocol) -> list[Document]:
    """The documents with their entities in the protocol's order, or one with the entities of all.

    Its choice `brackets` says in which order those of an entity are read that close and open on one
    token.
    """
    corpora = paired.key, paired.response
    longest = None
    if paired.is_one:  # the tokens that the mentions of the longest document need
        ends = [corpus.mention_end for corpus in corpora if corpus.mention_end is not None]
        longest = max((int(end.max(initial=0)) for end in ends), default=0)
    sides = [_list_entities(corpus, longest, protocol) for corpus in corpora]
    names = ["all documents"] if paired.is_one else [str(name) for name in paired.key.documents]
    return [
        Document(name, None if paired.is_one else index, sides[0][index], sides[1][index])
        for index, name in enumerate(names)
    ]


def _list_entities(corpus: Corpus, longest: int | None, protocol: Protocol) -> list[Entities]:
    """The entities of each document, or with `longest` those of all documents as one.

    As one, entities of the same number are one entity.
    """
    owners: Sequence[Any] = corpus.mention_entity.tolist()
    listed: Sequence[Any] = range(corpus.n_entities)
    if longest is not None:
        listed = _name_entities(corpus)
        owners = [listed[entity] for entity in owners]
    mentions = _list_mentions(corpus, longest)
    if protocol.brackets != "written" and corpus.labels is None:
        _open_first(mentions, owners)
    entities: dict[Any, list[Mention]] = {entity: [] for entity in listed}
    for entity, mention in zip(owners, mentions, strict=True):
        entities[entity].append(mention)
    names = list(entities)
    if protocol.order != "list":
        first: dict[Any, Any] = {}
        for entity, place in zip(
            owners, _order_mentions(corpus, mentions, protocol.order), strict=True
        ):
            first[entity] = min(place, first.get(entity, place))
        names = sorted((name for name in names if name in first), key=lambda name: first[name])
    if longest is not None:
        return [[entities[name] for name in names if entities[name]]]
    documents: list[Entities] = [[] for _ in corpus.documents]
    homes = corpus.entity_document.tolist()
    for name in names:
        if entities[name]:
            documents[homes[name]].append(entities[name])
    return documents


def _name_entities(corpus: Corpus) -> Sequence[Any]:
    """The names of entities, or else their numbers in their documents."""
    first = np.searchsorted(corpus.entity_document, np.arange(len(corpus.documents)))
    return corpus.names or [
        row - int(first[document]) for row, document in enumerate(corpus.entity_document.tolist())
    ]


def _order_mentions(corpus: Corpus, mentions: list[Mention], order: str) -> list[tuple[Any, ...]]:
    """Where each mention comes in an order of brackets: of those that open, or that close.

    At a token, mentions of one token come first, then the others as the cell has them; without
    cells, the longer before the shorter if they open, and the other way round if they close.
    """
    if order == "start":
        return [mention[:2] for mention in mentions]
    edge, far_edge = (1, 0) if order == "close" else (0, 1)  # the last token, or the first
    ranks = ranks_in_cells(corpus, is_opening=edge == 0) or [-m[far_edge] for m in mentions]
    return [(m[edge], m[0] != m[1], rank) for m, rank in zip(mentions, ranks, strict=True)]


def ranks_in_cells(corpus: Corpus, *, is_opening: bool) -> list[int]:
    """For each mention, which bracket of its cell opens or closes it; none without such cells."""
    tokens, names = corpus.tokens, corpus.names
    lines = None if tokens is None else tokens.lines
    if tokens is None or not isinstance(lines, ConllLines):
        return []
    if names is None or corpus.mention_start is None:
        return []
    assert corpus.mention_end is not None  # a corpus has both starts and ends, or neither
    place = corpus.mention_start if is_opening else corpus.mention_end - 1
    rows = (tokens.run_first[corpus.mention_document] + place).tolist()
    cells = {row: _BRACKET.findall(lines.cells(row)[-1]) for row in set(rows)}
    single = corpus.mention_end - corpus.mention_start == 1
    brackets: dict[tuple[int, str], list[int]] = {}
    for mention, (row, entity, is_single) in enumerate(
        plain_rows(rows, corpus.mention_entity, single)
    ):
        name = names[entity]
        text = f"({name})" if is_single else f"({name}" if is_opening else f"{name})"
        brackets.setdefault((row, text), []).append(mention)
    ranks = [0] * len(rows)
    # Of an entity's mentions the outermost opens first, and the innermost closes first.
    far_end = corpus.mention_end if is_opening else corpus.mention_start
    for (row, text), mentions in brackets.items():
        places = [rank for rank, bracket in enumerate(cells[row]) if bracket == text]
        for number, mention in enumerate(sorted(mentions, key=lambda mention: -far_end[mention])):
            ranks[mention] = places[number] if number < len(places) else len(cells[row])
    return ranks


def _list_mentions(corpus: Corpus, longest: int | None = None) -> list[Mention]:
    """Every mention; with `longest`, tokens are counted through all documents.

    Where there is no text, all documents are taken to be as long as the longest.
    """
    documents = corpus.mention_document
    if corpus.mention_start is None or corpus.mention_end is None:
        labels = list(corpus.labels or ())
        return labels if longest is None else list(plain_rows(documents, labels))
    shift: Any = 0
    if longest is not None:
        tokens = corpus.tokens
        shift = documents * longest if tokens is None else tokens.offsets[documents]
    start, last = corpus.mention_start + shift, corpus.mention_end + shift - 1
    mentions: list[Mention] = list(plain_rows(start, last))
    for row, gaps in corpus.gaps_of.items():
        mentions[row] = (*mentions[row], *gaps)
    return mentions


def _open_first(mentions: list[Mention], owners: Sequence[Any]) -> None:
    """Pair brackets anew, in place, as a reader does that opens at a token before it closes there.

    Where a mention of several tokens ends on the token on which another one of its entity begins,
    the bracket that just opened is the one that is closed.
    """
    owned = [
        (owner, mention)
        for owner, mention in zip(owners, mentions, strict=True)
        if _is_long(mention)
    ]
    ends = {(owner, mention[1]) for owner, mention in owned}
    touched = {owner for owner, mention in owned if (owner, mention[0]) in ends}
    rows: dict[Any, list[int]] = {owner: [] for owner in touched}
    for row, owner in enumerate(owners) if touched else ():
        if owner in rows and _is_long(mentions[row]):
            rows[owner].append(row)
    for entity_rows in rows.values():
        starts = [(mentions[row][0], 0) for row in entity_rows]
        brackets = sorted([*starts, *((mentions[row][1], 1) for row in entity_rows)])
        waiting: list[int] = []
        spans = []
        for token, closes in brackets:
            if closes:
                spans.append((waiting.pop(), token))
            else:
                waiting.append(token)
        spans.sort(key=lambda span: (span[0], -span[1]))
        for row, span in zip(entity_rows, spans, strict=True):
            mentions[row] = span


def _is_long(mention: Mention) -> bool:
    """Whether a mention is one run of several tokens."""
    return len(mention) == 2 and mention[0] < mention[1]


def cut_windows(
    documents: list[Document], paired: Paired, protocol: Protocol
) -> tuple[list[Document], list[Notice]]:
    """Windows of so many tokens as documents: mentions that start behind their first token.

    One more window ends with the document, and so has tokens of the one before it too.
    """
    if protocol.window == "none":
        return documents, []
    length = int(protocol.window)
    if not paired.has_spans and any(side for document in documents for side in document.sides):
        raise InputError(
            "windows need mentions with positions in a text",
            found="mentions that are not (start, end) spans",
            fix="use (start, end) spans or files, or --window none",
        )
    cut: list[Document] = []
    lost = 0
    for document in documents:
        mentions = {mention for side in document.sides for entity in side for mention in entity}
        size = _count_tokens(paired.key, document.index) or max(
            (m[1] + 1 for m in mentions), default=0
        )
        last = size - length
        # Windows without a mention, of which there may be any number, are left out.
        starts = sorted({m[0] - m[0] % length for m in mentions if m[0] - m[0] % length <= last})
        for start in (*starts, last):
            end = start + length
            sides = [
                [part for entity in side if (part := [m for m in entity if start < m[0] < end])]
                for side in document.sides
            ]
            name = f"{document.name} tokens {max(start, 0)}–{end - 1}"
            cut.append(Document(name, document.index, *sides))
        lost += sum(not m[0] % length and m[0] <= last for m in mentions)
    return cut, [*note("windows", lost, "mention", "at the start of a window, left out")]


def _count_tokens(corpus: Corpus, index: int | None) -> int:
    """How many tokens a document has, or all documents; 0 where there is no text."""
    if corpus.tokens is None:
        return 0
    return int(corpus.tokens.counts.sum() if index is None else corpus.tokens.counts[index])


def identify(documents: list[Document], paired: Paired, protocol: Protocol) -> list[Document]:
    """The documents with mentions by what a program tells them apart by.

    The list that was given comes back where that changes nothing: where sentences are the same on
    both sides, and no mention goes over a boundary.
    """
    identity = protocol.identity
    if identity == "token" or not paired.has_spans:
        return documents
    sides = paired.key, paired.response
    starts = [
        [sentence_starts(corpus, document.index) for corpus in sides] for document in documents
    ]
    changes = any(key_starts != response_starts for key_starts, response_starts in starts)
    for document, starts_of_sides in zip(documents, starts, strict=True):
        for entities, side_starts, corpus in zip(
            document.sides, starts_of_sides, sides, strict=True
        ):
            mention = _find_over_boundary(entities, side_starts)
            if mention is not None and identity == "bounded":
                raise _boundary_error(document, mention, corpus.name)
            changes |= mention is not None
    if identity == "bounded" or not changes:
        return documents
    return [
        replace(
            document,
            key=_by_sentence(document.key, key_starts),
            response=_by_sentence(document.response, response_starts),
        )
        for document, (key_starts, response_starts) in zip(documents, starts, strict=True)
    ]


def sentence_starts(corpus: Corpus, index: int | None) -> list[int]:
    """Where the sentences of a document begin, or those of all documents; none without a text."""
    if corpus.tokens is None:
        return []
    starts: list[int] = (
        corpus.tokens.starts.tolist() if index is None else corpus.tokens.sentence_starts(index)
    )
    return starts


def _find_over_boundary(entities: Entities, starts: list[int]) -> Mention | None:
    """A mention that begins in another sentence than it ends in."""
    for entity in entities:
        for mention in entity:
            if starts and mention[0] < starts[bisect_right(starts, mention[1]) - 1]:
                return mention
    return None


def _by_sentence(entities: Entities, starts: list[int]) -> Entities:
    """Mentions by their places in sentences, where there are sentences."""
    if not starts:
        return entities
    return [[(*place_in_sentence(m, starts), *m[2:]) for m in entity] for entity in entities]


def place_in_sentence(mention: Mention, starts: Sequence[int]) -> tuple[int, int, int]:
    """The sentence of a mention's end, and both ends, each counted in its own sentence."""
    first, last = mention[:2]
    sentence, first_sentence = (bisect_right(starts, token) - 1 for token in (last, first))
    return sentence, first - starts[first_sentence], last - starts[sentence]


def _boundary_error(document: Document, mention: Mention, file: str) -> InputError:
    return InputError(
        f"a mention across a sentence boundary stops {programs_with('identity', 'bounded')}",
        file=file or None,
        found=f"tokens {mention[0]} to {mention[1]} of {excerpt(document.name)}",
        expected="each mention inside a sentence",
        fix="--identity token scores it",
    )
