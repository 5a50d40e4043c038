"""Files to be read: small corpora in every format, whole or with mistakes."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import corefeval
from answer_writers import WRITERS
from corefeval import CorefEvalError
from corefeval.formats import FORMATS
from corefeval.formats.answers.prompts import passages
from corefeval.model import Corpus, CorpusBuilder
from corefeval.results import save
from fuzzing.hostility import NAMES, NUMBERS, PIECES, VALUES

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
    for name, passage in passages(corpus(number, side)):
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


def make_input(
    random: Random, name: str, number: int, side: int, kind: str, *, mistakes: bool
) -> tuple[str, Files]:
    """A path to be read and the files behind it: of a format, with mistakes or without."""
    files = whole_files(kind, number, side)
    if mistakes:
        files = _with_mistakes(random, files)
    if len(files) == 1:
        ((ending, data),) = files.items()
        path = name + ending
        if random.random() < 0.05:
            path, data = (
                f"{path}.gz",
                data if data[:2] == b"\x1f\x8b" else gzip.compress(data, mtime=0),
            )
        return path, {path: data}
    placed = {f"{name}/{below}": data for below, data in files.items()}
    if random.random() < 0.1:
        placed[f"{name}/{random.choice(('.hidden', 'README', 'x.txt', 'sub/y.conll'))}"] = b"?\n"
    annotations = [path for path in placed if path.endswith(".ann")]
    choice = random.random()
    if choice < 0.4 and annotations:
        return random.choice(annotations), placed
    return (f"{name}/*" if choice < 0.5 else name), placed


_PROBES = Path(__file__).parent.parent / "data" / "probes"


def make_probe(random: Random, *, response: bool, mistakes: bool) -> tuple[str, bytes]:
    """A probe of any format, mostly GAP's, or a response to that one: its path and its content."""
    folder = _PROBES / ("responses" if response else "probes")
    path = random.choice(sorted(folder.iterdir()))
    if random.random() < 0.7:
        answered = random.choice(("rows.tsv", "answers.jsonl", "answers.tsv", "gap.jsonl"))
        path = folder / (answered if response else "gap.tsv")
    data = path.read_bytes()
    name = path.name if not response else f"{random.randrange(9)}-{path.name}"
    return name, random.choice(MISTAKES)(random, data) if mistakes else data


@cache
def _filled_sheet(kind: str, number: int, design: str) -> bytes:
    """A sheet of the responses a and b of a text in a format, with answers."""
    from tempfile import TemporaryDirectory

    names = Random(number)
    answers: dict[str, Callable[[Any], Any]] = {
        "pairs": lambda row: names.choice("yyyn-?"),
        "sentences": lambda row: names.choice(("?", ((), 1), (row.mentions[:1], 0))),
    }
    try:
        with TemporaryDirectory() as folder:
            responses = {}
            for side, name in enumerate("ab"):
                for ending, data in whole_files(kind, number, side).items():
                    responses[name] = str(Path(folder, name + ending))
                    Path(responses[name]).write_bytes(data)
            sheet = corefeval.sample(responses, design=design, n=9, seed=number)
        sheet = sheet.fill(answers.get(design, lambda row: f"{names.choice('aab-?')}"))
        sheet = sheet.complete(lambda row: ())
    except (CorefEvalError, OSError):  # not all sides belong together, and some are folders
        return b"# corefeval sheet,design:names\n"
    return sheet.csv.encode("utf-8-sig", "backslashreplace")


def make_filled_sheet(random: Random, kind: str, number: int, *, mistakes: bool) -> bytes:
    """A filled sheet of two responses, with mistakes or without."""
    design = random.choice(("names", "entities", "pairs", "sentences"))
    data = _filled_sheet(kind, number, design)
    return random.choice(MISTAKES)(random, data) if mistakes else data


