"""Corpora by number, and whole files of them in every format."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import corefeval
from answer_writers import WRITERS
from corefeval import CorefEvalError
from corefeval.formats import FORMATS
from corefeval.formats.answers.prompts import passage_of
from corefeval.model import Corpus, CorpusBuilder
from corefeval.results import save
from fuzzing.hostility import NAMES

Files = dict[str, bytes]  # by path; a path that ends in a slash is an empty folder

CORPORA = 20  # how many different texts there are
SIDES = 3  # a key and responses to it
SAVED = "saved results"  # these are inputs too, but no corpora
ANSWERED = "llm"  # and so are answers of language models, which need a key
KINDS = (*FORMATS, ANSWERED, SAVED)

_WORDS = ("Ada", "she", "the", "captain", "of", "it", "l'été", "日本", ".", "x1", "##", "(a", "b|c")
_TAGS = ("NNP", "PRP", "DT", "NN", "IN", "PRP", "NN", "NNP", ".", "NN", "NN", "NN", "XX")
_ENDINGS = {
    "corefud": ".conllu",
    "conllua": ".conllua",
    "conll": ".conll",
    "litbank": ".ann",
    "brat": ".ann",
}
# Formats that are only read have files that were made for them; two names are one document.
_TOOLS = Path(__file__).parent.parent / "data" / "tools" / "made"
_MADE: dict[str, tuple[tuple[str, ...], ...]] = {
    "webanno": (("w0.tsv",), ("g0.tsv",)),
    "xmi": (("chain-2.xmi",), ("ca-v2-1.ca2",)),
    "cas-json": (("relation-0.json",),),
    "tei": (("t0.xml",),),
    "booknlp": (("b0.entities", "b0.tokens"),),
    "mmax": (
        ("m0.mmax", "Basedata/m0_words.xml", "markables/m0_coref_level.xml"),
        ("Basedata/m0_words.xml",),
    ),
    "ecb": (("0_1ecb.xml",),),
    "corenlp": (("c2.json",), ("c2.xml",)),
    "label-studio": (("l2.json",),),
    "doccano": (("d2.jsonl",),),
    "prodigy": (("p0.jsonl",),),
    "allennlp": (("a0.json",),),
    "sacr": (("s0.sacr",),),
}


@cache
def corpus(number: int, side: int) -> Corpus:
    """One of the texts; the sides differ in their mentions, and now and then in their documents.

    Its ids and words are hostile for odd numbers, as far as corpora take them.
    """
    text, random = Random(number), Random(f"{number} {side}")
    builder = CorpusBuilder(name=f"corpus{number}")
    hostile = number % 2 == 1
    for index in range(text.choice((1, 2, 3, 4))):
        length = text.choice((0, 3, 6, 9, 12))
        chosen = [text.randrange(len(_WORDS)) for _ in range(length)]
        words = [_WORDS[place] for place in chosen]
        if hostile and words:
            words[text.randrange(length)] = text.choice(NAMES)
        starts = (
            sorted({0, *(text.randrange(length) for _ in range(length // 4))}) if length else []
        )
        name = f"{text.choice(NAMES)}{index}" if hostile else f"bc/story{index}"
        if number == 5 and side == 2:
            name += "x"
        document = builder.document(
            corefeval.DocumentId(name, index if number % 3 == 0 else None),
            words=words,
            sentence_starts=starts,
            columns=_columns(number, [_TAGS[place] for place in chosen]),
            metadata={"genre": text.choice(NAMES)} if number % 4 == 1 else {},
        )
        _add_mentions(document, length, number, random)
    return builder.build()


def _columns(number: int, tags: list[str]) -> dict[str, list[str]]:
    columns = {"tag": tags} if number % 3 else {}
    if number % 4 == 2:
        names = ["(PERSON)" if tag == "NNP" else "*" for tag in tags]
        columns |= {"parse": ["(NP*)" for _ in tags], "speaker": ["Ann" for _ in tags]}
        columns |= {"lemma": [tag.lower() for tag in tags], "named_entity": names}
    if number % 5 == 3:
        columns["empty"] = ["1" if tag == "DT" else "" for tag in tags]
    return columns


def _add_mentions(document: Any, length: int, number: int, random: Random) -> None:
    rows = []
    related = number % 5 == 2  # has deixis, mentions that refer to nothing, sets and bridging
    for _ in range(random.randrange(8) if length else 0):
        entity = random.choice(NAMES) if number % 4 == 3 else random.choice("123")
        start = random.randrange(length)
        end = random.randrange(start, min(length, start + 4)) + 1
        gap = set(random.sample(range(start, end), 1)) if number % 6 == 5 else set()
        positions = [place for place in range(start, end) if place not in gap] or [start]
        features = {"etype": random.choice(("person", *NAMES))} if number % 3 == 2 else {}
        head = positions[-1] if number % 4 == 1 else None
        layer = random.choice((0, 0, 0, 1, 2)) if related else 0
        row = document.mention_at(entity, positions, head=head, features=features, layer=layer)
        rows.append((row, (entity, layer)))
    for _ in range(random.randrange(4) if related and rows else 0):
        some = [random.choice(rows) for _ in range(random.randrange(2, 4))]
        if random.random() < 0.5:
            document.relation("split-antecedent", some[0][1], [one for _, one in some[1:]])
        else:
            name = random.choice(("", "poss", *NAMES))
            document.relation("bridging", some[0][0], [some[1][random.randrange(2)]], name)


@cache
def whole_files(kind: str, number: int, side: int) -> Files:
    """A text as files of a format, by endings: one alone, or several that make a folder."""
    try:
        if kind == SAVED:
            return {".json": _saved(number, side)}
        if kind == ANSWERED:
            return {".jsonl": _answers(number, side)}
        if kind == "parquet":
            return {".parquet": _rows(number, side)}
        if kind in _MADE and not FORMATS[kind].writer:
            return _made(kind, number)
        files, _ = FORMATS[kind].write(corpus(number, side))
    except CorefEvalError:  # some formats cannot carry some ids, and not all sides belong together
        return whole_files(kind, (number + 1) % CORPORA, side)
    if set(files) == {""}:
        return {_ENDINGS.get(kind, ".json" if kind != "crac-text" else ".txt"): files[""]}
    return dict(files)


def _made(kind: str, number: int) -> Files:
    """A file that was made for a format, or several that belong together."""
    names = _MADE[kind][number % len(_MADE[kind])]
    folder = _TOOLS / "mmax0" if kind == "mmax" else _TOOLS
    files = {name: (folder / name).read_bytes() for name in names}
    return files if len(files) > 1 else {Path(names[0]).suffix: files[names[0]]}


def _rows(number: int, side: int) -> bytes:
    """A text as rows of Parquet, which are records of some kind of JSON."""
    import pyarrow
    import pyarrow.parquet

    kind = ("e2e", "bookcoref", "preco", "crac-json", "maverick", "fastcoref")[number % 6]
    ((_, lines),) = whole_files(kind, number, side).items()
    plain = re.sub(rb"\\ud[89a-f]..", b"?", lines, flags=re.IGNORECASE)  # which Parquet cannot hold
    records = [json.loads(line) for line in plain.split(b"\n") if line]
    target = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), target)
    return target.getvalue()


def style_of(number: int) -> str:
    """The style in which a text is answered."""
    return [*WRITERS][number % len(WRITERS)]


def _answers(number: int, side: int) -> bytes:
    """A text in one of the styles, as records of one kind or another."""
    write = WRITERS[style_of(number)]
    records = []
    for document in corpus(number, side):
        name, passage = str(document.id), passage_of(document)
        text = write(passage)
        whole = {"choices": [{"message": {"content": text}, "finish_reason": "length"}]}
        records.append({"id": name, "answer": text} if side % 2 else {"custom_id": name, **whole})
    return "\n".join(map(json.dumps, records)).encode()


def _saved(number: int, side: int) -> bytes:
    from tempfile import TemporaryDirectory

    key, response = corpus(number, 0), corpus(number, side)
    result = corefeval.score(key, response, by="size" if number % 2 else (), ignore_tokens=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "saved.json"
        save([result], path)
        return path.read_bytes()
