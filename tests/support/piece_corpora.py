"""What tests of pieces share: small corpora as text, key and response, and results compared."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import pytest
from hypothesis import strategies as st

import corefeval
from corefeval.pieces import scoring

WORDS = ("Ada", "met", "her", "dog", "it", "#", "Bob")
TAGS = {"Ada": "NNP", "met": "VBD", "her": "PRP", "dog": "NN", "it": "PRP", "#": "#", "Bob": "NNP"}
UPOS = {"NNP": "PROPN", "VBD": "VERB", "PRP": "PRON", "NN": "NOUN", "#": "SYM"}

Mention = tuple[int, int, int]  # start, end (inclusive), entity


@dataclass(frozen=True)
class Text:
    """A document: its name and part, its words, which are empty nodes, and its mentions."""

    name: str
    part: int
    words: tuple[str, ...]
    empty: tuple[bool, ...]
    mentions: tuple[Mention, ...]


@st.composite
def mentions(draw, n_tokens: int) -> tuple[Mention, ...]:
    """Spans in entities, now and then the same span twice."""
    starts = st.integers(0, n_tokens - 1)
    spans = draw(st.lists(st.tuples(starts, st.integers(0, 2), st.integers(0, 3)), max_size=7))
    found = {}
    for start, length, entity in spans:
        found.setdefault((start, min(start + length, n_tokens - 1), entity), None)
    # Of one entity, only mentions that nest can be written in brackets.
    kept: list[Mention] = []
    for one in found:
        crosses = (
            one[2] == other[2] and (one[0] < other[0] <= one[1] < other[1]
                                    or other[0] < one[0] <= other[1] < one[1]
                                    or one[0] == other[1] or one[1] == other[0])
            for other in kept
        )  # fmt: skip
        if not any(crosses):
            kept.append(one)
    return tuple(sorted(kept, key=lambda m: (m[0], -m[1])))


@st.composite
def text_pairs(draw, zeros: bool) -> tuple[list[Text], list[Text]]:
    """Documents of a key and of a response, which may lack some, have others, or another order."""
    keys, responses = [], []
    for number in range(draw(st.integers(2, 5))):
        words = tuple(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)))
        empty = tuple(zeros and draw(st.integers(0, 4)) == 0 for _ in words)
        empty = (False, *empty[1:])
        sides = [
            Text(f"nw/d{number // 2}", number % 2, words, empty, draw(mentions(len(words))))
            for _ in range(2)
        ]
        where = draw(st.sampled_from(("both", "both", "both", "key", "response")))
        where = "both" if number == 0 else where
        keys += [sides[0]] if where != "response" else []
        responses += [sides[1]] if where != "key" else []
    return keys, draw(st.permutations(responses))


def conll(texts: list[Text], end: bool = True) -> str:
    lines = []
    for text in texts:
        lines.append(f"#begin document ({text.name}); part {text.part:03}")
        cells = brackets(text)
        for number, (word, cell) in enumerate(zip(text.words, cells, strict=True)):
            lines.append(f"{text.name} {text.part} {number} {word} {TAGS[word]} * - {cell}")
        lines += ["", "#end document"] if end else [""]
    return "\n".join((*lines, ""))


def brackets(text: Text) -> list[str]:
    cells: list[list[str]] = [[] for _ in text.words]
    for start, end, entity in text.mentions:
        cells[start].append(f"({entity})" if start == end else f"({entity}")
    for start, end, entity in reversed(text.mentions):
        if start != end:
            cells[end].append(f"{entity})")
    return ["|".join(cell) or "-" for cell in cells]


def corefud(texts: list[Text], header_everywhere: bool = True) -> str:
    lines = []
    for number, text in enumerate(texts):
        lines.append(f"# newdoc id = {text.name}_{text.part}")
        if header_everywhere or not number:
            lines.append("# global.Entity = eid-etype-head")
        lines.append(f"# sent_id = s{number}")
        word = node = 0
        for place, (form, empty) in enumerate(zip(text.words, text.empty, strict=True)):
            word, node = (word, node + 1) if empty else (word + 1, 0)
            tag = TAGS[form]
            marks = [f"e{e})" for s, t, e in reversed(text.mentions) if t == place and s < t]
            marks += [
                f"(e{e}-person-1)" if s == t else f"(e{e}-person-1"
                for s, t, e in text.mentions
                if s == place
            ]
            misc = "Entity=" + "".join(marks) if marks else "_"
            row = (f"{word}.{node}" if empty else f"{word}", "_" if empty else form, "_")
            lines.append("\t".join((*row, UPOS[tag], tag, "_", "_", "_", "_", misc)))
        lines.append("")
    return "\n".join((*lines, ""))


def conllua(texts: list[Text], header_everywhere: bool = True) -> str:
    """Universal Anaphora: the first mention bridges to the last, and entity 0 is all of 1.

    Every third document has no tags.
    """
    names = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING"
    lines = []
    for number, text in enumerate(texts):
        header = [f"# global.columns = {names}"] if header_everywhere or not number else []
        begin = [f"# newdoc id = {text.name}_{text.part}"]
        lines += [*header, *begin] if number % 2 == 0 else [*begin, "# meta::x = y", *header]
        for place, form in enumerate(text.words):
            cells, bridging = "", "_"
            for which, (start, _, entity) in enumerate(text.mentions):
                rest = "|ElementOf=1" if entity == 0 else "|Min=99" if entity == 2 else ""
                cells += f"(EntityID={entity}|MarkableID=m{which}{rest}" if start == place else ""
                last = f"(MarkableID=m0|MentionAnchor=m{len(text.mentions) - 1}|Rel=poss)"
                bridging = last if start == place and not which else bridging
            cells += ")" * sum(end == place for _, end, _ in text.mentions)
            tags = ("_", "_") if number % 3 == 2 else (UPOS[TAGS[form]], TAGS[form])
            row = (f"{place + 1}", form, "_", *tags, *"_____", cells or "_", bridging)
            lines.append("\t".join(row))
        lines.append("")
    return "\n".join((*lines, ""))


def assert_same(one: corefeval.Result, other: corefeval.Result) -> None:
    for field in fields(one):
        if field.name not in ("spell", "titles", "notices"):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert [*map(str, one.notices)] == [*map(str, other.notices)], (one.notices, other.notices)
    for feature, slices in one.slices.items():
        assert list(slices) == list(other.slices[feature]), (feature, slices, other.slices[feature])
    assert one.signature == other.signature


@pytest.fixture(autouse=True)
def no_second_look(monkeypatch):
    """Pieces stand for themselves here: nothing is read again as a whole behind a mistake."""
    monkeypatch.setattr(scoring, "_READ_AGAIN", -1)


@pytest.fixture
def in_pieces(monkeypatch, tmp_path_factory):
    """The results that were made of pieces to the end; a notice tells where no piece was kept."""
    results, score = [], corefeval.score

    def score_and_keep(*sides, **options):
        if "piece_size" not in options:
            return score(*sides, **options)
        result = score(*sides, **options, resume=tmp_path_factory.mktemp("kept"))
        notices = tuple(notice for notice in result.notices if notice.kind != "nothing-kept")
        if notices == result.notices:
            results.append(result)
        return replace(result, notices=notices)

    monkeypatch.setattr(corefeval, "score", score_and_keep)
    return results


def corpus(number: int, *, changed: bool = False) -> list[Text]:
    """So many documents, each with a mention that is found and one that is not."""
    words = ("Ada", "met", "her", "dog", "it")
    mentions = ((0, 0, 0), (2, 2, 0), (4, 4, 1 if changed else 0))
    return [Text(f"nw/d{n}", 0, words, (False,) * 5, mentions) for n in range(number)]


def write(folder, name: str, data: str | bytes):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.fixture
def paths(tmp_path):
    key, response = corpus(12), corpus(12, changed=True)
    return write(tmp_path, "k.conll", conll(key)), write(tmp_path, "r.conll", conll(response))
