"""Writing CorefUD: the columns that a corpus has, and its mentions as `Entity` in MISC."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from corefeval.formats.conllu.scan import without_coreference
from corefeval.formats.conllu.tokens import COLUMNS, ConlluLines
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    check_distinct,
    nested_mentions,
    relations_of,
    sentence_numbers,
)
from corefeval.model import BRIDGING, SPLIT, Corpus, Document, Mention, Relation
from corefeval.model.arrays import BoolArray, all_true
from corefeval.model.identity import plain_word
from corefeval.model.relations import bridging_pairs, guess_antecedents

_SAFE_NAME = re.compile(r"[^\s()|\[\],<:%-]+")
_WRITABLE = re.compile(r"[^\x00-\x20\ud800-\udfff]+(?: [^\x00-\x20\ud800-\udfff]+)*")
_UNSAFE_LABEL = re.compile(r"[\s,|]")
_UNSAFE_VALUE = re.compile(r"[\s()|%-]")
_RELATIONS = {BRIDGING: "Bridge", SPLIT: "SplitAnte"}


def write_conllu(corpus: Corpus) -> Written:
    """The file with all documents, and notices of what could not be written as it is.

    Brackets of one entity must nest, so of two of its mentions that cross only the first can be
    written. A corpus without words gets `_` for each.
    """
    inside = _in_one_sentence(corpus)
    corpus = corpus.keep_mentions(inside)
    reserved = ("eid", "head")  # fields that have another meaning than a feature of that name
    fields = [
        name for name in corpus.features if re.fullmatch(r"\w+", name) and name not in reserved
    ]
    fields.sort(key=lambda name: name != "etype")
    relations: list[Relation] = []
    pairs = bridging_pairs(corpus)
    chosen = pairs.stated & (pairs.antecedent != guess_antecedents(corpus, pairs))
    counts = Counter({"antecedent-mentions": int(chosen.sum())})
    counts["cross-sentence-mentions"] = int((~inside).sum())
    names = _entity_names(corpus, counts)
    writers = [_DocumentWriter(document, names, fields, counts, relations) for document in corpus]
    check_distinct((writer.name for writer in writers), "CoNLL-U")
    return Written(
        {"": "".join(writer.text() for writer in writers)},
        counts=counts,
        relations=relations,
        features=(*fields, *({"head"} - {*corpus.features})),
        partial=(),
    )


class _DocumentWriter:
    """Writes a document."""

    def __init__(
        self,
        document: Document,
        names: Sequence[str],
        fields: Sequence[str],
        counts: Counter[str],
        lost: list[Relation],
    ) -> None:
        """`counts` and `lost` collect what cannot be written as it is: numbers, and relations."""
        self.document, self.names, self.fields = document, names, fields
        self.counts, self.lost = counts, lost
        self.has_heads = document.corpus.mention_head is not None
        self.mentions, crossing = _expressible(document)
        self.tokens, self.index = document.corpus.tokens, document.index
        self.name = _line(str(document.id))
        counts["crossing-mentions"] += crossing
        counts["document-names"] += self.name != str(document.id) or not document.id.name

    def text(self) -> str:
        """The document's lines."""
        marks = self._marks()
        header = ["eid", *self.fields, *(["head"] if self.has_heads else [])]
        lines = [f"# newdoc id = {self.name}", f"# global.Entity = {'-'.join(header)}"]
        metadata, comments = make_comments(self.document)
        lines += metadata
        rows, starts = self._rows(), self._sentence_starts()
        place = self._place_in_file()
        ranges = {} if place is None else place[0].multiword_lines(*place[1:])
        for position, row in enumerate(rows):
            if position in starts:
                lines += [""] if position else []
                lines += comments.get(starts[position], [])
            lines += ranges.get(position, [])
            misc = without_coreference(row[9])
            row[9] = "|".join(marks.get(position, []) + ([misc] if misc else [])) or "_"
            lines.append("\t".join(row))
        return "\n".join((*lines, "", ""))

    def _sentence_starts(self) -> dict[int, int]:
        tokens = self.tokens
        starts = tokens.sentence_starts(self.index) if tokens is not None else [0]
        return {start: number for number, start in enumerate(starts)}

    def _place_in_file(self) -> tuple[ConlluLines, int, int] | None:
        """The lines of a CoNLL-U file, the first one of the document, and how many it has."""
        tokens = self.tokens
        if tokens is None or tokens.token_rows is not None or tokens.bounds is not None:
            return None
        table = tokens.table(self.index)
        if table is None or not isinstance(table.lines, ConlluLines):
            return None
        return table.lines, int(tokens.run_first[self.index]), self.document.n_tokens

    def _rows(self) -> list[list[str]]:
        """The ten columns of each token: those of the file, or as many as are known."""
        tokens = self.tokens
        place = self._place_in_file()
        if place is not None:
            return place[0].rows(*place[1:])
        if tokens is None:
            n_tokens = max((mention.end for mention in self.document.mentions), default=0)
            columns: dict[str, list[str]] = {}
        else:
            n_tokens = int(tokens.counts[self.index])
            written = [name for name in (*COLUMNS, "empty") if tokens.has_column(self.index, name)]
            columns = {name: tokens.column(self.index, name) for name in written}
        numbers = sentence_numbers(n_tokens, self._sentence_starts(), columns.get("empty", []))
        rows = []
        for position in range(n_tokens):
            row = [
                numbers[position],
                self._word(columns["word"][position] if "word" in columns else "_"),
            ]
            row += [
                " ".join(columns[name][position].split()) or "_" if name in columns else "_"
                for name in list(COLUMNS)[2:9]
            ]
            row[6:8] = (
                row[6:8] if "." not in numbers[position] and "head" in columns else ["_", "_"]
            )
            misc = " ".join(columns["misc"][position].split()) if "misc" in columns else ""
            rows.append([*row, misc or "_"])
        return rows

    def _word(self, word: str) -> str:
        """The word as it is, with single blanks inside; else with `_` for them."""
        if word.strip() and _WRITABLE.fullmatch(word):
            return word
        self.counts["blank-tokens"] += 1
        return plain_word(word)

    def _marks(self) -> dict[int, list[str]]:
        closing: dict[int, list[str]] = defaultdict(list)
        opening: dict[int, list[str]] = defaultdict(list)
        for mention in self.mentions:
            name = self.names[mention.entity.index]
            spans = mention.parts
            for number, (start, end) in enumerate(spans, 1):
                key = name if len(spans) == 1 else f"{name}[{number}/{len(spans)}]"
                bracket = self._bracket(key, mention)
                if end - start == 1:
                    opening[start].append(f"({bracket})")
                else:
                    opening[start].append(f"({bracket}")
                    closing[end - 1].append(f"{key})")
        marks = {
            position: ["Entity=" + "".join((*reversed(closing[position]), *opening[position]))]
            for position in {*closing, *opening}
        }
        for kind, values in self._relations().items():
            for position, value in values.items():
                marks.setdefault(position, []).append(f"{kind}={value}")
        return marks

    def _bracket(self, key: str, mention: Mention) -> str:
        features = mention.features
        values = [_value(str(features.get(name, ""))) for name in self.fields]
        if self.has_heads:
            values.append(_head_number(mention))
        while values and not values[-1]:
            values.pop()
        return "-".join((key, *values))

    def _relations(self) -> dict[str, dict[int, str]]:
        """The values of relations by attribute and token.

        A relation stands where its mention opens, that of an entity at its first mention.
        """
        first = {mention.entity.index: mention.start for mention in reversed(self.mentions)}
        starts = {mention.row: mention.start for mention in self.mentions}
        last_opened = {
            (mention.entity.index, mention.start): mention.row for mention in self.mentions
        }
        values: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for relation in relations_of(self.document).values():
            entity, row = relation.anaphor
            key, label = _RELATIONS.get(relation.kind), _UNSAFE_LABEL.sub("_", relation.label)
            antecedents = [
                antecedent for antecedent, _ in relation.antecedents if antecedent in first
            ]
            if not key or entity not in first or len(antecedents) < len(relation.antecedents):
                self.lost.append(relation)
            if key and entity in first:
                ending = f"<{self.names[entity]}" + (f":{label}" if label else "")
                texts = [self.names[antecedent] + ending for antecedent in antecedents]
                place = starts.get(row, first[entity])
                values[key][place] += texts
                self.counts["moved-anaphors"] += key == "Bridge" and row not in (
                    -1,
                    last_opened[entity, place],
                )
        return {
            kind: {position: ",".join(dict.fromkeys(texts)) for position, texts in places.items()}
            for kind, places in values.items()
        }


