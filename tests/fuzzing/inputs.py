"""Files to be read: small corpora in every format, whole or with mistakes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import corefeval
from corefeval import CorefEvalError
from fuzzing.corpora import CORPORA, SIDES, Files, corpus, whole_files
from fuzzing.hostility import NAMES
from fuzzing.mistakes import MISTAKES, with_mistakes


def make_input(
    random: Random, name: str, number: int, side: int, kind: str, *, mistakes: bool
) -> tuple[str, Files]:
    """A path to be read and the files behind it: of a format, with mistakes or without."""
    files = whole_files(kind, number, side)
    if mistakes:
        files = with_mistakes(random, files)
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
    return with_mistakes(random, files) if mistakes else files


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
