"""Readers of public probes and of corefeval's own forms: each makes records in the own form."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.json.records import records_of
from corefeval.formats.registry import FORMATS, HEAD, UnknownFormatError
from corefeval.formats.source import Source
from corefeval.probes.items import Item, Span, make_item, remove_marks

Record = dict[str, Any]

_PRONOUNS = {
    "masculine": "he him his himself",
    "feminine": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
    "neo": "xe xem xyr xyrs xemself",
}
_GENDERS = {word: gender for gender, words in _PRONOUNS.items() for word in words.split()}
_WITH_ARTICLE = r"(?i:(?:(?:the|an?)\s+)?{})"
_OCCUPATIONS = re.compile(
    r"(?i)\b(?:the|an?)\s+(?:accountant|analyst|assistant|attendant|auditor|baker|carpenter|"
    r"cashier|CEO|chief|cleaner|clerk|construction\s+worker|cook|counselor|designer|developer|"
    r"driver|editor|farmer|guard|hairdresser|housekeeper|janitor|laborer|lawyer|librarian|manager|"
    r"mechanic|mover|nurse|physician|receptionist|salesperson|secretary|sheriff|supervisor|tailor|"
    r"teacher|writer)(?!\w)"
)
_BRACKETS = re.compile(r"\[(\s*)([^\[\]]*?)\s*\]")
_SPLIT = re.compile(r"(?P<stereotype>pro|anti)_stereotyped_(?P<type>type\d)\.txt\.(?P<part>\w+)")
_CONLL_SPLIT = re.compile(r"(?P<part>\w+)_(?P<type>type\d)/(not_)?stereotype//(\d+)")
_CASES = {"NOM": "nominative", "ACC": "accusative", "POSS": "possessive"}
_WINOGENDER = {"male": "masculine", "female": "feminine", "neutral": "neutral"}
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


class Entry(NamedTuple):
    """What a file has for an item: a line, a row, a record or a document, and its number."""

    value: Any
    number: int
    source: Source
    line: int | None = None

    def fail(self, problem: str, value: object, expected: str) -> InputError:
        """The error for a problem in this entry."""
        return self.source.error(problem, self.line, found=excerpt(str(value)), expected=expected)

    def look_up(self, word: str, values: dict[str, Any]) -> Any:
        """What a word stands for, in any case; an error if it is none of those that do."""
        if word.strip().lower() not in values:
            raise self.fail("a word is not what it should be", word, ", ".join(values))
        return values[word.strip().lower()]


def list_lines(source: Source) -> Iterator[Entry]:
    """The lines with anything in them."""
    number = 0
    for place, line in enumerate(source.text.split("\n"), start=1):
        number += bool(line.strip())
        if line.strip():
            yield Entry(line.rstrip("\r"), number, source, place)


def list_rows(source: Source) -> Iterator[Entry]:
    """The rows of a table, by the names in its first line."""
    header: list[str] = []
    for entry in list_lines(source):
        cells = entry.value.split("\t")
        if len(cells) != len(header or {*cells}):
            expected = f"{len(header)} cells with tabs between them, as in the first line"
            raise entry.fail("a row has too few or too many cells", len(cells), expected)
        if header:
            yield entry._replace(value=dict(zip(header, cells, strict=True)))
        header = header or cells


def _list_records(source: Source) -> Iterator[Entry]:
    records = records_of(source)
    return (Entry(record.values, record.number + 1, source, record.line) for record in records)


def _list_documents(source: Source) -> Iterator[Entry]:
    documents = enumerate(FORMATS["conll"].read(source, name=""), start=1)
    return (Entry(document, number, source) for number, document in documents)


def _find_words(words: str, text: str, form: str = "{}") -> Record:
    """A candidate where its words stand first in the text as whole words, or without a place."""
    match = re.search(rf"(?<!\w){form.format(re.escape(words))}(?!\w)", text)
    return {"text": match[0], "spans": [match.span()]} if match else {"text": words, "spans": []}


def _ask_gap(entry: Entry) -> Record:
    row, spans = entry.value, []
    for name in ("Pronoun", "A", "B"):
        start = int(row[f"{name}-offset"])
        spans.append((start, start + len(row[name])))
        if row["Text"][slice(*spans[-1])] != row[name]:
            raise entry.fail(f"{excerpt(row[name])} is not at its offset", start, "where it begins")
    gold = [label for label in "AB" if entry.look_up(row[f"{label}-coref"], TRUTHS)]
    groups = {
        "gender": entry.look_up(row["Pronoun"], _GENDERS),
        "gold": "+".join(gold) or "neither",
    }
    record = {"id": row["ID"], "text": row["Text"], "gold": gold, "groups": groups}
    return {**record, "target": spans[0], "candidates": spans[1:]}


TRUTHS = {"true": True, "false": False}


def _ask_winobias(entry: Entry) -> Record:
    number, _, marked = entry.value.strip().partition(" ")
    text, marks = remove_marks(_BRACKETS, marked)
    file = os.path.basename(entry.source.file)
    name = _SPLIT.match(file)
    groups = name.groupdict() if name else {}
    identifier = "{type}.{part}.{stereotype}".format(**groups) if name else file
    record = {"id": f"{identifier}.{number}", "text": text, "groups": groups}
    return _find_occupations(record, [span for _, span in marks], number, entry)


def _ask_winobias_conll(entry: Entry) -> Record:
    identifier, words = entry.value.id.name, list(entry.value.words)
    name = _CONLL_SPLIT.search(identifier)
    groups = {**name.groupdict(), "stereotype": "anti" if name[3] else "pro"} if name else {}
    ends = [len(" ".join(words[:place])) for place in range(len(words) + 1)]
    spans = [(ends[m.start] + bool(m.start), ends[m.end]) for m in entry.value.mentions]
    record = {"id": identifier, "text": " ".join(words), "groups": groups}
    return _find_occupations(record, spans, str(int(name[4]) + 1) if name else "", entry)


def _find_occupations(record: Record, marked: list[Span], number: str, entry: Entry) -> Record:
    """The record with the first marked pronoun, and occupations beside the marked phrase."""
    text, groups = record["text"], record["groups"]
    pronouns = [span for span in marked if text[slice(*span)].lower() in _GENDERS]
    phrases = [span for span in marked if span not in pronouns]
    if not pronouns or not phrases:
        raise entry.fail("a phrase or a pronoun is not marked", text, "[The cook] … [she] …")
    pair = f"{groups['type']}.{groups['part']}.{number}" if groups else None
    groups["gender"] = _GENDERS[text[slice(*pronouns[0])].lower()]
    nouns = {text[slice(*phrases[0])].lower().split()[-1]: phrases[0]}
    for noun in _OCCUPATIONS.finditer(text):
        if all(noun.end() <= start or end <= noun.start() for start, end in marked):
            nouns.setdefault(noun[0].lower().split()[-1], noun.span())
    candidates = sorted(nouns.values())
    gold = chr(ord("A") + candidates.index(phrases[0]))
    record |= {"target": pronouns[0], "candidates": candidates}
    return {**record, "gold": gold, "pair": pair}


def _ask_winogender(entry: Entry) -> Record:
    identifier = entry.value["sentid"].removesuffix(".txt")
    occupation, participant, answer, word = identifier.split(".")
    gender = _WINOGENDER[word]
    groups = {"gender": gender, "other": "someone" if participant == "someone" else "named"}
    record = {"id": identifier, "text": entry.value["sentence"], "groups": groups}
    parts = [occupation, participant, answer]
    return _find_nouns(record, parts, _PRONOUNS[gender].split(), entry)


def name_winopron(row: dict[str, str]) -> list[str]:
    """The parts of the id of a row of WinoPron."""
    nouns = [row["occupation"], row["participant"]]
    case = _CASES[row["pronoun_type"].strip("$").partition("_")[0]]
    return [*nouns, case, row["pronoun"], str(nouns.index(row["answer"]))]


def _ask_winopron(entry: Entry) -> Record:
    parts = name_winopron(entry.value)
    gender = entry.look_up(parts[3], _GENDERS)
    groups = {"gender": gender, "pronoun": _PRONOUNS[gender].split()[0], "case": parts[2]}
    record = {"id": ".".join(parts), "text": entry.value["sentence"], "groups": groups}
    return _find_nouns(record, [*parts[:3], parts[4]], [parts[3].lower()], entry)


def _find_nouns(record: Record, parts: list[str], pronouns: list[str], entry: Entry) -> Record:
    """The record with its two nouns and its only pronoun; the last part says which noun."""
    text, answer = record["text"], ("0", "1").index(parts[-1])
    words = [match for match in re.finditer(r"\w+", text) if match[0].lower() in pronouns]
    if len(words) != 1:
        raise entry.fail(f"there are {len(words)} targets", text, f"one of {', '.join(pronouns)}")
    roles = ("occupation", "participant")
    record["groups"] |= {**dict(zip(roles, parts, strict=False)), "answer": roles[answer]}
    record["candidates"] = [_find_words(noun, text, _WITH_ARTICLE) for noun in parts[:2]]
    gold, pair = "AB"[answer], ".".join(parts)
    return {**record, "target": words[0].span(), "gold": gold, "pair": pair}


def _ask_ambicoref(entry: Entry) -> Record:
    template, kind, ambiguity = _AMBICOREF.findall(entry.source.file)[-1]
    match: Any = re.match(_TEMPLATES[kind], entry.value)
    first, second, target = match.span(1), match.span(2), match.span(3)
    groups = {"ambiguity": ambiguity, "template": template}
    groups["gender"] = entry.look_up(match[3], _GENDERS)
    record = {"id": f"{template}.{ambiguity}.{entry.number}", "text": entry.value}
    record |= {"target": target, "candidates": [first, second], "groups": groups}
    return {**record, "pair": f"{template}.{entry.number}"}


def _ask_knowref(entry: Entry) -> Record:
    names = ("candidate0", "candidate1", "correct_candidate")
    values = [entry.value[name] for name in names]
    *nouns, correct = [value[0] if isinstance(value, list) else value for value in values]
    marked = entry.value["sentence_with_pronoun"]
    marks = [m for m in _BRACKETS.finditer(marked) if m[2].lower() in _GENDERS]
    start, pronoun = marks[0].start(), marks[0][2]
    text = marked[:start] + pronoun + marked[marks[0].end() :]
    record = {"id": f"knowref.{entry.number}", "text": text, "gold": "AB"[nouns.index(correct)]}
    record["candidates"] = [_find_words(noun, text) for noun in nouns]
    groups = {"gender": _GENDERS[pronoun.lower()]}
    return {**record, "target": (start, start + len(pronoun)), "groups": groups}


def _ask_own_row(entry: Entry) -> Record:
    cells = {name: cell for name, cell in entry.value.items() if cell.strip()}
    record: Record = {name: cells.pop(name, None) for name in ("id", "text", "gold", "pair")}
    human = {name[6:]: cells.pop(name) for name in [*cells] if name.startswith("human:")}
    return {**record, "groups": cells, "human": human}


# How files of each format begin, their entries, and what makes a record of one; in the order in
# which formats are tried. Only the name of its files tells AmbiCoref.
Reader = tuple[bytes, Callable[[Source], Iterator[Entry]], Callable[[Entry], Record]]
PROBE_FORMATS: dict[str, Reader] = {
    "ambicoref": (rb"(?!)", list_lines, _ask_ambicoref),
    "gap": (rb"\AID\tText\tPronoun\tPronoun-offset\t", list_rows, _ask_gap),
    "winogender": (rb"\Asentid\tsentence\s", list_rows, _ask_winogender),
    "winopron": (rb"\Aoccupation\tparticipant\tsentence\t", list_rows, _ask_winopron),
    "probe-tsv": (
        rb"\A(?=([^\n]*\t)?id[\t\r\n])([^\n]*\t)?text[\t\r\n]",
        list_rows,
        _ask_own_row,
    ),
    "knowref": (rb'\A\s*(\[\s*)?\{.*?"sentence_with_pronoun"\s*:', _list_records, _ask_knowref),
    "probe": (
        rb'\A\s*(\[\s*)?\{.*?("(gold|target)"\s*:|\[\* )',
        _list_records,
        attrgetter("value"),
    ),
    "winobias": (rb"\A\s*\d+ [^\n]*\[[^\n]*\]", list_lines, _ask_winobias),
    "winobias-conll": (rb"(?im)^#\s*begin\s+document\b", _list_documents, _ask_winobias_conll),
}


def detect_probe(head: bytes, file: str) -> str | None:
    """The format of a probe, by the first bytes and the name of its file; None if it is none."""
    if _AMBICOREF.match(os.path.basename(file)):
        return "ambicoref"
    signs = ((name, reader[0]) for name, reader in PROBE_FORMATS.items())
    return next((name for name, sign in signs if re.search(sign, head, re.DOTALL)), None)


def read_items(source: Source, format: str | None) -> tuple[str, Iterator[tuple[Entry, Item]]]:
    """The format of a file, which is recognised unless it is named, and its items."""
    chosen = format or detect_probe(source.data[:HEAD].tobytes(), source.file)
    if chosen is None:
        raise UnknownFormatError(
            "this is not a probe that corefeval knows",
            file=source.file,
            expected=f"one of {', '.join(PROBE_FORMATS)}",
            fix="name its format with --probe-format / probe_format=…, or write it in the own form",
        )
    check_choice("probe_format", chosen, PROBE_FORMATS)
    entries = PROBE_FORMATS[chosen][1](source)
    return chosen, ((entry, read_entry(entry, chosen)) for entry in entries)


def read_entry(entry: Entry, format: str) -> Item:
    """The item of an entry; an error of the entry for whatever is wrong with it."""
    try:
        return make_item(PROBE_FORMATS[format][2](entry), entry.fail)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        expected = "what the page on probes shows for this format"
        raise entry.fail(f"this is not an item of {format}", entry.value, expected) from None
