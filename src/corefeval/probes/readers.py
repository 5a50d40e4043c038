"""Items of probes, and readers, which make them of records of public files and of our own."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase
from typing import Any, NamedTuple

from corefeval.checks import check_choice, parse_integer, parse_number, parse_text, parse_texts
from corefeval.diagnostics import InputError, Notice, Notices, UsageError, excerpt
from corefeval.display import json_text
from corefeval.files import PathLike, write_file
from corefeval.formats import read_each
from corefeval.formats.answers.prompts import Prompts
from corefeval.formats.feature_table import read_table
from corefeval.formats.json.records import Record, records_of, refusing
from corefeval.formats.registry import FORMATS, UnknownFormatError
from corefeval.formats.source import Source, read_source, source_of
from corefeval.formats.standoff import lines_of

Span = tuple[int, int]
Values = tuple[Any, ...]  # of the fields of an item, in their order

_PRONOUNS = {
    "masculine": "he|him|his|himself",
    "feminine": "she|her|hers|herself",
    "neutral": "they|them|their|theirs|themself|themselves",
    "neo": "xe|xem|xyr|xyrs|xemself",
}
_GENDERS = {word: gender for gender, words in _PRONOUNS.items() for word in words.split("|")}
TRUTHS = {"true": True, "false": False}
_SEXES = {"male": "masculine", "female": "feminine", "neutral": "neutral"}
_CASES = {"NOM": "nominative", "ACC": "accusative", "POSS": "possessive"}
# Of WinoBias: what stands in brackets, and occupations with an article.
_PHRASE = (
    r"(\[)?(?(1)\s*)((?(1)[^\[\]]+?|(?i:\b(?:the|an?)\s+"
    r"(?:accountant|analyst|assistant|attendant|auditor|baker|carpenter|cashier|CEO|chief|"
    r"cleaner|clerk|construction\s+worker|cook|counselor|designer|developer|driver|editor|farmer|"
    r"guard|hairdresser|housekeeper|janitor|laborer|lawyer|librarian|manager|mechanic|mover|nurse|"
    r"physician|receptionist|salesperson|secretary|sheriff|supervisor|tailor|teacher|writer)(?!\w))))"
    r"(?(1)\s*\])"
)
# What names of files of WinoBias tell, and ids in its CoNLL version.
_ORIGIN = re.compile(
    r"(?=.*?(?P<stereotype>anti_|not_|)stereotype)(?=.*(?P<type>type\d))"
    r"(?=.*\b(?P<part>dev|test|train))(?:.*//(\d+))?"
)
# Of AmbiCoref: the names of files, and the candidates and the target in sentences of a template.
_AMBICOREF = r"\A(?P<template>(ECO|ECS|IC|TOP)[^_]*)_(?P<ambiguity>(?:un)?ambiguous)\.txt"
_WORD, _BEFORE = r"\w(?:\S*\w)?", r"(?:(?!\b(?:he|she)\b).)*?"
_FIRST, _SECOND = rf"(?s)\W*((?:The\s+)?{_WORD})", rf"((?:the\s+)?{_WORD})"
_TEMPLATES = {
    "IC": rf"{_FIRST}\W.*?{_SECOND}\W+because\W+({_WORD})",
    "ECO": rf"{_FIRST}\W.*?{_SECOND}\W+that\W+({_WORD})",
    "ECS": rf"{_FIRST}\W.*?{_SECOND}\W+that\b.*?({_WORD})\W*$",
    "TOP": rf"{_FIRST}\W+(?:{_BEFORE}\bby|\S+)\W+{_SECOND}\b{_BEFORE}\b(he|she)\b",
}


class Candidate(NamedTuple):
    """What the target may refer to: a letter, its words, and where these stand, if they do."""

    label: str
    text: str
    spans: tuple[Span, ...] = ()


class Item(NamedTuple):
    """A question: to which candidates the target refers.

    Spans count characters of the `text`, or `tokens` if there are any. `gold` are labels, none for
    neither; it is None if nobody knows. Items with the same `pair` are twins. `human` says how many
    people chose each label, or were unsure.
    """

    id: str
    text: str
    target: Span
    candidates: tuple[Candidate, ...]
    gold: tuple[str, ...] | None
    groups: Mapping[str, str]
    pair: str | None
    human: Mapping[str, float]
    tokens: tuple[str, ...]

    def locate(self, span: Span) -> Span:
        """A span in characters of the text."""
        if not self.tokens:
            return span
        start, end = (len(" ".join((*self.tokens[:edge], ""))) for edge in span)
        return start, end - 1


def check(holds: object, problem: str) -> None:
    """Raise a ValueError with the problem, unless the condition holds."""
    if not holds:
        raise ValueError(problem)


def _remove_marks(pattern: str, text: str) -> tuple[str, dict[Any, list[Span]]]:
    """A text without marks, whose pattern has groups of label and words, and places of labels."""
    places, removed = defaultdict[Any, list[Span]](list), 0
    for mark in re.finditer(pattern, text):
        start = mark.start() - removed
        places[mark[1]].append((start, start + len(mark[2])))
        removed += len(mark[0]) - len(mark[2])
    return re.sub(pattern, r"\2", text), places


def _make_item(
    identifier: Any,
    text: Any,
    target: Any = None,
    candidates: Any = None,
    gold: Any = None,
    groups: Any = None,
    pair: Any = None,
    human: Any = None,
    tokens: Any = None,
) -> Item:
    """The item of values in corefeval's own format; raises a ValueError, TypeError or the like."""
    needed = "an item must have a text, or a list of tokens"
    tokens = tuple(parse_texts(tokens or [], needed))
    text = " ".join(tokens) or parse_text(text, needed)
    check(identifier is not None and str(identifier).strip(), "an item must have an id")
    if target is None:
        text, places = _remove_marks(r"\[([*A-Z]) ([^\[\]]+)\]", text)
        targets = places.pop("*", [])
        check(len(targets) == 1, f"an item must have one target, [* …], not {len(targets)}")
        target = targets[0]
        candidates = [{"label": label, "spans": places[label]} for label in places]
    options = tuple(sorted(_list_candidates(tokens or text, candidates)))
    letters = {candidate.label for candidate in options} & {*ascii_uppercase}
    labels = "".join(sorted(letters))
    problem = f"an item must have 1 to 26 candidates, each with its own letter: {labels}"
    check(0 < len(letters) == len(candidates), problem)
    if isinstance(gold, str):
        gold = {"?": None, "neither": ()}.get(gold, gold.split("+"))
    check(letters.issuperset(gold or ()), f"gold names no candidate of {labels}: {gold}")
    people = (human or {}).items()
    return Item(
        str(identifier),
        text,
        _read_span(tokens or text, target),
        options,
        None if gold is None else tuple(sorted({*gold})),
        {name: str(value) for name, value in (groups or {}).items()},
        None if pair is None else str(pair),
        {name: parse_number(number, "a number of people", 0, 1e9) for name, number in people},
        tokens,
    )


