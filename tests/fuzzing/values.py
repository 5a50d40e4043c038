"""What the arguments of commands can be, drawn at random: paths, names, numbers, choices."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from random import Random

from corefeval.analysis.errors import KINDS as ERRORS
from corefeval.features.declarations import FEATURES
from corefeval.formats import FORMATS
from corefeval.formats.registry import ANSWERS
from corefeval.lab import EXPERIMENTS
from corefeval.metrics import REGISTRY
from corefeval.probes.readers import PROBE_FORMATS
from corefeval.protocol import NAMED, choices
from fuzzing.corpora import ANSWERED, CORPORA, KINDS, SAVED, SIDES, Files, style_of
from fuzzing.hostility import CODECS, NAMES
from fuzzing.inputs import (
    made_decisions,
    make_filled_sheet,
    make_input,
    make_probe,
    make_suite,
    make_suite_results,
    stated_features,
    whole_files,
)
from fuzzing.vocabulary import features, metrics

# Layers of the files that were made for annotation tools; most files have none of that name.
LAYERS = ("CoreferenceLink", "Coreference", "coref", "rs", "@ref", "entity", "same_as", "coref.x")
SLOW_EXPERIMENTS = ("trust", "correct-links", "mention-identification", "mention-tagger")

INPUTS = (
    "KEY", "RESPONSE", "MORE", "FILE", "OTHER", "SOURCE", "--against", "--tagset", "--from", "PATH",
    "--response", "--decisions",
    "--candidates", "PROBE",
)  # fmt: skip
OUTPUTS = ("TARGET", "FOLDER", "--output", "--save", "--fix", "--resume", "--cache", "--ideal",
           "--contested", "--page", "--votes", "--write")  # fmt: skip

_WRITTEN = {
    "report": ["report.html"], "suite run": ["suite.cache"], "suite init": ["suite.toml"],
    "suite page": ["leaderboard.html"], "sample": ["sheet.csv"],
}  # fmt: skip

# What can be on a command line, and what can be a path without leading out of the case's folder.
ARGUMENTS = tuple(name for name in NAMES if "\x00" not in name and "\ud800" not in name)
PATHS = tuple(name for name in ARGUMENTS if "/" not in name and name not in ("..", "~"))


OTHERS = frozenset(choices(("emulation",)))  # what other programs do otherwise
CHECKED = ("check", "convert")  # commands that take answers with a key beside them


def _option(choice: str) -> str:
    return f"--{choice.replace('_', '-')}"


ACCIDENTS = frozenset(map(_option, OTHERS))


class Drawing:
    """What one case is drawn from, and the files that were made for it so far."""

    def __init__(self, random: Random, command: str) -> None:
        self.random, self.command = random, command
        self.files: Files = {}
        self.written: list[str] = _WRITTEN.get(command, [])[:]
        self.number = random.randrange(CORPORA)
        self.kind = random.choice([*FORMATS])
        if command in ("score", "compare") and random.random() < 0.05:
            self.kind = SAVED
        if command == "estimate" and random.random() < 0.7:  # formats that keep all of a sheet
            self.kind = random.choice(("conll", "e2e", "corefud"))
        self.rate = random.choice((0.03, 0.1, 0.2))
        # Half of the cases are as they should be but for hostile names, so that work is done; the
        # others have a mistake here and there, or are full of them.
        self.bad = random.choices((0.0, 0.08, 0.3), (50, 40, 10))[0]
        self.kinds: list[str] = []
        self.names: list[str] = []  # what the inputs are called
        self.known: set[str] = set()  # the command's options
        self.stdin = b""

    def input(self, *, saved: bool = False, answers: bool = True) -> str:
        """A path to be read, and the files behind it; rarely none, or standard input."""
        random, bad = self.random, self.bad
        if self.command == "suite init" and random.random() >= bad:
            return self.folder()
        if self.command == "probe" and random.random() >= bad / 4:
            return self.probe(response=bool(self.names))
        if self.command == "prompt" and random.random() < 0.2:
            return self.probe(response=False)
        if random.random() < bad / 4:
            return random.choice(
                ("missing.conll", "", ".", "no/*.conll", "[", "empty", "-", *self.files)
            )
        number = self.number if random.random() >= bad / 4 else random.randrange(CORPORA)
        kind = self.kind if random.random() >= 0.05 + bad else random.choice(KINDS)
        if self.command in ("score", "compare") and self.kinds and random.random() < 0.1:
            kind = SAVED
        given = self.kinds or self.command in CHECKED
        if answers and given and random.random() < self._answers():
            kind = ANSWERED
        if (saved or self.kind == SAVED or self.command == "cite") and random.random() >= bad:
            kind = SAVED
        name = "abcdefgh"[len(self.kinds) % 8]
        if random.random() < 0.06:
            name += random.choice(PATHS)[:60]
        mistakes = random.random() < min(5 * bad, 0.7)
        path, files = make_input(
            random, name, number, len(self.kinds) % SIDES, kind, mistakes=mistakes
        )
        self.kinds.append(kind)
        self.names.append(path)
        if len(files) == 1 and random.random() < 0.03 and not self.stdin:
            self.stdin = files[path]
            return "-"
        self.files |= files
        if random.random() < 0.02:
            self.files["empty/"] = b""
        labelled = self.command in (
            *("score", "compare", "explain", "errors", "report", "agree", "merge", "audit"),
            "sample",
        )
        if labelled and not saved and len(self.kinds) > 1 and random.random() < 0.3:
            label = (
                random.choice(ARGUMENTS) if random.random() < 0.4 else f"system{len(self.kinds)}"
            )
            self.names[-1] = label or path
            return f"{label}={path}"
        return path

    def _answers(self) -> float:
        """How many of the inputs are answers: of commands that cannot take them, only mistakes."""
        rates = dict.fromkeys(("agree", "merge", "sample", "estimate"), 0.01)
        return {**rates, "stats": self.bad / 4}.get(self.command, 0.1)

    def folder(self) -> str:
        """A folder of keys or of a system's responses, called by their corpora."""
        side, name = len(self.kinds) % SIDES, "abcdefgh"[len(self.kinds) % 8]
        for place, corpus in enumerate(("one", "two", self.random.choice(PATHS)[:20])):
            own = whole_files("conll", (self.number + place) % CORPORA, side)
            self.files |= {f"{name}/{corpus}.{side}.conll": data for data in own.values()}
        self.kinds.append("conll")
        return name if self.random.random() < 0.8 else f"x={name}"

    def probe(self, *, response: bool) -> str:
        """A probe, or a response to it."""
        mistakes = self.random.random() < min(5 * self.bad, 0.7)
        path, data = make_probe(self.random, response=response, mistakes=mistakes)
        self.files[path] = data
        self.names.append(path)
        self.kinds.append("probe")
        return path

    def suite(self) -> str:
        """The file of a suite, and those that it names."""
        mistakes = self.random.random() < min(5 * self.bad, 0.7)
        path, files = make_suite(self.random, self.number, self.kind, mistakes=mistakes)
        self.files |= files
        self.kinds.append(self.kind)
        return path

    def sheet(self) -> str:
        """A filled sheet of the responses that are still to come, or of others."""
        mistakes = self.random.random() < min(5 * self.bad, 0.7)
        path = f"sheet{len(self.files)}.csv"
        data = make_filled_sheet(self.random, self.kind, self.number, mistakes=mistakes)
        self.files[path] = data
        return path

    def suite_results(self) -> str:
        """Saved results of a suite."""
        mistakes = self.random.random() < min(5 * self.bad, 0.7)
        self.files |= make_suite_results(self.random, self.number, mistakes=mistakes)
        return "results.json"

    def output(self) -> str:
        """A path to be written: new, there already, an input, a folder, or impossible."""
        chance = self.random.random() if self.bad else self.random.random() * 0.8
        if chance < 0.6:
            path = self.random.choice(("out", "out.json", "out.conllu.gz", "out.txt", "out.html"))
        elif chance < 0.8:
            path = self.random.choice(("out", "out.html"))
            self.files.setdefault(path, b"before\n")
        elif chance < 0.85 and self.files:
            path = self.random.choice([*self.files])
        elif chance < 0.92:
            path = "-"
        else:
            path = self.random.choice(
                ("", ".", "no/such/out", "x" * 300, "out\x1b[2J", "=x", "out/", "\udcff")
            )
        self.written.append(path)
        return path

    def listed(self, names: Iterable[str], most: int = 3) -> str:
        """Some names with commas between them."""
        chosen = self.random.choices([*names], k=self.random.randint(1, most))
        return self.random.choice((",", ", ")).join(chosen)

    def metric(self) -> str:
        """A metric; of a suite, mostly one of those that it has."""
        if self.command.startswith("suite") and self.random.random() >= self.bad:
            return self.random.choice(("conll", "muc", "b3", "ceafe", "lea"))
        return self.random.choice(metrics(sound=not self.bad))

    def tagset(self) -> str:
        """A tag set by its name, or a file of one."""
        if self.random.random() < 0.7:
            return self.random.choice(("penn", "upos", "stts"))
        content = {"pronoun": ["PRP*"], "name": ["NNP*"], "noun": ["NN*"]}
        data = json.dumps(content).encode()
        self.files["tags.json"] = data[: self.random.choice((10, 1000) if self.bad else (1000,))]
        return "tags.json"


