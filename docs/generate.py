"""Write the pages that are made from the registry: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

import corefeval
from corefeval.cli.options import take
from corefeval.metrics import REGISTRY, Declaration, Metric, Parameter, presets
from corefeval.protocol import NAMED, Choice, choices

DOCS = Path(__file__).parent

HEAD = """# The metrics

Which metrics should you report? [Which metric do you trust?](which-metric.md) helps you choose.
(This page and those of the metrics are made from the code by `make docs`.)

In the definitions, *k* is a key entity and *r* a response entity, |k| is the number of mentions
of an entity, and k ∩ r are the mentions that two entities share. Only recall is defined;
precision is the same with key and response exchanged, unless the page says otherwise, and F1 is
the harmonic mean of both. x/0 is 0. Counts are summed over documents, and a score is computed
from the sums.

In lists and on the command line, write a metric by its name or any of its other spellings, with
parameters in parentheses: `lea(importance=one)`, `b3(twinless=sys)` or short `b3-sys`. Presets are
names for several metrics:
"""

TWINLESS = """
## Twinless mentions

A mention is *twinless* if only one side has it. A policy decides what happens to twinless
mentions: it changes key and response, once for recall and once for precision, and the ordinary
metric is then computed (Cai and Strube 2010). The policy is a parameter of B³, CEAF and the
linguistically aware metrics.

| `twinless=` | recall | precision |
| --- | --- | --- |
| `none` | key and response as they are | the same |
| `0` | the response without its twinless mentions | the same |
| `all` | the key's twinless mentions are put into the response as singletons | the response's \
twinless mentions are put into the key as singletons |
| `rn` | twinless singletons of the response are dropped; then as `all`, for CEAF as `none` | the \
same |
| `sys` | the response without its twinless mentions, with the key's as singletons | the response \
without its twinless singletons, with the key's twinless mentions as singletons; the key with the \
response's that remain |
"""

OWN = """
## Metrics of your own