def _list_candidates(units: str | tuple[str, ...], entries: Any) -> Iterator[Candidate]:
    for letter, entry in zip(ascii_uppercase, entries, strict=False):
        details = entry if isinstance(entry, Mapping) else {"span": entry}
        stated = details.get("spans", [details.get("span")])
        spans = tuple(_read_span(units, span) for span in stated)
        blank = "" if isinstance(units, str) else " "
        words = details.get("text") or blank.join(units[slice(*spans[0])])
        yield Candidate(details.get("label", letter), str(words), spans)


def _read_span(units: str | tuple[str, ...], span: Any) -> Span:
    start, end = (parse_integer(edge, "an item must have spans") for edge in span)
    has_words = start < end <= len(units) and "".join(units[start:end]).strip()
    check(has_words, f"a span has no words: {start} to {end} of {len(units)}")
    return start, end


STYLES = {
    "letter": "Say what the word refers to. Answer with the letter of a choice, and nothing else.",
    "name": "Say what the word refers to. Answer with the words of a choice, and nothing else.",
    "yesno": "Say whether the word refers to what the question names. Answer with yes or no only.",
}


@dataclass(frozen=True, repr=False)
class Probe:
    """Items that are asked together, with the name and the format of their file."""

    items: tuple[Item, ...]
    name: str = ""
    format: str = "probe"
    notices: Notices = ()

    def __repr__(self) -> str:
        return f"<Probe {self.name!r}: {len(self.items):,} items>"

    def write(self, path: PathLike) -> None:
        """Write the items as JSON lines in corefeval's own format."""
        lines = ""
        for item in self.items:
            candidates = [candidate._asdict() for candidate in item.candidates]
            lines += json_text({**item._asdict(), "candidates": candidates}, indent=None)
        write_file(path, lines)

    def prompts(self, style: str = "letter") -> Prompts:
        """What to ask a model: `id`, `system`, `user`; `yesno` is about each candidate (`ID#A`)."""
        check_choice("style", style, STYLES)
        system = f"In the text, a word is marked with ** on both sides. {STYLES[style]}"
        prompts = Prompts()
        for item in self.items:
            start, end = item.locate(item.target)
            word = f"**{item.text[start:end]}**"
            text = f"Text:\n{item.text[:start]}{word}{item.text[end:]}"
            names = [*(candidate.text for candidate in item.candidates), "neither"]
            choices = map("{}) {}".format, ascii_uppercase + "?", names)
            questions = {item.id: "\n".join((f"What does {word} refer to?", *choices))}
            if style == "yesno":
                questions = {
                    f"{item.id}#{label}": f"Does {word} refer to {name}?"
                    for label, name, _ in item.candidates
                }
            for name, question in questions.items():
                user = f"{text}\n\n{question}\n\nAnswer:"
                prompts.records.append({"id": name, "system": system, "user": user})
        return prompts