def _stated(maker: Drawing) -> str:
    mistakes = maker.random.random() < 3 * maker.bad
    data = stated_features(maker.random, maker.number, mistakes=mistakes)
    maker.files["features.tsv"] = data
    return "features.tsv"


def _decided(maker: Drawing) -> str:
    mistakes = maker.random.random() < 3 * maker.bad
    data = made_decisions(maker.random, maker.number, mistakes=mistakes)
    maker.files["decisions.tsv"] = data
    return "decisions.tsv"


def _format(maker: Drawing) -> str:
    other = maker.random.random() < 2 * maker.bad or maker.kind == SAVED
    if ANSWERED in maker.kinds and maker.random.random() < 0.8:
        right = ("llm", f"llm-{style_of(maker.number)}")
        return maker.random.choice((*right, *(ANSWERS if other else ())))
    return maker.random.choice([*FORMATS, *ANSWERS]) if other else maker.kind


def _names(maker: Drawing) -> str:
    if maker.command == "metrics":
        return maker.random.choice([*REGISTRY]) if not maker.bad else maker.metric()
    known = [*NAMED, *choices()] if maker.command == "protocols" else [*FEATURES]
    return maker.random.choice([*known, *(("x",) if maker.bad else ())])


def _experiment(maker: Drawing) -> str:
    quick = [name for name in EXPERIMENTS if name not in SLOW_EXPERIMENTS]
    slow = maker.random.random() < 0.08
    return maker.random.choice([*EXPERIMENTS] if slow else [*quick, "list"])


