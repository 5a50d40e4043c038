"""Other programs that do the same: scorch, any scorer with a command, readers of CoNLL-U."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path

import corefeval
from bench.corpora import write_conllu
from bench.timing import Measured, best, command_time


def as_scorch_json(corpus: corefeval.Corpus, folder: Path) -> Path:
    """What scorch reads: a file of clusters per document."""
    folder.mkdir()
    for number, document in enumerate(corpus):
        clusters = {
            str(entity.index): [f"{m.start}-{m.end}" for m in entity.mentions]
            for entity in document.entities
        }
        text = json.dumps({"type": "clusters", "clusters": clusters})
        (folder / f"{number:06d}.json").write_text(text)
    return folder


def against_scorch(name: str, key: Path, response: Path, goal: str = "") -> list[Measured]:
    scorch = shutil.which("scorch", path=str(Path(sys.executable).parent)) or shutil.which("scorch")
    if scorch is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        corpora = {side: corefeval.read(path) for side, path in (("k", key), ("r", response))}
        inputs = [as_scorch_json(corpus, Path(folder) / side) for side, corpus in corpora.items()]
        theirs = command_time([scorch, *map(str, inputs)])
    ours = command_time([sys.executable, "-m", "corefeval", "score", str(key), str(response)], 3)
    if ours is None or theirs is None:
        return []
    label = f"{name}, command line"
    return [
        Measured(label, ours, f"scorch ({theirs:.1f} s)", f"{theirs / ours:.0f} × faster", goal)
    ]


def against_peer(name: str, peer: str | None, key: Path, response: Path) -> list[Measured]:
    if peer is None:
        return []
    theirs = command_time(peer.format(key=key, response=response))
    ours = command_time([sys.executable, "-m", "corefeval", "score", str(key), str(response)], 3)
    if ours is None or theirs is None:
        return []
    label = f"{name}, command line"
    return [Measured(label, ours, f"the peer ({theirs:.1f} s)", f"{theirs / ours:.0f} × faster")]


CONLLU_PEERS = {
    "udapi": "from udapi.core.document import Document; d = Document(); d.load_conllu(path)",
    "conllu": "import conllu; conllu.parse(open(path, encoding='utf-8').read())",
}


def conllu_reading(folder: Path, scale: int) -> list[Measured]:
    """The CorefUD reader against other readers of CoNLL-U, if they are there."""
    path = write_conllu(folder / "ud.conllu", 100 // scale, 500)
    ours = best(lambda: corefeval.read(path))
    rows = []
    for name, code in CONLLU_PEERS.items():
        if importlib.util.find_spec(name) is not None:
            theirs = best(lambda code=code: exec(code, {"path": str(path)}), 1)
            goal = "at least 3 × faster" if name == "udapi" else "at least 5 × faster"
            rows.append(
                Measured("reading CorefUD", ours, name, f"{theirs / ours:.1f} × faster", goal)
            )
    return rows