def list_rows(source: Source, names: Sequence[str] = ()) -> Iterator[Record]:
    """The rows of a table, by these names or else by those in its first line."""
    for line, row in read_table(source, names, may_be_csv=True)[1]:
        yield Record(row, source, line - 1, line - 1)


def _list_lines(source: Source) -> Iterator[Record]:
    for place, line in enumerate(lines_of(source.text)):
        if line.strip():
            yield Record({"line": line}, source, place, place)


def _list_documents(source: Source) -> Iterator[Record]:
    """The documents of WinoBias in CoNLL as lines of its text."""
    for number, document in enumerate(FORMATS["conll"].read(source, name="")):
        if len(document.entities) != 1:
            raise _refuse(source)
        words = [*document.words]
        for mention in document.mentions:
            words[mention.start] = f"[{words[mention.start]}"
            words[mention.end - 1] += "]"
        yield Record({"id": document.id.name, "line": f"0 {' '.join(words)}"}, source, number)


def look_up(word: str, meanings: Mapping[str, Any]) -> Any:
    """What a word stands for, in any case; a ValueError if it is none of those that do."""
    form = word.strip().lower()
    check(form in meanings, f"{excerpt(word)} is none of {', '.join(meanings)}")
    return meanings[form]


def _find_words(words: str, text: str, form: str = "{}") -> dict[str, Any]:
    """A candidate where its words stand first in the text as whole words, or without a place."""
    match = re.search(rf"(?<!\w){form.format(re.escape(words))}(?!\w)", text)
    return {"text": match[0] if match else words, "spans": [match.span()] if match else []}


def _ask_gap(record: Record) -> Values:
    row, text, spans = record.values, record.values["Text"], []
    for name in ("Pronoun", "A", "B"):
        start, words = int(row[f"{name}-offset"]), row[name]
        place = text.find(words)
        check(text.startswith(words, start), f"{words} is not at {start}, but at {place}")
        spans.append((start, start + len(words)))
    gold = [label for label in "AB" if look_up(row[f"{label}-coref"], TRUTHS)]
    return row["ID"], text, spans[0], spans[1:], gold, {"gold": "+".join(gold) or "neither"}


def _ask_winobias(record: Record) -> Values:
    row, file = record.values, os.path.basename(record.source.file)
    number, _, marked = row["line"].strip().partition(" ")
    text, places = _remove_marks(_PHRASE, marked)
    pronouns = [span for span in places["["] if text[slice(*span)].lower() in _GENDERS]
    phrases = [span for span in places["["] if span not in pronouns]
    check(pronouns and phrases, f"a phrase or a pronoun is not marked in {excerpt(text)}")
    # Of places with the same noun that in brackets counts, or else the first.
    spans = reversed((phrases[0], *places[None]))
    candidates = sorted({text[slice(*span)].lower().split()[-1]: span for span in spans}.values())
    gold = ascii_uppercase[candidates.index(phrases[0])]
    name, groups, pair = f"{file}.{number}", dict[str, str](), None
    if origin := _ORIGIN.match(row.get("id", file)):
        number = str(int(origin[4]) + 1) if origin[4] else number
        groups = origin.groupdict() | {"stereotype": "anti" if origin["stereotype"] else "pro"}
        pair = f"{groups['type']}.{groups['part']}.{number}"
        name = f"{groups['type']}.{groups['part']}.{groups['stereotype']}.{number}"
    return row.get("id", name), text, pronouns[0], candidates, gold, groups, pair


