"""Documents as the page shows them: words, and mentions with their errors and costs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

import numpy as np

from corefeval.alignment import Side
from corefeval.analysis.errors import KINDS, ErrorAnalysis
from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.listing import Lookup, SideName
from corefeval.features.kinds import kinds_if_known
from corefeval.model import Corpus
from corefeval.model.arrays import (
    IntArray,
    all_zero,
    find_places,
    integers,
    looked_up,
    offsets_of,
    plain_rows,
    stable_order,
    unset,
)
from corefeval.model.moving import list_tokens, respan, show_on_key
from corefeval.model.text_tokens import text_of
from corefeval.model.token_tables import place_tokens
from corefeval.model.tokens import NODE_ROW, Tokens

Json = dict[str, Any]
MILLION = 1_000_000
MENTION_KINDS = ("name", "nominal", "pronoun")
_NO_SPEAKER = {"", "-", "_"}
_BLANK_LINE = re.compile(r"\n\s*\n")
_STOPS = tuple(".!?")
_LONG_LINE = 40  # tokens
_PIECE = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Positions:
    """Each document's text (see `_describe_text`), and how positions become tokens of it.

    Most corpora have tokens, and positions stay as they are. Texts without tokens are cut into
    words here, and where mentions begin or end; mentions that are labels become one token each.
    """

    documents: list[Json]
    cuts: dict[int, IntArray] = field(default_factory=dict)
    labels: list[dict[Hashable, int]] | None = None

    def spans(self, corpus: Corpus) -> tuple[IntArray, IntArray]:
        """The start and the end (exclusive) of each mention, in tokens of its document."""
        if self.labels is not None or corpus.mention_start is None or corpus.mention_end is None:
            start = self._number_labels(corpus)
            return start, start + 1
        start, end = corpus.mention_start, corpus.mention_end
        is_bare = start == end  # in text that the key lacks: shown on the token before it
        if self.cuts or is_bare.any():
            start, end = np.maximum(start - is_bare, 0), end.copy()
            end[is_bare] = start[is_bare] + 1
        for document, cuts in self.cuts.items():
            rows = slice(*corpus.mention_offsets[document : document + 2].tolist())
            start[rows], end[rows] = (np.searchsorted(cuts, side[rows]) for side in (start, end))
        return start, end

    def gaps(self, corpus: Corpus) -> IntArray:
        """Rows of mention, start and end."""
        gaps = corpus.gaps
        if gaps.size and self.cuts:
            gaps = gaps.copy()
            for row in gaps:  # rare
                cuts = self.cuts.get(int(corpus.mention_document[row[0]]))
                if cuts is not None:
                    row[1:] = np.searchsorted(cuts, row[1:])
        return gaps

    def _number_labels(self, corpus: Corpus) -> IntArray:
        if self.labels is None or corpus.labels is None:
            return all_zero(corpus.n_mentions)
        labels = plain_rows(corpus.mention_document, corpus.labels)
        return integers([self.labels[document][label] for document, label in labels])


def find_positions(key: Corpus, responses: Sequence[Corpus], *, text: bool) -> Positions:
    """The texts of a key and of the responses that share it."""
    if key.labels is not None:
        return _show_labels(key, responses, text=text)
    documents, cuts = [], {}
    sides = [side.tokens for side in (key, *responses) if side.tokens is not None]
    for index in range(len(key.documents)):
        characters = text_of(key.tokens, index)
        if characters is None:
            documents.append(_show_tokens(sides, key, responses, index, text=text))
        else:
            bounds = _collect_bounds((key, *responses), index)
            cuts[index], document_text = _cut_text(characters, bounds, text=text)
            documents.append(document_text)
    return Positions(documents, cuts)


def _show_tokens(
    sides: Sequence[Tokens], key: Corpus, responses: Sequence[Corpus], index: int, *, text: bool
) -> Json:
    """A document on the tokens of the first side that has words for it."""
    present = [side for side in sides if side.counts[index]]
    if not present:
        bounds = _collect_bounds((key, *responses), index)
        last = max((int(side.max(initial=0)) for side in bounds), default=0)
        return _describe_text(last, None, [0] if last else [])
    tokens = next((side for side in present if "word" in side.columns), present[0])
    count = int(tokens.counts[index])
    sentences = list(tokens.sentence_starts(index))
    if sentences[:1] != [0]:
        sentences.insert(0, 0)
    if not text or "word" not in tokens.columns:
        return _describe_text(count, None, sentences)
    zeros = tokens.column(index, "empty") if "empty" in tokens.columns else ()
    return _describe_text(
        count,
        tokens.column(index, "word"),
        sentences,
        _find_speakers(tokens, index, sentences),
        paragraphs=_find_paragraphs((key, *responses), index, len(sentences)),
        zeros=[token for token, is_empty in enumerate(zeros) if is_empty] or None,
    )


def _find_paragraphs(corpora: Sequence[Corpus], index: int, count: int) -> list[int] | None:
    """The sentences before which a comment of the first side that has any says `newpar`."""
    for corpus in corpora:
        comments = corpus.sentence_metadata[index] if corpus.sentence_metadata else ()
        if len(comments) == count:
            starts = [
                number
                for number, sentence_comments in enumerate(comments)
                if any(key.partition(" ")[0] == "newpar" for key in sentence_comments)
            ]
            if starts:
                return starts
    return None


def _find_speakers(tokens: Tokens, index: int, sentences: Sequence[int]) -> list[str] | None:
    """Who speaks each sentence; None where nobody does."""
    if "speaker" not in tokens.columns:
        return None
    column = tokens.column(index, "speaker")
    speakers = [column[start] for start in sentences if start < len(column)]
    if set(speakers) <= _NO_SPEAKER:
        return None
    return ["" if speaker in _NO_SPEAKER else speaker for speaker in speakers]


def _collect_bounds(corpora: Sequence[Corpus], index: int) -> list[IntArray]:
    bounds = []
    for corpus in corpora:
        rows = slice(*corpus.mention_offsets[index : index + 2].tolist())
        sides = (corpus.mention_start, corpus.mention_end)
        bounds += [side[rows] for side in sides if side is not None]
        of_document = corpus.mention_document[corpus.gaps[:, 0]] == index
        bounds.append(corpus.gaps[of_document, 1:].reshape(-1))
    return bounds


def _cut_text(characters: str, bounds: Sequence[IntArray], *, text: bool) -> tuple[IntArray, Json]:
    """Cut a text into words, and further where mentions begin and end."""
    spans = [match.span() for match in _PIECE.finditer(characters)]
    inner = np.unique(np.concatenate([integers(spans).reshape(-1), *bounds]))
    ends = np.append(inner, len(characters))[1:]  # none at all for an empty text
    begins = [span for span in plain_rows(inner, ends) if characters[slice(*span)].strip()]
    words = [characters[start:end].strip() for start, end in begins]
    glued = [
        place
        for place, (start, _) in enumerate(begins)
        if place and not characters[start - 1].isspace() and not characters[start].isspace()
    ]
    lines = _find_lines(characters, begins)
    # Of texts without a blank line, such as novels of one line each, lines are paragraphs.
    new = _BLANK_LINE if _BLANK_LINE.search(characters.strip()) else re.compile("\n")
    before = [characters[begins[at - 1][0] : begins[at][0]] if at else "" for at in lines if words]
    document_text = _describe_text(
        len(words),
        words if text else None,
        lines if words else [],
        glued=glued if text else None,
        paragraphs=[n for n, between in enumerate(before) if new.search(between)] or None,
    )
    return integers([start for start, _ in begins]), document_text


def _find_lines(characters: str, pieces: Sequence[tuple[int, int]]) -> list[int]:
    """Where lines begin; a long line is cut after a full stop, so that it need not be one block."""
    lines = [0]
    for place in range(1, len(pieces)):
        between = characters[pieces[place - 1][0] : pieces[place][0] + 1]
        stops = between[:1] in _STOPS and between[1:2].isspace()
        if "\n" in between or (stops and place - lines[-1] >= _LONG_LINE):
            lines.append(place)
    return lines


def _show_labels(key: Corpus, responses: Sequence[Corpus], *, text: bool) -> Positions:
    """Every distinct label is a token; each entity of the key is a line, extra mentions the last.

    Mentions without positions have no text around them, so this is what there is to read.
    """
    numbers: list[dict[Hashable, int]] = [{} for _ in key.documents]
    lines: list[list[int]] = [[] for _ in key.documents]
    for side, corpus in enumerate((key, *responses)):
        entity, document = corpus.mention_entity, corpus.mention_document
        before = -1
        for row in stable_order(entity).tolist():
            label_numbers = numbers[document[row]]
            label = (corpus.labels or ())[row]
            new_line = entity[row] != before if side == 0 else len(lines[document[row]]) == 0
            before = int(entity[row])
            if label not in label_numbers:
                if new_line:
                    lines[document[row]].append(len(label_numbers))
                label_numbers[label] = len(label_numbers)
        if side == 0:
            for label_numbers, starts in zip(numbers, lines, strict=True):
                starts.append(len(label_numbers))
    documents = [
        _describe_text(
            len(label_numbers),
            [str(label) for label in label_numbers] if text else None,
            sorted({start for start in starts if start < len(label_numbers)}),
            glued=[],
        )
        for label_numbers, starts in zip(numbers, lines, strict=True)
    ]
    return Positions(documents, labels=numbers)


def share_costs(analysis: ErrorAnalysis) -> dict[str, IntArray]:
    """What each mention and entity of the key and of the response costs, in millionths.

    Half of each share of the loss of recall (the key's) and precision (the response's), on average
    over the metrics that can be shared out; what has no share is left out.
    """
    shares = [analysis.attribution(metric) for metric in _choose_metrics(analysis)]
    costs = {}
    for name in ("key_mentions", "response_mentions", "key_entities", "response_entities"):
        present = [values for share in shares if (values := getattr(share, name)) is not None]
        if present:
            costs[name] = np.rint(np.mean(present, axis=0) / 2 * MILLION).astype(np.int64)
    return costs


def _choose_metrics(analysis: ErrorAnalysis) -> list[str]:
    """The metrics to share out: those of the CoNLL average and LEA, else whichever there are.

    A mean over all would count what metrics have in common, and mention detection, many times.
    """
    metrics = analysis.shared_out
    usual: list[str] = [metric for metric in ("muc", "b3", "lea") if metric in metrics]
    return usual or [metric for metric in metrics if metric != "mentions"] or list(metrics)


def join_fields(*parts: Iterable[Json]) -> list[Json]:
    """Each document with the fields that all parts have of it."""
    return [reduce(or_, fields) for fields in zip(*parts, strict=True)]


def show_sides(errors: Classification) -> tuple[Corpus, Corpus]:
    """Key and response with their mentions on the text that is shown, which is the key's own."""
    key, response = (show_on_key(errors.key, side) for side in (errors.key, errors.response))
    return _leave_out_nodes(key, key), _leave_out_nodes(key, response)