A plain function becomes a metric by a decorator, or by its place on the command line
(`--metrics my_module:my_metric`), and is then scored, compared, tested and printed like the others:
see [Metrics of your own](own-metrics.md).
"""

KEY = [["Ada", "she", "her", "the countess"], ["Babbage", "he"], ["the engine"]]
KINDS = {
    "Ada": "name",
    "she": "pronoun",
    "her": "pronoun",
    "the countess": "nominal",
    "Babbage": "name",
    "he": "pronoun",
    "the engine": "nominal",
    "it": "pronoun",
}
# Metrics of what plain lists of mentions do not have, and the pages with examples of them.
WORKED = {
    "bridging": "bridging.md",
    "non-referring": "bridging.md",
    "split": "split-antecedents.md",
}
# From perfect to broken.
STEPS = (
    ("the key itself", KEY),
    ("one mention is missed", [["Ada", "she", "her"], ["Babbage", "he"], ["the engine"]]),
    (
        "one is in the wrong entity",
        [["Ada", "she", "her", "the countess", "he"], ["Babbage"], ["the engine"]],
    ),
    (
        "names and pronouns are apart",
        [["Ada", "the countess"], ["she", "her"], ["Babbage"], ["he"], ["the engine"]],
    ),
    ("a mention is invented", [*KEY[:2], ["the engine", "it"]]),
    ("all is one entity", [[mention for entity in KEY for mention in entity]]),
    ("nothing is resolved", [[mention] for entity in KEY for mention in entity]),
)


def index() -> str:
    """The page that leads to all others."""
    lists = "\n".join(
        f"- `{name}`: {', '.join(f'`{member}`' for member in members)}"
        for name, members in presets().items()
    )
    rows = "\n".join(
        f"| [{declaration.title}](metrics/{name}.md) | `{name}` | {declaration.summary} |"
        for name, declaration in REGISTRY.items()
    )
    table = f"| metric | name | |\n| --- | --- | --- |\n{rows}"
    return "\n".join((HEAD, lists, "", table, TWINLESS + OWN))


def page(declaration: Declaration) -> str:
    """One metric."""
    lines = [f"# {declaration.title} (`{declaration.name}`)", "", declaration.summary, ""]
    lines += ["## Definition", "", declaration.definition, "", f"{declaration.reference}.", ""]
    if declaration.parts:
        lines += [f"Its parts are shown with it: {', '.join(declaration.parts)}.", ""]
    if declaration.parameters:
        lines += ["| parameter | default | |", "| --- | --- | --- |"]
        lines += [*map(parameter_row, declaration.parameters), ""]
    lines += ["## When to use it", "", declaration.use, ""]
    lines += ["## At the edges", "", *(f"- {edge}" for edge in declaration.edges)]
    lines += [f"- Slices: {slices(declaration)}.", ""]
    worked = WORKED.get(declaration.name)
    if worked is not None and (DOCS / worked).exists():
        text = f"[Its page](../{worked}#a-worked-example) has one, in text and numbers."
        lines += ["## A worked example", "", text, ""]
    else:
        lines += ["## From perfect to broken", "", example(declaration.name), ""]
    if declaration.aliases:
        lines += [f"Also written {', '.join(f'`{alias}`' for alias in declaration.aliases)}.", ""]
    lines += ["[All metrics](../metrics.md)", ""]
    return "\n".join(lines)


def parameter_row(parameter: Parameter) -> str:
    """A line of the table of parameters."""
    choices = ", ".join(f"`{choice}`" for choice in parameter.choices)
    choices += ", or in Python a function" if parameter.accepts_function else ""
    default = (
        f"{parameter.default:g}" if isinstance(parameter.default, float) else parameter.default
    )
    text = f"{parameter.summary}: {choices}" if choices else parameter.summary
    if parameter.suffixes:
        text += "; see [twinless mentions](../metrics.md#twinless-mentions)"
    return f"| `{parameter.name}` | `{default}` | {text} |"


def slices(declaration: Declaration) -> str:
    """What the metric can be divided by, in words."""
    metric = Metric(declaration.name)
    if metric.divides_by("mention") and not metric.divides_by("entity"):
        return "by features of documents and mentions"
    if metric.divides_by("mention"):
        return "by features of documents, entities and mentions"
    if metric.divides_by("entity"):
        return "by features of documents and entities"
    return "by features of documents only"


def example(name: str) -> str:
    """A Python session that scores worse and worse responses."""
    stated, values = "kind", KINDS
    if "zero" in REGISTRY[name].needs:  # as if pronouns were dropped
        stated = "zero"
        values = {one: "yes" if kind == "pronoun" else "no" for one, kind in KINDS.items()}
    lines = [
        ">>> import corefeval",
        f">>> key = {KEY}",
        f">>> {stated}s = {{",
        *(f"...     {mention!r}: {value!r}," for mention, value in values.items()),
        "... }",
        ">>> def rates(response):",
        f'...     features = {{"{stated}": {stated}s}}',
        f'...     result = corefeval.score(key, response, metrics="{name}", features=features)',
        f'...     rates = result["{name}"].rates.items()',
        '...     return ", ".join(f"{name} {100 * rate:.1f}" for name, rate in rates)',
    ]
    for title, response in STEPS:
        shown = corefeval.score(KEY, response, metrics=name, features={stated: values})[name].rates
        lines += [
            f">>> rates({'key' if response is KEY else response})  # {title}",
            repr(", ".join(f"{rate} {100 * value:.1f}" for rate, value in shown.items())),
        ]
    if Metric(name).by is not None:
        lines += categories(name)
    return "\n".join(("```python", *lines, "```"))


def categories(name: str) -> list[str]:
    """What a metric that goes by a feature says of each value."""
    title, response = STEPS[2]
    score = corefeval.score(KEY, response, metrics=name, features={"kind": KINDS})[name]
    return [
        f">>> response = {response}  # {title}",
        '>>> features = {"kind": kinds}',
        f'>>> result = corefeval.score(key, response, metrics="{name}", features=features)',
        f'>>> for kind, score in result["{name}"].categories.items():',
        '...     print(f"{kind}: recall {score.recall:.3f}, precision {score.precision:.3f}")',
        *(
            f"{kind}: recall {one.recall:.3f}, precision {one.precision:.3f}"
            for kind, one in score.categories.items()
        ),
    ]


PROTOCOLS = """# Protocols

A *protocol* is the set of all choices that can change a number. The line under each table of scores
is its *signature*: the protocol that was used, and the version of corefeval. Quote it with a score,
and anybody can reproduce the score, because `--protocol` and `protocol=` accept a signature. (This
page is made from the code by `make docs`; `corefeval protocols` shows the same.)

```console
$ corefeval score key.conll eager.conll --metrics lea --singletons drop --quiet
Metric       R       P      F1
──────────────────────────────
LEA      {0}   {1}   {2}

eager.conll against key.conll, 9 documents
{3}
$ corefeval score key.conll eager.conll --metrics lea --quiet --protocol '{3}'
Metric       R       P      F1
──────────────────────────────
LEA      {0}   {1}   {2}

eager.conll against key.conll, 9 documents
{3}
```

In Python, a choice is a keyword or part of a `Protocol`. Keywords override the protocol:

```python
>>> import corefeval
>>> key, response = [["a", "b"], ["c"]], [["a", "b", "c"]]
>>> strict = corefeval.Protocol.of(duplicates="error", singletons="drop")
>>> print(strict)
match:exact|singletons:drop|duplicates:error|aggregate:micro
>>> result = corefeval.score(key, response, metrics="b3", protocol=strict)
>>> result["b3"].recall, result.protocol.singletons
(1.0, 'drop')
>>> result = corefeval.score(key, response, metrics="b3", protocol=strict, singletons="keep")
>>> result["b3"].recall, result.protocol.duplicates
(1.0, 'error')
```