def name_winopron(row: Mapping[str, str]) -> str:
    """The id of a row of WinoPron."""
    nouns = [row["occupation"], row["participant"]]
    case = _CASES[row["pronoun_type"].strip("$").partition("_")[0]]
    return f"{'.'.join(nouns)}.{case}.{row['pronoun']}.{nouns.index(row['answer'])}"


def _ask_schema(record: Record) -> Values:
    """The question in a row of Winogender, or of WinoPron."""
    row = record.values
    if "sentid" in row:
        name = row["sentid"].removesuffix(".txt")
        *nouns, answer, sex = name.split(".")
        pronouns, pair = _PRONOUNS[_SEXES[sex]], f"{'.'.join(nouns)}.{answer}"
        groups = {"other": "someone" if "someone" in nouns else "named"}
    else:
        name = name_winopron(row)
        *nouns, case, word, answer = name.split(".")
        pronouns, pair = word, f"{'.'.join(nouns)}.{case}.{answer}"
        groups = {"pronoun": _PRONOUNS[look_up(word, _GENDERS)].partition("|")[0], "case": case}
    text, right = row["sentence"], ("0", "1").index(answer)
    targets = [*re.finditer(rf"(?i)\b(?:{pronouns})\b", text)]
    check(len(targets) == 1, f"{len(targets)} of {pronouns} are in {excerpt(text)}")
    candidates = [_find_words(noun, text, r"(?i:(?:(?:the|an?)\s+)?{})") for noun in nouns]
    roles = ("occupation", "participant")
    groups |= zip((*roles, "answer"), (*nouns, roles[right]), strict=True)
    return name, text, targets[0].span(), candidates, "AB"[right], groups, pair


def _ask_ambicoref(record: Record) -> Values:
    origin: Any = re.match(_AMBICOREF, os.path.basename(record.source.file))
    number, text = record.number + 1, record.values["line"]
    match: Any = re.match(_TEMPLATES[origin[2]], text)
    *candidates, target = map(match.span, (1, 2, 3))
    name, pair = f"{origin[1]}.{origin['ambiguity']}.{number}", f"{origin[1]}.{number}"
    return name, text, target, candidates, None, origin.groupdict(), pair


def _ask_knowref(record: Record) -> Values:
    names = ("candidate0", "candidate1", "correct_candidate")
    *nouns, right = ("".join(record.values[name]) for name in names)  # which may be in lists
    pattern = rf"(?i)\[\s*({'|'.join(_GENDERS)})\s*\]"
    before, word, after = re.split(pattern, record.values["sentence_with_pronoun"], maxsplit=1)
    text, target = f"{before}{word}{after}", (len(before), len(before + word))
    candidates = [_find_words(noun, text) for noun in nouns]
    return f"knowref.{record.number + 1}", text, target, candidates, "AB"[nouns.index(right)]


def _ask_own_row(record: Record) -> Values:
    cells: dict[str, Any] = {name: cell for name, cell in record.values.items() if cell.strip()}
    name, text, gold, pair = (cells.pop(name, None) for name in ("id", "text", "gold", "pair"))
    counts = [name for name in cells if name.startswith("human:")]
    human = {name[6:]: float(cells.pop(name)) for name in counts}
    return name, text, None, None, gold, cells, pair, human


def _ask_own(record: Record) -> Values:
    return tuple(map(record.values.get, Item._fields))


