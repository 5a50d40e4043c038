"""What is in a corpus, counted; and the command that converts."""

from __future__ import annotations

import json

import pytest

import corefeval
from corefeval.analysis.statistics import statistics
from corefeval.model import CorpusBuilder

KEY = corefeval.example("key")


@pytest.fixture
def corpus():
    builder = CorpusBuilder(name="small")
    document = builder.document(
        "d",
        words=["the", "man", "who", "sleeps", "_", "he", "it"],
        sentence_starts=[0, 5],
        columns={"empty": ["", "", "", "", "1", "", ""]},
    )
    document.mention("e1", 0, 4, features={"kind": "nominal"})
    document.mention("e1", 2, 3, features={"kind": "pronoun"})
    document.mention("e1", 4, 5, features={"kind": "pronoun"})
    document.mention("e1", 5, 6, features={"kind": "pronoun"})
    document.mention_at("e2", [0, 3], features={"kind": "nominal"})
    document.mention("e3", 6, 7, features={"kind": "pronoun"})
    document.mention("e4", 6, 7, features={"kind": "pronoun"})
    return builder.build()


def test_everything_is_counted(corpus):
    found = statistics(corpus)
    assert (found.n_documents, found.sentences, found.tokens, found.empty_nodes) == (1, 2, 7, 1)
    assert (found.mentions, found.entities, found.singletons) == (7, 4, 3)
    assert (found.largest_entity, found.mean_entity_size) == (4, 7 / 4)
    assert (found.discontinuous, found.zeros, found.repeated) == (1, 1, 2)
    assert found.nested == 1
    assert found.sizes["1"] == 3
    assert found.sizes["3–5"] == 1
    assert found.kinds == {"kind": {"pronoun": 5, "nominal": 2}}


def test_plain_python_has_no_positions():
    found = statistics(corefeval.corpus_from_entities([["a", "b"], ["c"]]))
    assert (found.mentions, found.entities, found.singletons) == (3, 2, 1)
    assert (found.tokens, found.nested, found.zeros, found.mean_mention_length) == (None,) * 4


def test_characters_are_no_tokens(tmp_path):
    corefeval.write(corefeval.read(KEY), tmp_path / "key.json", format="fastcoref")
    found = statistics(corefeval.read(tmp_path / "key.json"))
    assert (found.mentions, found.tokens, found.sentences) == (301, None, None)


def test_the_command(run):
    status, out, _ = run("stats", KEY, corefeval.example("eager"))
    assert status == 0
    rows = {line.split("  ")[0].strip(): line.split()[-2:] for line in out.splitlines()[1:]}
    assert rows["Documents"] == ["9", "9"]
    assert rows["Mentions"] == ["301", "365"]
    status, out, _ = run("stats", KEY, "--format", "json")
    assert status == 0
    (one,) = json.loads(out)
    assert (one["documents"], one["mentions"], one["entities"]) == (9, 301, 93)


def test_convert(run, tmp_path):
    target = tmp_path / "key.conllu"
    status, out, err = run("convert", KEY, target, "--to", "corefud")
    assert (status, out) == (0, "")
    assert "token columns left out: parse" in err
    assert corefeval.score(KEY, target)["lea"].f1 == 1.0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("convert", KEY, "x", "--to", "pdf"), 2, "there is no format 'pdf'"),
        (("convert", KEY, KEY, "--to", "conll"), 2, "would overwrite the input"),
        (("convert", "nowhere", "x", "--to", "conll"), 1, "cannot be read"),
        (("convert", KEY, "/no/such/folder/x", "--to", "conll"), 1, "cannot be written"),
        (("convert", KEY, "x.zzz"), 2, "--to"),
        (("stats", "nowhere"), 1, "cannot be read"),
        (("stats", KEY, "--formt"), 2, "did you mean --format"),
    ],
)
def test_what_goes_wrong(run, arguments, status, message):
    done, out, err = run(*arguments)
    assert done == status
    assert message in err
    assert "Traceback" not in out + err


def test_losses_are_listed(run, tmp_path):
    text = "\n".join(
        (
            "# newdoc id = d",
            "# global.Entity = eid-etype-head",
            "# meta::genre = news",
            "1\tAda\tAda\tPROPN\tNNP\t_\t0\troot\t_\tEntity=(e1-person-1)",
            "1.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1-person-1)",
            "2\tit\tit\tPRON\tPRP\t_\t1\tdep\t_\tBridge=e1<e2|Entity=(e2-object-1)",
            "",
        )
    )
    (tmp_path / "d.conllu").write_text(text)
    err = run("convert", tmp_path / "d.conllu", tmp_path / "d.conll", "--to", "conll")[2]
    for lost in (
        "1 empty node written as ordinary tokens",
        "mention features left out: etype, head",
        "1 relation left out: 1 bridging",
        "1 line about documents or sentences left out",
        "token columns left out: upos",
    ):
        assert lost in err, err


def plain_conll(*documents: str) -> str:
    """Documents of three columns: `/` is a blank line."""
    lines = []
    for number, words in enumerate(documents):
        lines.append(f"# begin document d{number}")
        rows = enumerate(words.split(), 1)
        lines += ["" if word == "/" else f"{place}\t{word}\t_" for place, word in rows]
        lines.append("# end document")
    return "\n".join((*lines, ""))


@pytest.mark.parametrize(
    ("documents", "sentences"),
    [
        (("Ada slept .", "She woke ."), [None, None]),
        (("Ada slept .", "She woke . / Then she slept ."), [1, 2]),
        (("Ada slept . /", "She woke . /"), [1, 1]),
    ],
)
def test_sentences_that_nobody_marked_are_not_known(conll, run, documents, sentences):
    path = conll(plain_conll(*documents))
    found = statistics(corefeval.read(path))
    whole = None if None in sentences else sum(sentences)
    assert (found.sentences, [one.sentences for one in found.documents]) == (whole, sentences)
    for options in ((), ("--piece-size", 10)):
        (record,) = json.loads(run("stats", path, "-f", "json", *options)[1])
        assert (record["sentences"], record["tokens"]) == (whole, found.tokens)
    assert ("unknown" in run("stats", path)[1]) == (whole is None)


def test_conllu_always_marks_sentences(tmp_path):
    path = tmp_path / "one.conllu"
    path.write_text("# newdoc id = d\n1\tAda" + "\t_" * 8 + "\n\n")
    assert statistics(corefeval.read(path)).sentences == 1


def test_sentences_that_no_file_marks_are_unknown(run, tmp_path):
    record = {"document": ["Ada", "met", "Bob", "."], "clusters": [[[0, 0], [2, 2]]]}
    (tmp_path / "a.json").write_text(json.dumps(record))
    status, out, _ = run("stats", tmp_path / "a.json")
    assert status == 0
    assert "Sentences unknown" in " ".join(out.split())
