"""Corpora to measure with: made here, of any size, with realistic chains and typical errors."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

MENTIONS_PER_TOKEN = 0.12
SENTENCE = 22

GENRES = ("nw", "bc", "bn", "wb")
CLASSES = ("PERSON", "PERSON", "ORG", "GPE", "NORP")
PERSONAL = (("he", "him"), ("she", "her"), ("it", "it"), ("they", "them"))
POSSESSIVE = ("his", "her", "its", "their")
DETERMINERS = ("the", "the", "a", "this", "that", "some")
PREPOSITIONS = ("of", "in", "to", "for", "with", "on", "at", "from", "by")
# What stands outside of mentions: tag, phrase around it, words (or none: any)
FREE = (
    ("NN", "(NP", ()),
    ("NNS", "(NP", ()),
    ("RB", "(ADVP", ()),
    ("JJ", "(ADJP", ()),
    ("VBN", "(VP", ()),
    ("CD", "(NP", ("two", "three", "1998", "40")),
    (",", "", (",",)),
    ("CC", "", ("and", "or", "but")),
    ("DT", "(NP", ("that", "all")),
    ("MD", "", ("will", "can", "would")),
)
UPOS = {
    "PRP": "PRON", "PRP$": "PRON", "NNP": "PROPN", "NN": "NOUN", "NNS": "NOUN", "DT": "DET",
    "JJ": "ADJ", "RB": "ADV", "IN": "ADP", "CC": "CCONJ", "CD": "NUM", "MD": "AUX",
    ",": "PUNCT", ".": "PUNCT",
}  # fmt: skip
FEATURES = {
    "PRON": "Case=Nom|Number=Sing|Person=3|PronType=Prs",
    "PROPN": "Number=Sing",
    "NOUN": "Number=Sing",
    "VERB": "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin",
    "DET": "Definite=Def|PronType=Art",
}
SENTENCE_TYPES = ("decl", "decl", "decl", "decl", "frag", "wh", "q", "imp")

# (start, length, entity) of each mention of a document
Mentions = list[tuple[int, int, int]]


def vocabulary(rng: random.Random, size: int = 20_000) -> list[str]:
    letters = "eeeettaaooiinnsshhrrdlucmwfgypbvk"
    return [
        "".join(rng.choice(letters) for _ in range(1 + min(int(rng.expovariate(0.25)), 14)))
        for _ in range(size)
    ]


def key_mentions(rng: random.Random, n_tokens: int) -> Mentions:
    """Chains with a few frequent and many rare entities; no span twice, no crossing."""
    n_entities = max(2, int(n_tokens * MENTIONS_PER_TOKEN / 4))
    mentions: Mentions = []
    position = rng.randrange(4)
    while position < n_tokens - 6:
        length = rng.choice((1, 1, 1, 2, 2, 3, 4))
        entity = min(int(rng.paretovariate(0.9)) - 1, n_entities - 1)
        entity = entity if entity < n_entities - 1 else rng.randrange(n_entities)
        mentions.append((position, length, entity))
        position += length + 1 + int(rng.expovariate(1 / 5.5))
    return mentions


def response_mentions(rng: random.Random, key: Mentions, n_tokens: int) -> Mentions:
    """A tenth missed, a tenth in another entity, a tenth with another end, some invented."""
    found: dict[tuple[int, int], int] = {}
    highest = max((entity for _, _, entity in key), default=0)
    for start, length, entity in key:
        if rng.random() < 0.1:
            continue
        if rng.random() < 0.1:
            entity = rng.randint(0, highest + 1)
        if rng.random() < 0.1 and start + length < n_tokens:
            length += 1
        found.setdefault((start, length), entity)
    for _ in range(len(key) // 12):
        found.setdefault((rng.randrange(n_tokens), 1), rng.randint(0, highest + 20))
    return [(start, length, entity) for (start, length), entity in found.items()]


def cells(mentions: Mentions, n_tokens: int) -> list[str]:
    opening: list[list[str]] = [[] for _ in range(n_tokens)]
    closing: list[list[str]] = [[] for _ in range(n_tokens)]
    for start, length, entity in mentions:
        if length == 1:
            opening[start].append(f"({entity})")
        else:
            opening[start].append(f"({entity}")
            closing[start + length - 1].append(f"{entity})")
    return ["|".join(c + o) or "-" for o, c in zip(opening, closing, strict=True)]


@dataclass
class Text:
    """The columns of one document, filled in from its mentions and then from sentence to sentence.

    A parse bit is what opens before the token and what closes behind it.
    """

    words: list[str]
    tags: list[str] = field(init=False)
    classes: list[str] = field(init=False)
    opening: list[str] = field(init=False)
    closing: list[str] = field(init=False)
    phrase_end: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_tokens = len(self.words)
        self.tags, self.classes = [""] * n_tokens, ["*"] * n_tokens
        self.opening, self.closing = [""] * n_tokens, [""] * n_tokens

    def add_mention(self, rng: random.Random, start: int, length: int, entity: int) -> None:
        """A pronoun, a name or a nominal; a noun phrase, unless a sentence ends in it."""
        last = start + length - 1
        whole = start // SENTENCE == last // SENTENCE
        chance = rng.random()
        if length == 1 and chance < 0.5:
            last = self.add_pronoun(rng, start, entity)
        elif whole and chance < (0.8 if length == 1 else 0.4):
            name = CLASSES[entity % len(CLASSES)]
            for token in range(start, last + 1):
                self.words[token] = self.words[token].capitalize()
                self.tags[token] = "NNP"
            self.classes[start] = f"({name})" if length == 1 else f"({name}*"
            if length > 1:
                self.classes[last] = "*)"
        else:
            self.tags[start : last + 1] = ["JJ"] * length
            self.tags[last] = "NN" if chance < 0.95 else "NNS"
            if length > 1:
                self.words[start], self.tags[start] = rng.choice(DETERMINERS), "DT"
        if whole:
            self.opening[start] = "(NP"
            self.closing[last] = ")"
            self.phrase_end[start] = last

    def add_pronoun(self, rng: random.Random, start: int, entity: int) -> int:
        """A pronoun, and where its phrase ends: a possessive one has a noun behind it."""
        gender = entity % len(PERSONAL)
        beside = (start + 2) % SENTENCE > 1 and start + 2 < len(self.words)
        if beside and rng.random() < 0.3:
            self.words[start], self.tags[start] = POSSESSIVE[gender], "PRP$"
            self.tags[start + 1] = "NN"
            return start + 1
        self.words[start], self.tags[start] = rng.choice(PERSONAL[gender]), "PRP"
        return start

    def fill_sentence(self, rng: random.Random, first: int, last: int) -> None:
        """Verbs, prepositions and the rest, and a tree over them."""
        tags, opening, closing = self.tags, self.opening, self.closing
        if not tags[last]:
            self.words[last] = tags[last] = "."
        verb = -1
        for token in range(first, last):
            if tags[token]:
                continue
            chance = rng.random()
            if verb < 0 and token > first:
                verb, tags[token], opening[token] = token, "VBD", "(VP"
            elif verb >= 0 and token + 1 in self.phrase_end and chance < 0.5:
                tags[token], opening[token] = "IN", "(PP"
                self.words[token] = PREPOSITIONS[int(chance * 2 * len(PREPOSITIONS))]
                closing[self.phrase_end[token + 1]] += ")"
            else:
                tag, phrase, words = FREE[int(chance * len(FREE))]
                tags[token], opening[token] = tag, phrase
                closing[token] += ")" if phrase else ""
                self.words[token] = rng.choice(words) if words else self.words[token]
                self.classes[token] = "(CARDINAL)" if tag == "CD" else "*"
        if verb >= 0:
            closing[last - 1 if tags[last] == "." else last] += ")"
        opening[first] = "(TOP(S" + opening[first]
        closing[last] += "))"


def annotated(rng: random.Random, words: list[str], mentions: Mentions) -> Text:
    """A text around mentions: tags, named entities, and trees in which mentions are phrases."""
    text = Text(words)
    for mention in mentions:
        text.add_mention(rng, *mention)
    for first in range(0, len(words), SENTENCE):
        text.fill_sentence(rng, first, min(first + SENTENCE, len(words)) - 1)
    return text


def middle_columns(rng: random.Random, text: Text, genre: str) -> list[str]:
    """All between the word and coreference, for each token; people speak in broadcasts."""
    speakers = [f"Speaker#{n}" for n in range(1, 4)] if genre in ("bc", "bn") else ["-"]
    columns = []
    rows = zip(text.words, text.tags, text.opening, text.closing, text.classes, strict=True)
    speaker = ""
    for token, (word, tag, opening, closing, name) in enumerate(rows):
        if token % SENTENCE == 0:
            speaker = rng.choice(speakers)
        verb = f"{word}\t01" if tag[0] == "V" else f"{word}\t-" if tag[:2] == "NN" else "-\t-"
        columns.append(f"\t{tag}\t{opening}*{closing}\t{verb}\t-\t{speaker}\t{name}\t")
    return columns


def write_corpus(
    folder: Path, name: str, n_documents: int, n_tokens: int
) -> tuple[Path, Path, Path]:
    """A key, a response with the same columns, and the same response with five columns."""
    rng = random.Random(f"{name} {n_documents} {n_tokens}")
    style = random.Random(f"style of {name}")  # of its own, so that mentions stay as they are
    words = vocabulary(rng)
    paths = tuple(folder / f"{name}.{kind}.conll" for kind in ("key", "response", "other"))
    with (
        open(paths[0], "w", encoding="utf-8") as key_file,
        open(paths[1], "w", encoding="utf-8") as response_file,
        open(paths[2], "w", encoding="utf-8") as other_file,
    ):
        for document in range(n_documents):
            genre = GENRES[document % len(GENRES)]
            identifier = f"{genre}/{name}/{document // 100:02d}/{name}_{document:04d}"
            key = key_mentions(rng, n_tokens)
            response = response_mentions(rng, key, n_tokens)
            key_cells, response_cells = cells(key, n_tokens), cells(response, n_tokens)
            text = annotated(style, [rng.choice(words) for _ in range(n_tokens)], key)
            middle = middle_columns(style, text, genre)
            header = f"#begin document ({identifier}); part 000\n"
            for file in (key_file, response_file, other_file):
                file.write(header)
            for token, word in enumerate(text.words):
                front = f"{identifier}\t0\t{token % SENTENCE}\t{word}"
                rest = middle[token]
                end = "\n\n" if token % SENTENCE == SENTENCE - 1 else "\n"
                key_file.write(front + rest + key_cells[token] + end)
                response_file.write(front + rest + response_cells[token] + end)
                other_file.write(front + "\t" + response_cells[token] + end)
            for file in (key_file, response_file, other_file):
                file.write("#end document\n")
    return paths  # type: ignore[return-value]


def write_conllu(path: Path, n_documents: int, n_tokens: int) -> Path:
    """CorefUD with all columns filled; the trees are flat."""
    rng = random.Random(f"conllu {n_documents} {n_tokens}")
    style = random.Random("style of conllu")
    words = vocabulary(rng)
    with open(path, "w", encoding="utf-8") as file:
        for document in range(n_documents):
            file.write(f"# newdoc id = doc{document}\n# global.Entity = eid-etype-head\n")
            starts, ends = defaultdict(str), defaultdict(str)
            mentions = key_mentions(rng, n_tokens)
            for start, length, entity in mentions:
                closing = ")" if length == 1 else ""
                starts[start] += f"(e{entity}-person-1{closing}"
                ends[start + length - 1] += "" if closing else f"e{entity})"
            text = annotated(style, [rng.choice(words) for _ in range(n_tokens)], mentions)
            for token, (word, tag) in enumerate(zip(text.words, text.tags, strict=True)):
                place, upos = token % SENTENCE, UPOS.get(tag, "VERB")
                mark = ends[token] + starts[token]
                misc = f"Entity={mark}|SpaceAfter=No" if mark else "_"
                if place == 0:
                    blank = "\n" if token else ""
                    kind = style.choice(SENTENCE_TYPES)
                    file.write(f"{blank}# sent_id = doc{document}-{token}\n# s_type = {kind}\n")
                    file.write(f"# text = {word}\n")
                before = f"{place + 1}\t{word}\t{word}\t{upos}\t{tag}\t{FEATURES.get(upos, '_')}"
                file.write(f"{before}\t{min(place, 1)}\tdep\t_\t{misc}\n")
            file.write("\n")
    return path


def write_zero_pair(folder: Path, n_documents: int, n_tokens: int) -> tuple[Path, Path]:
    """Two CorefUD files with empty nodes in a tenth of the sentences.

    The response has a tenth of the longer mentions cut short, and a third of the nodes elsewhere.
    """
    rng = random.Random(f"zeros {n_documents} {n_tokens}")
    words = vocabulary(rng)
    paths = tuple(folder / f"zeros.{side}.conllu" for side in ("key", "response"))
    with (
        open(paths[0], "w", encoding="utf-8") as key,
        open(paths[1], "w", encoding="utf-8") as other,
    ):
        for document in range(n_documents):
            mentions = key_mentions(rng, n_tokens)
            cut = [
                (start, length - (length > 2 and rng.random() < 0.1), entity)
                for start, length, entity in mentions
            ]
            text = [rng.choice(words) for _ in range(n_tokens)]
            nodes = {
                sentence: (2, 2 + (rng.random() < 0.3), rng.randrange(20))
                for sentence in range(n_tokens // SENTENCE)
                if rng.random() < 0.1
            }
            for file, spans, side in ((key, mentions, 0), (other, cut, 1)):
                places = {sentence: (node[side], node[2]) for sentence, node in nodes.items()}
                _write_document(file, f"doc{document}", text, spans, places)
    return paths[0], paths[1]


def _write_document(
    file: IO[str],
    name: str,
    text: list[str],
    mentions: list[tuple[int, int, int]],
    nodes: dict[int, tuple[int, int]],
) -> None:
    """One document; `nodes` has the place and the entity of the empty node of some sentences."""
    marks: dict[int, str] = defaultdict(str)
    for start, length, entity in sorted(mentions, key=lambda one: (one[0], -one[1])):
        marks[start] += f"(e{entity}-x-1{')' if length == 1 else ''}"
    for start, length, entity in sorted(mentions, key=lambda one: (-one[0], one[1])):
        if length > 1:
            marks[start + length - 1] = f"e{entity})" + marks[start + length - 1]
    file.write(f"# newdoc id = {name}\n# global.Entity = eid-etype-head\n")
    for token, word in enumerate(text):
        sentence, place = divmod(token, SENTENCE)
        if place == 0:
            blank = "\n" if token else ""
            file.write(f"{blank}# sent_id = {name}-{sentence}\n")
        misc = f"Entity={marks[token]}" if token in marks else "_"
        head = min(place, 1)
        columns = f"{word}\t{word}\tNOUN\tNN\t_\t{head}\tdep\t{head}:dep\t{misc}"
        file.write(f"{place + 1}\t{columns}\n")
        if nodes.get(sentence, (0, 0))[0] == place + 1:
            entity = nodes[sentence][1]
            columns = f"_\t_\tPRON\t_\t_\t_\t_\t4:nsubj\tEntity=(e{entity}-x-1)"
            file.write(f"{place + 1}.1\t{columns}\n")
    file.write("\n")


def mention_arrays(n_mentions: int, seed: int = 0) -> Iterator[dict[str, np.ndarray]]:
    """Key and response of one huge document as arrays, with the same kinds of errors."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.8, size=n_mentions // 3), 5000)
    entity = np.repeat(np.arange(sizes.size), sizes)[:n_mentions]
    entity = np.concatenate((entity, sizes.size + np.arange(n_mentions - entity.size)))
    rng.shuffle(entity)
    start = np.arange(n_mentions) * 2
    yield {"entity": entity, "start": start}
    other = entity.copy()
    moved = np.flatnonzero(rng.random(n_mentions) < 0.1)
    other[moved] = other[rng.permutation(moved)]
    new = rng.random(n_mentions) < 0.05
    other[new] = sizes.size + n_mentions + rng.integers(0, n_mentions // 20, int(new.sum()))
    shifted = np.where(rng.random(n_mentions) < 0.1, start + 1, start)
    kept = rng.random(n_mentions) > 0.1
    yield {"entity": other[kept], "start": shifted[kept]}
