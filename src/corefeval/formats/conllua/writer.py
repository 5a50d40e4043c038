"""Writing Universal Anaphora: tokens numbered through the document, markables in brackets."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from corefeval.formats.conllu.scan import without_coreference
from corefeval.formats.conllu.tokens import COLUMNS as TOKEN_COLUMNS
from corefeval.formats.conllu.writer import make_comments
from corefeval.formats.conllua import COLUMNS, means_else, renumber
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    check_distinct,
    relations_of,
    sentence_bounds,
    sentence_numbers,
    words_of,
)
from corefeval.model import (
    BRIDGING,
    DEIXIS,
    NON_REFERRING,
    SPLIT,
    Corpus,
    Document,
    Mention,
    Relation,
)
from corefeval.model.identity import plain_word
from corefeval.model.relations import find_anchors

_SAFE = re.compile(r"[^\s()|@=,;]+")
_UNSAFE = re.compile(r"[\s()|@]")
_PSEUDO = "-Pseudo"
_OWN = frozenset(("mention_id", "minspan", "min_outside", "semtype"))
_WRITTEN = _OWN - {"min_outside"}
_NOM_SEM = {"entity_type": "Entity_Type", "genericity": "Genericity"}


def write_conllua(corpus: Corpus) -> Written:
    """The file with all documents, and notices of what could not be written as it is.

    Brackets must nest, so that a mention which crosses another is written in parts, as a
    discontinuous one is; read again, it is whole.
    """
    counts: Counter[str] = Counter()
    lost: list[Relation] = []
    names = [" ".join(str(document.id).split()) for document in corpus]
    check_distinct(names, "Universal Anaphora's CoNLL-U")
    anchors = find_anchors(corpus)
    parts = [f"# global.columns = {' '.join(COLUMNS)}\n"]
    for document, name in zip(corpus, names, strict=True):
        counts["document-names"] += name != str(document.id) or not document.id.name
        writer = _DocumentWriter(document, counts, anchors)
        parts.append(f"# newdoc id = {name}\n{writer.text()}")
        lost += writer.lost
    written = [n for n in corpus.features if n in _WRITTEN or not (n in _OWN or means_else(n))]
    return Written({"": "".join(parts)}, counts=counts, relations=lost, features=written)


class _DocumentWriter:
    """Writes a document."""

    def __init__(
        self,
        document: Document,
        counts: Counter[str],
        anchors: dict[int, list[tuple[int, int, bool]]],
    ) -> None:
        self.document = document
        self.counts = counts
        self.anchors = anchors
        self.lost: list[Relation] = []
        self.layers = document.corpus.entity_layer
        self.names = self._names()
        self.ids = self._markable_ids()
        self.words = words_of(document)
        self.sentences = sentence_bounds(document, len(self.words))
        self.empty = document.column("empty") if "empty" in document.columns else []
        self.numbers = sentence_numbers(len(self.words), (), self.empty)

    def text(self) -> str:
        """The document's lines."""
        rows = self._rows()
        cells: dict[str, dict[int, str]] = {column: {} for column in COLUMNS[len(TOKEN_COLUMNS) :]}
        elements = self._elements()
        mentions = self.document.mentions
        deictic = [self._layer(mention.entity.index) == DEIXIS for mention in mentions]
        for column, is_deixis in (("IDENTITY", False), ("DISCOURSE_DEIXIS", True)):
            markables = [
                (mention, self._markable(mention, elements))
                for mention, of_deixis in zip(mentions, deictic, strict=True)
                if of_deixis == is_deixis
            ]
            cells[column] = self._brackets(markables)
        cells["BRIDGING"] = self._bridging()
        cells |= self._statements()
        lines, comments = make_comments(self.document)
        for number, (start, end) in enumerate(self.sentences):
            lines += comments.get(number, [])
            for position in range(start, end):
                marks = (column.get(position, "_") for column in cells.values())
                lines.append("\t".join((*rows[position], *marks)))
            lines.append("")
        return "\n".join((*lines, "" if self.sentences else "\n"))

    def _layer(self, entity: int) -> int:
        return 0 if self.layers is None else int(self.layers[entity])

    def _names(self) -> dict[int, str]:
        """Ids of entities: their names if all are distinct and safe, else numbers."""
        entities = self.document.entities
        names = {entity.index: entity.name for entity in entities}
        keys = {(self._layer(index) == DEIXIS, name) for index, name in names.items()}
        fits = len(keys) == len(names) and all(_SAFE.fullmatch(name) for name in names.values())
        if fits and all(
            (self._layer(index) == NON_REFERRING) == name.lower().endswith(("-pseudo", "_pseudo"))
            for index, name in names.items()
            if self._layer(index) != DEIXIS
        ):
            return names
        endings = ("", "-DD", _PSEUDO)
        if self.document.corpus.names is not None:
            self.counts["entity-names"] += len(names)
        return {
            entity: f"{number}{endings[self._layer(entity)]}"
            for number, entity in enumerate(names, 1)
        }

    def _markable_ids(self) -> dict[int, str]:
        """Ids of mentions: those that they have if all are distinct and safe, else numbers."""
        mentions = self.document.mentions
        ids = [str(mention.features.get("mention_id", "")) for mention in mentions]
        if len({*ids}) == len(ids) and all(map(_SAFE.fullmatch, ids)):
            return {mention.row: name for mention, name in zip(mentions, ids, strict=True)}
        self.counts["mention-ids"] += sum(map(bool, ids))
        begin = ("markable_", "dd_markable_", "markable_")
        return {
            mention.row: f"{begin[self._layer(mention.entity.index)]}{number}"
            for number, mention in enumerate(mentions, 1)
        }

    def _rows(self) -> list[list[str]]:
        """The columns of each token; numbers and parents are counted through the document."""
        columns = {n: self.document.column(n) for n in TOKEN_COLUMNS if n in self.document.columns}
        local = sentence_numbers(len(self.words), [s for s, _ in self.sentences], self.empty)
        rows = []
        for start, end in self.sentences:
            through = dict(zip(local[start:end], self.numbers[start:end], strict=True))
            for position in range(start, end):
                cells = {name: " ".join(columns[name][position].split()) for name in columns}
                for name in ("head", "deps"):
                    cells[name] = renumber(cells.get(name, ""), through)
                cells["misc"] = without_coreference(cells.get("misc", ""))
                word = plain_word(self.words[position])
                self.counts["changed-words"] += word != self.words[position]
                further_cells = [cells.get(name) or "_" for name in list(TOKEN_COLUMNS)[2:]]
                rows.append([self.numbers[position], word, *further_cells])
        return rows

    def _markable(self, mention: Mention, elements: dict[int, list[str]]) -> str:
        """The text behind an opening bracket: the attributes of a mention."""
        entity, features = mention.entity.index, mention.features
        values = {"EntityID": self.names[entity], "MarkableID": self.ids[mention.row]}
        values["Min"] = self._minimum(mention, str(features.get("minspan") or ""))
        values["SemType"] = str(features.get("semtype") or "")
        # An element says so on one of its mentions.
        values["ElementOf"] = ",".join(elements.pop(entity, ()))
        values |= {
            name: str(value or "")
            for name, value in features.items()
            if not (name in {*_OWN, *_NOM_SEM} or name.startswith("reference_") or means_else(name))
        }
        return _join_values({name: self._value(value) for name, value in values.items()})

    def _value(self, text: str) -> str:
        safe = _UNSAFE.sub("_", text)
        self.counts["changed-values"] += safe != text
        return safe

    def _minimum(self, mention: Mention, text: str) -> str:
        """A minimum span: the numbers of its first and last token, counted in the document."""
        positions = mention.positions
        numbers = [int(number) for number in re.findall(r"[0-9]{1,9}", text)]
        inside = sorted(
            {positions[number - 1] for number in numbers if 0 < number <= len(positions)}
        )
        if not inside:
            return ""
        self.counts["minimum-ranges"] += inside != [
            p for p in positions if inside[0] <= p <= inside[-1]
        ]
        edges = dict.fromkeys((inside[0], inside[-1]))
        return ",".join(self.numbers[position] for position in edges)

    def _elements(self) -> dict[int, list[str]]:
        """The names of the sets that each entity is an element of."""
        set_names: dict[int, list[str]] = defaultdict(list)
        for relation in relations_of(self.document).values():
            if relation.kind == SPLIT:
                set_entity = relation.anaphor[0]
                elements = [element for element, _ in relation.antecedents if element in self.names]
                is_deictic = {self._layer(element) == DEIXIS for element in elements}
                fits = set_entity in self.names and is_deictic == {
                    self._layer(set_entity) == DEIXIS
                }
                if not fits or len(elements) < len(relation.antecedents):
                    self.lost.append(relation)
                for element in elements if fits else ():
                    if self.names[set_entity] not in set_names[element]:
                        set_names[element].append(self.names[set_entity])
            elif relation.kind != BRIDGING:
                self.lost.append(relation)
        return set_names

    def _brackets(
        self, markables: Sequence[tuple[Mention, str]], *, keep_whole: bool = True
    ) -> dict[int, str]:
        """The cells of a column by token, from mentions and the texts of their brackets.

        A mention that would cross a bracket which is still open ends with it; with `keep_whole` it
        goes on behind it, as another part.
        """
        waiting = [
            (start, -end, number)
            for number, (mention, _) in enumerate(markables)
            for start, end in (mention.parts if keep_whole else [mention.span])
        ]
        heapq.heapify(waiting)
        closing: Counter[int] = Counter()
        opening: dict[int, list[str]] = defaultdict(list)
        still_open: list[int] = []  # ends, the innermost last
        crossing, said = set(), set()
        while waiting:
            start, negative, number = heapq.heappop(waiting)
            end, text = -negative, markables[number][1]
            while still_open and still_open[-1] - 1 <= start:
                still_open.pop()
            if still_open and end > still_open[-1]:
                if keep_whole:
                    heapq.heappush(waiting, (still_open[-1], -end, number))
                    crossing.add(number)
                end = still_open[-1]
            shown = "|".join(text.split("|")[:2]) if number in said else text
            said.add(number)
            opening[start].append(f"({shown}" + (")" if end == start + 1 else ""))
            if end > start + 1:
                closing[end - 1] += 1
                still_open.append(end)
        self.counts["crossing-mentions"] += len(crossing)
        return {
            position: ")" * closing[position] + "".join(opening.get(position, ()))
            for position in {*closing, *opening}
        }

    def _bridging(self) -> dict[int, str]:
        """Brackets of anaphors, one for each antecedent."""
        owners = self.document.corpus.mention_entity
        markables = []
        for number, relation in relations_of(self.document).items():
            if relation.kind == BRIDGING and number not in self.anchors:
                self.lost.append(relation)
            for anaphor, antecedent, stated in self.anchors.get(number, ()):
                self.counts["chosen-anchors"] += not stated
                values = {
                    "MarkableID": self.ids[anaphor],
                    "Rel": self._value(relation.label),
                    "MentionAnchor": self.ids[antecedent],
                    "EntityAnchor": self.names[int(owners[antecedent])],
                }
                markables.append((Mention(self.document, anaphor), _join_values(values)))
        return self._brackets(markables, keep_whole=False)

    def _statements(self) -> dict[str, dict[int, str]]:
        """The cells of the columns REFERENCE and NOM_SEM by token, from features of mentions."""
        columns: dict[str, list[tuple[Mention, str]]] = {"REFERENCE": [], "NOM_SEM": []}
        for mention in self.document.mentions:
            if self._layer(mention.entity.index) == DEIXIS:
                continue
            features = {n: str(v) for n, v in mention.features.items() if v}
            statements = {
                "REFERENCE": {
                    n.removeprefix("reference_"): v
                    for n, v in features.items()
                    if n.startswith("reference_")
                },
                "NOM_SEM": {_NOM_SEM[n]: v for n, v in features.items() if n in _NOM_SEM},
            }
            for column, values in statements.items():
                if values:
                    safe = {name: self._value(value) for name, value in values.items()}
                    text = _join_values({"MarkableID": self.ids[mention.row], **safe})
                    columns[column].append((mention, text))
        return {c: self._brackets(markables, keep_whole=False) for c, markables in columns.items()}


def _join_values(values: Mapping[str, str]) -> str:
    return "|".join(f"{name}={value}" for name, value in values.items() if value)
