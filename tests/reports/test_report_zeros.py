"""Systems whose empty nodes differ stand on one text, the key's."""

from __future__ import annotations

import pytest

from corefeval.reports import report

WORDS = [
    ("1", "vino", ""),
    ("2", "y", ""),
    ("3", "comió", ""),
    ("4", "pan", "(e2)"),
    ("5", ".", ""),
]


def conllu(nodes: dict[str, tuple[str, str, str]]) -> str:
    """A sentence with empty nodes: id of the word before them → form, entity and dependency."""
    lines = ["# newdoc id = d", "# global.Entity = eid", "# sent_id = s"]
    for number, word, entity in [("0", "", ""), *WORDS]:
        if number != "0":
            mark = f"Entity={entity}" if entity else "_"
            lines.append(f"{number}\t{word}\t_\tX\t_\t_\t0\tdep\t_\t{mark}")
        if number in nodes:
            form, entity, deps = nodes[number]
            lines.append(f"{number}.1\t{form}\t_\tPRON\t_\t_\t_\t_\t{deps}\tEntity={entity}")
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize("zeros", ["place", "align"])
def test_responses_share_the_text_of_the_key(tmp_path, zeros):
    texts = {
        "key": conllu({"0": ("él", "(e1)", "1:nsubj"), "2": ("él", "(e1)", "3:nsubj")}),
        "a": conllu({"0": ("él", "(e1)", "1:nsubj"), "4": ("lo", "(e1)", "3:obj")}),
        "b": conllu({"1": ("_", "(e1)", "1:nsubj"), "2": ("él", "(e1)", "3:nsubj")}),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.conllu").write_text(text)
    systems = {name: tmp_path / f"{name}.conllu" for name in "ab"}
    page = report(tmp_path / "key.conllu", systems, zeros=zeros, metrics="muc", ci=None, by=())
    [[shown]] = page.payload["texts"]  # one version of the key, with one document
    assert shown["words"] == "él vino y él comió pan ." and shown["zeros"] == [0, 3]
    assert shown["start"] == [0, 3, 5]
    a, b = (system["documents"][0] for system in page.payload["systems"])
    assert [system["version"] for system in page.payload["systems"]] == [0, 0]
    if zeros == "align":  # by dependencies, the other zero of each is matched, too
        assert a["start"] == [0, 5, 3] and a["twin"] == [0, 2, 1] and "ownWords" not in a
        assert b["start"] == [0, 3, 5] and b["twin"] == [0, 1, 2]
    else:  # a zero behind pan, and one behind vino, which the key lacks
        assert a["start"] == [0, 5, 5] and a["length"] == [1, 1, 1] and a["twin"] == [0, 2, -1]
        assert a["ownWords"] == [[2, "∅"]] and b["ownWords"] == [[0, "∅"]]
        assert b["start"] == [1, 3, 5] and b["twin"] == [-1, 1, 2]
