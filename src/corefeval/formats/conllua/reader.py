"""Reading Universal Anaphora: columns by name, markables of two layers, sets and bridging."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conllu.scan import NEW_DOCUMENT, read_comment, read_sentence_comment
from corefeval.formats.conllu.tokens import COLUMNS as TOKEN_COLUMNS
from corefeval.formats.conllua import (
    COLUMNS,
    EMPTY,
    Markable,
    MarkedCell,
    join_parts,
    read_brackets,
    renumber,
)
from corefeval.formats.losses import note_counts, sentence_numbers
from corefeval.formats.source import Oddity, Source
from corefeval.model import (
    BRIDGING,
    DEIXIS,
    IDENTITY,
    NON_REFERRING,
    SPLIT,
    Corpus,
    CorpusBuilder,
    DocumentId,
)
from corefeval.model.builder import DocumentBuilder, Reference, note_unresolved

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_RANGE = re.compile(r"[0-9]{1,9}-[0-9]{1,9}")
_PSEUDO = re.compile(r".*[-_]pseudo", re.IGNORECASE | re.DOTALL)
_OTHER = re.compile(r"\W+")
_LAYERS = {"IDENTITY": IDENTITY, "DISCOURSE_DEIXIS": DEIXIS}
_MARKED = (*_LAYERS, "BRIDGING", "REFERENCE", "NOM_SEM")
_KNOWN = frozenset(("EntityID", "MarkableID", "Min", "SemType", "ElementOf"))


@dataclass(slots=True)
class _Text:
    """The text of a document: a row of cells for each token, and cells that are not empty."""

    identifier: DocumentId
    metadata: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    comments: list[dict[str, str]] = field(default_factory=list)
    marked: dict[str, list[MarkedCell]] = field(default_factory=lambda: defaultdict(list))

    def drop_empty_sentences(self) -> None:
        """Leave out sentences of nothing but lines of multi-word tokens."""
        after = [*self.starts[1:], len(self.rows)]
        kept = [n for n, start in enumerate(self.starts) if start < after[n]]
        self.starts = [self.starts[n] for n in kept]
        self.comments = [self.comments[n] for n in kept]


def read_conllua(
    source: Source,
    *,
    name: str = "",
    oddities: list[Oddity] | None = None,
    all_columns: bool = False,
) -> Corpus:
    """Read documents, tokens, markables of identity and deixis, sets, bridging.

    What cannot be used is counted in notices; `oddities`, where given, get a line for each. Columns
    of nothing but `_` are left out, unless `all_columns` is set because other parts of the file may
    use them.
    """
    builder = CorpusBuilder(name=name, source=source.file)
    counts: Counter[str] = Counter()
    noted = [] if oddities is None else oddities
    for text in _documents(source, counts):
        _DocumentReader(builder, text, source.file, noted, counts).read()
    if not builder.documents:
        raise source.error(
            "there is no sentence in the file",
            expected="CoNLL-U Plus: a line for each token, columns as ‘# global.columns’ says",
            fix="check that this is the right file, and its format",
        )
    _drop_empty_columns(builder, but=("empty", *(TOKEN_COLUMNS if all_columns else ("word",))))
    unresolved = counts.pop("unresolved-relations", 0)
    builder.notices += note_counts(counts, whose=source.file)
    builder.notices += note_unresolved(unresolved, source.file)
    return builder.build()


def _documents(source: Source, counts: Counter[str]) -> Iterator[_Text]:
    """The documents of a file; without ‘# newdoc’ they are one, called after the file."""
    columns: Sequence[str] = COLUMNS
    text: _Text | None = None
    comments: dict[str, str] = {}
    inside, number = False, 0
    content = source.text
    lines = content.split("\n" if "\n" in content else "\r")
    new_documents = (read_comment(line) for line in lines if line.startswith("#"))
    taken = {DocumentId.parse(v) for key, v in new_documents if v and key in NEW_DOCUMENT}
    for index, ended in enumerate(lines):
        place, line = source.line(index), ended.removesuffix("\r")
        if line.startswith("#"):
            key, value = read_comment(line)
            if key == "global.columns":
                columns = value.upper().split()
            elif key in NEW_DOCUMENT:
                if text is not None:
                    yield text
                number += 1
                identifier = DocumentId.parse(value)
                if not value:
                    identifier = source.name_document(number if number > 1 else None, taken)
                text = _Text(identifier)
                comments, inside = {}, False
            elif key.startswith("meta::") and text is not None:
                text.metadata[key.removeprefix("meta::")] = value
            elif (pair := read_sentence_comment(line)) is not None:
                comments[pair[0]] = pair[1]
        elif not line.strip():
            inside = False
        else:
            if text is None:
                text = _Text(source.name_document(None, taken))
            if not inside:
                text.starts.append(len(text.rows))
                text.comments.append(comments)
                comments, inside = {}, True
            _add_token(text, _split(line, columns, source.file, place), columns, place, counts)
    if text is not None:
        yield text


