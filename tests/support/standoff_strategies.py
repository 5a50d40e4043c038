"""Random corpora with words of all kinds, files with random mistakes, and pairs of files."""

from __future__ import annotations

from hypothesis import strategies as st

from corefeval.formats import FORMATS, Written
from corefeval.model import CorpusBuilder, DocumentId

NASTY = ["#", "##x", "a|", "|", "a|[e1", "a|[e1]|", "x|e2]", "]", "[", "=", "newdoc", "id",
         "\ufeff", "1\u00a0000", "\u2028", "\x85", "T1", "%", "don't", "(1)", "日本",
         "नहीं", "𝔸"]  # fmt: skip
WORDS = st.text(st.sampled_from("abcXY.,'"), min_size=1, max_size=4) | st.sampled_from(NASTY)
IDS = [DocumentId("a"), DocumentId("bc/x", 0), DocumentId("bc/x", 1), DocumentId("é %")]


def write_pair(folder, annotation: str, text: str | None, name: str = "story") -> str:
    """Write an annotation and its text, and give the annotation's path."""
    (folder / f"{name}.ann").write_text(annotation, encoding="utf-8", newline="")
    if text is not None:
        (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
    return str(folder / f"{name}.ann")


def spans(corpus, document=0):
    return {
        entity.name: [mention.span for mention in entity.mentions]
        for entity in corpus[document].entities
    }


def write_brat(corpus):
    return Written(*FORMATS["brat"].write(corpus))


def write_litbank(corpus):
    return Written(*FORMATS["litbank"].write(corpus))


def write_crac_text(corpus):
    return Written(*FORMATS["crac-text"].write(corpus))


def written(made, folder):
    """Write files into a folder that is emptied, and give the paths of the annotations."""
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in made.files if name.endswith(".ann")]


@st.composite
def corpora(draw, gaps: bool = False, words: st.SearchStrategy[str] = WORDS, zeros: bool = False):
    """Up to four documents with mentions of any kind: nested, crossing, repeated, with gaps."""
    builder = CorpusBuilder()
    for identifier in IDS[: draw(st.integers(1, len(IDS)))]:
        chosen = draw(st.lists(words, max_size=12))
        columns = {"empty": ["1" if word.startswith("##") else "" for word in chosen]}
        starts = draw(st.sets(st.integers(0, max(len(chosen) - 1, 0)))) | {0}
        document = builder.document(
            identifier,
            words=chosen,
            sentence_starts=sorted(starts) if chosen else [],
            columns=columns if zeros else {},
        )
        for _ in range(draw(st.integers(0, 8)) if chosen else 0):
            entity = f"e{draw(st.integers(1, 3))}"
            start = draw(st.integers(0, len(chosen) - 1))
            end = draw(st.integers(start + 1, len(chosen)))
            missing = draw(st.sets(st.integers(start, end - 1))) if gaps else set()
            positions = [p for p in range(start, end) if p not in missing]
            document.mention_at(entity, positions or [start])
    return builder.build()


def contents(document, filled: bool = False):
    """The entities by name, each with the sorted positions of its mentions."""
    return {
        entity.name: sorted(
            tuple(range(m.start, m.end)) if filled else m.positions for m in entity.mentions
        )
        for entity in document.entities
    }


def sentences(document):
    """The words by sentence; none where the document has no tokens."""
    return document.sentences if document.n_tokens else []


@st.composite
def mutations(draw, text: str):
    """A valid file with a few random edits: cuts, insertions, repetitions."""
    data = text.encode()
    pieces = st.sampled_from(
        [b"\t", b"\n", b"\r", b" ", b"|", b"[e1", b"e1]", b",", b"#", b"T1", b"0", b"99", b"-1",
         b";", b"\xff", b"\x00", b"\xef\xbb\xbf", b"MENTION\t", b"COREF\tT1\tx\n", b"R1\tCoref ",
         b"*\tEquiv ", b"Arg1:T1", b"# newdoc id = x\n", "\u0661".encode(), "é".encode()]
    )  # fmt: skip
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 12)))
        new = draw(st.just(b"") | pieces | st.binary(max_size=3) | st.just(data[start:end] * 2))
        data = data[:start] + new + data[end:]
    return data
