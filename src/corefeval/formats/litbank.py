"""LitBank's TSV: mentions by sentence and token in `NAME.ann`, the text in `NAME.txt`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from corefeval.diagnostics import excerpt
from corefeval.formats.declarations import Tally, Written
from corefeval.formats.losses import (
    carry_words,
    count_gapped,
    encode_text,
    name_entities,
    note_counts,
    note_losses,
    relations_of,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import (
    absence_error,
    companion_text,
    document_id,
    feature_values,
    file_stems,
    lines_of,
    mention_ids,
    repetition_error,
    text_bytes,
)
from corefeval.model import Corpus, CorpusBuilder, Document, DocumentBuilder, Relation
from corefeval.model.identity import unbroken_word

RELATIONS = {"APPOS": "apposition", "COP": "copula"}
_TYPES = ("entity_type", "mention_type")
_KEYWORDS = {kind: keyword for keyword, kind in RELATIONS.items()}
_COLUMNS = (
    "MENTION, id, sentence, token, sentence, token (inclusive), text, entity and mention type"
)
_BLANK_RUN = re.compile(r"[ \t]+")
_NUMBER = re.compile(r"[0-9]{1,15}")
_SAFE_NAME = re.compile(r"[^\t\r\n]+")
_ODDITIES = (
    Tally("other-text", "mention", "whose text is not that of its tokens; the tokens count"),
    Tally("repeated-links", "COREF line", "repeated, which changes nothing"),
)


@dataclass(slots=True)
class _Text:
    """The tokens of a text, and where its lines, which are its sentences, begin among them."""

    words: list[str] = field(default_factory=list)
    line_starts: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    @staticmethod
    def of(text: str) -> _Text:
        """The tokens between the line ends and blanks of a text."""
        tokens = _Text()
        for number, line in enumerate(lines_of(text), start=1):
            plain = line.strip(" \t")
            words = _BLANK_RUN.split(plain) if plain else []
            tokens.line_starts.append(len(tokens.words))
            tokens.words += words
            tokens.lines += [number] * len(words)
        tokens.line_starts.append(len(tokens.words))
        return tokens

    def sentence_starts(self) -> list[int]:
        """Where sentences with tokens begin."""
        return sorted(set(self.line_starts) - {len(self.words)})


@dataclass(slots=True)
class _Mention:
    start: int
    end: int
    line: int
    features: dict[str, str]
    entities: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Annotations:
    """What the lines say, not yet joined: COREF may come before its MENTION."""

    mentions: dict[str, _Mention] = field(default_factory=dict)
    links: list[tuple[str, str, int]] = field(default_factory=list)
    relations: list[tuple[str, str, str, int]] = field(default_factory=list)
    other_text: int = 0


def read_litbank(source: Source, *, name: str = "") -> Corpus:
    """Read `NAME.ann` and the `NAME.txt` beside it, which has a sentence per line.

    Mentions without a COREF line are entities of their own, called after the mention. A mention
    with COREF lines of several entities is a mention of each.
    """
    text = _Text.of(companion_text(source).text)
    annotations = _Annotations()
    for number, line in enumerate(lines_of(source.text), start=1):
        if line.strip():
            _read_line(source, text, annotations, line.split("\t"), number)
    repeated = _join_links(source, annotations)
    builder = CorpusBuilder(name=name, source=source.file)
    document = builder.document(
        document_id(source.stem),
        words=text.words,
        sentence_starts=text.sentence_starts(),
        lines=text.lines,
    )
    _add_mentions(document, annotations)
    counts = {"other-text": annotations.other_text, "repeated-links": repeated}
    builder.notices += note_counts(Counter(counts), _ODDITIES, whose=source.file)
    return builder.build()


def _read_line(
    source: Source, text: _Text, annotations: _Annotations, cells: list[str], number: int
) -> None:
    keyword = cells[0]
    if keyword == "MENTION" and 6 <= len(cells) <= 9 and cells[1]:
        _read_mention(source, text, annotations, cells, number)
    elif keyword == "COREF" and len(cells) == 3 and all(cells):
        annotations.links.append((cells[1], cells[2], number))
    elif keyword in RELATIONS and len(cells) == 3 and all(cells):
        annotations.relations.append((RELATIONS[keyword], cells[1], cells[2], number))
    else:
        raise source.error(
            "this is not a line of LitBank",
            number,
            found=excerpt("\t".join(cells)),
            expected=f"{_COLUMNS}; COREF, mention, entity; APPOS or COP, mention, mention",
            fix="fix or remove the line",
        )


def _read_mention(
    source: Source, text: _Text, annotations: _Annotations, cells: list[str], number: int
) -> None:
    identifier = cells[1]
    if identifier in annotations.mentions:
        raise repetition_error(source, identifier, annotations.mentions[identifier].line, number)
    start = _position(source, text, cells[2], cells[3], number)
    last = _position(source, text, cells[4], cells[5], number)
    if last < start:
        raise source.error(
            f"mention {excerpt(identifier)} ends before it begins",
            number,
            found=f"sentence {cells[2]}, token {cells[3]} to sentence {cells[4]}, token {cells[5]}",
            expected="a last token that is not before the first (ends are inclusive)",
        )
    words, stated = text.words[start : last + 1], cells[6] if len(cells) > 6 else None
    annotations.other_text += stated is not None and stated.split() != " ".join(words).split()
    features = {"mention_id": identifier, **dict(zip(_TYPES, cells[7:], strict=False))}
    annotations.mentions[identifier] = _Mention(start, last + 1, number, features)


def _position(source: Source, text: _Text, sentence: str, token: str, number: int) -> int:
    """The token of a sentence and a token number in it, both from 0."""
    n_lines = len(text.line_starts) - 1
    if all(_NUMBER.fullmatch(cell) for cell in (sentence, token)) and int(sentence) < n_lines:
        start, end = text.line_starts[int(sentence) : int(sentence) + 2]
        if int(token) < end - start:
            return start + int(token)
        expected = f"a token from 0 to {end - start - 1}" if end > start else "a line with tokens"
        expected += f" in sentence {sentence}, which is line {int(sentence) + 1} of the text"
    else:
        expected = f"a sentence from 0 to {n_lines - 1}, and a token in it"
    raise source.error(
        "a mention outside the text",
        number,
        found=f"sentence {excerpt(sentence)}, token {excerpt(token)}",
        expected=expected,
        fix="check that this is the text that was annotated; numbers count from 0",
    )


def _join_links(source: Source, annotations: _Annotations) -> int:
    """Add the entities of COREF lines to their mentions; returns how many lines are repeated."""
    repeated = 0
    for identifier, entity, number in annotations.links:
        entities = _find_mention(source, annotations, identifier, number).entities
        repeated += entity in entities
        entities += [entity] if entity not in entities else []
    for _, antecedent, anaphor, number in annotations.relations:
        _find_mention(source, annotations, antecedent, number)
        _find_mention(source, annotations, anaphor, number)
    return repeated


def _find_mention(
    source: Source, annotations: _Annotations, identifier: str, number: int
) -> _Mention:
    if identifier not in annotations.mentions:
        expected = "the id of a MENTION line of this file"
        raise absence_error(source, identifier, number, identifier, expected)
    return annotations.mentions[identifier]


def _add_mentions(document: DocumentBuilder, annotations: _Annotations) -> None:
    named = {entity for _, entity, _ in annotations.links}
    numbers: dict[str, int] = {}
    for identifier, mention in annotations.mentions.items():
        alone = identifier
        while alone in named:
            alone += "_"
        for entity in mention.entities or [alone]:
            number = document.mention(entity, mention.start, mention.end, features=mention.features)
            numbers.setdefault(identifier, number)
        named.update(() if mention.entities else (alone,))
    for kind, antecedent, anaphor, _ in annotations.relations:
        document.relation(kind, numbers[anaphor], [numbers[antecedent]])


def write_litbank(corpus: Corpus) -> Written:
    """Write `NAME.ann` and `NAME.txt` for each document; `_` where there are no words.

    Mentions keep their ids where these are known. Gaps are filled, blanks in words become `_`.
    Every mention gets a COREF line, so that entities of one mention keep their names.
    """
    files: dict[str, bytes] = {}
    counts = count_gapped(corpus)
    lost: list[Relation] = []
    stems, counts["document-names"] = file_stems(corpus.documents)
    for document, stem in zip(corpus, stems, strict=True):
        words = carry_words(words_of(document), unbroken_word, counts)
        sentences = sentence_bounds(document, len(words))
        text = "".join(" ".join(words[start:end]) + "\n" for start, end in sentences)
        files[f"{stem}.ann"] = _annotation(document, words, sentences, counts, lost)
        files[f"{stem}.txt"] = text_bytes(text)
    return Written(files, note_losses("litbank", corpus, counts, relations=lost))


def _annotation(
    document: Document,
    words: list[str],
    sentences: list[tuple[int, int]],
    counts: Counter[str],
    lost: list[Relation],
) -> bytes:
    places = [
        (number, token)
        for number, (start, end) in enumerate(sentences)
        for token in range(end - start)
    ]
    identifiers = mention_ids(document, counts, shared=True)
    names = name_entities(document, _SAFE_NAME, counts)
    types = [feature_values(document, name) for name in _TYPES]
    mentions, links = {}, []
    for index, mention in enumerate(document.mentions):
        start, last = mention.start, mention.end - 1
        place = "\t".join(map(str, (*places[start], *places[last])))
        text = " ".join(words[start : last + 1])
        described = "\t".join((text, *(column[index] for column in types)))
        mentions[identifiers[index]] = f"MENTION\t{identifiers[index]}\t{place}\t{described}\n"
        links.append(f"COREF\t{identifiers[index]}\t{names[mention.entity.index]}\n")
    relations = _relation_lines(document, identifiers, lost)
    return encode_text("".join((*mentions.values(), *links, *relations)), counts)


def _relation_lines(document: Document, identifiers: list[str], lost: list[Relation]) -> list[str]:
    """Lines for relations between two mentions, by the ids of these; adds all others to `lost`."""
    lines = []
    for relation in relations_of(document).values():
        rows = [row for _, row in (*relation.antecedents, relation.anaphor)]
        keyword = _KEYWORDS.get(relation.kind)
        if keyword and len(rows) == 2 and min(rows) >= 0 and not relation.label:
            pair = "\t".join(identifiers[row - document.rows.start] for row in rows)
            lines.append(f"{keyword}\t{pair}\n")
        else:
            lost.append(relation)
    return lines
