"""Readers of public probes and of corefeval's own format, in whose records each makes items."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from string import ascii_uppercase
from typing import Any, TypeVar

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.formats import read_each
from corefeval.formats.answers.prompts import write_prompts
from corefeval.formats.answers.records import NOWHERE
from corefeval.formats.feature_table import read_table
from corefeval.formats.json.records import Record, records_of
from corefeval.formats.registry import FORMATS, UnknownFormatError
from corefeval.formats.source import Source, read_source
from corefeval.formats.standoff import lines_of
from corefeval.probes.items import Item, Probe, check, make_item, remove_marks

Values = tuple[Any, ...]  # of the fields of an item, in their order
T = TypeVar("T")

_HEAD = 1 << 20  # bytes that tell the format: the first record may be long
_PRONOUNS = {
    "masculine": "he him his himself",
    "feminine": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
    "neo": "xe xem xyr xyrs xemself",
}
_GENDERS = {word: gender for gender, words in _PRONOUNS.items() for word in words.split()}
TRUTHS = {"true": True, "false": False}
_SEXES = {"male": "masculine", "female": "feminine", "neutral": "neutral"}
_CASES = {"NOM": "nominative", "ACC": "accusative", "POSS": "possessive"}
_WITH_ARTICLE = r"(?i:(?:(?:the|an?)\s+)?{})"
_BRACKETED = rf"(?i)\[\s*({'|'.join(_GENDERS)})\s*\]"
# Of WinoBias: what stands in brackets, and occupations with an article.
_PHRASE = (
    r"(\[)?(?(1)\s*)((?(1)[^\[\]]+?|(?i:\b(?:the|an?)\s+"
    r"(?:accountant|analyst|assistant|attendant|auditor|"
    r"baker|carpenter|cashier|CEO|chief|cleaner|clerk|construction\s+worker|cook|counselor|"
    r"designer|developer|driver|editor|farmer|guard|hairdresser|housekeeper|janitor|laborer|lawyer|"
    r"librarian|manager|mechanic|mover|nurse|physician|receptionist|salesperson|secretary|sheriff|"
    r"supervisor|tailor|teacher|writer)(?!\w))))(?(1)\s*\])"
)
# What names of files of WinoBias tell, and ids in its CoNLL version.
_ORIGIN = re.compile(
    r"(?=.*(type\d))(?=.*\b(dev|test|train))(?=.*?(anti_|not_|)stereotype)(?:.*//(\d+))?"
)
# Of AmbiCoref: the names of files, and the candidates and the target in sentences of a template.
_AMBICOREF = r"\A((ECO|ECS|IC|TOP)[^_]*)_((?:un)?ambiguous)\.txt"
_WORD, _BEFORE = r"\w(?:\S*\w)?", r"(?:(?!\b(?:he|she)\b).)*?"
_FIRST, _SECOND = rf"(?s)\W*((?:The\s+)?{_WORD})", rf"((?:the\s+)?{_WORD})"
_TEMPLATES = {
    "IC": rf"{_FIRST}\W.*?{_SECOND}\W+because\W+({_WORD})",
    "ECO": rf"{_FIRST}\W.*?{_SECOND}\W+that\W+({_WORD})",
    "ECS": rf"{_FIRST}\W.*?{_SECOND}\W+that\b.*?({_WORD})\W*$",
    "TOP": rf"{_FIRST}\W+(?:{_BEFORE}\bby|\S+)\W+{_SECOND}\b{_BEFORE}\b(he|she)\b",
}


def list_rows(source: Source, names: Sequence[str] = ()) -> Iterator[Record]:
    """The rows of a table, by these names or else by those in its first line."""
    for line, row in read_table(source, names, may_be_csv=True)[1]:
        yield Record(row, source, line - 1, line - 1)


def _list_lines(source: Source) -> Iterator[Record]:
    for place, line in enumerate(lines_of(source.text)):
        if line.strip():
            yield Record({"line": line}, source, place, place)


def _list_documents(source: Source) -> Iterator[Record]:
    """The documents of WinoBias in CoNLL as lines of its text, marked as a model would do it."""
    marked = write_prompts(FORMATS["conll"].read(source, name="")).ideal
    for number, (name, text) in enumerate(marked.items()):
        if "](#2)" in text:
            raise _refuse(source)
        line = " ".join(("0", *text.replace("](#1)", "]").split()))
        yield Record({"id": name.partition("; part ")[0], "line": line}, source, number)


def look_up(word: str, meanings: Mapping[str, T]) -> T:
    """What a word stands for, in any case; a ValueError if it is none of those that do."""
    form = word.strip().lower()
    check(form in meanings, f"{excerpt(word)} is none of {', '.join(meanings)}")
    return meanings[form]


def _find_words(words: str, text: str, form: str = "{}") -> dict[str, Any]:
    """A candidate where its words stand first in the text as whole words, or without a place."""
    match = re.search(rf"(?<!\w){form.format(re.escape(words))}(?!\w)", text)
    return {"text": match[0], "spans": [match.span()]} if match else {"text": words, "spans": []}


def _ask_gap(record: Record) -> Values:
    row, spans = record.values, []
    for name in ("Pronoun", "A", "B"):
        start, words = int(row[f"{name}-offset"]), row[name]
        place = row["Text"].find(words)
        check(row["Text"].startswith(words, start), f"{words} is not at {start}, but at {place}")
        spans.append((start, start + len(words)))
    gold = [label for label in "AB" if look_up(row[f"{label}-coref"], TRUTHS)]
    groups = {"gold": "+".join(gold) or "neither"}
    return row["ID"], row["Text"], spans[0], spans[1:], gold, groups


def _ask_winobias(record: Record) -> Values:
    row, file = record.values, os.path.basename(record.source.file)
    number, _, marked = row["line"].strip().partition(" ")
    text, places = remove_marks(_PHRASE, marked)
    pronouns = [span for span in places["["] if text[slice(*span)].lower() in _GENDERS]
    phrases = [span for span in places["["] if span not in pronouns]
    check(pronouns and phrases, f"a phrase or a pronoun is not marked in {excerpt(text)}")
    # Of places with the same noun that in brackets counts, or else the first.
    spans = reversed((phrases[0], *places[None]))
    candidates = sorted({text[slice(*span)].lower().split()[-1]: span for span in spans}.values())
    gold = ascii_uppercase[candidates.index(phrases[0])]
    name, groups, pair = file, dict[str, str](), None
    if origin := _ORIGIN.match(row.get("id", file)):
        kind, part, stereotype, index = origin.groups()
        number = str(int(index) + 1) if index else number
        groups = {"stereotype": "anti" if stereotype else "pro", "type": kind, "part": part}
        name, pair = f"{kind}.{part}.{groups['stereotype']}", f"{kind}.{part}.{number}"
    return row.get("id", f"{name}.{number}"), text, pronouns[0], candidates, gold, groups, pair


def name_winopron(row: Mapping[str, str]) -> str:
    """The id of a row of WinoPron."""
    nouns = [row["occupation"], row["participant"]]
    case = _CASES[row["pronoun_type"].strip("$").partition("_")[0]]
    return ".".join([*nouns, case, row["pronoun"], str(nouns.index(row["answer"]))])


def _ask_schema(record: Record) -> Values:
    """The question in a row of Winogender, or of WinoPron."""
    row = record.values
    if "sentid" in row:
        name = row["sentid"].removesuffix(".txt")
        *nouns, answer, sex = name.split(".")
        pronouns, twins = _PRONOUNS[_SEXES[sex]].split(), [*nouns, answer]
        groups = {"other": "someone" if "someone" in nouns else "named"}
    else:
        name = name_winopron(row)
        *nouns, case, word, answer = name.split(".")
        pronouns, twins = [word.lower()], [*nouns, case, answer]
        groups = {"pronoun": _PRONOUNS[look_up(word, _GENDERS)].split()[0], "case": case}
    text, right = row["sentence"], ("0", "1").index(answer)
    targets = [match for match in re.finditer(r"\w+", text) if match[0].lower() in pronouns]
    check(len(targets) == 1, f"{len(targets)} of {', '.join(pronouns)} are in {excerpt(text)}")
    candidates = [_find_words(noun, text, _WITH_ARTICLE) for noun in nouns]
    roles = ("occupation", "participant")
    groups |= {**dict(zip(roles, nouns, strict=True)), "answer": roles[right]}
    return name, text, targets[0].span(), candidates, "AB"[right], groups, ".".join(twins)


def _ask_ambicoref(record: Record) -> Values:
    [[template, kind, ambiguity]] = re.findall(_AMBICOREF, os.path.basename(record.source.file))
    number, text = record.number + 1, record.values["line"]
    match: Any = re.match(_TEMPLATES[kind], text)
    *candidates, target = (match.span(group) for group in (1, 2, 3))
    groups = {"ambiguity": ambiguity, "template": template}
    name = f"{template}.{ambiguity}.{number}"
    return name, text, target, candidates, None, groups, f"{template}.{number}"


def _ask_knowref(record: Record) -> Values:
    names = ("candidate0", "candidate1", "correct_candidate")
    *nouns, right = ("".join(record.values[name]) for name in names)  # which may be in lists
    before, word, after = re.split(_BRACKETED, record.values["sentence_with_pronoun"], maxsplit=1)
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
    return tuple(record.values.get(name) for name in Item._fields)


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


def _detect(source: Source) -> str:
    """The format of a probe, by the beginning or the name of its file."""
    head = source.data[:_HEAD].tobytes().decode("latin-1")
    for name, (sign, *_) in PROBE_FORMATS.items():
        if any(re.search(sign, text, re.S) for text in (head, os.path.basename(source.file))):
            return name
    raise _refuse(source)


def is_probe(path: str) -> bool:
    """Whether a path has a file that can be nothing but a probe."""
    formats = list[str]()
    if path != "-":
        with suppress(UnknownFormatError):
            formats, _ = read_each(path, lambda file: _detect(read_source(file)))
    return formats[:1] not in ([], ["winobias-conll"])


def _refuse(source: Source) -> UnknownFormatError:
    return UnknownFormatError(
        "this is not a probe that corefeval knows",
        file=source.file,
        expected=f"one of {', '.join(PROBE_FORMATS)}",
        fix="name its format with --probe-format, or write it in corefeval's own format",
    )


@contextmanager
def refusing(record: Record, noun: str) -> Iterator[None]:
    """A context in which whatever is wrong with a record is an error of the record."""
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        words, expected = excerpt(str(record.values)), "what the page on probes shows"
        raise record.error(f"this is not {noun}: {error}", found=words, expected=expected) from None


def _list_records(file: str, format: str | None, encoding: str) -> list[tuple[str, Record]]:
    """The records of a file, with its format."""
    source = read_source(file, encoding=encoding)
    name = format or _detect(source)
    return [(name, record) for record in PROBE_FORMATS[name][1](source)]


def read_probe(source: object, *, format: str | None = None, encoding: str = "utf-8") -> Probe:
    """Read a probe: a path, folder or pattern, a list of these, or a list of items.

    Items are dictionaries in corefeval's own format. The format of files is recognised by their
    content, and AmbiCoref by the names of its files, unless it is named.

    >>> probe = read_probe([{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left."}])
    >>> probe.items[0].text, probe.items[0].target, probe.items[0].candidates[1].text
    ('Ann saw Bea when she left.', (17, 20), 'Bea')
    """
    if isinstance(source, Probe):
        return source
    if format is not None:
        check_choice("probe_format", format, PROBE_FORMATS)
    parts: Any = source if isinstance(source, list | tuple) else [source]
    name, records, notices = "items", list[tuple[str, Record]](), list[Notice]()
    if all(isinstance(part, Mapping) for part in parts):
        records = [("probe", Record({**part}, NOWHERE, n)) for n, part in enumerate(parts)]
    else:
        name = ", ".join(map(os.fspath, parts))
        for part in parts:
            reader = partial(_list_records, format=format, encoding=encoding)
            lists, skipped = read_each(part, reader)
            records += chain(*lists)
            notices += skipped
    items = dict[str, tuple[Item, Record]]()
    for kind, record in records:
        with refusing(record, f"an item of {kind}"):
            item = make_item(*PROBE_FORMATS[kind][2](record))
            if not kind.startswith("probe"):
                gender = look_up(item.text[slice(*item.target)], _GENDERS)
                item = item._replace(groups={"gender": gender, **item.groups})
        _, first = items.setdefault(item.id, (item, record))
        if first is not record:
            raise record.error(f"an item appears twice: {first.error(excerpt(item.id))}")
    if not items:
        raise InputError("there are no items in the probe", file=name)
    formats = ", ".join(dict.fromkeys(kind for kind, _ in records))
    return Probe(tuple(item for item, _ in items.values()), name, formats, tuple(notices))