def _leave_out_nodes(key: Corpus, corpus: Corpus) -> Corpus:
    """A side on the tokens of the key's file: in their order, without nodes of the response alone.

    So all responses share one text, whatever empty nodes they have. A mention of left-out nodes
    starts and ends behind the token before them.
    """
    tokens = key.tokens
    if tokens is None or corpus.mention_start is None or "empty" not in tokens.columns:
        return corpus
    rows = tokens.rows()
    document = np.repeat(np.arange(len(key)), tokens.counts)
    kept = np.flatnonzero(rows != NODE_ROW)
    kept = kept[np.lexsort((rows[kept], document[kept]))]
    if kept.size == rows.size and (np.diff(kept) > 0).all():
        return corpus
    counts = np.bincount(document[kept], minlength=len(key))
    new = find_places(kept, rows.size)
    local = np.where(new >= 0, new - offsets_of(counts)[document], -1)
    base = tokens.offsets[corpus.mention_document]
    every = np.arange(corpus.n_mentions)
    owner, positions = list_tokens(corpus, every)
    shown = respan(corpus, every, owner, local[base[owner] + positions])
    start, end = np.array(shown.mention_start), np.array(shown.mention_end)
    bare = np.flatnonzero(end == 0)
    n_before = offsets_of(new >= 0)
    start[bare] = n_before[(base + corpus.mention_start)[bare]] - n_before[base[bare]]
    end[bare] = start[bare]
    placed = place_tokens(tokens, new, counts)
    return replace(shown, mention_start=start, mention_end=end, tokens=placed)


