"""LitBank's TSV: mentions by sentence and token in `NAME.ann`, the text in `NAME.txt`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate, chain

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    carry_words,
    count_gapped,
    name_entities,
    relations_of,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import (
    document_id,
    feature_values,
    file_stems,
    lines_of,
    mention_ids,
    read_companion,
)
from corefeval.model import Corpus, Document, Relation
from corefeval.model.identity import unbroken_word

RELATIONS = {"APPOS": "apposition", "COP": "copula"}
_TYPES = ("entity_type", "mention_type")
_KEYWORDS = {kind: keyword for keyword, kind in RELATIONS.items()}
_COLUMNS = (
    "MENTION, id, sentence, token, sentence, token (inclusive), text, entity and mention type"
)
_WORD = re.compile(r"[^ \t]+")
_NUMBER = re.compile(r"[0-9]{1,15}")
_SAFE_NAME = re.compile(r"[^\t\r\n]+")


@dataclass(slots=True)
class _Lines:
    """What the lines say; those of mentions are read first, as COREF may come before its MENTION.

    `line_starts` are where lines of the text, which are its sentences, begin among its tokens;
    `entities` the names of those that each mention belongs to, by its id.
    """

    document: AnnotatedDocument
    line_starts: list[int]
    entities: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def read(self, cells: list[str], line: int) -> None:
        """Read the cells of a line."""
        document, (keyword, *ids) = self.document, cells
        if keyword == "MENTION" and 6 <= len(cells) <= 9 and cells[1]:
            self.read_mention(cells, line)
            return
        if keyword not in ("COREF", *RELATIONS) or len(ids) != 2 or not all(ids):
            raise document.source.error(
                "this is not a line of LitBank",
                line,
                found=excerpt("\t".join(cells)),
                expected=f"{_COLUMNS}; COREF, mention, entity; APPOS or COP, mention, mention",
                fix="fix or remove the line",
            )
        number = document.find(ids[0], line)
        if keyword in RELATIONS:
            document.relate(document.find(ids[1], line), number, "", RELATIONS[keyword])
            return
        entities, mention = self.entities[ids[0]], document.mentions[number or 0]
        if ids[1] in entities:
            document.counts["repeated-links"] += 1
        elif entities and mention is not None:
            document.add(mention.parts, ids[1], mention.features)
        elif mention is not None:
            mention.entity = ids[1]
        entities.append(ids[1])

    def read_mention(self, cells: list[str], line: int) -> None:
        """Read a mention by its first and last token; without COREF it names its entity."""
        document, identifier = self.document, cells[1]
        start = self.find_token(cells[2], cells[3], line)
        end = self.find_token(cells[4], cells[5], line) + 1
        is_changed = cells[6:7] and cells[6].split() != document.cover([(start, end)]).split()
        document.counts["other-text"] += bool(is_changed)
        features = {"mention_id": identifier, **dict(zip(_TYPES, cells[7:], strict=False))}
        document.names[identifier,] = identifier
        document.add([(start, end)], (identifier,), features, line, identifier)

    def find_token(self, sentence: str, token: str, line: int) -> int:
        """The token of a sentence and a token number in it, both from 0."""
        n_lines = len(self.line_starts) - 1
        expected = f"a sentence from 0 to {n_lines - 1}, and a token in it"
        if all(_NUMBER.fullmatch(cell) for cell in (sentence, token)) and int(sentence) < n_lines:
            start, end = self.line_starts[int(sentence) : int(sentence) + 2]
            if int(token) < end - start:
                return start + int(token)
            limit = f"a token from 0 to {end - start - 1}" if end > start else "a line with tokens"
            expected = f"{limit} in sentence {sentence}, line {int(sentence) + 1} of the text"
        raise self.document.source.error(
            "a mention outside the text",
            line,
            found=f"sentence {excerpt(sentence)}, token {excerpt(token)}",
            expected=expected,
            fix="check that this is the text that was annotated; numbers count from 0",
        )


def read_litbank(source: Source, *, name: str = "") -> Corpus:
    """Read `NAME.ann` and the `NAME.txt` beside it, which has a sentence per line.

    Mentions without a COREF line are entities of their own, called after the mention. A mention
    with COREF lines of several entities is a mention of each.
    """
    sentences = [_WORD.findall(line) for line in lines_of(read_companion(source, ".txt").text)]
    starts = list(accumulate(map(len, sentences), initial=0))
    document = AnnotatedDocument(
        source,
        document_id(source.stem),
        words=list(chain(*sentences)),
        sentence_starts=sorted({*starts} - {starts[-1]}),
        lines=[number for number, words in enumerate(sentences, start=1) for _ in words],
    )
    lines = _Lines(document, starts)
    numbered = enumerate(lines_of(source.text), start=1)
    rows = [(line.split("\t"), number) for number, line in numbered if line.strip()]
    for cells, number in sorted(rows, key=lambda row: row[0][0] != "MENTION"):
        lines.read(cells, number)
    return build_corpus([document], source, name)


def write_litbank(corpus: Corpus) -> Written:
    """Write `NAME.ann` and `NAME.txt` for each document; `_` where there are no words.

    Mentions keep their ids where these are known. Gaps are filled, blanks in words become `_`.
    Every mention gets a COREF line, so that entities of one mention keep their names.
    """
    files = {}
    counts = count_gapped(corpus)
    lost: list[Relation] = []
    stems, counts["document-names"] = file_stems(corpus.documents)
    for document, stem in zip(corpus, stems, strict=True):
        words = carry_words(words_of(document), unbroken_word, counts)
        sentences = sentence_bounds(document, len(words))
        text = "".join(" ".join(words[start:end]) + "\n" for start, end in sentences)
        files[f"{stem}.ann"] = _annotation(document, words, sentences, counts, lost)
        files[f"{stem}.txt"] = text
    return Written(files, counts=counts, relations=lost)


def _annotation(
    document: Document,
    words: list[str],
    sentences: list[tuple[int, int]],
    counts: Counter[str],
    lost: list[Relation],
) -> str:
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
    return "".join((*mentions.values(), *links, *relations))


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
