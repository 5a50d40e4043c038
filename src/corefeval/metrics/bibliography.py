"""What to cite for a number: corefeval itself, and the papers of the metrics, as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from corefeval._version import __version__
from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.metrics import REGISTRY, Metric, Metrics, parse_metrics, spell
from corefeval.protocol import NAMED, Protocol

# "Luo 2005", "Bagga and Baldwin 1998", "Vilain et al. 1995".
_PAPER = re.compile(r"(\w+)(?: and (\w+)| (et al)\.)? (\d{4})")

_URL = re.compile(r"https?://\S+")

SOFTWARE = f"""\
@misc{{corefeval,
  author = {{{{The corefeval team}}}},
  title = {{corefeval: Evaluation of Coreference Resolution}},
  note = {{Version {__version__}}},
  year = {{2026}},
}}
"""


def cite(
    metrics: Metrics = (), *, saved: Iterable[str] = (), protocols: Iterable[Protocol | str] = ()
) -> str:
    """BibTeX for corefeval and the papers of metrics, each paper once.

    Metrics are given as to `score`, and those of a result are `result.metrics`. A paper about a
    parameter is cited where the parameter is used. A metric of your own whose `reference` names no
    paper that is known here becomes a comment with this reference.

    `saved` has the metrics of results that were loaded: nothing is imported for their names, and
    those that are not known here become comments. `protocols` are those of results, or names:
    where one is that of another program, the program and its paper are cited, too.

    >>> "luo-2005" in cite("ceafe")
    True
    >>> "cai-strube-2010" in cite("b3"), "cai-strube-2010" in cite("b3(twinless=sys)")
    (False, True)
    """
    entries = [SOFTWARE]
    requests = parse_metrics(metrics) if metrics else []
    loaded = {name: _find_known(name) for name in saved}
    requests += parse_metrics([*filter(None, loaded.values())]) if any(loaded.values()) else []
    for request in requests:
        papers = [key for key in keys_of(request.metric) if key in references()]
        reference = " ".join(request.metric.declaration.reference.split())
        comment = f"% {request.metric}: {reference or 'no reference is declared'}\n"
        entries += [references()[key] for key in papers] or [comment]
    unknown = [visible(name) for name, metric in loaded.items() if metric is None]
    for protocol in protocols:
        entries += _cite_program(Protocol.of(protocol))
    entries += ["".join(f"% {name}: a metric that is not known here\n" for name in unknown)]
    return "\n".join(filter(None, dict.fromkeys(entries)))


def _cite_program(protocol: Protocol) -> list[str]:
    """The program that makes most of the protocol's choices, and its papers; often none."""
    named = [
        program
        for program in NAMED.values()
        if program.reference
        and all(getattr(protocol, name) == value for name, value in program.choices.items())
    ]
    if not named:
        return []
    program = max(named, key=lambda program: len(program.choices))
    papers = (_key(*match.groups(default="")) for match in _PAPER.finditer(program.reference))
    url = _URL.search(program.reference)
    entry = f"@misc{{{program.name},\n  key = {{{program.name}}},\n"
    entry += f"  title = {{{program.name}: {program.summary}}},\n"
    entry += f"  howpublished = {{{url[0]}}},\n}}\n" if url else "}\n"
    return [entry, *(references()[key] for key in papers if key in references())]


def _find_known(name: str) -> Metric | None:
    """The metric that a name from a file means; None if no such metric is registered."""
    with suppress(UsageError):
        text = spell(name)
        place = text.partition("(")[0]
        return Metric.parse(text) if ":" not in place or place in REGISTRY else None
    return None


def keys_of(metric: Metric) -> list[str]:
    """The BibTeX keys of the papers that a metric's reference names, with an entry or without."""
    used = {name for name, _ in metric.parameters}
    keys = []
    for part in metric.declaration.reference.split(";"):
        topic, colon, _ = part.partition(":")  # `twinless mentions: …` is about that parameter
        if colon and used.isdisjoint(topic.split()):
            continue
        keys += [_key(*match.groups(default="")) for match in _PAPER.finditer(part)]
    return keys


def _key(first: str, second: str, et_al: str, year: str) -> str:
    name = "-".join(filter(None, (first, second, et_al.replace(" ", ""), year))).lower()
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()


@cache
def references() -> dict[str, str]:
    """The BibTeX entries of `references.bib`, by key."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@.*?^\}\n", text, re.MULTILINE | re.DOTALL)
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}
