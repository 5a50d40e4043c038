"""What annotation tools share: spans on characters or tokens, links and names become a corpus."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from corefeval.diagnostics import InputError, excerpt, list_names
from corefeval.formats.json.records import Record
from corefeval.formats.losses import note_counts
from corefeval.formats.source import Source
from corefeval.formats.standoff import chain_types, unique_names
from corefeval.model import BRIDGING, SPLIT, Corpus, CorpusBuilder, DocumentId, join
from corefeval.model.token_tables import tokens_of_texts

Parts = list[tuple[int, int]]
# Layers of relations that join annotations, by the last part of their names.
JOINING_LAYER = re.compile(r"(?:coref|anaph)[^.]*$", re.IGNORECASE)
BRIDGES = re.compile(r"bridg(?:ing|e)?[\s:_-]*(.*)", re.IGNORECASE | re.DOTALL)


def join_links(links: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, Hashable]:
    """For each item of some links, the item that stands for all that are connected with it.

    >>> join_links([("a", "b"), ("c", "d"), ("b", "d")])
    {'a': 'a', 'b': 'a', 'c': 'a', 'd': 'a'}
    """
    group: dict[Hashable, Hashable] = {}

    def first(item: Hashable) -> Hashable:
        group.setdefault(item, item)
        while group[item] != item:
            group[item] = group[group[item]]
            item = group[item]
        return item

    for before, after in links:
        group[first(after)] = first(before)
    return {item: first(item) for item in group}


def join_parts(parts: Iterable[tuple[int, int]], text: str | None = None) -> Parts:
    """Parts in order; those that touch, or have only white space of the text between, are one.

    >>> join_parts([(4, 6), (0, 3), (8, 9)], "Ada is  5")
    [(0, 9)]
    >>> join_parts([(4, 6), (0, 3), (5, 8)])
    [(0, 3), (4, 8)]
    """
    joined: Parts = []
    for start, end in sorted(parts):
        gap = joined[-1][1] if joined else None
        if gap is not None and (start <= gap or (text and text[gap:start].isspace())):
            joined[-1] = joined[-1][0], max(gap, end)
        else:
            joined.append((start, end))
    return joined


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


def layer_error(
    source: Source | Record,
    problem: str,
    layers: Iterable[str],
    expected: str = "a layer that joins annotations, or LAYER.FEATURE whose values name entities",
) -> InputError:
    """The error of a layer that cannot be chosen, with all that there are."""
    listed = list_names(sorted({*layers}), 40) or "no layers"
    fix = "choose one with --layer NAME"
    return source.error(problem, found=listed, expected=expected, fix=fix)


def choose_layer(
    source: Source,
    layer: str | None,
    preferred: Iterable[Sequence[str]],
    joining: Collection[str],
    spans: Mapping[str, Collection[str]],
) -> tuple[str, str]:
    """The name of the layer that counts, and the feature whose values name entities, or "".

    A layer that is named, in full or by the last part of its name, must be among the `joining`, or
    `LAYER.FEATURE` of the `spans`, which have all features where none are listed. Otherwise the
    first list of `preferred` layers that has any has it, which may be "": an empty layer.
    """
    feature, problem = "", "there is no layer of coreference"
    if layer is None:
        matches = next(filter(None, preferred), ())
    else:
        problem = f"there is no layer {excerpt(layer)} that joins annotations"
        matches = _find_layers(joining, layer)
        if not matches:
            layer, _, feature = layer.rpartition(".")
            named = _find_layers(spans, layer)
            matches = [name for name in named if not spans[name] or feature in spans[name]]
    if len(matches) == 1:
        return matches[0], feature
    if matches:
        problem = f"there are several such layers: {list_names(matches)}"
    listed = [f"{n}.{f}" if f else n for n, features in spans.items() for f in features or ("",)]
    raise layer_error(source, problem, [*joining, *listed])


def _find_layers(layers: Iterable[str], name: str) -> list[str]:
    """The layers of a name, which may be the last part of theirs."""
    return [name] if name in layers else [k for k in layers if k.rpartition(".")[2] == name]


@dataclass(slots=True)
class AnnotatedMention:
    """A mention by its parts; what its `entity` may be says `AnnotatedDocument`."""

    parts: Parts
    entity: Hashable
    features: dict[str, str]


@dataclass(slots=True)
class AnnotatedDocument:
    """The annotation of a document, to which spans and links are added; see `build_corpus`.

    Positions are those of `words` where these are given without `text`, else characters of the
    `text`. With both, `bounds` say where the words are in the text, and mentions move to words,
    which are the characters there unless they are given; `lines` are those of the words, `columns`
    further cells of them. The `source` is the file, or the record of it that is the document.
    With `in_utf16`, offsets count UTF-16 units of the text. Blanks at the edges of mentions do not
    count, unless the document `keeps_blanks`. `identifier` is None where the file does not say what
    the document is called; `counts` are what is told in notices.

    Mentions of one `entity` belong together, and those that are joined. An entity is a text, which
    is its name unless `names` has another one, or any hashable value, which has no name without.
    A mention that turned out to be a part of another one is None. Those that were added with an id
    have their `numbers` under it, None where nothing was left of them.
    """

    source: Source | Record
    identifier: DocumentId | str | None = None
    text: str | None = None
    words: Sequence[str] | None = None
    bounds: Sequence[tuple[int, int]] = ()
    sentence_starts: Sequence[int] | None = None
    lines: Sequence[int] | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    in_utf16: bool = False
    keeps_blanks: bool = False
    names: dict[Hashable, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    mentions: list[AnnotatedMention | None] = field(default_factory=list)
    numbers: dict[str, int | None] = field(default_factory=dict)
    _links: list[tuple[Hashable, Hashable]] = field(default_factory=list)
    _relations: list[tuple[str, int, int, str]] = field(default_factory=list)
    _sets: list[tuple[Hashable, Iterable[Hashable]]] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _places: list[int] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.identifier, str):
            self.identifier = DocumentId.parse(self.identifier)
        if self.text is not None and self.in_utf16:
            self._places = count_utf16(self.text)
        bounds = self._locate(self.bounds)
        self._starts, self._ends = [start for start, _ in bounds], [end for _, end in bounds]
        for (start, end), (next_start, next_end) in pairwise(bounds):
            if next_start < start or next_end < end:
                raise self.source.error(
                    "tokens are in one another, or not in the order of the text",
                    found=f"characters {start} up to {end} before {next_start} up to {next_end}",
                    expected="tokens one after the other",
                    fix="export the document again",
                )
        if bounds and self.text is not None and self.words is None:
            self.words = [self.text[start:end] for start, end in bounds]

    def add(
        self,
        parts: Sequence[tuple[int, int]],
        entity: Hashable = None,
        features: Mapping[str, str] | None = None,
        line: int | None = None,
        identifier: str | None = None,
    ) -> int | None:
        """Add a mention; returns its number, None where nothing is left of it, which is counted.

        Parts go from a start up to an end; what is outside of the document is an InputError, and so
        is an id that an earlier mention has.
        """
        places = self._locate(parts, line)
        if self.text is not None and not self.keeps_blanks:
            places = self._place(places)
        number = len(self.mentions) if places else None
        if identifier is not None and self.numbers.setdefault(identifier, number) != number:
            raise self.source.error(
                f"mention {excerpt(identifier)} appears twice",
                line,
                found="an id that an earlier one has",
                expected="a different id for each mention",
                fix="rename or remove one of the two",
            )
        if not places:
            self.counts["empty-mentions"] += 1
            return None
        stated = {k: v for k, v in features.items() if v} if features else {}
        if len(places) > 1:
            places = join_parts(places, self.text if self.words is None else None)
        owner = (None, number) if entity is None else entity  # which is no one else's
        self.mentions.append(AnnotatedMention(places, owner, stated))
        return number

    def find(self, identifier: str, line: int | None = None) -> int | None:
        """The number of the mention of an id, for a link on a line; else an InputError."""
        if identifier not in self.numbers:
            raise self.source.error(
                f"there is no mention {excerpt(identifier)}",
                line,
                found="a link or relation of it",
                expected="the id of a mention of the same document",
                fix="add the mention, or remove what refers to it",
            )
        return self.numbers[identifier]

    def join(self, first: int | None, second: int | None, labels: Iterable[str] = ()) -> None:
        """Put two mentions into one entity; None stands for one that was left out.

        Where a label of their relation says that the first one bridges to the second, they stay
        apart, and the relation is kept.
        """
        if bridging := next(filter(None, map(BRIDGES.fullmatch, labels)), None):
            self.relate(first, second, bridging[1])
            return
        mentions = [self.mentions[number] for number in (first, second) if number is not None]
        entities = [mention.entity for mention in mentions if mention is not None]
        if len(entities) == 2:
            self.join_names(*entities)

    def join_names(self, first: Hashable, second: Hashable) -> None:
        """Make two entities one, by the values that mentions have for them."""
        self._links.append((first, second))

    def relate(
        self, anaphor: int | None, antecedent: int | None, label: str, kind: str = BRIDGING
    ) -> None:
        """Keep a relation of two mentions that does not join them."""
        if anaphor is not None and antecedent is not None:
            self._relations.append((kind, anaphor, antecedent, label))

    def group(self, entity: Hashable, members: Iterable[Hashable]) -> None:
        """Make an entity the set of others, by the values that mentions have for them."""
        self._sets.append((entity, members))

    def cover(self, parts: Parts) -> str:
        """The text of some parts of the document."""
        if self.words is None:
            return " ".join((self.text or "")[start:end] for start, end in parts)
        return " ".join(word for start, end in parts for word in self.words[start:end])

    def name_by_types(self) -> None:
        """Let types (`entity_type`) name the entities of mentions, where nothing else joins these.

        Which do, `chain_types` says. A mention of another type at the same place states what such a
        mention is, as in LitBank: the two become one.
        """
        mentions = [mention for mention in self.mentions if mention is not None]
        types = [mention.features.get("entity_type", "") for mention in mentions]
        texts = [self.cover(mention.parts) for mention in mentions]
        names = chain_types(list(zip(types, texts, strict=True)))
        described: dict[tuple[tuple[int, int], ...], list[AnnotatedMention]] = defaultdict(list)
        for type, mention in zip(reversed(types), reversed(mentions), strict=True):
            if type not in names:
                described[tuple(mention.parts)].append(mention)
        for number, (type, mention) in enumerate(zip(types, mentions, strict=True)):
            if type in names and (descriptions := described[tuple(mention.parts)]):
                descriptions.pop().entity = type
                self.mentions[number] = None
                self.counts["described-mentions"] += 1
            elif type in names:
                mention.entity = mention.features.pop("entity_type")
        self.counts["chains-in-types"] += len(names)
        self.counts["nothing-joined"] += len(mentions) if len(mentions) > 1 and not names else 0

    def _locate(self, spans: Sequence[tuple[int, int]], line: int | None = None) -> Parts:
        """Spans in code points or tokens of the document; an InputError where one is outside."""
        places, content = self._places, self.words if self.text is None else self.text
        size = len(places) - 1 if places else len(content or ())
        shortest = 1 if self.text is None or self.keeps_blanks else 0
        for start, end in spans:
            is_inside = 0 <= start <= end - shortest and end <= size
            if not is_inside or (places and min(places[start], places[end]) < 0):
                unit, whole = ("token", "document") if self.text is None else ("character", "text")
                raise self.source.error(
                    f"an annotation is outside of the {whole}",
                    line,
                    found=f"{unit}s {start!s:.20} up to {end!s:.20}",
                    expected=f"a start that is not after the end, and an end of at most {size}, "
                    f"the number of {unit}s{' (UTF-16 units)' if places else ''}",
                    fix="check that this is the text that was annotated, and export it again",
                )
        return [(places[start], places[end]) for start, end in spans] if places else [*spans]

    def _place(self, parts: Parts) -> Parts:
        """Where parts in the text are, on tokens if there are any; nothing for blank ones."""
        text, starts, ends = self.text or "", self._starts, self._ends
        visible = []
        for start, end in parts:
            covered = text[start:end]
            if trimmed := covered.strip():
                start += covered.index(trimmed)
                visible.append((start, start + len(trimmed)))
        if self.words is None:
            return visible
        if not visible and starts and parts:
            place = min(parts)[0]
            before, last = bisect_right(ends, place) - 1, bisect_right(starts, place) - 1
            # The token before, unless the place is in another one, or a blank before another one.
            position = last if last > before and (before < 0 or ends[before] < place) else before
            return [(max(position, 0), max(position, 0) + 1)]
        touched, added = [], ""
        for start, end in visible if len(visible) == 1 else join_parts(visible, text):
            first, after = bisect_right(ends, start), bisect_left(starts, end)
            if first < after:
                touched.append((first, after))
                if starts[first] < start or end < ends[after - 1]:
                    added += text[starts[first] : start] + text[end : ends[after - 1]]
        if added and not added.isspace():
            self.counts["widened-mentions"] += 1
        return touched

    def build(self, builder: CorpusBuilder, identifier: DocumentId) -> None:
        """Add the document to a corpus in the making."""
        document = builder.document(
            identifier,
            words=self.words,
            n_tokens=len(self.text or ""),
            sentence_starts=self.sentence_starts,
            columns=self.columns,
            metadata=self.metadata,
            lines=self.lines,
        )
        groups = join_links(self._links)
        stated: dict[Hashable, str | None] = {}
        for entity in (mention.entity for mention in self.mentions if mention is not None):
            group, default = groups.get(entity, entity), entity if type(entity) is str else None
            stated[group] = stated.get(group) or self.names.get(entity, default)
        entities = dict(zip(stated, unique_names([*stated.values()]), strict=True))
        numbers = {}
        for number, mention in enumerate(self.mentions):
            if mention is None:
                continue
            parts = mention.parts
            numbers[number] = document.mention(
                entities[groups.get(mention.entity, mention.entity)],
                parts[0][0],
                parts[-1][1],
                gaps=[(before[1], after[0]) for before, after in pairwise(parts)],
                features=mention.features,
            )
        for kind, anaphor, antecedent, label in self._relations:
            document.relation(kind, numbers[anaphor], [numbers[antecedent]], label)
        sets: dict[Hashable, list[str]] = defaultdict(list)
        for entity, members in self._sets:
            names = (entities.get(groups.get(member, member), "") for member in members)
            sets[groups.get(entity, entity)] += names
        for group, elements in sets.items():
            document.relation(SPLIT, entities.get(group, ""), list(dict.fromkeys(elements)))


def build_corpus(
    annotations: Sequence[AnnotatedDocument],
    source: Source,
    name: str = "",
    *,
    names_hold: bool = False,
    first_number: int = 1,
) -> Corpus:
    """The corpus of the documents of a file, with notices of all that was counted on the way.

    Nameless documents are called after the file, and where there are several numbered from
    `first_number` on. With `names_hold`, an entity of the same name is the same one in all
    documents.
    """
    if not annotations:
        raise source.error(
            "there is no document",
            expected="a document with its text or tokens",
            fix="name the format that the file really has, or export it again",
        )
    identifiers = _name_documents(annotations, source, first_number)
    corpora, counts = [], Counter[str]()
    for has_characters, run in groupby(annotations, key=lambda entry: entry.words is None):
        builder = CorpusBuilder(name=name, source=source.file, names_hold=names_hold)
        texts = []
        for annotation in run:
            annotation.build(builder, next(identifiers))
            texts.append(annotation.text)
            counts.update(annotation.counts)
        corpora.append(
            builder.build(tokens_of_texts(texts, source.file) if has_characters else None)
        )
    corpus = corpora[0] if len(corpora) == 1 else join(corpora, name=name or source.file)
    notices = note_counts(counts, whose=source.file)
    return corpus.with_details(notices=(*corpus.notices, *notices))


def _name_documents(
    annotations: Sequence[AnnotatedDocument], source: Source, first_number: int
) -> Iterator[DocumentId]:
    """The ids of documents, in order; an InputError for one that an earlier document has."""
    taken = {a.identifier for a in annotations if isinstance(a.identifier, DocumentId)}
    seen = set[DocumentId]()
    for number, annotation in enumerate(annotations, start=first_number):
        identifier = annotation.identifier
        if not isinstance(identifier, DocumentId):
            identifier = source.name_document(number if len(annotations) > 1 else None, taken)
        if identifier in seen:
            raise annotation.source.error(
                f"document {excerpt(str(identifier))} appears twice",
                found="an id that an earlier one has",
                expected="one document for each id and part",
                fix="rename or remove one of the two",
            )
        seen.add(identifier)
        yield identifier
