"""Readers of public probes and of corefeval's own forms: each makes records in the own form."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
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
_NOUNS = (
    r"accountant|analyst|assistant|attendant|auditor|baker|carpenter|cashier|CEO|chief|cleaner|"
    r"clerk|construction\s+worker|cook|counselor|designer|developer|driver|editor|farmer|guard|"
    r"hairdresser|housekeeper|janitor|laborer|lawyer|librarian|manager|mechanic|mover|nurse|"
    r"physician|receptionist|salesperson|secretary|sheriff|supervisor|tailor|teacher|writer"
)
_ARTICLE = r"(?:(?:the|an?)\s+)?"
_BRACKETS = re.compile(r"\[(\s*)([^\[\]]*?)\s*\]")
_BRACKETED_PRONOUN = re.compile(rf"(?i)\[(\s*)({'|'.join(_GENDERS)})\s*\]")
_AMBICOREF = re.compile(r"((?:ECO|ECS|IC|TOP)[^_]*)_((?:un)?ambiguous)\.txt")
_SPLIT = re.compile(r"(pro|anti)_stereotyped_(type\d)\.txt\.(\w+)")
_CONLL_SPLIT = re.compile(r"(\w+)_(type\d)/(not_)?stereotype//(\d+)")
_CASES = {"NOM": "nominative", "ACC": "accusative", "POSS": "possessive"}
_WINOGENDER = {"male": "masculine", "female": "feminine", "neutral": "neutral"}


class Entry(NamedTuple):
    """What a file has for an item: a line, a row, a record or a document, and its number."""

    value: Any
    number: int
    source: Source
    line: int | None = None

    @property
    def file(self) -> str:
        """The name of the file without its folder."""
        return os.path.basename(self.source.file)

    def fail(self, problem: str, found: object, expected: str) -> InputError:
        """The error for a problem in this entry."""
        return self.source.error(problem, self.line, found=excerpt(str(found)), expected=expected)

    def read_truth(self, cell: str) -> bool:
        """Whether a cell says true; an error if it says neither true nor false."""
        if cell.strip().lower() not in ("true", "false"):
            raise self.fail("a label is not true or false", cell, "TRUE or FALSE")
        return cell.strip().lower() == "true"

    def find_gender(self, pronoun: str) -> str:
        """The gender of a pronoun; an error for any other word."""
        if pronoun.lower() not in _GENDERS:
            raise self.fail("the target is not a pronoun", pronoun, ", ".join(_GENDERS))
        return _GENDERS[pronoun.lower()]


def list_lines(source: Source) -> Iterator[Entry]:
    """The lines with anything in them."""
    lines = enumerate(source.text.split("\n"), start=1)
    filled = ((number, line.rstrip("\r")) for number, line in lines if line.strip())
    return (Entry(line, count, source, n) for count, (n, line) in enumerate(filled, start=1))


def list_rows(source: Source) -> Iterator[Entry]:
    """The rows of a table, by the names in its first line."""
    header: list[str] = []
    for entry in list_lines(source):
        cells = entry.value.split("\t")
        if len(cells) != len(header or {*cells}):
            expected = f"{len(header)} cells with tabs between them, as in the first line"
            raise entry.fail("a row has too few or too many cells", f"{len(cells)}", expected)
        if header:
            yield entry._replace(value=dict(zip(header, cells, strict=True)))
        header = header or cells


def _list_records(source: Source) -> Iterator[Entry]:
    records = records_of(source)
    return (Entry(record.values, record.number + 1, source, record.line) for record in records)


def _list_documents(source: Source) -> Iterator[Entry]:
    corpus = FORMATS["conll"].read(source, name="")
    return (Entry(document, number, source) for number, document in enumerate(corpus, start=1))


def _find_words(words: str, text: str, article: str = "", flags: int = 0) -> Record:
    """A candidate where its words stand first in the text as whole words, or without a place."""
    match = re.search(rf"(?<!\w){article}{re.escape(words)}(?!\w)", text, flags)
    return {"text": match[0], "spans": [match.span()]} if match else {"text": words, "spans": []}


def _ask_own(entry: Entry) -> Record:
    value: Record = entry.value
    return value


def _ask_gap(entry: Entry) -> Record:
    row, spans = entry.value, []
    for name in ("Pronoun", "A", "B"):
        start = int(row[f"{name}-offset"])
        spans.append((start, start + len(row[name])))
        if row["Text"][slice(*spans[-1])] != row[name]:
            raise entry.fail(f"{excerpt(row[name])} is not at its offset", start, "where it begins")
    gold = [label for label in "AB" if entry.read_truth(row[f"{label}-coref"])]
    groups = {"gender": entry.find_gender(row["Pronoun"]), "gold": "+".join(gold) or "neither"}
    record = {"id": row["ID"], "text": row["Text"], "gold": gold, "groups": groups}
    return {**record, "target": spans[0], "candidates": spans[1:]}


def _ask_winobias(entry: Entry) -> Record:
    number, _, marked = entry.value.strip().partition(" ")
    text, marks = remove_marks(_BRACKETS, marked)
    record: Record = {"id": f"{entry.file}.{number}", "text": text, "groups": {}}
    if name := _SPLIT.match(entry.file):
        stereotype, kind, part = name.groups()
        record |= {"id": f"{kind}.{part}.{stereotype}.{number}", "pair": f"{kind}.{part}.{number}"}
        record["groups"] = {"stereotype": stereotype, "type": kind, "part": part}
    return _find_occupations(record, [span for _, span in marks], entry)


def _ask_winobias_conll(entry: Entry) -> Record:
    identifier, words = entry.value.id.name, list(entry.value.words)
    record: Record = {"id": identifier, "text": " ".join(words), "groups": {}}
    if name := _CONLL_SPLIT.search(identifier):
        part, kind, negation, number = name.groups()
        record["pair"] = f"{kind}.{part}.{int(number) + 1}"
        stereotype = "anti" if negation else "pro"
        record["groups"] = {"stereotype": stereotype, "type": kind, "part": part}
    ends = [len(" ".join(words[:place])) for place in range(len(words) + 1)]
    spans = [(ends[m.start] + bool(m.start), ends[m.end]) for m in entry.value.mentions]
    return _find_occupations(record, spans, entry)


def _find_occupations(record: Record, marked: list[Span], entry: Entry) -> Record:
    """The record with the first marked pronoun, and occupations beside the marked phrase."""
    text = record["text"]
    pronouns = [span for span in marked if text[slice(*span)].lower() in _GENDERS]
    phrases = [span for span in marked if span not in pronouns]
    if not pronouns or not phrases:
        expected = "[The developer] … because [she] …"
        raise entry.fail(f"{record['id']} lacks a marked phrase or pronoun", text, expected)
    nouns = re.finditer(rf"(?i)(?<!\w){_ARTICLE}(?:{_NOUNS})(?!\w)", text)
    spans = [noun.span() for noun in nouns]
    free = [span for span in spans if all(span[1] <= s or e <= span[0] for s, e in marked)]
    candidates = sorted([phrases[0], *free])
    record["groups"]["gender"] = entry.find_gender(text[slice(*pronouns[0])])
    gold = chr(ord("A") + candidates.index(phrases[0]))
    return {**record, "target": pronouns[0], "candidates": candidates, "gold": gold}


def _ask_winogender(entry: Entry) -> Record:
    identifier = entry.value["sentid"].removesuffix(".txt")
    occupation, participant, answer, word = identifier.split(".")
    gender = _WINOGENDER[word]
    groups = {"gender": gender, "other": "someone" if participant == "someone" else "named"}
    parts, pronouns = [occupation, participant, answer], _PRONOUNS[gender].split()
    return _find_nouns(identifier, entry.value["sentence"], parts, pronouns, groups, entry)


def name_winopron(row: dict[str, str]) -> tuple[str, list[str]]:
    """The id of a row of WinoPron, and what twins share: its nouns, its case and its answer."""
    nouns = [row["occupation"], row["participant"]]
    case = _CASES[row["pronoun_type"].strip("$").partition("_")[0]]
    answer = str(nouns.index(row["answer"]))
    return ".".join([*nouns, case, row["pronoun"], answer]), [*nouns, case, answer]


def _ask_winopron(entry: Entry) -> Record:
    row = entry.value
    identifier, parts = name_winopron(row)
    gender = entry.find_gender(row["pronoun"])
    groups = {"gender": gender, "pronoun": _PRONOUNS[gender].split()[0], "case": parts[2]}
    pronouns = [row["pronoun"].lower()]
    return _find_nouns(identifier, row["sentence"], parts, pronouns, groups, entry)


def _find_nouns(
    identifier: str, text: str, parts: list[str], pronouns: list[str], groups: Record, entry: Entry
) -> Record:
    """The record of a sentence with two nouns and one pronoun; the last part says which noun."""
    words = [match for match in re.finditer(r"\w+", text) if match[0].lower() in pronouns]
    if len(words) != 1:
        raise entry.fail(f"there are {len(words)} targets", text, f"one of {', '.join(pronouns)}")
    answer = int(parts[-1])
    groups |= {"occupation": parts[0], "participant": parts[1]}
    groups["answer"] = ("occupation", "participant")[answer]
    candidates = [_find_words(noun, text, _ARTICLE, re.IGNORECASE) for noun in parts[:2]]
    record = {"id": identifier, "text": text, "target": words[0].span(), "candidates": candidates}
    return {**record, "gold": "AB"[answer], "groups": groups, "pair": ".".join(parts)}


def _ask_ambicoref(entry: Entry) -> Record:
    template, ambiguity = _AMBICOREF.findall(entry.file)[0]
    text, number = entry.value, entry.number
    spans = [match.span() for match in re.finditer(r"\w(?:\S*\w)?", text)]
    words = [text[start:end].lower() for start, end in spans]
    verb = 1 + (words[0] == "the")
    if template.startswith("TOP"):
        target = min(words.index(word) for word in ("he", "she") if word in words)
        second = words.index("by") + 1 if "by" in words[:target] else verb + 1
    else:
        mark = words.index("because" if template.startswith("IC") else "that")
        target = len(words) - 1 if template.startswith("ECS") else mark + 1
        second = mark - 1 - (words[mark - 2] == "the")
    last = second + (words[second] == "the")
    gender = entry.find_gender(words[target])
    return {
        "id": f"{template}.{ambiguity}.{number}",
        "text": text,
        "target": spans[target],
        "candidates": [(0, spans[verb - 1][1]), (spans[second][0], spans[last][1])],
        "groups": {"ambiguity": ambiguity, "template": template, "gender": gender},
        "pair": f"{template}.{number}",
    }


def _ask_knowref(entry: Entry) -> Record:
    names = ("candidate0", "candidate1", "correct_candidate")
    values = [entry.value[name] for name in names]
    *nouns, correct = [value[0] if isinstance(value, list) else value for value in values]
    marked = entry.value["sentence_with_pronoun"]
    behind = _BRACKETED_PRONOUN.search(marked).end()
    start, ((_, target),) = remove_marks(_BRACKETED_PRONOUN, marked[:behind])
    text = start + marked[behind:]
    return {
        "id": f"knowref.{entry.number}",
        "text": text,
        "target": target,
        "candidates": [_find_words(noun, text) for noun in nouns],
        "gold": "AB"[nouns.index(correct)],
        "groups": {"gender": entry.find_gender(text[slice(*target)])},
    }


def _ask_own_row(entry: Entry) -> Record:
    cells = {name: cell for name, cell in entry.value.items() if cell.strip()}
    record: Record = {name: cells.pop(name, None) for name in ("id", "text", "gold", "pair")}
    human = {name[6:]: cells.pop(name) for name in [*cells] if name.startswith("human:")}
    return {**record, "groups": cells, "human": human}


class ProbeFormat(NamedTuple):
    """How files of a format begin, their entries, and the record of an entry."""

    sign: bytes
    entries: Callable[[Source], Iterator[Entry]]
    ask: Callable[[Entry], Record]


# In the order in which they are tried; only the name of its files tells AmbiCoref.
PROBE_FORMATS = {
    "ambicoref": ProbeFormat(rb"(?!)", list_lines, _ask_ambicoref),
    "gap": ProbeFormat(rb"\AID\tText\tPronoun\tPronoun-offset\t", list_rows, _ask_gap),
    "winogender": ProbeFormat(rb"\Asentid\tsentence\s", list_rows, _ask_winogender),
    "winopron": ProbeFormat(rb"\Aoccupation\tparticipant\tsentence\t", list_rows, _ask_winopron),
    "probe-tsv": ProbeFormat(
        rb"\A(?=([^\n]*\t)?id[\t\r\n])([^\n]*\t)?text[\t\r\n]", list_rows, _ask_own_row
    ),
    "knowref": ProbeFormat(
        rb'\A\s*(\[\s*)?\{.*?"sentence_with_pronoun"\s*:', _list_records, _ask_knowref
    ),
    "probe": ProbeFormat(
        rb'\A\s*(\[\s*)?\{.*?("(gold|target)"\s*:|\[\* )', _list_records, _ask_own
    ),
    "winobias": ProbeFormat(rb"\A\s*\d+ [^\n]*\[[^\n]*\]", list_lines, _ask_winobias),
    "winobias-conll": ProbeFormat(
        rb"(?im)^#\s*begin\s+document\b", _list_documents, _ask_winobias_conll
    ),
}


def detect_probe(head: bytes, file: str) -> str | None:
    """The format of a probe, by the first bytes and the name of its file; None if it is none."""
    if _AMBICOREF.match(os.path.basename(file)):
        return "ambicoref"
    signs = ((name, format.sign) for name, format in PROBE_FORMATS.items())
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
    entries = PROBE_FORMATS[chosen].entries(source)
    return chosen, ((entry, read_entry(entry, chosen)) for entry in entries)


def read_entry(entry: Entry, format: str) -> Item:
    """The item of an entry; an error of the entry for whatever is wrong with it."""
    try:
        return make_item(PROBE_FORMATS[format].ask(entry), entry.fail)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        expected = "what the page on probes shows for this format"
        raise entry.fail(f"this is not an item of {format}", entry.value, expected) from None