def make_comments(document: Document) -> tuple[list[str], dict[int, list[str]]]:
    """The lines about a document, and those about its sentences by their numbers."""
    metadata = [f"# meta::{key} = {_line(value)}" for key, value in document.metadata.items()]
    sentences = {
        number: [
            f"# {key} = {_line(value)}" if value else f"# {key}" for key, value in said.items()
        ]
        for number, said in enumerate(document.sentence_metadata)
    }
    return metadata, sentences


def _in_one_sentence(corpus: Corpus) -> BoolArray:
    """Which mentions end in the sentence in which they begin; all where there are no tokens."""
    start, end, tokens = corpus.mention_start, corpus.mention_end, corpus.tokens
    if start is None or end is None or tokens is None:
        return all_true(corpus.n_mentions)
    offset = tokens.offsets[corpus.mention_document]
    inside: BoolArray = tokens.sentence_of(offset + start) == tokens.sentence_of(offset + end - 1)
    return inside


def _entity_names(corpus: Corpus, counts: Counter[str]) -> Sequence[str]:
    """An id for each entity: the names, or numbers if any name is unsafe or appears twice."""
    numbered = [f"e{number}" for number in range(1, corpus.n_entities + 1)]
    names = corpus.names
    if names is None:
        return numbered
    used = {entity: names[entity] for entity in np.flatnonzero(corpus.entity_sizes).tolist()}
    if len({*used.values()}) == len(used) and all(map(_SAFE_NAME.fullmatch, used.values())):
        return names
    counts["entity-names"] += sum(name != numbered[entity] for entity, name in used.items())
    return numbered


def _expressible(document: Document) -> tuple[list[Mention], int]:
    """The mentions that brackets can express, and the number of those that they cannot.

    Mentions without gaps must nest, if they are of one entity. Mentions with gaps must not overlap,
    if they are of one entity and have as many parts: nothing would tell their parts apart.
    """
    gapped = document.corpus.gaps_of
    kept, _ = nested_mentions([m for m in document.mentions if m.row not in gapped])
    reach: dict[tuple[int, int], int] = {}
    for mention in document.mentions:
        if mention.row in gapped:
            key = mention.entity.index, len(mention.parts)
            if reach.get(key, 0) <= mention.start:
                reach[key] = mention.end
                kept.append(mention)
    kept.sort(key=lambda mention: mention.row)
    return kept, len(document.mentions) - len(kept)


def _head_number(mention: Mention) -> str:
    """The number of the head among the mention's tokens, counted from 1; empty without a head."""
    before = 0
    for start, end in mention.parts:
        if mention.head is not None and start <= mention.head < end:
            return str(before + mention.head - start + 1)
        before += end - start
    return ""


def _value(text: str) -> str:
    return _UNSAFE_VALUE.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), text)


def _line(text: str) -> str:
    return " ".join(text.split())
