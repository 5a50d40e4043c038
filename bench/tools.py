"""Files of annotation tools, against what the standard library needs to take them apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import corefeval
from bench.corpora import write_corpus
from bench.timing import times_in_turns

_TOKEN = "de/tudarmstadt/ukp/dkpro/core/api/segmentation/type"
_COREF = "de/tudarmstadt/ukp/dkpro/core/api/coref/type"


def tool_times(folder: Path, scale: int) -> Iterator[tuple[str, float, float, str, str]]:
    """What is read, the yardstick's seconds and ours, the yardstick, and the goal."""
    key, *_ = write_corpus(folder, "tools", 1, 16_000 // scale)
    corpus = corefeval.read(key)
    corefeval.write(corpus, folder / "tools.tsv", format="webanno")
    (folder / "tools.xmi").write_text(_as_xmi(corpus[0]), encoding="utf-8")

    def split_lines() -> object:
        text = (folder / "tools.tsv").read_text(encoding="utf-8")
        return [line.split("\t") for line in text.split("\n")]

    times = times_in_turns(10, split_lines, lambda: corefeval.read(folder / "tools.tsv"))
    yield "WebAnno TSV of 16,000 tokens", *times, "splitting lines at tabs", "at most 10"
    times = times_in_turns(
        10,
        lambda: ElementTree.parse(folder / "tools.xmi"),
        lambda: corefeval.read(folder / "tools.xmi"),
    )
    yield "XMI of 16,000 tokens", *times, "ElementTree", "at most 4"


def _as_xmi(document: corefeval.Document) -> str:
    """A document as INCEpTION writes it: tokens, sentences, and chains of links."""
    words, place, parts, bounds = document.words, 0, [], []
    for word in words:
        bounds.append((place, place + len(word)))
        place += len(word) + 1
    identifier = 10
    for begin, end in bounds:
        identifier += 1
        span = f'sofa="1" begin="{begin}" end="{end}"'
        parts.append(f'<type:Token xmi:id="{identifier}" {span} order="0"/>')
    for entity in document.entities:
        first = identifier + 2
        parts.append(f'<coref:CoreferenceChain xmi:id="{identifier + 1}" first="{first}"/>')
        identifier += 1
        for number, mention in enumerate(entity.mentions, start=1):
            identifier += 1
            following = f' next="{identifier + 1}"' if number < len(entity) else ""
            span = f'sofa="1" begin="{bounds[mention.start][0]}" end="{bounds[mention.end - 1][1]}"'
            parts.append(f'<coref:CoreferenceLink xmi:id="{identifier}" {span}{following}/>')
    text = " ".join(words).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return (
        f'<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
        f'xmlns:type="http:///{_TOKEN}.ecore" xmlns:coref="http:///{_COREF}.ecore">'
        f'<cas:NULL xmi:id="0"/>{"".join(parts)}<cas:Sofa xmi:id="1" sofaNum="1" '
        f'sofaID="_InitialView" mimeType="text" sofaString="{text}"/></xmi:XMI>'
    )
