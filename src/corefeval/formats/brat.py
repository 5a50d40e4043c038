"""brat standoff: mentions by characters in `NAME.ann`, the text in `NAME.txt`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain

from corefeval.diagnostics import Notice, excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    carry_words,
    relations_of,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import (
    are_kinds,
    chain_types,
    document_id,
    file_stems,
    kind_and_class,
    lines_of,
    make_types,
    mention_ids,
    read_companion,
)
from corefeval.model import (
    BRIDGING,
    SPLIT,
    Corpus,
    Document,
    Relation,
)
from corefeval.model.identity import plain_word, writable_text
from corefeval.model.relations import find_anchors
from corefeval.model.text_tokens import text_of

_SPAN = r"[0-9]{1,15} [0-9]{1,15}"
_TEXT_BOUND = re.compile(rf"(T\S*)\t(\S+) ({_SPAN}(?:;{_SPAN})*)(?:\t(.*))?", re.DOTALL)
_RELATION = re.compile(r"R\S*\t(\S+) [^\s:]+:(\S+) [^\s:]+:(\S+)\s*")
_COREFERENCE = re.compile(r"R\S*\tcoref", re.IGNORECASE)
_EQUIVALENCE = re.compile(r"\*\tEquiv((?: \S+)+)\s*")
_UNKNOWN = "relations of unknown mentions"
_IGNORED = {
    "A": "attributes",
    "M": "attributes",
    "E": "events",
    "N": "references",
    "#": "notes",
    "R": "other relations",
    "*": "other equivalences",
}
_BRIDGING = re.compile(r"bridging(?:[_-](\S+))?", re.IGNORECASE)
_SPLIT = re.compile(r"split[_-]?antecedent", re.IGNORECASE)
_SAFE_KIND = re.compile(r"(?!coref)[^\s:]+", re.IGNORECASE)
_LINE_END = re.compile(r"[\r\n]+")


@dataclass(slots=True)
class _Lines:
    """What the lines of a file say; equivalences may come before the mentions that they join."""

    document: AnnotatedDocument
    links: list[tuple[list[str], int]] = field(default_factory=list)
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def read(self, line: str, number: int) -> None:
        """Read one line."""
        if match := _TEXT_BOUND.fullmatch(line):
            self.read_mention(match, number)
            return
        relation, equivalence = _RELATION.fullmatch(line), _EQUIVALENCE.fullmatch(line)
        is_coreference = _COREFERENCE.match(line) is not None
        if line[0] not in _IGNORED or (is_coreference and relation is None):
            raise self.document.source.error(
                "this is not a line of brat",
                number,
                found=excerpt(line),
                expected="T1, tab, type, start and end in characters, tab, text; R1, tab, "
                "Coreference Arg1:T1 Arg2:T2; or *, tab, Equiv T1 T2 …",
                fix="fix or remove the line",
            )
        ends = list(relation.groups()[1:]) if relation else []
        ends = equivalence[1].split() if equivalence else ends
        if not ends or not all(identifier.startswith("T") for identifier in ends):
            self.ignored[_IGNORED[line[0]]] += 1
        elif relation and not is_coreference:
            self.relations.append((relation[1], *ends))
        else:
            self.links.append((ends, number))

    def read_mention(self, match: re.Match[str], line: int) -> None:
        """Read a text-bound annotation."""
        identifier, kind, offsets, stated = match.groups()
        document = self.document
        numbers = [tuple(map(int, span.split())) for span in offsets.split(";")]
        spans = [(start, end) for start, end in numbers]
        features = {"mention_id": identifier, "entity_type": kind}
        document.add(spans, identifier, features, line, identifier)
        is_changed = stated is not None and stated.split() != document.cover(spans).split()
        document.counts["other-text"] += is_changed

    def join(self) -> None:
        """Join the mentions; types name entities only where nothing else joins any mentions."""
        for identifiers, line in self.links:
            for identifier in identifiers:
                self.document.find(identifier, line)
                self.document.join_names(identifiers[0], identifier)
        if not self.links:
            self.document.name_by_types()

    def relate(self) -> None:
        """Add the relations that do not join: of mentions, and of entities that are sets."""
        document = self.document
        for kind, *ends in self.relations:
            numbers = [n for end in ends if (n := document.numbers.get(end)) is not None]
            entities = [m.entity for n in numbers if (m := document.mentions[n]) is not None]
            if len(entities) < len(ends):
                self.ignored[_UNKNOWN] += 1
            elif _SPLIT.fullmatch(kind):
                document.group(entities[0], entities[1:])
            elif bridging := _BRIDGING.fullmatch(kind):
                document.relate(numbers[0], numbers[1], bridging[1] or "")
            else:
                document.relate(numbers[0], numbers[1], "", kind)


def read_brat(source: Source, *, name: str = "") -> Corpus:
    """Read `NAME.ann` and the `NAME.txt` beside it.

    Positions of this corpus are characters; it is scored on the tokens of its key. Relations whose
    type begins with Coref, and equivalences, join mentions into entities. Where there are none,
    types may name the entities (`Kellynch_Hall-1`, `Cluster2`; see `chain_types`). A mention that
    nothing joins is an entity of its own. Types such as PROP_PER are a `mention_type` and an
    `entity_type`.
    """
    text = read_companion(source, ".txt").text
    document = AnnotatedDocument(source, document_id(source.stem), text=text, keeps_blanks=True)
    lines = _Lines(document)
    for number, line in enumerate(lines_of(source.text), start=1):
        if line.strip():
            lines.read(line, number)
    lines.join()
    lines.relate()
    mentions = [mention for mention in document.mentions if mention is not None]
    types = [mention.features.get("entity_type", "") for mention in mentions]
    kinds_alone = are_kinds(types)
    for mention, type in zip(mentions, types, strict=True):
        kind, entity_class = kind_and_class(type, kinds=kinds_alone)
        mention.features |= {"entity_type": entity_class}
        mention.features |= {"mention_type": kind} if kind else {}
    corpus = build_corpus([document], source, name)
    if not (n_lines := lines.ignored.total()):
        return corpus
    kinds = dict.fromkeys((*_IGNORED.values(), _UNKNOWN))
    parts = tuple((f"of {kind}", lines.ignored[kind]) for kind in kinds)
    message = f"{source.file}: {{n}} ignored: {{parts}}"
    ignored = Notice("left-aside", message, n_lines, tuple(lines.ignored), "line", parts)
    return corpus.with_details(notices=(*corpus.notices, ignored))


def write_brat(corpus: Corpus) -> Written:
    """Write `NAME.ann` and `NAME.txt` for each document; `_` where there are no words.

    A corpus of texts is written as it is; words are joined by blanks, sentences by newlines.
    Entities of several mentions become equivalences, and lose their names.
    """
    files: dict[str, str] = {}
    counts: Counter[str] = Counter()
    lost: list[Relation] = []
    anchors = find_anchors(corpus)
    stems, counts["document-names"] = file_stems(corpus.documents)
    for document, stem in zip(corpus, stems, strict=True):
        text, starts, ends = _text(document, counts)
        spans = [
            [(starts[first], ends[after - 1]) for first, after in mention.parts]
            for mention in document.mentions
        ]
        lines = _annotation(document, text, spans, counts)
        lines += _relation_lines(document, anchors, lost, counts)
        files |= {f"{stem}.ann": lines, f"{stem}.txt": text}
    return Written(files, counts=counts, relations=lost)


def _relation_lines(
    document: Document,
    anchors: dict[int, list[tuple[int, int, bool]]],
    lost: list[Relation],
    counts: Counter[str],
) -> str:
    """Lines of relations between mentions; an entity is its first mention.

    Relations that cannot be written are added to `lost`.
    """
    first: dict[int, int] = {}
    identifiers = dict(zip(document.rows, mention_ids(document), strict=True))
    for mention in reversed(document.mentions):
        first[mention.entity.index] = mention.row
    lines: list[str] = []
    for number, relation in relations_of(document).items():
        kind, ends = relation.kind, (relation.anaphor, *relation.antecedents)
        rows = [(row if row >= 0 else first.get(entity, -1)) for entity, row in ends]
        pairs = [(rows[0], row) for row in rows[1:]]
        if kind == BRIDGING:
            kind = f"Bridging_{relation.label}" if relation.label else "Bridging"
            pairs = [(anaphor, antecedent) for anaphor, antecedent, _ in anchors.get(number, ())]
            counts["chosen-anchors"] += sum(not stated for *_, stated in anchors.get(number, ()))
        elif kind == SPLIT:
            kind = "Split_antecedent"
        elif relation.label or len(pairs) > 1 or min(chain(*ends)) < 0:
            pairs = []
        if not pairs or min(map(min, pairs)) < 0 or not _SAFE_KIND.fullmatch(kind):
            lost.append(relation)
            continue
        for anaphor, antecedent in pairs:
            arguments = f"Arg1:{identifiers[anaphor]} Arg2:{identifiers[antecedent]}"
            lines.append(f"R{len(lines) + 1}\t{kind} {arguments}\n")
    return "".join(lines)


def _text(document: Document, counts: Counter[str]) -> tuple[str, list[int], list[int]]:
    """The text of a document, and where each of its positions begins and ends in it."""
    text = text_of(document.corpus.tokens, document.index)
    if text is not None:
        safe = writable_text(text)  # one for one, so that offsets hold
        counts["changed-words"] += safe != text
        return safe, list(range(len(text))), list(range(1, len(text) + 1))
    words = carry_words(words_of(document), plain_word, counts)
    sentence_starts = {start for start, _ in sentence_bounds(document, len(words))}
    starts, parts, place = [], [], 0
    for position, word in enumerate(words):
        between = "\n" if position in sentence_starts else " "
        parts += [between, word] if position else [word]
        place += 1 if position else 0
        starts.append(place)
        place += len(word)
    text = "".join((*parts, "\n" if parts else ""))
    return text, starts, [start + len(word) for start, word in zip(starts, words, strict=True)]


def _annotation(
    document: Document, text: str, spans: list[list[tuple[int, int]]], counts: Counter[str]
) -> str:
    identifiers, types = mention_ids(document, counts), make_types(document, counts)
    lines = []
    members: dict[int, list[str]] = defaultdict(list)
    described = []
    for mention, parts, identifier, type in zip(
        document.mentions, spans, identifiers, types, strict=True
    ):
        pieces = [piece for start, end in parts for piece in _on_lines(text, start, end)]
        offsets = ";".join(f"{start} {end}" for start, end in pieces)
        edges = pieces[0][0], pieces[-1][1]
        counts["trimmed-mentions"] += edges != (parts[0][0], parts[-1][1])
        covered = " ".join(text[start:end] for start, end in pieces)
        described.append((type, covered))
        lines.append(f"{identifier}\t{type} {offsets}\t{_LINE_END.sub(' ', covered)}\n")
        members[mention.entity.index].append(identifier)
    names = document.corpus.names
    for entity, ids in members.items():
        counts["entity-names"] += names is not None and names[entity] != ids[0]
        if len(ids) > 1:
            lines.append(f"*\tEquiv {' '.join(ids)}\n")
    if len(members) == len(described) and chain_types(described):
        # Types would be read as names of entities, if nothing said what is joined.
        lines.append(f"*\tEquiv {identifiers[0]}\n")
    return "".join(lines)


def _on_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A span cut at line ends, which brat does not allow inside of a piece."""
    pieces = [match.span() for match in re.finditer(r"[^\r\n]+", text[start:end])]
    return [(start + first, start + after) for first, after in pieces] or [(start, end)]
