"""corefud-scorer 1.2 emulated: its counts, rates, pairs and refusals.

The program is no dependency: it was run once, and what it gave is in `data/corefud` (and in the
shared vectors, where they are at hand, with the program's own tests and with GUM).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT
from corefeval import InputError, UsageError
from corefeval.emulation import corefud_matching
from corefeval.emulation.corefud_brackets import CorefudText
from corefeval.emulation.corefud_scorer import emulate, read_text, score_emulated
from corefeval.protocol import Protocol

DATA = ROOT / "tests" / "data" / "corefud"
QUIRKS = DATA / "quirks"

# The program crashes, and there is no doubt what was meant: scored, with a notice.
READ_ALL_THE_SAME = {"no-blank-line-at-end"}


def cases_of(folder: Path) -> tuple[Path, list[dict]]:
    """Where the files are, and the cases with their results by setting."""
    vectors = json.loads((folder / "expected.json").read_text())
    for case in vectors["cases"]:
        if isinstance(case["expected"], list):
            case["expected"] = {s: one for one in case["expected"] for s in one["settings"]}
    return folder / vectors.get("base", "."), vectors["cases"]


def protocol_of(setting: str) -> Protocol:
    match, singletons, zeros = setting.split("/")
    return Protocol.of(
        "corefud-1.2",
        match=match,
        singletons="keep" if singletons == "singletons" else "drop",
        zeros="align" if zeros == "dependent" else "place",
    )


def flat(counts: dict) -> dict[str, list[float]]:
    """Counts as the vectors have them: four numbers for each metric, two halves of BLANC."""
    found = {name: list(values.values()) for name, values in counts.items() if len(values) == 4}
    for half, name in (("coreference", "blanc_coref"), ("non_coreference", "blanc_noncoref")):
        common, key, response = (
            counts["blanc"][f"{half}_{side}"] for side in ("common", "key", "response")
        )
        found[name] = [common, key, common, response]
    zero = counts["zero"]
    resolved = zero["tp"] + zero["wl"]
    found["zero"] = [zero["tp"], resolved + zero["fn"], zero["tp"], resolved + zero["fp"]]
    return found


def are_close(some: list[float], others: list[float]) -> bool:
    """Whether numbers are the same to 1e-9 (`approx` would take most of the time)."""
    pairs = zip(some, others, strict=True)
    return all(abs(one - other) <= 1e-9 * max(1, abs(other)) for one, other in pairs)


def assert_same(key: CorefudText, response: CorefudText, setting: str, expected: dict) -> None:
    protocol = protocol_of(setting)
    result = score_emulated(key, response, "all", protocol)
    counts = flat({name: dict(result[name].counts) for name in result})
    for metric, values in expected["counts"].items():
        assert are_close(counts[metric], values), metric
    for metric, values in expected["rates"].items():
        one = result[metric]
        if metric == "conll":
            assert are_close([one.f1], [values])
        else:
            assert are_close([one.recall, one.precision, one.f1], values), metric
    for document in result.documents if "documents" in expected else ():
        counts = flat({one.metric: dict(one.counts) for one in document})
        for metric, values in expected["documents"][document.id].items():
            assert are_close(counts[metric], values), (document, metric)
    if "pairs" in expected:
        pairs = {
            str(document.name): sorted([str(one), str(other)] for one, other in document.pairs)
            for document in emulate(key, response, protocol)
        }
        assert pairs == {name: sorted(pairs) for name, pairs in expected["pairs"].items()}


def check_folder(folder: Path) -> None:
    base, cases = cases_of(folder)
    read = cache(read_text)
    for case in cases:
        for setting, expected in case["expected"].items():
            where = f"{case['name']} {setting}"
            try:
                key, response = (read(base / case[side]) for side in ("key", "response"))
                if "error" not in expected:
                    assert_same(key, response, setting, expected)
                    continue
                result = score_emulated(key, response, "all", protocol_of(setting))
            except InputError as error:
                assert "error" in expected, f"{where}: {error}"
                assert error.file and str(base) in error.file, where
                assert error.line or case["name"] == "response-fewer-documents", where
            except AssertionError as error:
                raise AssertionError(f"{where}: {error}") from None
            else:
                assert case["name"] in READ_ALL_THE_SAME, f"{where} was not refused"
                assert [notice.kind for notice in result.notices] == ["crash"]


@pytest.mark.parametrize("folder", ["quirks", "random"])
def test_counts_rates_and_pairs(folder):
    """Counts to 1e-9."""
    check_folder(DATA / folder)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["scorer-tests", "gum"])
def test_shared_vectors(shared, folder):
    check_folder(shared / "corefud" / folder)


def test_ties_of_a_real_document(shared):
    """GUM has one document in which a tie is decided by the dense matrix: CoNLL 72.9576."""
    sides = [shared / "gum" / f"{name}.conllu" for name in ("key", "xrenner")]
    result = corefeval.score(*sides, protocol="corefud-1.2", singletons="keep")
    assert 100 * result["conll"].f1 == pytest.approx(72.9576, abs=5e-5)


def pair_of(name: str) -> tuple[Path, Path]:
    return QUIRKS / f"{name}.key.conllu", QUIRKS / f"{name}.response.conllu"


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("corefud-1.2", "head/no-singletons/dependent"),
        ("crac-2024", "head/no-singletons/dependent"),
        ("crac-2022", "partial/no-singletons/linear"),
    ],
)
def test_named_protocols(name, setting):
    _, cases = cases_of(QUIRKS)
    for case in cases:
        expected = case["expected"][setting]
        if "rates" in expected:
            result = corefeval.score(*pair_of(case["name"]), protocol=name)
            assert result["conll"].f1 == pytest.approx(expected["rates"]["conll"], abs=1e-9)
            again = corefeval.score(*pair_of(case["name"]), protocol=result.signature)
            assert again == result


def test_corpora_that_were_read_from_files():
    key, response = map(corefeval.read, pair_of("zero-parent-alone"))
    assert corefeval.score(key, response, protocol="corefud-1.2")["conll"].f1 == 1


def test_results_add_up_and_are_saved(tmp_path):
    names = ("zero-three-cycle", "blanc-one-half", "no-newdoc-no-mentions", "empty-node-ten")
    parts = [corefeval.score(*pair_of(name), protocol="corefud-1.2") for name in names]
    total = corefeval.Result.total(parts)
    assert total["muc"].counts == {
        name: sum(part["muc"].counts[name] for part in parts) for name in total["muc"].counts
    }
    total.save(tmp_path / "kept.json")
    assert corefeval.load(tmp_path / "kept.json") == total


def test_a_rate_above_one_is_kept(tmp_path):
    """A key mention in two entities counts twice in BLANC, whose precision passes 1."""
    text = "# newdoc id = d\n# global.Entity = eid-etype-head\n# sent_id = s\n"
    line = "{0}\tw\t_\t_\t_\t_\t0\t_\t_\tEntity={1}\n"
    for side, value in (("key", "(a-x-1)(b-x-1)"), ("response", "(a-x-1)")):
        words = "".join(line.format(number, value) for number in (1, 2))
        (tmp_path / f"{side}.conllu").write_text(text + words + "\n")
    sides = [tmp_path / f"{side}.conllu" for side in ("key", "response")]
    result = corefeval.score(*sides, protocol="corefud-1.2")
    assert result["blanc"].counts["coreference_common"] == 2
    assert result["blanc"].counts["coreference_response"] == 1
    result.save(tmp_path / "kept.json")
    assert corefeval.load(tmp_path / "kept.json") == result


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duplicates": "error"}, "has only duplicates first"),
        ({"zeros": "drop"}, "has only zeros place or align"),
        ({"documents": "a*"}, "has only documents"),
        ({"missing": "skip"}, "has only missing empty"),
        ({"ignore_tokens": True}, "has only tokens same"),
        ({"by": "kind"}, "has no scores by kind"),
        ({"features": {"kind": {}}}, "has no features of mentions"),
        ({"metrics": "lmuc"}, "corefud-scorer has no lmuc: it has muc, b3, ceafe"),
        ({"metrics": "mentions, muc"}, "corefud-scorer has no mentions"),
        ({"metrics": "nothing"}, "there is no metric 'nothing'"),
        ({"metrics": 5}, "metrics are names"),
        ({"metrics": [5]}, "a metric is a name"),
        ({"key_format": "conll"}, "reads only corefud"),
        ({"as_segments": True}, "is not cut into segments"),
    ],
)
def test_what_the_program_does_not_have_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        corefeval.score(*pair_of("tie-later"), protocol="corefud-1.2", **options)


def test_only_scores_and_comparisons_are_emulated():
    paths = pair_of("span-in-two-entities-response")
    with pytest.raises(UsageError, match="is only for scores, errors and reports") as caught:
        corefeval.prepare(*paths, "crac-2022")
    choices = str(caught.value).split("'")[1]  # as they can be used instead
    assert choices.startswith("match:partial|singletons:drop|")
    assert (
        corefeval.prepare(*pair_of("span-in-two-entities-response"), choices).protocol.match
        == "partial"
    )
    for side in ([["a", "b"]], corefeval.example("key"), DATA):
        with pytest.raises((UsageError, InputError)):
            corefeval.score(side, side, protocol="corefud-1.2")


def test_compare(shared):
    sides = [shared / "gum" / f"{name}.conllu" for name in ("key", "xrenner", "baseline")]
    compared = corefeval.compare(sides[0], sides[1:], protocol="corefud-1.2", trials=100)
    assert compared.is_better("conll", *compared.systems)


def conllu(*lines: str, header: str = "eid-etype-head-other") -> str:
    """A document of one sentence: `form` or `form Entity` for each word."""
    text = f"# newdoc id = d\n# global.Entity = {header}\n# sent_id = s\n"
    for number, line in enumerate(lines, start=1):
        form, _, entity = line.partition(" ")
        text += f"{number}\t{form}\t_\t_\t_\t_\t0\t_\t_\t{entity or '_'}\n"
    return text + "\n"


def rows(*nodes: str) -> str:
    """A document of one sentence: `id` or `id Entity` for each word and empty node."""
    lines = ["# newdoc id = d", "# global.Entity = eid-etype-head", "# sent_id = s"]
    for node in nodes:
        number, _, entity = node.partition(" ")
        deps = "1:x" if "." in number else "_"
        lines.append(f"{number}\tw\t_\t_\t_\t_\t0\t_\t{deps}\t{entity or '_'}")
    return "\n".join([*lines, "", ""])


@pytest.mark.parametrize(
    ("nodes", "mention"),
    [
        # 1.10 is the number 1.1, so that it does not lie behind 1.1.
        (("1", "1.1 Entity=(a-x-1", "1.10", "2 Entity=a)", "3"), "1:1.1,2*1.1"),
        # It lies behind 1; a mention that closes at the first of the two ends there.
        (("1 Entity=(a-x-1", "1.1", "1.10", "2 Entity=a)", "3"), "1:1,1.1,1.1,2*1"),
        (("1 Entity=(a-x-1", "1.1 Entity=a)", "1.10", "2", "3"), "1:1,1.1*1"),
        # What closes behind its last node is never reached: it runs to the end of the sentence.
        (("1", "1.1 Entity=(a-x-1", "1.10 Entity=a)", "2", "3"), "1:1.1,2,3*1.1"),
        # So does the first part here; the second begins before that end, and adds its first node.
        (
            ("1 Entity=(a[1/2]-x-1(b-x-1)a[1/2])", "2", "3 Entity=(a[2/2]-x-1", "4 Entity=a[2/2])"),
            "1:1,2,3,3,4*1",
        ),
    ],
)
def test_a_mention_is_filled_up_behind_its_last_place(conll, nodes, mention):
    """The program compares ids as numbers, and takes the greatest one of a mention for its end."""
    text = read_text(conll(rows(*nodes), "key.conllu"))
    [document] = emulate(text, text, Protocol.of("corefud-1.2", singletons="keep"))
    assert {str(one) for one, _ in document.pairs} - {"1:1*1"} == {mention}


def test_zeros_that_the_sort_does_not_tell_apart_come_from_the_first_set(conll):
    """The program's second set, a copy from which the rest is matched, has them the other way."""
    a, b = ([f"({name}[{k}/3]-x-2)" for k in (1, 2, 3)] for name in "ab")
    key = rows(
        f"1 Entity={a[0]}{b[0]}(c-x-1)",
        f"1.3 Entity={a[1]}",
        "2 Entity=(d-x-1)",
        f"2.3 Entity={b[1]}",
        "3 Entity=(e-x-1)",
        f"4 Entity={a[2]}{b[2]}",
    )
    response = rows("0.1 Entity=(f-x-1)", "1", "2", "3", "4")
    texts = [
        read_text(conll(text, name)) for text, name in ((key, "k.conllu"), (response, "r.conllu"))
    ]
    [document] = emulate(*texts, Protocol.of("corefud-1.2", singletons="keep"))
    assert [str(one) for one, _ in document.pairs] == ["1:1,1.3,4*1.3"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (conllu("a Entity=(x-y-1"), 0, ""),
        (conllu("a Entity=x)"), 4, "closes without being opened"),
        (conllu("a Entity=()"), 4, "empty or has no partner"),
        (conllu("a Entity=(x-y-one)"), 4, "head of a mention is not a number"),
        (conllu("a Entity=(x-y-)"), 4, "head of a mention is not a number"),
        (conllu("a Entity=(-y-1)"), 4, "has no id"),
        (conllu("a Entity=(x[2/2]-y-1)"), 4, "comes before its first part"),
        (conllu("a Entity=(x-y-1", "b Entity=x)(x-y-3", "c Entity=x)"), 6, "outside it"),
        (conllu("a Entity=(x-y-1)|Bridge=z<x"), 4, "names an entity that has no mention"),
        (conllu("a Entity=(x-y-1)|Bridge=x<x"), 4, "Bridge names no entity"),
        (conllu("a Entity=(x-y-1)|SplitAnte=z<q"), 4, "SplitAnte names no entity"),
        (conllu("a Entity=(x-y-1)", header="etype-head"), None, "neither eid nor GRP"),
        (conllu("a").replace("1\ta", "one\ta"), 4, "is not a CoNLL-U id"),
        (conllu("a", "b").replace("2\tb", "3\tb"), 5, "not numbered from 1"),
        (conllu("a").replace("\t0\t", "\t2\t"), 4, "not a word of its sentence"),
        (conllu("a").replace("\t0\t", "\t1\t"), 4, "form a circle"),
        (conllu("b"), 4, "the word is not the key's"),
        (conllu("a").replace("= s", "= t"), 1, "the sent_id is not the key's"),
        (conllu("a").replace("= d", "= e"), 1, "the newdoc is not the key's"),
        ("# nothing\n", None, "no sentence"),
        ("", None, "no sentence"),
        ("\x00\x01", 1, "is not a CoNLL-U id"),
        ("#begin document (x);\nx 0 0 word\n", 2, "is not a CoNLL-U id"),
        (b"1\t\xff\n", 1, "not utf-8"),
    ],
)
def test_bad_files_end_in_one_clear_error(conll, text, line, message):
    key = conll(conllu("a"), "key.conllu")
    response = conll(text, "response.conllu")
    if not message:
        result = corefeval.score(key, response, protocol="corefud-1.2")
        assert [notice.kind for notice in result.notices] == ["unclosed"]
        return
    with pytest.raises(InputError, match=message) as caught:
        corefeval.score(key, response, protocol="corefud-1.2")
    assert (caught.value.file, caught.value.line) == (response, line)


def test_files_of_other_formats_are_told_what_to_do():
    with pytest.raises(InputError, match="reads only CorefUD: corefeval convert FILE NEW --to"):
        corefeval.score(*map(corefeval.example, ("key", "eager")), protocol="corefud-1.2")


@pytest.mark.parametrize(("limit", "name"), [("MOST_EDGES", "could match"), ("MOST_CELLS", "left")])
def test_what_would_not_fit_into_memory_is_one_clear_error(monkeypatch, limit, name):
    monkeypatch.setattr(corefud_matching, limit, 1)
    with pytest.raises(InputError, match=f"too large for corefud-scorer(.|\n)*{name}"):
        corefeval.score(*pair_of("tie-later"), protocol="corefud-1.2")


def test_saved_results_with_intervals(shared, tmp_path):
    sides = [shared / "gum" / f"{name}.conllu" for name in ("key", "xrenner")]
    result = corefeval.score(*sides, protocol="corefud-1.2", ci=0.9, samples=50)
    low, high = result["blanc"].intervals["f1"]
    assert low < result["blanc"].f1 < high
    result.save(tmp_path / "kept.json")
    assert corefeval.load(tmp_path / "kept.json") == result