def _split(line: str, columns: Sequence[str], file: str, place: int) -> list[str]:
    """The cells of a line: separated by tabs if it has any, else by blanks."""
    # Of blanks, only plain ones part cells: others may be words.
    tabs = "\t" in line
    parts = (part.strip(" ") for part in line.split("\t" if tabs else " "))
    cells = [part for part in parts if part or tabs]
    last = len(columns) - 1
    needed = columns.index("IDENTITY") if "IDENTITY" in columns else 1
    first = columns.index("ID") if "ID" in columns else len(cells)
    number = cells[first] if first < len(cells) else ""
    extra = cells[last + 1 :]  # between blanks, a word of two shifts all that is behind it
    if len(cells) + (needed == last) <= needed or (extra and ("\t" not in line or any(extra))):
        description, expected = f"{len(cells)} columns", f"{needed + 1} to {last + 1} columns"
    elif not (_NUMBER.fullmatch(number) or _RANGE.fullmatch(number)) and "ID" in columns:
        description, expected = excerpt(number), "the number of a token in its document: 7, or 7.1"
    else:
        return cells[: last + 1] + ["_"] * (last + 1 - len(cells))
    raise InputError(
        "this is not a token line",
        file=file,
        line=place,
        found=f"{description} in {excerpt(line)}",
        expected=expected,
        fix="check that columns are where ‘# global.columns’ says, and that words have no blanks",
    )


def _add_token(
    text: _Text, cells: list[str], columns: Sequence[str], place: int, counts: Counter[str]
) -> None:
    named = dict(zip(reversed(columns), reversed(cells), strict=True))  # the first of a name
    number = named.get("ID", str(len(text.rows) + 1))
    if _RANGE.fullmatch(number):
        counts["multiword-lines"] += 1
        return
    for column in _MARKED:
        if named.get(column, "_") not in EMPTY:
            text.marked[column].append(MarkedCell(len(text.rows), place, named[column]))
    text.ids.append(number)
    text.rows.append([named.get(column) or "_" for column in COLUMNS[: len(TOKEN_COLUMNS)]])
    text.lines.append(place)


def _token_columns(text: _Text) -> dict[str, list[str]]:
    """All columns by name, with numbers and parents counted in the sentence, and `empty`."""
    cells = zip(*text.rows, strict=True) if text.rows else ((),) * len(TOKEN_COLUMNS)
    columns = dict(zip(TOKEN_COLUMNS, map(list, cells), strict=True))
    empty = ["1" if "." in number else "" for number in text.ids]
    numbers = sentence_numbers(len(empty), text.starts, empty)
    for start, end in pairwise((*text.starts, len(empty))):
        local = dict(zip(text.ids[start:end], numbers[start:end], strict=True))
        for name in ("head", "deps"):
            columns[name][start:end] = [renumber(c, local) for c in columns[name][start:end]]
    return columns | {"number": numbers, "empty": empty}


def _drop_empty_columns(builder: CorpusBuilder, *, but: Sequence[str]) -> None:
    """Leave out columns in which no document has a value, except those in `but`."""
    used = {*but}
    for document in builder.documents:
        columns = document.tokens.columns.items()
        used |= {name for name, cells in columns if name not in used and {*cells} - {"_", ""}}
    for document in builder.documents:
        kept = {name: cells for name, cells in document.tokens.columns.items() if name in used}
        document.tokens = replace(document.tokens, columns=kept)


