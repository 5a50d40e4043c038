"""Readers of public probes and of corefeval's own format, in whose records each makes items."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from string import ascii_uppercase
from typing import Any, TypeVar

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, excerpt
from corefeval.formats import files_of, skipped_files
from corefeval.formats.json.records import Record, records_of
from corefeval.formats.registry import FORMATS, HEAD
from corefeval.formats.source import Source, read_source
from corefeval.probes.items import Item, Probe, check, make_item, remove_marks

Values = dict[str, Any]
T = TypeVar("T")

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
_BRACKETED = re.compile(rf"(?i)\[\s*({'|'.join(_GENDERS)})\s*\]")
# Of WinoBias: what stands in brackets, and occupations with an article.
_PHRASES = re.compile(
    r"\[\s*([^\[\]]+?)\s*\]|(?i:\b((?:the|an?)\s+(?:accountant|analyst|assistant|attendant|auditor|"
    r"baker|carpenter|cashier|CEO|chief|cleaner|clerk|construction\s+worker|cook|counselor|"
    r"designer|developer|driver|editor|farmer|guard|hairdresser|housekeeper|janitor|laborer|lawyer|"
    r"librarian|manager|mechanic|mover|nurse|physician|receptionist|salesperson|secretary|sheriff|"
    r"supervisor|tailor|teacher|writer))(?!\w))"
)
# Of WinoBias: names of files, and ids in CoNLL.
_FILE = re.compile(r"(?P<stereotype>pro|anti)_stereotyped_(?P<type>type\d)\.txt\.(?P<part>\w+)")
_ID = re.compile(r"(?P<part>\w+)_(?P<type>type\d)/(?P<stereotype>(?:not_)?)stereotype//(\d+)")
_STEREOTYPES = {"pro": "pro", "anti": "anti", "": "pro", "not_": "anti"}
# Of AmbiCoref: the two candidates and the target in the sentences of each template.
_AMBICOREF = re.compile(r"((ECO|ECS|IC|TOP)[^_]*)_((?:un)?ambiguous)\.txt")
_WORD, _BEFORE = r"\w(?:\S*\w)?", r"(?:(?!\b(?:he|she)\b).)*?"
_FIRST, _SECOND = rf"(?s)\W*((?:The\s+)?{_WORD})", rf"((?:the\s+)?{_WORD})"
_TEMPLATES = {
    "IC": rf"{_FIRST}\W.*?{_SECOND}\W+because\W+({_WORD})",
    "ECO": rf"{_FIRST}\W.*?{_SECOND}\W+that\W+({_WORD})",
    "ECS": rf"{_FIRST}\W.*?{_SECOND}\W+that\b.*?({_WORD})\W*$",
    "TOP": rf"{_FIRST}\W+(?:{_BEFORE}\bby|\S+)\W+{_SECOND}\b{_BEFORE}\b(he|she)\b",
}


def list_rows(source: Source, names: Sequence[str] = ()) -> Iterator[Record]:
    """The rows of a table, by these names or else by those in its first line.

    Tabs separate cells, in which quotes mean nothing; or commas do, as in CSV.
    """
    has_tabs = "\t" in source.text.lstrip().partition("\n")[0]
    dialect: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if has_tabs else {}
    csv.field_size_limit(2**31 - 1)
    rows = csv.reader(io.StringIO(source.text, newline=""), **dialect)
    for cells in (row for row in rows if "".join(row).strip()):
        place = rows.line_num - 1
        record = Record(dict(zip(names or cells, cells, strict=False)), source, place, place)
        if len(cells) != len({*names} or cells):
            expected = f"{len({*names})}, one for each column"
            raise record.error(
                "a row has too few or too many cells", found=f"{len(cells)}", expected=expected
            )
        if names:
            yield record
        names = names or cells


def list_lines(source: Source) -> Iterator[Record]:
    """The lines of a file that are not empty."""
    for place, line in enumerate(source.text.split("\n")):
        if line.strip():
            yield Record({"line": line.rstrip("\r")}, source, place, place)


def _list_documents(source: Source) -> Iterator[Record]:
    """The documents of WinoBias in CoNLL as lines of its text, with their ids."""
    for number, document in enumerate(FORMATS["conll"].read(source, name="")):
        name, words, entities = document.id.name, [*document.words], document.entities
        if len(entities) != 1:
            raise _refuse(source, f"{len(entities)} entities in {excerpt(name)}, not one")
        for mention in document.mentions:
            words[mention.start] = f"[{words[mention.start]}"
            words[mention.end - 1] += "]"
        split = _ID.search(name)
        line = " ".join([f"{int(split[4]) + 1}" if split else "0", *words])
        yield Record({"id": name, "line": line}, source, number)


def look_up(word: str, meanings: Mapping[str, Any]) -> Any:
    """What a word stands for, in any case; an error if it is none of those that do."""
    form = word.strip().lower()
    check(form in meanings, "an unexpected word", word, ", ".join(meanings))
    return meanings[form]


def _find_words(words: str, text: str, form: str = "{}") -> Values:
    """A candidate where its words stand first in the text as whole words, or without a place."""
    match = re.search(rf"(?<!\w){form.format(re.escape(words))}(?!\w)", text)
    return {"text": match[0], "spans": [match.span()]} if match else {"text": words, "spans": []}


def _ask_gap(record: Record) -> Values:
    row, spans = record.values, []
    for name in ("Pronoun", "A", "B"):
        start, words = int(row[f"{name}-offset"]), row[name]
        places = [match.start() for match in re.finditer(re.escape(words), row["Text"])]
        expected = f"where it stands: {', '.join(map(str, places)) or 'nowhere'}"
        check(start in places, f"{excerpt(words)} is not at its offset", start, expected)
        spans.append((start, start + len(words)))
    gold = [label for label in "AB" if look_up(row[f"{label}-coref"], TRUTHS)]
    return {
        "id": row["ID"],
        "text": row["Text"],
        "target": spans[0],
        "candidates": spans[1:],
        "gold": gold,
        "groups": {"gold": "+".join(gold) or "neither"},
    }


def _ask_winobias(record: Record) -> Values:
    row, file = record.values, os.path.basename(record.source.file)
    number, _, marked = row["line"].strip().partition(" ")
    name, groups, pair = file, dict[str, str](), None
    if split := _FILE.match(file) or _ID.search(row.get("id", "")):
        groups = split.groupdict()
        groups["stereotype"] = _STEREOTYPES[groups["stereotype"]]
        name = "{type}.{part}.{stereotype}".format(**groups)
        pair = f"{groups['type']}.{groups['part']}.{number}"
    text, marks = remove_marks(_PHRASES, marked)
    bracketed = [span for mark, span in marks if mark[1]]
    pronouns = [span for span in bracketed if text[slice(*span)].lower() in _GENDERS]
    phrases = [span for span in bracketed if span not in pronouns]
    expected = "[The cook] … [she] …"
    check(pronouns and phrases, "a phrase or a pronoun is not marked", text, expected)
    # Of places with the same noun that in brackets counts, or else the first.
    places = [*phrases[:1], *(span for mark, span in marks if mark[2])]
    nouns = {text[slice(*span)].lower().split()[-1]: span for span in reversed(places)}
    candidates = sorted(nouns.values())
    return {
        "id": row.get("id", f"{name}.{number}"),
        "text": text,
        "target": pronouns[0],
        "candidates": candidates,
        "gold": ascii_uppercase[candidates.index(phrases[0])],
        "groups": groups,
        "pair": pair,
    }


def name_winopron(row: Values) -> str:
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
    expected = f"one of {', '.join(pronouns)}"
    check(len(targets) == 1, f"there are {len(targets)} targets", text, expected)
    roles = ("occupation", "participant")
    return {
        "id": name,
        "text": text,
        "target": targets[0].span(),
        "candidates": [_find_words(noun, text, _WITH_ARTICLE) for noun in nouns],
        "gold": "AB"[right],
        "groups": {**groups, **dict(zip(roles, nouns, strict=True)), "answer": roles[right]},
        "pair": ".".join(twins),
    }


def _ask_ambicoref(record: Record) -> Values:
    template, kind, ambiguity = _AMBICOREF.findall(record.source.file)[-1]
    number, text = record.number + 1, record.values["line"]
    match: Any = re.match(_TEMPLATES[kind], text)
    return {
        "id": f"{template}.{ambiguity}.{number}",
        "text": text,
        "target": match.span(3),
        "candidates": [match.span(1), match.span(2)],
        "groups": {"ambiguity": ambiguity, "template": template},
        "pair": f"{template}.{number}",
    }


def _ask_knowref(record: Record) -> Values:
    names = ("candidate0", "candidate1", "correct_candidate")
    values = [record.values[name] for name in names]
    *nouns, right = [value[0] if isinstance(value, list) else value for value in values]
    before, word, after = _BRACKETED.split(record.values["sentence_with_pronoun"], maxsplit=1)
    text = before + word + after
    return {
        "id": f"knowref.{record.number + 1}",
        "text": text,
        "target": (len(before), len(before + word)),
        "candidates": [_find_words(noun, text) for noun in nouns],
        "gold": "AB"[nouns.index(right)],
    }


def _ask_own_row(record: Record) -> Values:
    cells = {name: cell for name, cell in record.values.items() if cell.strip()}
    values: Values = {name: cells.pop(name, None) for name in ("id", "text", "gold", "pair")}
    human = {name[6:]: cells.pop(name) for name in [*cells] if name.startswith("human:")}
    return {**values, "groups": cells, "human": human}


# How files of each format begin, their records, and what makes a record of corefeval's own format
# of each; in the order in which formats are tried. Only the name of its files tells AmbiCoref.
Reader = tuple[bytes, Callable[[Source], Iterable[Record]], Callable[[Record], Values]]
_OBJECT = rb"\A\s*(\[\s*)?\{.*?"
_TABLE = rb'\A\s*(?=([^\n]*[\t,])?"?id"?[\t,\r\n])([^\n]*[\t,])?"?text"?[\t,\r\n]'
PROBE_FORMATS: dict[str, Reader] = {
    "ambicoref": (rb"(?!)", list_lines, _ask_ambicoref),
    "gap": (rb"\A\s*ID\tText\tPronoun\tPronoun-offset\t", list_rows, _ask_gap),
    "winogender": (rb"\A\s*sentid\tsentence\s", list_rows, _ask_schema),
    "winopron": (rb"\A\s*occupation\tparticipant\tsentence\t", list_rows, _ask_schema),
    "probe-tsv": (_TABLE, list_rows, _ask_own_row),
    "knowref": (_OBJECT + rb'"sentence_with_pronoun"\s*:', records_of, _ask_knowref),
    "probe": (_OBJECT + rb'("(gold|target)"\s*:|\[\* )', records_of, attrgetter("values")),
    "winobias": (rb"\A\s*\d+ [^\n]*\[[^\n]*\]", list_lines, _ask_winobias),
    "winobias-conll": (rb"(?im)^#\s*begin\s+document\b", _list_documents, _ask_winobias),
}


def _detect(source: Source) -> str | None:
    """The format of a probe, by the first bytes and the name of its file; None if it is none."""
    if _AMBICOREF.match(os.path.basename(source.file)):
        return "ambicoref"
    head = source.data[:HEAD].tobytes()
    if b"\n" not in head:  # the first record is long
        head = source.data.tobytes().partition(b"\n")[0]
    signs = ((name, reader[0]) for name, reader in PROBE_FORMATS.items())
    return next((name for name, sign in signs if re.search(sign, head, re.DOTALL)), None)


def is_probe(path: str) -> bool:
    """Whether a path has a file that can be nothing but a probe."""
    files = files_of(path)[0] if path != "-" else ()
    formats = (_detect(read_source(file)) for file in files)
    return next(filter(None, formats), "winobias-conll") != "winobias-conll"


def _refuse(source: Source, problem: str = "") -> InputError:
    return source.error(
        "this is not a probe that corefeval knows",
        found=problem,
        expected=f"one of {', '.join(PROBE_FORMATS)}",
        fix="name its format with --probe-format, or write it in corefeval's own format",
    )


def convert(record: Record, read: Callable[[Record], T], noun: str) -> T:
    """What a function reads from a record; an error of the record for whatever is wrong with it."""
    try:
        return read(record)
    except InputError as error:
        raise record.error(error.problem, found=error.found, expected=error.expected) from None
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        words, expected = excerpt(str(record.values)), "what the page on probes shows"
        raise record.error(f"this is not {noun}", found=words, expected=expected) from None


def _read_item(format: str, record: Record) -> Item:
    """The item of a record of a format; those of public files have the target's gender."""
    item = make_item(PROBE_FORMATS[format][2](record))
    if format.startswith("probe"):
        return item
    gender = look_up(item.text[slice(*item.target)], _GENDERS)
    return item._replace(groups={"gender": gender, **item.groups})


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
    parts: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
    items, formats, skipped = dict[str, tuple[Item, Record]](), dict[str, None](), list[str]()
    for name, record in _list_records(parts, format, encoding, skipped):
        formats[name] = None
        item = convert(record, partial(_read_item, name), f"an item of {name}")
        _, first = items.setdefault(item.id, (item, record))
        if first is not record:
            place = f"line {first.line}" if first.line else f"record {first.number + 1}"
            problem = f"an item is also in {first.source.file}, {place}"
            raise record.error(problem, found=excerpt(item.id), expected="an id for each item")
    name = ", ".join(os.fspath(part) for part in parts if not isinstance(part, Mapping)) or "items"
    if not items:
        raise InputError("there are no items in the probe", file=name)
    notices = skipped_files(name, skipped)
    return Probe(tuple(item for item, _ in items.values()), name, ", ".join(formats), notices)


def _list_records(
    parts: Sequence[Any], format: str | None, encoding: str, skipped: list[str]
) -> Iterator[tuple[str, Record]]:
    """All records, with the names of their formats; files of none are `skipped`."""
    for number, part in enumerate(parts):
        if isinstance(part, Mapping):
            yield "probe", Record({**part}, Source(np.empty(0, dtype=np.uint8), "items"), number)
            continue
        files, several = files_of(part)
        for file in files:
            source = read_source(file, encoding=encoding)
            if name := format or _detect(source):
                check_choice("probe_format", name, PROBE_FORMATS)
                yield from ((name, record) for record in PROBE_FORMATS[name][1](source))
            elif several:
                skipped.append(file)
            else:
                raise _refuse(source)
