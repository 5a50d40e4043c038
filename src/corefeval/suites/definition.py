"""What a suite is: corpora, systems, metrics, and how a TOML file says so."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, get_args

from corefeval.checks import check_path, did_you_mean, split_list
from corefeval.diagnostics import InputError, UsageError, excerpt, plural
from corefeval.features import FeatureRequest
from corefeval.files import PathLike, is_remote, open_file
from corefeval.formats import check_reading
from corefeval.metrics import parse_metrics
from corefeval.protocol import Protocol
from corefeval.results.scores import LEVELS, RATE_NAMES, Absent

_DEFAULT_METRICS = "muc, b3, ceafe, conll, lea"
_PLACES = re.compile(r"\{([^{}]*)\}")
Mistake = tuple[str, int, str]  # the table that has it, which of them, and what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCorpus:
    """A corpus: its key, how responses to it are scored, and what it counts in averages."""

    name: str
    key: str
    protocol: str = ""
    weight: float = 1.0
    group: str = ""
    key_format: str | None = None
    response_format: str | None = None
    encoding: str = "utf-8"
    word_column: int | None = None
    key_layer: str | None = None
    response_layer: str | None = None
    features: str | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files besides responses that its scores depend on: key, features, tag set."""
        tagset = str(Protocol.of(self.protocol or None).tagset)
        tagset_files = (tagset,) if os.path.isfile(tagset) else ()
        return (*filter(None, (self.key, self.features)), *tagset_files)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSystem:
    """A system: where its response to each corpus is, by a pattern with `{corpus}`.

    One that has seeds has `{seed}` in its pattern too. Where no single pattern will do, `responses`
    is a mapping from corpora to patterns. `corpora` are those that it takes part in, where these
    are not all, or not all of the mapping.
    """

    name: str
    responses: str | Mapping[str, str]
    seeds: tuple[str, ...] = ()
    corpora: tuple[str, ...] | None = None

    def takes_part(self, corpus: str) -> bool:
        """Whether there should be a response to a corpus."""
        corpora = self.stated_corpora
        return corpora is None or corpus in corpora

    @property
    def stated_corpora(self) -> tuple[str, ...] | None:
        """The corpora that it takes part in, where it says so."""
        is_pattern = self.corpora is not None or isinstance(self.responses, str)
        return self.corpora if is_pattern else tuple(self.responses)

    def path(self, corpus: str, seed: str | None = None) -> str:
        """Where a response should be.

        >>> SuiteSystem(name="mine", responses="{corpus}/{seed}.conll").path("gum", "2")
        'gum/2.conll'
        """
        pattern = self.responses if isinstance(self.responses, str) else self.responses[corpus]
        return pattern.replace("{corpus}", corpus).replace("{seed}", seed or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Corpora × systems, by which metrics, of which one is the headline.

    `metrics` and `by` are written as for `score`. A response that is not there, or cannot be
    scored, counts as 0 in averages (`zero`), or is left out of them (`leave-out`). `resample` is
    what averages are resampled by, if not by corpora, documents and seeds.
    """

    corpora: tuple[SuiteCorpus, ...]
    systems: tuple[SuiteSystem, ...]
    metrics: str = _DEFAULT_METRICS
    headline: str = "conll"
    rate: str = "f1"
    missing: Absent = "zero"
    resample: str = ""
    by: str = ""
    title: str = ""
    file: str = ""

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics in their standard spelling; empty where only another program knows them."""
        try:
            return tuple(str(request.metric) for request in parse_metrics(self.metrics))
        except UsageError:
            return ()

    def mistakes(self) -> Iterator[Mistake]:
        """The mistakes because of which the suite cannot be run."""
        yield from _naming_mistakes("corpora", self.corpora)
        yield from _naming_mistakes("systems", self.systems)
        yield from self._metric_mistakes()
        names = [corpus.name for corpus in self.corpora]
        for place, corpus in enumerate(self.corpora):
            yield from (("corpora", place, text) for text in _corpus_mistakes(corpus))
            if self.systems and not any(system.takes_part(corpus.name) for system in self.systems):
                yield "corpora", place, "no system takes part in it"
        for place, system in enumerate(self.systems):
            yield from (("systems", place, text) for text in _system_mistakes(system, names))

    def _metric_mistakes(self) -> Iterator[Mistake]:
        levels = [("resample is any of", LEVELS, level) for level in split_list(self.resample)]
        for beginning, choices, value in (
            ("missing is one of", get_args(Absent), self.missing),
            *levels,
            ("rate is one of", RATE_NAMES, self.rate),
        ):
            if value not in choices:
                yield "", 0, f"{beginning} {', '.join(choices)}, not {value!r}"
        if all(map(_has_metrics_of_its_own, self.corpora)):
            return  # the metrics are other programs': they are checked when these are run
        yield from (("", 0, text) for text in _complain("metrics", parse_metrics, self.metrics))
        yield from (("", 0, text) for text in _complain("headline", parse_metrics, self.headline))
        if self.metric_names and self.headline not in self.metric_names:
            available = ", ".join(self.metric_names)
            text = f"the headline {self.headline!r} is not a metric here: there are {available}"
            yield "", 0, text
        for feature in split_list(self.by):
            yield from (("", 0, text) for text in _complain("by", FeatureRequest.parse, feature))

    def check(self) -> Suite:
        """This suite; raises UsageError, with a line for each mistake, where there are any."""
        if lines := [_describe(self, mistake) for mistake in self.mistakes()]:
            raise UsageError("\n  ".join(("the suite cannot be run:", *lines)))
        return self


def _naming_mistakes(table: str, entries: Sequence[SuiteCorpus | SuiteSystem]) -> Iterator[Mistake]:
    if not entries:
        yield table, 0, f"there are no {table}: write [[{table}]]"
    names = [entry.name for entry in entries]
    for place, name in enumerate(names):
        if names[:place].count(name) == 1:
            yield table, place, f"{plural(names.count(name), 'entry')} called {name!r}"
        if not name.strip() or re.search(r"[{}\x00-\x1f]", name):
            yield table, place, f"{excerpt(name)} is not a name: it is blank, or has braces"


def _corpus_mistakes(corpus: SuiteCorpus) -> Iterator[str]:
    if not corpus.key or corpus.key == "-":
        yield "the key is a file, a folder or a pattern"
    if not 0 < corpus.weight < 1e100:  # sums of larger ones are infinite
        yield f"a weight is a number above 0 and below 1e100, not {corpus.weight!r}"
    yield from _complain("protocol", Protocol.of, corpus.protocol or None)
    for name in ("key_format", "response_format", "encoding"):
        yield from _complain(name, check_reading, **{name: getattr(corpus, name)})


def _complain(
    field: str, check: Callable[..., object], *values: object, **options: object
) -> Iterator[str]:
    """What a check of a field complains of, on one line; nothing if all is well."""
    try:
        check(*values, **options)
    except UsageError as error:
        yield f"{field}: {'; '.join(map(str.strip, str(error).splitlines()))}"


def _system_mistakes(system: SuiteSystem, corpora: Sequence[str]) -> Iterator[str]:
    responses, is_pattern = system.responses, isinstance(system.responses, str)
    for pattern in [responses] if isinstance(responses, str) else responses.values():
        places = _PLACES.findall(pattern)
        if is_pattern and "corpus" not in places:
            yield f"its responses, {excerpt(pattern)}, have no {{corpus}} in them"
        for place in dict.fromkeys(places):
            if place not in ("corpus", "seed"):
                yield f"{{{place}}} in its responses is not known: write {{corpus}} and {{seed}}"
        if ("seed" in places) != bool(system.seeds):
            has_place = "{seed} in its responses, but no seeds"
            yield f"it has {has_place if 'seed' in places else 'seeds, but no {seed}'}"
    if len(set(system.seeds)) < len(system.seeds):
        yield f"the seed {max(system.seeds, key=system.seeds.count)!r} appears twice"
    if system.stated_corpora is not None:
        if not system.stated_corpora:
            yield "it takes part in no corpus"
        for name in system.stated_corpora:
            if name not in corpora:
                yield f"there is no corpus {name!r}: {did_you_mean(name, corpora)}"
            if not is_pattern and name not in system.responses:
                yield f"its responses have no pattern for {name!r}"


def _has_metrics_of_its_own(corpus: SuiteCorpus) -> bool:
    try:
        return bool(Protocol.of(corpus.protocol or None).emulate != "none")
    except UsageError:
        return False


def _describe(
    suite: Suite, mistake: Mistake, lines: Mapping[str, Sequence[int]] | None = None
) -> str:
    """A mistake as a line of text: its place, and what it is."""
    table, place, text = mistake
    numbers = (lines or {}).get(table, ())
    where = [f"line {numbers[place]}"] if place < len(numbers) else []
    entries: Sequence[SuiteCorpus | SuiteSystem] = getattr(suite, table) if table else ()
    if place < len(entries):
        kind = "corpus" if table == "corpora" else "system"
        where.append(f"{kind} {excerpt(entries[place].name)}")
    return f"{', '.join(where)}: {text}" if where else text


# ── files ──


def read_suite(path: PathLike) -> Suite:
    """The suite that a TOML file describes; paths in it are relative to its folder.

    Everything that is wrong with the file is in one InputError, on a line each.
    """
    import tomllib

    file = check_path(path, "name the file of a suite")
    try:
        with open_file(file) as stream:
            text = stream.read().decode("utf-8-sig")
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number that Python cannot convert
        line = re.search(r"\(at line (\d+)", str(error))
        raise InputError(
            f"this is not TOML: {str(error) or 'it is nested too deeply'}",
            file=file,
            line=int(line[1]) if line else None,
            fix="corefeval suite init writes a first file",
        ) from None
    suite, mistakes = _parse_suite(content)
    suite = replace(suite, file=file)
    mistakes += suite.mistakes()
    if not mistakes:
        return _locate_files(suite, os.path.dirname(file))
    lines = {name: _header_lines(text, name, content) for name in ("corpora", "systems")}
    descriptions = [_describe(suite, mistake, lines) for mistake in mistakes]
    if len(descriptions) == 1:
        raise InputError(descriptions[0], file=file)
    raise InputError(
        "\n  ".join((f"{plural(len(descriptions), 'mistake')} in this suite:", *descriptions)),
        file=file,
    )


def _header_lines(text: str, table: str, content: Mapping[str, Any]) -> list[int]:
    """The line of each entry's header in a table; none if headers cannot be told by their lines."""
    header = re.compile(rf"\s*\[\[\s*\"?{table}\"?\s*\]\]")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if header.match(line)]
    entries = content.get(table)
    return lines if isinstance(entries, list) and len(lines) == len(entries) else []


