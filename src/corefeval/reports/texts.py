"""The words of the documents, and where mentions are in them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.text_tokens import text_of
from corefeval.model.tokens import Tokens

_NO_SPEAKER = {"", "-", "_"}
_STOPS = tuple(".!?")
_LONG_LINE = 40  # tokens
_PIECE = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One document as the page shows it.

    `words` is None where they are not known or not to be shown. `glued` are tokens without a blank
    before them, where the source tells; None leaves it to the page to guess.
    """

    count: int
    words: list[str] | None
    sentences: list[int]
    speakers: list[str] | None = None
    glued: list[int] | None = None


@dataclass(frozen=True, eq=False)
class Positions:
    """The texts, and how positions of mentions become tokens of these texts.

    Most corpora have tokens, and positions stay as they are. Texts without tokens are cut into
    words here, and where mentions begin or end; mentions that are labels become one token each.
    """

    documents: list[DocumentText]
    cuts: dict[int, IntArray] = field(default_factory=dict)
    labels: list[dict[Hashable, int]] | None = None

    def spans(self, corpus: Corpus) -> tuple[IntArray, IntArray]:
        """The start and the end (exclusive) of each mention, in tokens of its document."""
        if self.labels is not None or corpus.mention_start is None or corpus.mention_end is None:
            start = self._of_labels(corpus)
            return start, start + 1
        start, end = corpus.mention_start, corpus.mention_end
        if self.cuts:
            start, end = start.copy(), end.copy()
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

    def _of_labels(self, corpus: Corpus) -> IntArray:
        if self.labels is None or corpus.labels is None:
            return np.zeros(corpus.n_mentions, dtype=np.int64)
        document = corpus.mention_document.tolist()
        numbers = [self.labels[d][x] for d, x in zip(document, corpus.labels, strict=True)]
        return np.array(numbers, dtype=np.int64)


def positions(key: Corpus, responses: Sequence[Corpus], *, text: bool) -> Positions:
    """The texts of a key and of the responses that share it."""
    if key.labels is not None:
        return _of_labels(key, responses, text=text)
    documents, cuts = [], {}
    sides = [side.tokens for side in (key, *responses) if side.tokens is not None]
    for index in range(len(key.documents)):
        characters = text_of(key.tokens, index)
        if characters is None:
            documents.append(_tokenised(sides, key, responses, index, text=text))
        else:
            bounds = _bounds((key, *responses), index)
            cuts[index], made = _cut(characters, bounds, text=text)
            documents.append(made)
    return Positions(documents, cuts)


def _tokenised(
    sides: Sequence[Tokens], key: Corpus, responses: Sequence[Corpus], index: int, *, text: bool
) -> DocumentText:
    present = [side for side in sides if side.counts[index]]
    if not present:
        last = max((int(b.max(initial=0)) for b in _bounds((key, *responses), index)), default=0)
        return DocumentText(last, None, [0] if last else [])
    tokens = next((side for side in present if "word" in side.columns), present[0])
    count = int(tokens.counts[index])
    sentences = list(tokens.sentence_starts(index))
    if sentences[:1] != [0]:
        sentences.insert(0, 0)
    if not text or "word" not in tokens.columns:
        return DocumentText(count, None, sentences)
    words = tokens.column(index, "word")
    return DocumentText(count, words, sentences, _speakers(tokens, index, sentences))


def _speakers(tokens: Tokens, index: int, sentences: Sequence[int]) -> list[str] | None:
    """Who speaks each sentence; None where nobody does."""
    if "speaker" not in tokens.columns:
        return None
    column = tokens.column(index, "speaker")
    speakers = [column[start] for start in sentences if start < len(column)]
    if set(speakers) <= _NO_SPEAKER:
        return None
    return ["" if speaker in _NO_SPEAKER else speaker for speaker in speakers]


def _bounds(corpora: Sequence[Corpus], index: int) -> list[IntArray]:
    found = []
    for corpus in corpora:
        rows = slice(*corpus.mention_offsets[index : index + 2].tolist())
        found += [side[rows] for side in (corpus.mention_start, corpus.mention_end)
                  if side is not None]  # fmt: skip
        of_document = corpus.mention_document[corpus.gaps[:, 0]] == index
        found.append(corpus.gaps[of_document, 1:].reshape(-1))
    return found


def _cut(
    characters: str, bounds: Sequence[IntArray], *, text: bool
) -> tuple[IntArray, DocumentText]:
    """Cut a text into words, and further where mentions begin and end."""
    spans = [match.span() for match in _PIECE.finditer(characters)]
    inner = np.unique(np.concatenate([np.array(spans, dtype=np.int64).reshape(-1), *bounds]))
    ends = np.append(inner, len(characters))[1:]  # none at all for an empty text
    begins = [
        (int(start), int(end))
        for start, end in zip(inner, ends, strict=True)
        if characters[start:end].strip()
    ]
    words = [characters[start:end].strip() for start, end in begins]
    glued = [
        place
        for place, (start, _) in enumerate(begins)
        if place and not characters[start - 1].isspace() and not characters[start].isspace()
    ]
    lines = _lines(characters, begins)
    made = DocumentText(
        len(words), words if text else None, lines if words else [], glued=glued if text else None
    )
    return np.array([start for start, _ in begins], dtype=np.int64), made


def _lines(characters: str, pieces: Sequence[tuple[int, int]]) -> list[int]:
    """Where lines begin; a long line is cut after a full stop, so that it need not be one block."""
    lines = [0]
    for place in range(1, len(pieces)):
        between = characters[pieces[place - 1][0] : pieces[place][0] + 1]
        stops = between[:1] in _STOPS and between[1:2].isspace()
        if "\n" in between or (stops and place - lines[-1] >= _LONG_LINE):
            lines.append(place)
    return lines


def _of_labels(key: Corpus, responses: Sequence[Corpus], *, text: bool) -> Positions:
    """Every distinct label is a token; each entity of the key is a line, extra mentions the last.

    Mentions without positions have no text around them, so this is what there is to read.
    """
    numbers: list[dict[Hashable, int]] = [{} for _ in key.documents]
    lines: list[list[int]] = [[] for _ in key.documents]
    for side, corpus in enumerate((key, *responses)):
        entity, document = corpus.mention_entity, corpus.mention_document
        before = -1
        for row in np.argsort(entity, kind="stable").tolist():
            known = numbers[document[row]]
            label = (corpus.labels or ())[row]
            new_line = entity[row] != before if side == 0 else len(lines[document[row]]) == 0
            before = int(entity[row])
            if label not in known:
                if new_line:
                    lines[document[row]].append(len(known))
                known[label] = len(known)
        if side == 0:
            for known, starts in zip(numbers, lines, strict=True):
                starts.append(len(known))
    documents = [
        DocumentText(
            len(known),
            [str(label) for label in known] if text else None,
            sorted({start for start in starts if start < len(known)}),
            glued=[],
        )
        for known, starts in zip(numbers, lines, strict=True)
    ]
    return Positions(documents, labels=numbers)