def key_documents(errors: Classification, place: Positions, *, text: bool) -> list[Json]:
    """The text and the key's mentions of each document."""
    key, _ = show_sides(errors)
    columns = _mention_columns(key, place) | _mention_kinds(errors.alignment.key)
    mentions = _describe_mentions(key, place, columns)
    return join_fields(place.documents, mentions, _name_entities(errors, "key", text=text))


def response_documents(
    errors: Classification, place: Positions, costs: dict[str, IntArray], *, text: bool
) -> list[Json]:
    """The response's mentions of each document, with their errors and costs.

    `twin` is the key mention that a mention stands for (its span may be wrong), −1 for none;
    `wrong` has a bit for each kind of error. `keyWrong` and `keyCost` say the same of the key's
    mentions. Costs are in millionths; those of a side without shares are left out. `ownWords` are
    the words of mentions that are not the key's words in their place.
    """
    key, response = show_sides(errors)
    wrong, key_wrong = error_bits(errors)
    first = key.mention_offsets[:-1]
    twin = errors.items.key_row[: response.n_mentions]
    twin = np.where(twin >= 0, twin - first[response.mention_document], -1)
    columns = _mention_columns(response, place) | {"twin": twin, "wrong": wrong}
    columns |= _mention_kinds(errors.alignment.response)
    of_key: dict[str, IntArray] = {"keyWrong": key_wrong}
    if {"key_mentions", "response_mentions"} <= costs.keys():
        columns["cost"], of_key["keyCost"] = costs["response_mentions"], costs["key_mentions"]
    parts = [_describe_mentions(response, place, columns), _split(of_key, key.mention_offsets)]
    if {"key_entities", "response_entities"} <= costs.keys():
        parts.append(_split({"keyEntityCost": costs["key_entities"]}, key.entity_offsets))
        parts.append(_split({"entityCost": costs["response_entities"]}, response.entity_offsets))
    documents = join_fields(*parts, _name_entities(errors, "response", text=text))
    if text and response.labels is None:
        lookup = Lookup(errors)
        is_aligned = errors.response.is_aligned[response.mention_document]
        is_bare = np.asarray(response.mention_start) == np.asarray(response.mention_end)
        for row in np.flatnonzero(is_aligned | is_bare).tolist():
            document = int(response.mention_document[row])
            local = row - int(response.mention_offsets[document])
            words = lookup.mention(errors.response, row).text or "∅"
            documents[document].setdefault("ownWords", []).append([local, words])
    return documents