@dataclass(slots=True)
class _DocumentReader:
    """Reads a document: its markables by id, its entities by column and name."""

    builder: CorpusBuilder
    text: _Text
    file: str
    oddities: list[Oddity]
    counts: Counter[str]
    numbers: dict[str, int] = field(default_factory=dict)  # of the mentions in IDENTITY
    owners: dict[str, str] = field(default_factory=dict)  # their entities
    entities: dict[str, dict[str, int]] = field(default_factory=dict)  # layers by column and name

    def read(self) -> None:
        """Add the document to the corpus."""
        self.text.drop_empty_sentences()
        columns = _token_columns(self.text)
        document = self.builder.document(
            self.text.identifier,
            words=columns.pop("word"),
            columns=columns,
            sentence_starts=self.text.starts,
            metadata=self.text.metadata,
            sentence_metadata=self.text.comments,
            lines=self.text.lines,
        )
        stated = self._read_statements()
        for column in _LAYERS:
            parts = read_brackets(self.text.marked[column], self.file, column)
            self.counts["misspelt-attributes"] += sum(len(markable.misspelt) for markable in parts)
            markables, repeated = join_parts(parts)
            for markable in repeated:
                message = f"MarkableID={excerpt(markable.get('MarkableID'), 30)} again"
                self._report("repeated-markables", "repeated-markable", markable, message)
            self._add_markables(document, column, markables, stated)
            self._add_sets(document, column, markables)
        self._add_bridging(document)

    def _report(self, notice: str, kind: str, markable: Markable, message: str) -> None:
        self.counts[notice] += 1
        self.oddities.append(Oddity(kind, markable.line, message))

    def _read_statements(self) -> dict[str, dict[str, str]]:
        """The features that REFERENCE and NOM_SEM state, by the id of their markable.

        Files write these columns in several ways, so that one which is no list of brackets is
        counted and left out.
        """
        stated: dict[str, dict[str, str]] = defaultdict(dict)
        for column, prefix in (("REFERENCE", "reference_"), ("NOM_SEM", "")):
            try:
                markables = read_brackets(self.text.marked[column], self.file, column)
            except InputError:
                self.counts["unread-columns"] += 1
                continue
            for markable in markables:
                stated[markable.get("MarkableID")] |= {
                    prefix + _feature(name): value
                    for name, value in markable.attributes.items()
                    if name not in ("MarkableID", "EntityID")
                }
        return stated

    def _add_markables(
        self,
        document: DocumentBuilder,
        column: str,
        markables: Sequence[Markable],
        stated: Mapping[str, dict[str, str]],
    ) -> None:
        layers = self.entities[column] = {}
        for number, markable in enumerate(markables, 1):
            identifier = markable.get("MarkableID")
            entity = markable.get("EntityID")
            if not entity:
                entity = markable.attributes["EntityID"] = identifier or f"unnamed_{number}"
                self.counts["no-entity"] += 1
            layer = _LAYERS[column]
            if layer == IDENTITY and _PSEUDO.fullmatch(entity):
                layer = NON_REFERRING
            layers[entity] = layer
            positions: Sequence[int] = range(*markable.parts[0])
            if len(markable.parts) > 1:
                positions = sorted({*chain.from_iterable(range(*part) for part in markable.parts)})
            features = {"mention_id": identifier, "minspan": self._minimum(markable, positions)}
            if (
                markable.get("Min") and not features["minspan"]
            ):  # for those who take it all the same
                features["min_outside"] = markable.get("Min")
            features |= {"semtype": markable.get("SemType"), **stated.get(identifier, {})}
            features |= {_feature(k): v for k, v in markable.attributes.items() if k not in _KNOWN}
            row = document.mention_at(
                entity,
                positions,
                features={name: value for name, value in features.items() if value},
                layer=layer,
            )
            if identifier and column == "IDENTITY":
                self.numbers.setdefault(identifier, row)
                self.owners.setdefault(identifier, entity)

    def _minimum(self, markable: Markable, positions: Sequence[int]) -> str:
        """The numbers of the tokens in Min, counted from 1 in the markable; empty if unusable."""
        text = markable.get("Min")
        if not text:
            return ""
        stated = [_place(match[0]) for match in _NUMBER.finditer(text)]
        tokens = [_place(self.text.ids[position]) for position in positions]
        if not stated or not {*stated} <= {*tokens}:
            message = f"Min={excerpt(text, 30)} is not inside tokens "
            message += f"{self.text.ids[positions[0]]} to {self.text.ids[positions[-1]]}"
            self._report("minimum-outside", "unusable-minimum", markable, message)
            return ""
        low, high = min(stated), max(stated)
        is_range = len(stated) < 3
        inside = (low <= token <= high if is_range else token in stated for token in tokens)
        return ",".join(str(number) for number, holds in enumerate(inside, 1) if holds)

    def _add_sets(
        self, document: DocumentBuilder, column: str, markables: Sequence[Markable]
    ) -> None:
        """Add a relation for each set; `ElementOf` of any mention makes its entity an element."""
        layers = self.entities[column]
        sets: dict[str, list[tuple[str, int]]] = {}
        for markable in markables:
            entity, set_names = markable.get("EntityID"), markable.list("ElementOf")
            for set_name, times in Counter(set_names).items():
                if times > 1:
                    message = f"ElementOf={excerpt(set_name, 30)} {times} times"
                    self.oddities.append(Oddity("repeated-relation", markable.line, message))
                if set_name in layers:
                    sets.setdefault(set_name, []).append((entity, layers[entity]))
                else:
                    message = f"an element of {excerpt(set_name, 30)}, which has no mentions"
                    self._report("unresolved-relations", "unmentioned-entity", markable, message)
        for set_name, elements in sets.items():
            document.relation(SPLIT, (set_name, layers[set_name]), elements)

    def _add_bridging(self, document: DocumentBuilder) -> None:
        """Add the relations of BRIDGING, which refer to markables of IDENTITY by their ids."""
        layers = self.entities["IDENTITY"]
        for bridging in read_brackets(self.text.marked["BRIDGING"], self.file, "BRIDGING"):
            self.counts["misspelt-attributes"] += len(bridging.misspelt)
            identifier = bridging.get("MarkableID")
            anaphor = self.numbers.get(identifier)
            anchors = bridging.list("MentionAnchor")
            mentions = [self.numbers[a] for a in anchors if a in self.numbers]
            names = [a for a in bridging.list("EntityAnchor") if a in layers and not mentions]
            missing = [] if anaphor is not None else [identifier or "nothing"]
            missing += [anchor for anchor in anchors if anchor not in self.numbers]
            if not mentions and not names and not anchors:
                missing += bridging.list("EntityAnchor") or ["nothing"]
            if missing:
                listed = " and ".join(excerpt(name, 30) for name in missing)
                message = f"bridging of {listed}, which is not a markable of IDENTITY"
                self._report("unresolved-relations", "unknown-markable", bridging, message)
            if anaphor is None:
                continue
            self._compare_anchors(bridging)
            antecedents: list[Reference] = [*mentions, *((name, layers[name]) for name in names)]
            for antecedent in antecedents:
                document.relation(BRIDGING, anaphor, [antecedent], bridging.get("Rel"))

    def _compare_anchors(self, bridging: Markable) -> None:
        """Report a MentionAnchor whose entity is not among those of EntityAnchor."""
        stated = bridging.list("EntityAnchor")
        named = [anchor for anchor in bridging.list("MentionAnchor") if anchor in self.owners]
        strange = [anchor for anchor in named if stated and self.owners[anchor] not in stated]
        if strange:
            message = f"MentionAnchor {excerpt(strange[0], 30)} is of entity "
            message += f"{excerpt(self.owners[strange[0]], 30)}, and EntityAnchor is "
            message += excerpt(bridging.get("EntityAnchor"), 30)
            self._report("contradictory-anchors", "contradictory-anchors", bridging, message)


def _place(number: str) -> tuple[int, int]:
    """A key that sorts numbers of tokens: 7.1 comes behind 7."""
    word, _, node = number.partition(".")
    return int(word), int(node or 0)


def _feature(name: str) -> str:
    return _OTHER.sub("_", name).lower()