def _limits(maker: Drawing) -> str:
    wrong = ("lea.recall=40", "muc=x", "=1", "conll.recall=1", "x=1") if maker.bad else ()
    if maker.command == "probe":
        return maker.listed(("accuracy=60", "f1=0", "recall=100", *wrong))
    return maker.listed(("conll=60", "muc=0", "b3=100", "muc.precision=0.5", *wrong))


def _system(maker: Drawing) -> str:
    """What a response is called."""
    return maker.random.choice([*maker.names[1:], *(_NOBODY if maker.bad else ())] or _NOBODY)


_NOBODY = ("a.conll", "b.conll", "c.conll", "system2", "system3", "b.json")

_PUBLISHED = ("61.3", "70", "", "x", "1e3", "-1", "nan", "61,3", "61.3%", "999999", "e2e|x:y")
_BAD = ("0", "1", "10", "-1", "1.5KB", "x", "GB", "", "1" + "0" * 30 + "TB")


# A new option that takes text has to be told here what it takes.
def _protocol(maker: Drawing) -> str:
    """A few choices as a signature has them, or what is none."""
    if maker.random.random() < maker.bad:
        return maker.random.choice(
            (
                "x",
                "match",
                "match:",
                "a:b",
                "slice:kind=x",
                'documents:"',
                "version:99",
                "|",
                "ci:x",
            )
        )
    scores = maker.command in ("score", "compare", "explain", "check")  # others have no accidents
    if maker.random.random() < (0.4 if scores else 0.05 + maker.bad):
        name = maker.random.choice([*NAMED, "coval-np-only-min-span", "bookcoref-window(3)"])
        return maker.random.choice((name, f"{name}|missing:skip", f"{name}|aggregate:pool"))
    known = [
        n for n in sorted(choices()) if _option(n) in maker.known and (scores or n not in OTHERS)
    ]
    chosen = maker.random.sample(known if len(known) > 2 else sorted(choices()), 3)
    texts = {"choice": ("auto", "1")} | dict.fromkeys(("window", "limit"), ("none", "7"))
    texts |= {"across": ("all", "none"), "rounding": ("round(1)",), "tagset": ("penn", "upos")}
    values = {n: sorted(choices()[n].values or texts.get(n, ("*",))) for n in chosen}
    parts = [f"{name}:{maker.random.choice(some)}" for name, some in values.items()]
    return "|".join(("default", *parts, "version:0.0.1"))