@cache
def _suite_results(number: int) -> bytes:
    """The saved results of two systems on two corpora, of which one cell has none."""
    from tempfile import TemporaryDirectory

    from corefeval.suites.outcome import CorpusFacts, SuiteCell, SuiteResult, SystemFacts

    cells = {}
    for corpus_name, text in (("a", number), (NAMES[number % len(NAMES)], number + 1)):
        for side, system in enumerate(("x", "y"), 1):
            key, response = (corpus(text % CORPORA, one) for one in (0, side))
            result = corefeval.score(key, response, metrics="conll, lea", ignore_tokens=True)
            cells[corpus_name, system, None] = SuiteCell(result)
    last = next(reversed(cells))
    cells[last] = SuiteCell(None, "there is no such file", "response")
    names = dict.fromkeys(name for name, _, _ in cells)
    outcome = SuiteResult(
        tuple(CorpusFacts(name, 1.0 + place, f"g{place}") for place, name in enumerate(names)),
        (SystemFacts("x"), SystemFacts("y")),
        ("muc", "b3", "ceafe", "conll", "lea"),
        "conll",
        cells,
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "saved.json"
        outcome.save(path)
        return path.read_bytes()


def make_suite_results(random: Random, number: int, *, mistakes: bool) -> Files:
    """A file of saved results of a suite."""
    try:
        files = {"results.json": _suite_results(number)}
    except CorefEvalError:  # not all sides belong together
        files = {"results.json": _suite_results(0)}
    return _with_mistakes(random, files) if mistakes else files


def make_suite(random: Random, number: int, kind: str, *, mistakes: bool) -> tuple[str, Files]:
    """A suite with corpora of a format and its files, some of which may be missing or broken."""
    files: Files = {}
    lines = [
        random.choice(('metrics = "conll, lea"', 'by = "size"', 'missing = "leave-out"', "")),
        random.choice(('protocol = "e2e"', 'title = "a\\u001bb"', "", "")),
    ]
    systems: dict[str, str] = {}
    for place in range(random.choice((1, 2, 2))):
        corpus_name = "ab"[place] if random.random() < 0.8 else random.choice(NAMES)[:20]
        for side in range(SIDES):
            name = f"{place}" if not side else f"{place}.s{side}"
            broken = mistakes and random.random() < 0.3
            path, own = make_input(random, name, number + place, side, kind, mistakes=broken)
            files |= own if random.random() < 0.95 else {}
            if not side:
                lines += ["[[corpora]]", f"name = {_toml(corpus_name)}", f"key = {_toml(path)}"]
                lines += random.choice(([], ["weight = 2"], ['group = "g"']))
            else:
                systems[f"s{side}"] = path.replace(name, "{corpus}" + f".s{side}", 1)
        if corpus_name != str(place):  # responses are called by their corpus
            moved = {f"{corpus_name}{path[1:]}": d for path, d in files.items() if path[1:2] == "."}
            if all(one in "ab" for one in corpus_name):
                files |= moved
    for name, pattern in systems.items():
        lines += ["[[systems]]", f"name = {_toml(name)}", f"responses = {_toml(pattern)}"]
        lines += random.choice(([], [], ["seeds = [1]"] if mistakes else []))
    text = "\n".join(lines).encode()
    if mistakes and random.random() < 0.5:
        text = random.choice(MISTAKES)(random, text)
    return "suite.toml", {**files, "suite.toml": text}


def _toml(text: str) -> str:
    """Text of TOML, without what it cannot have."""
    plain = text.encode("utf-8", "replace").decode()
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def stated_features(random: Random, number: int, *, mistakes: bool) -> bytes:
    """A file that states features of a text's mentions: of all, of some, of none."""
    lines = ["document\tstart\tend\tkind\trole"]
    for document in corpus(number, 0):
        for mention in document.mentions:
            kind = random.choice(("name", "nominal", "pronoun"))
            place = f"{document.id}\t{mention.start}\t{mention.end}"
            lines.append(f"{place}\t{kind}\t{random.choice(NAMES)[:20]}")
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return random.choice(MISTAKES)(random, data) if mistakes else data


def made_decisions(random: Random, number: int, *, mistakes: bool) -> bytes:
    """A table of decisions on mentions and pairs of a text."""
    lines = ["document\tkind\tstart\tend\tother_start\tother_end\tdecision"]
    for document in corpus(number, 0):
        mentions = document.mentions
        for mention in random.sample(mentions, min(len(mentions), 3)):
            second = random.choice(mentions)
            place = f"{document.id}\t{{}}\t{mention.start}\t{mention.end}\t"
            pair = place.format("link") + f"{second.start}\t{second.end}\t"
            lines.append(place.format("mention") + "\t\t" + random.choice(("keep", "drop", "")))
            lines.append(pair + random.choice(("same", "apart", "", "")))
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return random.choice(MISTAKES)(random, data) if mistakes else data


def _with_mistakes(random: Random, files: Files) -> Files:
    """Files of which one or two have mistakes, or one is gone."""
    changed = dict(files)
    for _ in range(random.choice((1, 1, 1, 2))):
        path = random.choice([*changed])
        if len(changed) > 1 and random.random() < 0.1:
            del changed[path]
            continue
        for _ in range(random.choice((1, 1, 2, 3))):
            changed[path] = random.choice(MISTAKES)(random, changed[path])
    return changed


def _flip(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _behead(random: Random, data: bytes) -> bytes:
    return data[random.randrange(len(data) + 1) :]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(PIECES) + data[place + random.choice((0, 0, 1, 5)) :]


def _edit_lines(random: Random, data: bytes) -> bytes:
    """Lines repeated, removed, exchanged, or moved to the end."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    what = random.randrange(4)
    if what == 0:
        lines.insert(other, lines[one])
    elif what == 1:
        del lines[one : one + random.choice((1, 1, 3))]
    elif what == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.append(lines.pop(one))
    return b"".join(lines)


def _edit_columns(random: Random, data: bytes) -> bytes:
    """A column of one line or of all of them dropped, repeated, or made of something else."""
    separator = b"\t" if b"\t" in data else b" "
    lines = data.split(b"\n")
    column = random.randrange(12)
    chosen = range(len(lines)) if random.random() < 0.4 else [random.randrange(len(lines))]
    what, piece = random.randrange(3), random.choice(PIECES)
    for place in chosen:
        cells = lines[place].split(separator)
        if column < len(cells):
            cells[column : column + 1] = ([], cells[column : column + 1] * 2, [piece])[what]
        lines[place] = separator.join(cells)
    return b"\n".join(lines)


def _rename(random: Random, data: bytes) -> bytes:
    """A word or number, in one place or everywhere, becomes a hostile name or number."""
    words = re.findall(rb"\w+", data)
    if not words:
        return data
    old, name = random.choice(words), random.choice(random.choice((NAMES, NAMES, NUMBERS)))
    if data.lstrip()[:1] in (b"{", b"[") and random.random() < 0.8:
        new = json.dumps(name, ensure_ascii=random.random() < 0.5)[1:-1].encode(
            "utf-8", "surrogatepass"
        )
    else:
        new = name.encode("utf-8", "surrogatepass")
    count = random.choice((1, -1))
    return re.sub(rb"\b" + old + rb"\b", lambda _: new, data, count=max(count, 0))


def _edit_json(random: Random, data: bytes) -> bytes:
    """Something somewhere in a JSON file becomes something else, or goes, or comes twice."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    try:
        root = [json.loads(lines[place])]
    except ValueError:
        return _insert(random, data)
    parent: Any = root
    while True:
        keys = [*parent] if isinstance(parent, dict) else range(len(parent))
        key = random.choice([*keys])
        child = parent[key]
        if not (isinstance(child, dict | list) and child) or random.random() < 0.3:
            break
        parent = child
    what = random.randrange(5)
    if what == 0 and parent is not root:
        del parent[key]
    elif what == 1 and isinstance(parent, list):
        parent.append(child)
    elif what == 2:
        parent[key] = [child]
    else:
        parent[key] = random.choice(VALUES)
    lines[place] = json.dumps(root[0], ensure_ascii=random.random() < 0.7).encode(
        "utf-8", "surrogatepass"
    )
    return b"\n".join(lines)


def _encode(random: Random, data: bytes) -> bytes:
    encoding = random.choice(
        (
            "utf-8-sig",
            "utf-16",
            "utf-16-le",
            "utf-16-be",
            "utf-32",
            "latin-1",
            "cp1252",
            "utf-7",
            "cp037",
        )
    )
    try:
        return data.decode().encode(encoding, "replace")
    except UnicodeError:
        return b"\xef\xbb\xbf" + data


def _end_lines(random: Random, data: bytes) -> bytes:
    end = random.choice((b"\r\n", b"\r", b"\n\n", b"", b"\n\r", b" \n", b"\x85", b"\n "))
    return data.replace(b"\n", end)


def _pack(random: Random, data: bytes) -> bytes:
    """Gzip, whole, cut, damaged, twice, or with something behind it."""
    packed = gzip.compress(data, mtime=0)
    return random.choice(
        (lambda: packed, lambda: _cut(random, packed), lambda: _flip(random, packed),
         lambda: gzip.compress(packed, mtime=0), lambda: packed + b"x", lambda: packed + packed)
    )()  # fmt: skip


def _replace(random: Random, data: bytes) -> bytes:
    """Nothing, blanks, noise, the file twice, or something of another format."""
    return random.choice(
        (lambda: b"", lambda: b"\n", lambda: b" \t\n" * 3, lambda: data + data,
         lambda: b"\x00" * 20,
         lambda: random.randbytes(30), lambda: b"".join(random.choices(PIECES, k=20)),
         lambda: data + b"\n" + next(iter(whole_files(random.choice(KINDS), 0, 0).values())))
    )()  # fmt: skip


MISTAKES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip, _cut, _behead, _insert, _insert, _insert, _edit_lines, _edit_lines, _edit_columns,
    _rename, _rename, _rename, _edit_json, _edit_json, _encode, _end_lines, _pack, _replace,
)  # fmt: skip