# How files of each format are recognised, by their beginning or name; their records; and what
# makes the fields of an item of each. The order is that in which formats are tried.
Reader = tuple[str, Callable[[Source], Iterable[Record]], Callable[[Record], Values]]
_OBJECT = r"\A\s*(\[\s*)?\{.*?"
_TABLE = r'\A\s*(?=([^\n]*[\t,])?"?id"?[\t,\r\n])([^\n]*[\t,])?"?text"?[\t,\r\n]'
PROBE_FORMATS: dict[str, Reader] = {
    "ambicoref": (_AMBICOREF, _list_lines, _ask_ambicoref),
    "gap": (r"\A\s*ID\tText\tPronoun\tPronoun-offset\t", list_rows, _ask_gap),
    "winogender": (r"\A\s*sentid\tsentence\s", list_rows, _ask_schema),
    "winopron": (r"\A\s*occupation\tparticipant\tsentence\t", list_rows, _ask_schema),
    "probe-tsv": (_TABLE, list_rows, _ask_own_row),
    "knowref": (_OBJECT + r'"sentence_with_pronoun"\s*:', records_of, _ask_knowref),
    "probe": (_OBJECT + r'("(gold|target)"\s*:|\[\* )', records_of, _ask_own),
    "winobias": (r"\A\s*\d+ [^\n]*\[[^\n]*\]", _list_lines, _ask_winobias),
    "winobias-conll": (r"(?im)^#\s*begin\s+document\b", _list_documents, _ask_winobias),
}


def _open(file: str, format: str | None = None, encoding: str = "utf-8") -> tuple[str, Source]:
    """A file with its format: the one that is named, or that its first MB or its name tells."""
    source = read_source(file, encoding=encoding)
    texts = source.data[: 1 << 20].tobytes().decode("latin-1"), os.path.basename(source.file)
    for name, (sign, *_) in PROBE_FORMATS.items():
        if name == format or (not format and any(re.search(sign, t, re.S) for t in texts)):
            return name, source
    raise _refuse(source)


def is_probe(path: str) -> bool:
    """Whether a path has a file that can be nothing but a probe."""
    with suppress(UnknownFormatError):
        files = [] if path == "-" else read_each(path, _open)[0]
        return bool(files) and files[0][0] != "winobias-conll"
    return False


def _refuse(source: Source) -> UnknownFormatError:
    problem = "this is not a probe that corefeval knows"
    expected = f"one of {', '.join(PROBE_FORMATS)}"
    fix = "name its format with --probe-format, or write it in corefeval's own format"
    return UnknownFormatError(problem, file=source.file, expected=expected, fix=fix)


def read_probe(source: object, *, format: str | None = None, encoding: str = "utf-8") -> Probe:
    """Read a probe: a path, folder or pattern, a list of these, or a list of items.

    Items are dictionaries in corefeval's own format. Files tell their format by their content, and
    those of AmbiCoref by their names, unless it is named.

    >>> probe = read_probe([{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left."}])
    >>> probe.items[0].text, probe.items[0].target, probe.items[0].candidates[1].text
    ('Ann saw Bea when she left.', (17, 20), 'Bea')
    """
    if isinstance(source, Probe):
        return source
    check_choice("probe_format", format or "probe", PROBE_FORMATS)
    parts: Any = source if isinstance(source, list | tuple) else [source]
    name, records, notices = "items", list[tuple[str, Record]](), list[Notice]()
    for number, part in enumerate(parts):
        if isinstance(part, Mapping):
            records.append(("probe", Record({**part}, source_of("", "answers"), number)))
            continue
        if not isinstance(part, str | os.PathLike):
            raise UsageError(
                f"a probe is a path, a list of paths or one of items, not {part!r:.60}"
            )
        name = ", ".join(os.fspath(path) for path in parts if not isinstance(path, Mapping))
        files, skipped = read_each(part, partial(_open, format=format, encoding=encoding))
        records += (
            (kind, record) for kind, file in files for record in PROBE_FORMATS[kind][1](file)
        )
        notices += skipped
    items, seen = list[Item](), dict[str, Record]()
    for kind, record in records:
        with refusing(record, f"an item of {kind}"):
            item = _make_item(*PROBE_FORMATS[kind][2](record))
            if not kind.startswith("probe"):
                gender = look_up(item.text[slice(*item.target)], _GENDERS)
                item = item._replace(groups={"gender": gender, **item.groups})
        items.append(item)
        first = seen.setdefault(item.id, record)
        if first is not record:
            raise record.error(f"an item appears twice: {first.error(excerpt(item.id))}")
    if not items:
        raise InputError("there are no items in the probe", file=name)
    formats = ", ".join(dict.fromkeys(kind for kind, _ in records))
    return Probe(tuple(items), name, formats, tuple(notices))