def _parse_suite(content: Mapping[str, Any]) -> tuple[Suite, list[Mistake]]:
    """The suite with the valid fields of a file; and mistakes: unknown fields and wrong types."""
    mistakes: list[Mistake] = []
    settings = {
        name: value for name, value in content.items() if name not in ("corpora", "systems")
    }
    default = settings.pop("protocol", "")
    suite_values, texts = _check_fields(
        Suite, settings, hidden=("corpora", "systems", "file"), further_names=("protocol",)
    )
    if not isinstance(default, str):
        texts.append(f"protocol is text, not {default!r:.40}")
        default = ""
    mistakes += [("", 0, text) for text in texts]
    tables: dict[str, tuple[Any, ...]] = {}
    for table, kind in (("corpora", SuiteCorpus), ("systems", SuiteSystem)):
        entries = content.get(table, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            mistakes.append((table, 0, f"{table} are tables: write [[{table}]]"))
            entries = []
        members = []
        for place, entry in enumerate(entries):
            if table == "corpora":
                entry = {"protocol": default, **entry}
            values, texts = _check_fields(kind, entry)
            mistakes += [(table, place, text) for text in texts]
            values["name"] = values["name"] or f"number {place + 1}"
            members.append(kind(**values))
        tables[table] = tuple(members)
    for name in ("metrics", "headline"):
        if ":" in str(suite_values.get(name, "")):  # the place of code, which would be imported
            text = f"{name}: {suite_values.pop(name)!r:.60} names code, which no file may run: "
            text += "offer it by entry point, or make the suite in Python"
            mistakes.append(("", 0, text))
    metrics = str(suite_values.get("metrics", _DEFAULT_METRICS))
    suite_values["headline"] = _headline(suite_values.get("headline"), metrics)
    return Suite(corpora=tables["corpora"], systems=tables["systems"], **suite_values), mistakes


def _headline(stated: str | None, metrics: str) -> str:
    """The headline in its standard spelling; if none is stated, conll or else the first metric."""
    from corefeval.metrics import spell

    try:
        names = [str(request.metric) for request in parse_metrics(metrics)]
        return spell(stated) if stated else "conll" if "conll" in names else names[0]
    except UsageError:  # `Suite.mistakes` has it
        return stated or metrics.split(",")[0].strip()


# Values for required fields that are missing, chosen so that they cause no further mistakes.
_BLANK: dict[str, Any] = {"name": "", "key": "?", "responses": "{corpus}"}


def _check_fields(
    kind: type,
    entry: Mapping[str, Any],
    *,
    hidden: Iterable[str] = (),
    further_names: Sequence[str] = (),
) -> tuple[dict[str, Any], list[str]]:
    """The valid fields of an entry, and a description of each mistake in the others."""
    allowed = {field.name: field for field in fields(kind) if field.name not in hidden}
    values: dict[str, Any] = {}
    texts = [
        f"there is no field {name!r}: {did_you_mean(name, [*allowed, *further_names])}"
        for name in entry
        if name not in allowed
    ]
    for name, field in allowed.items():
        if name not in entry:
            if field.default is MISSING:
                texts.append(f"it has no {name}")
                values[name] = _BLANK[name]
            continue
        value, expected = _check_value(name, str(field.type), entry[name])
        if expected:
            texts.append(f"{name} is {expected}, not {entry[name]!r:.40}")
            value = _BLANK.get(name, field.default)
        values[name] = value
    return values, texts


def _check_value(name: str, kind: str, value: Any) -> tuple[Any, str]:
    """The value converted for its field, and what was expected instead if it is invalid."""
    if kind.startswith("tuple"):
        if isinstance(value, list) and all(type(item) in (str, int) for item in value):
            return tuple(map(str, value)), ""
        return (), "a list of names or numbers"
    if "Mapping" in kind and isinstance(value, dict):
        is_valid = all(isinstance(pattern, str) for pattern in value.values())
        return value, "" if is_valid else "text, or a table of corpus = pattern"
    if "float" in kind:
        is_number = type(value) in (int, float)
        try:
            return (float(value), "") if is_number else (value, "a number")
        except OverflowError:
            return value, "a smaller number"
    if "int" in kind:
        is_whole = type(value) is int and value > 0
        return (value, "") if is_whole else (value, "a whole number from 1")
    if name in ("metrics", "by", "resample") and isinstance(value, list):
        value = ", ".join(value) if all(isinstance(item, str) for item in value) else value
    return (value, "") if isinstance(value, str) else (value, "text")


def _locate_files(suite: Suite, folder: str) -> Suite:
    """The suite with paths that start at the current folder instead of the suite's."""

    def locate(path: str) -> str:
        return path if is_remote(path) else os.path.join(folder, os.path.expanduser(path))

    def locate_tags(protocol: str) -> str:
        """The protocol, with the path of its tag set where that is a file in the folder."""
        tagset = str(Protocol.of(protocol or None).tagset)
        path = locate(tagset)
        is_there = os.path.splitext(tagset)[1] and os.path.isfile(path)
        return str(Protocol.of(protocol, tagset=path)) if is_there else protocol

    corpora = (
        replace(
            entry,
            key=locate(entry.key),
            features=entry.features and locate(entry.features),
            protocol=locate_tags(entry.protocol),
        )
        for entry in suite.corpora
    )

    def locate_all(responses: str | Mapping[str, str]) -> str | Mapping[str, str]:
        if isinstance(responses, str):
            return locate(responses)
        return {corpus: locate(pattern) for corpus, pattern in responses.items()}

    systems = (replace(entry, responses=locate_all(entry.responses)) for entry in suite.systems)
    return replace(suite, corpora=tuple(corpora), systems=tuple(systems))