A signature always contains `match`, `singletons`, `duplicates` and `aggregate`. It contains other
choices if they are not at their defaults, or if the data decided (`tagset`, `spans`). Values that
contain `|`, `:` or quotes are put in double quotes: `documents:"bc/*|nw/*"`. A signature that
comes from a later version, or has a field that this version does not know, is an error.
"""


NAMES = """The table only shows choices that differ from the defaults. [Which scorer made this
number?](which-scorer.md) says what the programs do, and which published numbers depend on them.
The options of coval can be combined in any order (`coval-min-span-np-only`), and
`bookcoref-window(1500)` takes a length.
"""

CHOICES = """*Acts at* names the step at which a choice takes effect. In the examples, every letter
is a mention and commas separate entities: `abc,d / ab` is a key with the entities {a, b, c} and
{d}, and a response with the entity {a, b}. `–` is a document without mentions. In `{0-3,5}`,
mentions are tokens or ranges of tokens, and in `fg{ab+cd}` the entity fg refers to the set of the
entities ab and cd. Numbers are F1 unless R (recall) or P (precision) is given.
"""


def spelled_out(name: str) -> str:
    """The choices of a named protocol that are not the defaults, as a table can have them."""
    made = corefeval.Protocol.of(name).values
    return ", ".join(f"`{choice.replace('_', '-')}:{value}`" for choice, value in made) or "–"


def protocols() -> str:
    """The page of protocols and choices."""
    shown = corefeval.score(
        corefeval.example("key"), corefeval.example("eager"), metrics="lea", singletons="drop"
    )
    rates = (f"{100 * rate:.2f}" for rate in shown["lea"].rates.values())
    lines = [PROTOCOLS.format(*rates, shown.signature), "## Named protocols", "", NAMES]
    lines += ["| name | | choices |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {one.summary} | {spelled_out(name)} |" for name, one in NAMED.items()]
    lines += ["", "## Choices", "", CHOICES, "| choice | value | |", "| --- | --- | --- |"]
    for name, choice in choices().items():
        option = f"; `--{choice.flag.replace('_', '-')}`" if choice.flag else ""
        lines.append(f"| `{name}` | | {choice.summary} Acts at: {choice.at}{option} |")
        values = choice.spellings or {choice.default: "any text"}
        for value, meaning in values.items():
            default = " (default)" if value == choice.default else ""
            lines.append(f"| | `{value}` | {meaning}{default} |")
        if choice.example:
            lines.append(f"| | | Example, key / response: {choice.example} |")
    return "\n".join((*lines, ""))


REFERENCE = """# Python

Everything that `import corefeval` offers, with the text that `help(corefeval.score)` shows.
[What is public](policy.md) says what you can rely on. Options are given by keyword, and every error
that bad input or bad usage can cause is a `CorefEvalError`.

## Options of `score` and its siblings

`score`, `compare`, `analyse`, `agree`, `report`, `explain`, `prepare` and `Scorer` take these
options, as far as they concern them. All but those that say how files are read can also be part of
`protocol`, as text or as a `Protocol`. (The tables are made from the code by `make docs`.)

| option | type | default | meaning |
| --- | --- | --- | --- |
{options}

[Choices that only other scorers make](protocols.md#choices) are keywords, too. How files are read:

| option | type | default | meaning |
| --- | --- | --- | --- |
{reading}

What `compare` takes besides, and `score` for its intervals (`ci=0.95`):

| option | type | default | meaning |
| --- | --- | --- | --- |
{tests}

(The list is on the site, which `make site` builds.)
"""
READING = (
    "encoding word_column key_format response_format key_encoding response_encoding key_layer "
    "response_layer"
)
TESTS = "rate test trials seed correction alpha level samples"


def reference() -> str:
    """The page of the Python interface: its options; the site adds all names."""
    options = [
        f"| `{name}` | {_list_values(choice)} | `{choice.default}` | {choice.summary} |"
        for name, choice in choices().items()
        if choice.at != "emulation"
    ]
    return REFERENCE.format(
        options="\n".join(options), reading=_list_options(READING), tests=_list_options(TESTS)
    )


def _list_values(choice: Choice) -> str:
    values = [value for value in choice.spellings if value not in choice.accidents]
    return ", ".join(f"`{value}`" for value in values) or "text"


def _list_options(names: str) -> str:
    """Rows with what the command line says of the same options."""
    rows = []
    for option in take(names):
        kind = ", ".join(f"`{value}`" for value in option.choices) or option.kind.__name__
        default = option.usual or option.default
        rows.append(f"| `{option.attribute}` | {kind} | `{default}` | {option.help} |")
    return "\n".join(rows)


def pages() -> dict[Path, str]:
    """Every page that is made here."""
    made = {DOCS / "metrics" / f"{name}.md": page(one) for name, one in REGISTRY.items()}
    single = {"metrics": index(), "protocols": protocols(), "reference": reference()}
    return {**{DOCS / f"{name}.md": text for name, text in single.items()}, **made}


def main() -> int:
    """Write the pages, or with --check say whether they are up to date."""
    written = pages()
    if "--check" not in sys.argv:
        for path, text in written.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    old = [
        path.name
        for path, text in written.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    old += [path.name for path in (DOCS / "metrics").glob("*.md") if path not in written]
    if old:
        sys.stderr.write(f"out of date: {', '.join(old)}: run make docs\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