def error_bits(errors: Classification) -> tuple[IntArray, IntArray]:
    """The errors of each mention of the response and of the key: bit k is kind k."""
    items = errors.items
    bits = all_zero(items.owner.size)
    for number, kind in enumerate(KINDS):
        bits |= errors.of_kind(kind).astype(np.int64) << number
    key_bits = all_zero(errors.key.n_mentions)
    in_key = items.key_row >= 0
    key_bits[items.key_row[in_key]] = bits[in_key]
    return bits[: items.n_response], key_bits


def _mention_columns(corpus: Corpus, place: Positions) -> dict[str, IntArray]:
    start, end = place.spans(corpus)
    first = looked_up(corpus.entity_offsets[:-1], corpus.mention_document)
    return {"start": start, "length": end - start, "entity": corpus.mention_entity - first}


def _mention_kinds(side: Side) -> dict[str, IntArray]:
    """Name, nominal or pronoun, as numbers; nothing where that is not known."""
    kinds = kinds_if_known(side.feature)
    return {} if kinds is None else {"kind": kinds.recoded(MENTION_KINDS).codes}


def _describe_mentions(
    corpus: Corpus, place: Positions, columns: dict[str, IntArray]
) -> list[Json]:
    documents = _split(columns, corpus.mention_offsets)
    for row, start, end in place.gaps(corpus).tolist():  # rare
        document = int(corpus.mention_document[row])
        local = row - int(corpus.mention_offsets[document])
        documents[document].setdefault("gaps", []).append([local, start, end])
    return documents


def _split(columns: dict[str, IntArray], offsets: IntArray) -> list[Json]:
    lists = {name: values.tolist() for name, values in columns.items()}
    return [
        {name: values[start:end] for name, values in lists.items()}
        for start, end in pairwise(offsets.tolist())
    ]


def _name_entities(errors: Classification, side: SideName, *, text: bool) -> list[Json]:
    """What the entities of each document are called: `names` of the source, where it has any.

    `named` are the mentions that name them; −1 for an entity without any mention.
    """
    corpus, lookup = errors.key if side == "key" else errors.response, Lookup(errors)
    rows = stable_order(corpus.mention_entity)
    named = unset(corpus.n_entities)
    for members in np.split(rows, np.cumsum(corpus.entity_sizes)[:-1]):
        if members.size:
            row = lookup.name(side, members)
            first = corpus.mention_offsets[corpus.mention_document[row]]
            named[corpus.mention_entity[row]] = row - first
    documents = _split({"named": named}, corpus.entity_offsets)
    if corpus.names is not None and text:
        names = list(corpus.names)
        for document, bounds in zip(documents, pairwise(corpus.entity_offsets), strict=True):
            document["names"] = names[slice(*bounds)]
    return documents


def _describe_text(
    count: int,
    words: list[str] | None,
    sentences: list[int],
    speakers: list[str] | None = None,
    glued: list[int] | None = None,
    paragraphs: list[int] | None = None,
    zeros: list[int] | None = None,
) -> Json:
    """A document as the page shows it, without the fields that are None.

    `words` are None where they are not known or not to be shown. `glued` are tokens without a blank
    before them, where the source tells; None leaves it to the page to guess. `paragraphs` are the
    sentences with which new ones begin, where the format has paragraphs; `zeros` are empty nodes.
    """
    shown: Json = {"count": count, "sentences": sentences}
    if words is not None:
        # A blank ends a word here, so that a text is one string; blanks in words are no-break.
        text = " ".join(words)
        if text.count(" ") != max(count - 1, 0):
            text = " ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in words)
        shown["words"] = text
    optional = {"speakers": speakers, "glued": glued, "paragraphs": paragraphs, "zeros": zeros}
    return shown | {name: value for name, value in optional.items() if value is not None}
