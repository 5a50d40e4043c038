"""brat standoff: mentions by characters in `NAME.ann`, the text in `NAME.txt`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain, pairwise

from corefeval.diagnostics import InputError, Notice, excerpt, note, plural
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    carry_words,
    encode_text,
    note_losses,
    relations_of,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import (
    Annotation,
    Annotations,
    are_kinds,
    chain_types,
    companion_text,
    document_id,
    file_stems,
    join_parts,
    kind_and_class,
    lines_of,
    make_types,
    mention_ids,
    repetition_error,
    text_bytes,
)
from corefeval.model import (
    BRIDGING,
    SPLIT,
    Corpus,
    CorpusBuilder,
    Document,
    Relation,
)
from corefeval.model.identity import plain_word, writable_text
from corefeval.model.relations import find_anchors
from corefeval.model.text_tokens import text_of
from corefeval.model.token_tables import tokens_of_texts

_SPAN = r"[0-9]{1,15} [0-9]{1,15}"
_TEXT_BOUND = re.compile(rf"(T\S*)\t(\S+) ({_SPAN}(?:;{_SPAN})*)(?:\t(.*))?", re.DOTALL)
_RELATION = re.compile(r"R\S*\t(\S+) [^\s:]+:(\S+) [^\s:]+:(\S+)\s*")
_COREFERENCE = re.compile(r"R\S*\tcoref", re.IGNORECASE)
_EQUIVALENCE = re.compile(r"\*\tEquiv((?: \S+)+)\s*")
_IGNORED = {
    "A": "attributes",
    "M": "attributes",
    "E": "events",
    "N": "references",
    "#": "notes",
    "R": "other relations",
    "*": "other equivalences",
}
_SAFE_KIND = re.compile(r"(?!coref)[^\s:]+", re.IGNORECASE)
_LINE_END = re.compile(r"[\r\n]+")


@dataclass(slots=True)
class _Lines(Annotations):
    """What the lines of a file say; equivalences may come before the mentions that they join."""

    other_text: int = 0

    def read(self, line: str, number: int) -> None:
        """Read one line."""
        if line.startswith("T"):
            self.read_mention(line, number)
        elif equivalence := _EQUIVALENCE.fullmatch(line):
            self.join(equivalence[1].split(), line, number)
        elif _COREFERENCE.match(line):
            relation = _RELATION.fullmatch(line)
            if relation is None:
                raise self.refuse(line, number, "R1, tab, Coreference Arg1:T1 Arg2:T2")
            self.join([relation[2], relation[3]], line, number)
        elif (relation := _RELATION.fullmatch(line)) and relation[2][0] == relation[3][0] == "T":
            self.relations.append((relation[1], relation[2], relation[3]))
        elif line[0] in _IGNORED:
            self.ignored[_IGNORED[line[0]]] += 1
        else:
            raise self.refuse(line, number, "T1, tab, type, offsets, tab, text; or *, tab, Equiv …")

    def refuse(self, line: str, number: int, expected: str) -> InputError:
        """The error of a line that cannot be read."""
        return self.source.error(
            "this is not a line of brat",
            number,
            found=excerpt(line),
            expected=expected,
            fix="fix or remove the line",
        )

    def join(self, identifiers: list[str], line: str, number: int) -> None:
        """Join mentions; what names events or anything else without text is ignored."""
        if all(identifier.startswith("T") for identifier in identifiers):
            self.links.append((identifiers, number))
        else:
            self.ignored[_IGNORED[line[0]]] += 1

    def read_mention(self, line: str, number: int) -> None:
        """Read a text-bound annotation."""
        match = _TEXT_BOUND.fullmatch(line)
        if match is None:
            raise self.refuse(line, number, "T1, tab, type, start and end in characters, tab, text")
        identifier, kind, offsets, stated = match.groups()
        if identifier in self.mentions:
            first = self.mentions[identifier].line
            raise repetition_error(self.source, identifier, first, number)
        spans = []
        for span in offsets.split(";"):
            start, end = map(int, span.split())
            if not start < end <= len(self.text):
                raise self.source.error(
                    f"mention {excerpt(identifier)} is outside the text",
                    number,
                    found=f"characters {start} up to {end}",
                    expected=f"start before end, and end at most {len(self.text)}",
                    fix="check that this is the text that was annotated; ends are exclusive",
                )
            spans.append((start, end))
        self.other_text += stated is not None and stated.split() != self.cover(spans).split()
        self.mentions[identifier] = Annotation(
            identifier, kind, join_parts(spans, self.text), number
        )

    def join_entities(self) -> tuple[list[Annotation], list[Notice]]:
        """The mentions with their entities, and a notice where no line says which belong together.

        Types are taken for names of entities only where nothing else joins any mentions.
        """
        if self.links:
            return self.entities(), []
        file = self.source.file
        if chains := self.chains():
            entities = {m.entity for m in chains if m.entity != m.identifier}
            example = excerpt(next(iter(entities)))
            message = f"{file}: no line joins mentions, but types such as {example} name entities: "
            message += f"{plural(len(entities), 'type')} read as entities"
            if merged := len(self.mentions) - len(chains):
                message += f"; {plural(merged, 'annotation')} of the same characters state classes"
            return chains, [Notice("chains-in-types", message, len(entities))]
        mentions = self.entities()
        if len(mentions) < 2:
            return mentions, []
        message = f"{file}: nothing joins mentions (no coreference relation, no equivalence, no"
        message += f" types that name entities): each of the {plural(len(mentions), 'mention')}"
        message += " is an entity of its own"
        if kinds := Counter(kind for kind, *_ in self.relations).most_common(3):
            listed = ", ".join(excerpt(kind) for kind, _ in kinds)
            message += f"; relations that do not join: {listed}"
        return mentions, [Notice("nothing-joined", message, len(mentions))]

    def notices(self) -> list[Notice]:
        """Notices of lines that contradict the text, and of lines that were ignored."""
        file, reason = (
            self.source.file,
            "whose text is not what is at its offsets; the offsets count",
        )
        notices = [*note("other-text", self.other_text, "mention", reason, whose=file)]
        if n_lines := self.ignored.total():
            kinds = ", ".join(f"{count} of {kind}" for kind, count in self.ignored.items())
            message = f"{file}: {plural(n_lines, 'line')} ignored: {kinds}"
            notices.append(Notice("left-aside", message, n_lines, tuple(self.ignored)))
        return notices


def read_brat(source: Source, *, name: str = "") -> Corpus:
    """Read `NAME.ann` and the `NAME.txt` beside it.

    Positions of this corpus are characters; it is scored on the tokens of its key. Relations whose
    type begins with Coref, and equivalences, join mentions into entities. Where there are none,
    types may name the entities (`Kellynch_Hall-1`, `Cluster2`; see `chain_types`). A mention that
    nothing joins is an entity of its own. Types such as PROP_PER are a `mention_type` and an
    `entity_type`.
    """
    companion = companion_text(source)
    text = companion.text
    annotations = _Lines(source, text)
    for number, line in enumerate(lines_of(source.text), start=1):
        if line.strip():
            annotations.read(line, number)
    builder = CorpusBuilder(name=name, source=source.file)
    document = builder.document(document_id(source.stem), n_tokens=len(text))
    mentions, builder.notices = annotations.join_entities()
    kinds_alone = are_kinds(mention.type for mention in mentions)
    numbers: dict[str, int] = {}
    for mention in mentions:
        kind, entity_class = kind_and_class(mention.type, kinds=kinds_alone)
        parts = mention.parts
        numbers[mention.identifier] = document.mention(
            mention.entity,
            parts[0][0],
            parts[-1][1],
            gaps=[(before[1], after[0]) for before, after in pairwise(parts)],
            features={
                "mention_id": mention.identifier,
                "entity_type": entity_class,
                **({"mention_type": kind} if kind else {}),
            },
        )
    annotations.relate(
        document, numbers, {mention.identifier: mention.entity for mention in mentions}
    )
    builder.notices += annotations.notices()
    return builder.build(tokens_of_texts([text], companion.file))


def write_brat(corpus: Corpus) -> Written:
    """Write `NAME.ann` and `NAME.txt` for each document; `_` where there are no words.

    A corpus of texts is written as it is; words are joined by blanks, sentences by newlines.
    Entities of several mentions become equivalences, and lose their names.
    """
    files: dict[str, bytes] = {}
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
        files[f"{stem}.ann"] = encode_text(lines, counts)
        files[f"{stem}.txt"] = text_bytes(text)
    return Written(files, note_losses("brat", corpus, counts, relations=lost))


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
