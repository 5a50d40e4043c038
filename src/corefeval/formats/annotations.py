"""What annotation tools share: spans on characters or tokens, links and names become a corpus."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from corefeval.diagnostics import InputError
from corefeval.formats.declarations import Tally
from corefeval.formats.losses import note_counts
from corefeval.formats.source import Source
from corefeval.formats.standoff import join_links, join_parts
from corefeval.model import (
    BRIDGING,
    SPLIT,
    Corpus,
    CorpusBuilder,
    DocumentBuilder,
    DocumentId,
    join,
)
from corefeval.model.token_tables import tokens_of_texts

Parts = list[tuple[int, int]]
LAYER_FIX = "choose one with --layer NAME / layer=…"
# What readers count; formats may count under further kinds with tallies of their own.
TALLIES = (
    Tally("widened-mentions", "mention", "widened to whole tokens"),
    Tally("empty-mentions", "mention", "of nothing visible, left out"),
    Tally("other-text", "mention", "whose text is not what is at its offsets; the offsets count"),
)


def unique_names(names: Sequence[str | None]) -> list[str]:
    """A name for each entity of a document: its name where no earlier one has it, else a new one.

    >>> unique_names(["Ada", None, "Ada"])
    ['Ada', '1', 'Ada (2)']
    """
    stated = {name for name in names if name is not None}
    used: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for number, name in enumerate(names):
        base = str(number) if name is None else name
        unique = base
        while unique in used or (name is None and unique in stated):
            counts[base] += 1
            unique = f"{base} ({counts[base] + 1})"
        used[unique] = None
    return list(used)


def is_bridging(label: str) -> bool:
    """Whether a relation of this label joins nothing, because its anaphor bridges."""
    return label.lower().startswith("bridg")


def count_utf16(text: str) -> list[int] | None:
    """The code point at each UTF-16 offset of a text, −1 inside of a pair; None where all agree.

    >>> count_utf16("a😊"), count_utf16("a")
    ([0, 1, -1, 2], None)
    """
    if text.isascii() or max(text) <= "\uffff":
        return None
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place, -1] if character > "\uffff" else [place]
    return [*places, len(text)]


@dataclass(slots=True)
class _Mention:
    parts: Parts
    features: Mapping[str, str]


@dataclass(slots=True)
class AnnotatedDocument:
    """The annotation of a document, to which spans and links are added; see `build_corpus`.

    Positions are those of `words` where these are given without `text`, else characters of the
    `text`. With both, `bounds` say where the words are in the text, and mentions move to words,
    which are the characters there unless they are given.
    With `in_utf16`, offsets count UTF-16 units of the text. `identifier` is None where the file
    does not say what the document is called; `counts` are what is told in notices.

    Mentions of one `entity` belong together, and those that are joined. An entity is a text, which
    is its name unless `names` has another one, or any hashable value, which has no name without.
    """

    source: Source
    identifier: DocumentId | str | None = None
    text: str | None = None
    words: Sequence[str] | None = None
    bounds: Sequence[tuple[int, int]] = ()
    sentence_starts: Sequence[int] | None = None
    in_utf16: bool = False
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    names: dict[Hashable, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    _mentions: list[_Mention] = field(default_factory=list)
    _links: list[tuple[Hashable, Hashable]] = field(default_factory=list)
    _relations: list[tuple[str, int, int, str]] = field(default_factory=list)
    _sets: dict[Hashable, list[Hashable]] = field(default_factory=dict)
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _places: list[int] | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.in_utf16:
            self._places = count_utf16(self.text)
        bounds = [self._locate(start, end) for start, end in self.bounds]
        self._starts, self._ends = [start for start, _ in bounds], [end for _, end in bounds]
        if bounds and self.text is not None and self.words is None:
            self.words = [self.text[start:end] for start, end in bounds]

    @property
    def has_characters(self) -> bool:
        """Whether positions of the document are characters."""
        return self.words is None

    def add(
        self,
        parts: Iterable[tuple[int, int]],
        entity: Hashable = None,
        features: Mapping[str, str] | None = None,
        line: int | None = None,
    ) -> int | None:
        """Add a mention; returns its number, None where nothing is left of it, which is counted.

        Parts go from a start up to an end; what is outside of the document is an InputError.
        """
        places = [self._locate(start, end, line) for start, end in parts]
        if self.text is not None:
            places = self._place(places)
        if not places:
            self.counts["empty-mentions"] += 1
            return None
        stated = {name: value for name, value in (features or {}).items() if value}
        self._mentions.append(_Mention(join_parts(places), stated))
        number = len(self._mentions) - 1
        if isinstance(entity, str):
            self.names.setdefault(entity, entity)
        if entity is not None:
            self._links.append((("entity", entity), number))
        return number

    def join(self, first: int | None, second: int | None) -> None:
        """Put two mentions into one entity; None stands for one that was left out."""
        if first is not None and second is not None:
            self._links.append((first, second))

    def join_names(self, first: Hashable, second: Hashable) -> None:
        """Make two entities one, by the values that mentions have for them."""
        self._links.append((("entity", first), ("entity", second)))

    def relate(
        self, anaphor: int | None, antecedent: int | None, label: str, kind: str = ""
    ) -> None:
        """Keep a relation of two mentions that does not join them; without kind, bridging."""
        if anaphor is not None and antecedent is not None:
            self._relations.append((kind or BRIDGING, anaphor, antecedent, label))

    def group(self, entity: Hashable, members: Iterable[Hashable]) -> None:
        """Make an entity the set of others, by the values that mentions have for them."""
        self._sets.setdefault(entity, []).extend(members)

    def error(self, start: int, end: int, line: int | None = None) -> InputError:
        """The error of an annotation that is outside of the document, or ends before it begins."""
        is_text = self.text is not None
        size, unit = len(self.text or self.words or ()), "character" if is_text else "token"
        size = len(self._places) - 1 if self._places is not None else size
        return self.source.error(
            f"an annotation is outside of the {'text' if is_text else 'document'}",
            line,
            found=f"{unit}s {start} up to {end}",
            expected=f"a start that is not after the end, and an end of at most {size}, the number "
            f"of {unit}s{' (UTF-16 units)' if self._places is not None else ''}",
            fix="check that this is the text that was annotated, and export it again",
        )

    def _locate(self, start: int, end: int, line: int | None = None) -> tuple[int, int]:
        """A span in code points or tokens of the document; an InputError where it is outside."""
        limit = len(self.text if self.text is not None else self.words or ())
        if self._places is not None:
            if not 0 <= start <= end < len(self._places):
                raise self.error(start, end, line)
            span = self._places[start], self._places[end]
        else:
            span = start, end
        is_empty = self.text is None and start == end
        if not 0 <= span[0] <= span[1] <= limit or is_empty:
            raise self.error(start, end, line)
        return span

    def _place(self, parts: Parts) -> Parts:
        """Where parts in the text are, on tokens if there are any; nothing for blank ones."""
        text = self.text or ""
        trimmed = [(s + len(text[s:e]) - len(text[s:e].lstrip()), e) for s, e in parts]
        trimmed = [(s, s + len(text[s:e].rstrip())) for s, e in trimmed]
        visible = join_parts((part for part in trimmed if part[0] < part[1]), text)
        if self.has_characters:
            return visible
        starts, ends = self._starts, self._ends
        if not visible and starts and parts:
            place = min(parts)[0]
            before, last = bisect_right(ends, place) - 1, bisect_right(starts, place) - 1
            # The token before, unless the place is in another one, or a blank before another one.
            position = last if last > before and (before < 0 or ends[before] < place) else before
            return [(max(position, 0), max(position, 0) + 1)]
        spans = [(bisect_right(ends, s), bisect_left(starts, e)) for s, e in visible]
        touched = [(first, after) for first, after in spans if first < after]
        self.counts["widened-mentions"] += any(
            text[starts[first] : start].strip() or text[end : ends[after - 1]].strip()
            for (first, after), (start, end) in zip(spans, visible, strict=True)
            if first < after
        )
        return touched

    def build(self, builder: CorpusBuilder, identifier: DocumentId) -> None:
        """Add the document, with its mentions in textual order, to a corpus in the making."""
        document = builder.document(
            identifier,
            words=self.words,
            n_tokens=len(self.text or "") if self.has_characters else None,
            sentence_starts=self.sentence_starts,
            columns=self.columns,
            metadata=self.metadata,
        )
        mentions = self._mentions
        parts = [mention.parts for mention in mentions]
        order = sorted(range(len(parts)), key=lambda n: (parts[n][0][0], -parts[n][-1][1]))
        groups = join_links(self._links)
        entities = self._name_entities(groups, order)
        numbers: dict[int, int] = {}
        for number in order:
            numbers[number] = document.mention(
                entities[groups.get(number, number)],
                parts[number][0][0],
                parts[number][-1][1],
                gaps=[(before[1], after[0]) for before, after in pairwise(parts[number])],
                features=mentions[number].features,
            )
        self._add_relations(document, numbers, groups, entities)

    def _name_entities(
        self, groups: Mapping[Hashable, Hashable], order: Sequence[int]
    ) -> dict[Hashable, str]:
        """The name of each group of mentions, in the order of the text."""
        stated: dict[Hashable, str] = {}
        for value, name in self.names.items():
            stated.setdefault(groups.get(("entity", value)), name)
        present = dict.fromkeys(groups.get(number, number) for number in order)
        names = unique_names([stated.get(group) for group in present])
        return dict(zip(present, names, strict=True))

    def _add_relations(
        self,
        document: DocumentBuilder,
        numbers: Mapping[int, int],
        groups: Mapping[Hashable, Hashable],
        entities: Mapping[Hashable, str],
    ) -> None:
        for kind, anaphor, antecedent, label in self._relations:
            document.relation(kind, numbers[anaphor], [numbers[antecedent]], label)
        for entity, members in self._sets.items():
            values = [groups.get(("entity", value)) for value in (entity, *members)]
            whose, *elements = [entities.get(value, "") for value in values]
            document.relation(SPLIT, whose, list(dict.fromkeys(elements)))


def build_corpus(
    annotations: Sequence[AnnotatedDocument],
    source: Source,
    name: str = "",
    tallies: Sequence[Tally] = (),
    *,
    names_hold: bool = False,
) -> Corpus:
    """The corpus of the documents of a file, with notices of all that was counted on the way.

    Nameless documents are called after the file, and numbered where there are several. With
    `names_hold`, an entity of the same name is the same one in all documents.
    """
    if not annotations:
        raise source.error(
            "there is no document",
            expected="a document with its text or tokens",
            fix="name the format that the file really has, or export it again",
        )
    stated = [
        DocumentId.parse(a.identifier) if isinstance(a.identifier, str) else a.identifier
        for a in annotations
    ]
    taken = {identifier for identifier in stated if identifier is not None}
    corpora = []
    numbered = list(enumerate(zip(annotations, stated, strict=True), start=1))
    for has_characters, run in groupby(numbered, key=lambda entry: entry[1][0].has_characters):
        builder = CorpusBuilder(name=name, source=source.file, names_hold=names_hold)
        texts = []
        for number, (annotation, identifier) in run:
            if identifier is None:
                identifier = source.name_document(number if len(stated) > 1 else None, taken)
                taken.add(identifier)
            annotation.build(builder, identifier)
            texts.append(annotation.text)
        corpora.append(
            builder.build(tokens_of_texts(texts, source.file) if has_characters else None)
        )
    corpus = corpora[0] if len(corpora) == 1 else join(corpora, name=name or source.file)
    counts: Counter[str] = Counter()
    for annotation in annotations:
        counts.update(annotation.counts)
    notices = note_counts(counts, (*TALLIES, *tallies), whose=source.file)
    return corpus.with_details(notices=(*corpus.notices, *notices))