STRINGS: dict[str, Callable[[Drawing], str]] = {
    **dict.fromkeys(INPUTS, Drawing.input),
    **dict.fromkeys(OUTPUTS, Drawing.output),
    **dict.fromkeys(
        ("--key-format", "--response-format", "--input-format", "--file-format"), _format
    ),  # where a key has the format of answers, it is an error
    "--layer": lambda maker: maker.random.choice(
        LAYERS if maker.command in ("check", "convert", "stats") else ("identity", "deixis")
    ),
    **dict.fromkeys(
        ("--key-layer", "--response-layer", "--file-layer"),
        lambda maker: maker.random.choice(LAYERS),
    ),
    "--tagset": Drawing.tagset,
    "--match": lambda maker: maker.listed(
        (
            *choices()["match"].spellings,
            "overlap(1)",
            *(("overlap(0)", "Head", "head(") if maker.bad else ()),
        ),
        3 if maker.command == "score" or maker.bad else 1,
    ),
    "--protocol": _protocol,
    "--rounding": lambda maker: maker.random.choice(
        ("none", "truncate(2)", "round(0)", *(("round", "round(-1)", "x") if maker.bad else ()))
    ),
    **dict.fromkeys(
        ("--window", "--limit"),
        lambda maker: maker.random.choice(("none", "1", "7", *(_BAD if maker.bad else ()))),
    ),
    "--choice": lambda maker: maker.random.choice(
        ("auto", "1", *(("2", "0", "x") if maker.bad else ()))
    ),
    **dict.fromkeys(
        ("--answer-at", "--id-at"),
        lambda maker: maker.random.choice(("answer", "id", "x[*].y[-1]", "[?a=b]", *_BAD)),
    ),
    "--features": _stated,
    "--decisions": _decided,
    "--quorum": lambda maker: maker.random.choice(
        ("half", "1", *(("0", "99", "x", "-1") if maker.bad else ()))
    ),
    "--to": lambda maker: maker.random.choice(
        [name for name, format in FORMATS.items() if format.writer or maker.bad]
        if maker.command in ("convert", "merge")
        else [*NAMED, *_PUBLISHED[: 2 + 9 * bool(maker.bad)]]
    ),
    "--from": lambda maker: (
        maker.input()
        if maker.command == "prompt"
        else _protocol(maker)
        if maker.random.random() < 0.3
        else maker.random.choice([*NAMED])
    ),
    "--results": lambda maker: maker.input(saved=True),
    "SHELL": lambda maker: maker.random.choice(("bash", "zsh", "fish")),
    "--label": lambda maker: maker.random.choice(
        ("main", "tab:main", *(ARGUMENTS if maker.bad else ()))
    ),
    "EXPERIMENT": _experiment,
    "SUITE": Drawing.suite,
    **dict.fromkeys(("SHEET", "--annotator", "--sentences", "--answers"), Drawing.sheet),
    "RESULTS": Drawing.suite_results,
    "--rates": lambda maker: maker.listed(("r", "p", "f1", "recall", *(_BAD if maker.bad else ()))),
    "--averages": lambda maker: maker.listed(
        ("macro", "micro", "groups", *(("none", "0") if maker.bad else ()))
    ),
    "--corpora": lambda maker: maker.listed(("a", "b", *(ARGUMENTS if maker.bad else ()))),
    "--systems": lambda maker: maker.listed(("s1", "s2", "s1", *(ARGUMENTS if maker.bad else ()))),
    "--resample": lambda maker: maker.listed(
        ("corpora", "documents", *(("seeds", "0") if maker.bad else ()))
    ),
    "--group": lambda maker: maker.random.choice(
        ("", "g0", "g1", *(ARGUMENTS if maker.bad else ()))
    ),
    "--reports": lambda maker: maker.random.choice(("{corpus}.html", "no", *ARGUMENTS)),
    "--caption": lambda maker: maker.random.choice(("Scores.", "50 % & \\more_", *ARGUMENTS)),
    "NAME": _names,
    "--metrics": lambda maker: maker.listed(metrics(sound=not maker.bad)),
    "--metric": Drawing.metric,
    "--by": lambda maker: maker.listed(
        ("gender", "gold", *(ARGUMENTS if maker.bad else ()))
        if maker.command == "probe"
        else features(sound=not maker.bad),
        2 - (maker.command == "errors"),
    ),
    "--contrast": lambda maker: maker.random.choice(
        (
            "gender=feminine,masculine",
            "gold=A,B",
            *(("gender", "=a,b", "gender=x,y", "a=b=c,d") if maker.bad else ()),
        )
    ),
    "--pair": lambda maker: maker.random.choice(
        ("gender", "gender,gold", "none", *(("", "x", ",") if maker.bad else ()))
    ),
    "--candidate": lambda maker: maker.random.choice(
        (
            *choices()["candidate"].spellings,
            "overlap(1)",
            *(("overlap(0)", "x") if maker.bad else ()),
        )
    ),
    "--probe-format": lambda maker: maker.random.choice(("gap", *PROBE_FORMATS)),
    "--list": lambda maker: maker.listed((*ERRORS, "all", "merged")),
    "--distances": lambda maker: maker.listed(("passonneau", "jaccard", "masi", "dice", "all")),
    "--documents": lambda maker: maker.random.choice(
        ("*", "*0*", *(("bc/*", "[", "", "x*") if maker.bad else ()))
    ),
    "--across": lambda maker: maker.random.choice(
        ("none", "all", r"^\w", r"^[^/]*", "[0-9]+|x", *(("(", "", "*") if maker.bad else ()))
    ),
    **dict.fromkeys(
        ("--encoding", "--key-encoding", "--response-encoding"),
        lambda maker: maker.random.choice(CODECS if maker.bad else CODECS[:3]),
    ),
    "--unpack-limit": lambda maker: maker.random.choice(
        ("1GB", "10MB", "5000", *_BAD[: 9 * bool(maker.bad)])
    ),
    "--piece-size": lambda maker: maker.random.choice(
        ("1GB", "700", "2KB", *_BAD[: 9 * bool(maker.bad)])
    ),
    "--jobs": lambda maker: maker.random.choice(("1", *(("0", "-1", "x") if maker.bad else ()))),
    "--scheduler": lambda maker: maker.random.choice(("x", "", "://", "no address", "host:x")),
    "--fail-under": _limits,
    **dict.fromkeys(("--baseline", "--fail-if-worse"), _system),
    "--title": lambda maker: maker.random.choice(ARGUMENTS),
    "--figures": lambda maker: maker.random.choice(
        ("none", "none", "none", "svg", "html", *(("x", "") if maker.bad else ()))
    ),
    "--trials": lambda maker: maker.random.choice(
        ("20", "99", *(("0", "1", "-1") if maker.bad else ()))
    ),
    "--samples": lambda maker: maker.random.choice(
        ("20", "99", *(("0", "1", "-1") if maker.bad else ()))
    ),
}
