"""Statistics over corpora, against enumeration, loops and scipy."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import UsageError
from corefeval.stats import compare_corpora, partial_conjunction, replicate
from corefeval.stats.resampling import stack
from corefeval.stats.significance import adjust, one_sided_p
from corefeval.stats.standings import CorporaComparison
from count_tables import compare_two, drawn, rates_of, simulated

scipy_stats = pytest.importorskip("scipy.stats")

ONE_PAIR = (np.array([0]), np.array([1]))
P_VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8)


@given(P_VALUES)
def test_partial_conjunction_as_scipy_combines(values):
    ordered = sorted(values)
    bonferroni, fisher = [], []
    for u in range(1, len(values) + 1):
        rest = ordered[u - 1 :]
        bonferroni.append(min(1.0, len(rest) * rest[0]))
        with np.errstate(divide="ignore"):
            fisher.append(float(scipy_stats.chi2.sf(-2 * np.log(rest).sum(), 2 * len(rest))))
    found = partial_conjunction(values), partial_conjunction(values, "fisher")
    assert found[0] == pytest.approx(np.maximum.accumulate(bonferroni))
    assert found[1] == pytest.approx(np.maximum.accumulate(fisher), abs=1e-12)


@given(P_VALUES, st.sampled_from([0.01, 0.05, 0.2]))
def test_replication_names_what_holm_rejects(values, alpha):
    named = {f"corpus {n}": p for n, p in enumerate(values)}
    found = replicate(named, alpha=alpha)
    rejected = adjust(values) <= alpha
    # With Bonferroni's combination the number is that of Holm's procedure.
    assert found.count == rejected.sum() == len(found.corpora)
    assert found.tested == len(values)
    assert found.corpora == tuple(n for n, r in zip(named, rejected, strict=True) if r)
    assert replicate(named, alpha=alpha, combination="fisher").corpora == found.corpora


def test_independent_corpora_support_each_other():
    values = {f"d{n}": p for n, p in enumerate([0.04] * 5)}
    assert replicate(values).count == 0
    assert replicate(values, combination="fisher").count == 5


@pytest.mark.parametrize("values", [[-0.1], [1.5, 0.2], [float("nan")]])
def test_p_values_out_of_range(values):
    with pytest.raises(UsageError, match="between 0 and 1"):
        partial_conjunction(values)


def gap_of(first, second):
    return rates_of(first)["conll", "f1"] - rates_of(second)["conll", "f1"]


def swap_documents(first, second, flags):
    """Both with some documents exchanged."""
    size = len(flags)
    both = first + second
    one = [n + size * flag for n, flag in enumerate(flags)]
    other = [n + size * (1 - flag) for n, flag in enumerate(flags)]
    return drawn(both, one), drawn(both, other)


@given(st.integers(0, 10_000), st.integers(1, 5))
@settings(max_examples=15)
def test_one_sided_p_as_enumeration_has_it(seed, size):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 9, size)
    first, second = (simulated(generator, sizes, quality=q) for q in (0.7, 0.6))
    seen = gap_of(first, second)
    gaps = np.array(
        [gap_of(*swap_documents(first, second, f)) for f in itertools.product((0, 1), repeat=size)]
    )
    better, worse = one_sided_p(stack([first, second], ["conll"]), ONE_PAIR, "f1", 100, 0)
    assert better[0, 0] == pytest.approx((gaps >= seen - 1e-10).mean())
    assert worse[0, 0] == pytest.approx((gaps <= seen + 1e-10).mean())


def test_one_sided_p_is_half_of_two_sided():
    generator = np.random.default_rng(1)
    sizes = generator.integers(1, 40, 40)
    first, second = (simulated(generator, sizes, quality=q) for q in (0.65, 0.6))
    better, worse = one_sided_p(stack([first, second], ["muc"]), ONE_PAIR, "f1", 500, 3)
    two_sided = compare_two(first, second, metrics=["muc"], trials=500, seed=3)["muc"]
    assert two_sided.difference > 0
    assert better[0, 0] == two_sided.p / 2
    assert better[0, 0] + worse[0, 0] >= 1


def make_cells(seed, corpora, systems, *, documents=3, seeds=1):
    generator = np.random.default_rng(seed)
    cells = {}
    for corpus in range(corpora):
        sizes = generator.integers(1, 30, documents)
        cells[f"c{corpus}"] = {
            f"s{system}": [
                simulated(generator, sizes, quality=0.5 + 0.1 * system) for _ in range(seeds)
            ]
            for system in range(systems)
        }
    return cells


def score_of(result, documents=None):
    return rates_of(result if documents is None else drawn(result, documents))["muc", "f1"]


def enumerate_averages(cells, system, weights, *, resample):
    """The average of every draw, and how likely it is: as the definition has it."""
    corpora = list(cells)
    n = len(corpora)
    n_runs = len(cells[corpora[0]][system])
    runs_drawn = itertools.product(range(n_runs), repeat=n_runs)
    found = Counter()
    for runs in runs_drawn if "seeds" in resample else [tuple(range(n_runs))]:
        each = {}
        for corpus in corpora:
            results = cells[corpus][system]
            size = len(results[0].document_ids)
            draws = itertools.product(range(size), repeat=size)
            each[corpus] = Counter(
                float(np.mean([score_of(results[run], list(documents)) for run in runs])).__round__(
                    9
                )
                for documents in (draws if "documents" in resample else [range(size)])
            )
        picked = itertools.product(corpora, repeat=n) if "corpora" in resample else [corpora]
        for some in picked:
            below = sum(weights[c] for c in some)
            for values in itertools.product(*(each[c].items() for c in some)):
                mean = sum(weights[c] * v for c, (v, _) in zip(some, values, strict=True)) / below
                found[round(mean, 7)] += float(np.prod([k for _, k in values]))
    total = sum(found.values())
    return {value: times / total for value, times in sorted(found.items())}


@pytest.mark.parametrize(
    ("resample", "corpora", "seeds"),
    [
        (("corpora",), 3, 1),
        (("documents",), 2, 1),
        (("seeds",), 2, 3),
        (("corpora", "documents"), 2, 1),
        (("corpora", "documents", "seeds"), 2, 2),
    ],
)
def test_bootstrap_draws_what_enumeration_does(resample, corpora, seeds, monkeypatch):
    from corefeval.stats import corpora as module

    cells = make_cells(5, corpora, 2, documents=2, seeds=seeds)
    weights = {name: 1.0 + n for n, name in enumerate(cells)}
    samples = {}
    real = module.Resampling.average

    def keep(self, *arguments):
        found = real(self, *arguments)
        samples["averages"] = found[0]
        return found

    monkeypatch.setattr(module.Resampling, "average", keep)
    trials = 6000
    compared = compare_corpora(
        cells, metrics=["muc"], weights=weights, trials=trials, resample=resample, seed=4
    )
    for system in (0, 1):
        expected = enumerate_averages(cells, f"s{system}", weights, resample=resample)
        seen = samples["averages"].samples[system]
        values = np.array(list(expected))
        shares = np.array(list(expected.values()))
        nearest = np.abs(seen[:, None] - values).argmin(axis=1)
        assert np.abs(seen - values[nearest]).max() < 1e-6  # nothing that cannot be drawn
        counted = np.bincount(nearest, minlength=values.size) / trials
        assert np.abs(counted - shares).max() < 5 * np.sqrt(shares.max() / trials)
        whole = [np.mean([score_of(run) for run in cells[c][f"s{system}"]]) for c in cells]
        mean = np.average(whole, weights=list(weights.values()))
        assert compared.standing("muc").scores[f"s{system}"] == pytest.approx(mean)
        # The interval is that of the exact distribution, up to a hundredth of the draws.
        below = np.cumsum(shares)
        for end, share in zip(
            compared.standing("muc").intervals[f"s{system}"], (0.025, 0.975), strict=True
        ):
            around = (np.searchsorted(below, share + shift) for shift in (-0.01, 0.01))
            least, most = (values[min(place, values.size - 1)] for place in around)
            assert least - 1e-6 <= end <= most + 1e-6


def test_ranks_differences_and_corpora_to_name():
    generator = np.random.default_rng(3)
    qualities = {"good": 0.8, "twin": 0.8, "poor": 0.4}
    cells = {}
    for corpus in ("a", "b", "c", "d", "e"):
        sizes = generator.integers(5, 40, 20)
        cells[corpus] = {
            name: [simulated(generator, sizes, quality=q)] for name, q in qualities.items()
        }
    groups = {"first": ["a", "b"], "others": ["c", "d", "e"]}
    found = compare_corpora(cells, metrics=["conll", "muc"], groups=groups, trials=1000)
    assert found.ranks("conll") == {"good": 1, "twin": 1, "poor": 3}
    assert found.better_than("conll", "good") == ("poor",)
    assert found.better_than("muc", "twin", "c") == ("poor",)
    pair = found.standing("conll").by_names["poor", "twin"]
    assert pair.worse.count == 5 and pair.worse.corpora == tuple(cells) and not pair.better.count
    assert pair.difference < 0 and pair.interval.high < 0 and pair.significant
    assert found.groups == ("", "first", "others")
    assert found.standing("muc", "others").corpora == ("c", "d", "e")
    assert len(found.rows()) == 2 * 3 * 3
    again = CorporaComparison.from_dict(json.loads(json.dumps(found.as_dict())))
    assert again.as_dict() == found.as_dict() and again.rows() == found.rows()
    same = compare_corpora(cells, metrics=["conll", "muc"], groups=groups, trials=1000)
    assert same.as_dict() == found.as_dict()


def test_who_has_nothing_at_all_is_last_where_nothing_can_be_significant():
    cells = make_cells(8, 1, 3, documents=2)
    cells["c0"]["s1"] = [None]
    found = compare_corpora(cells, metrics=["muc"], trials=200)
    assert not any(pair.significant for pair in found.standing("muc").pairs)
    assert found.ranks("muc") == {"s0": 1, "s2": 1, "s1": 3}


def test_results_that_are_not_there():
    cells = make_cells(8, 4, 3, documents=6)
    cells["c1"]["s2"] = [None]
    del cells["c3"]["s2"]
    zero = compare_corpora(cells, metrics=["muc"], trials=200).standing("muc")
    whole = {
        s: [score_of(cells[c][s][0]) for c in cells if cells[c].get(s, [None])[0]]
        for s in ("s0", "s2")
    }
    assert zero.scores["s2"] == pytest.approx(sum(whole["s2"]) / 4)
    left = compare_corpora(cells, metrics=["muc"], trials=200, absent="leave-out").standing("muc")
    assert left.scores["s2"] == pytest.approx(np.mean(whole["s2"]))
    assert left.scores["s0"] == pytest.approx(np.mean(whole["s0"]))
    pair = left.by_names["s2", "s0"]
    common = [score_of(cells[c]["s2"][0]) - score_of(cells[c]["s0"][0]) for c in ("c0", "c2")]
    assert pair.difference == pytest.approx(np.mean(common))
    assert pair.better.tested == 2
    cells["empty"] = {name: [None] for name in ("s0", "s1", "s2")}
    with_empty = compare_corpora(cells, metrics=["muc"], trials=200)
    assert with_empty.standing("muc").scores["s0"] == pytest.approx(0.8 * np.mean(whole["s0"]))


def test_seeds_that_are_not_there():
    cells = make_cells(9, 2, 2, documents=4, seeds=3)
    cells["c0"]["s0"][1] = None
    there = [score_of(one) for one in cells["c0"]["s0"] if one is not None]
    other = np.mean([score_of(one) for one in cells["c1"]["s0"]])
    for absent, number in (("zero", 3), ("leave-out", 2)):
        found = compare_corpora(cells, metrics=["muc"], trials=100, absent=absent)
        expected = (sum(there) / number + other) / 2
        assert found.standing("muc").scores["s0"] == pytest.approx(expected)
        # A mean with a 0 in it is not what the documents of the other runs could be tested for.
        assert list(found.tests["muc"]["c0"]) == [("s0", "s1")] * (absent == "leave-out")
        assert found.standing("muc").pairs[0].better.tested == 1 + (absent == "leave-out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["lea"]}, "'lea' was not scored"),
        ({"resample": []}, "at least one of corpora, documents, seeds"),
        ({"resample": ["words"]}, "resample is one of"),
        ({"combination": "stouffer"}, "the combination is one of"),
        ({"trials": 0}, "whole number from 1"),
        ({"rate": "recall", "metrics": ["conll"]}, "was not scored with recall"),
    ],
)
def test_what_cannot_be_compared(options, message):
    with pytest.raises(UsageError, match=message):
        compare_corpora(make_cells(1, 2, 2), **options)


def test_one_system_alone_is_no_comparison():
    with pytest.raises(UsageError, match="two systems"):
        compare_corpora(make_cells(1, 2, 1))
    with pytest.raises(UsageError, match="two systems"):
        compare_corpora({})
    with pytest.raises(UsageError, match="there is no result to compare"):
        compare_corpora({"gum": {"a": [None], "b": [None]}}, metrics=["muc"])


def test_corpora_with_too_few_documents_are_named():
    cells = {}
    for corpus, names in {"small": "12345", "large": "123456"}.items():
        key = {name: [["a", "b", "c"]] for name in names}
        half = {name: [["a", "b"]] for name in names}
        cells[corpus] = {
            "full": [corefeval.score(key, key, metrics="muc")],
            "half": [corefeval.score(key, half, metrics="muc")],
        }
    found = compare_corpora(cells, trials=99)
    least = {
        corpus: [one.adjusted_p for one in tests.values()]
        for corpus, tests in found.tests["muc"].items()
    }
    assert least == {"small": [1 / 16], "large": [1 / 32]}
    [told] = [one for one in found.notices if one.kind == "few-documents"]
    assert told.items == ("small",)
    assert "on 1 corpus (‘small’) no difference can be significant at 0.05" in told.message


def test_corpora_are_small_for_the_pairs_that_are_tested_there():
    key = {name: [["a", "b", "c"]] for name in "123456"}
    full = corefeval.score(key, key, metrics="muc")
    half = corefeval.score(key, {name: [["a", "b"]] for name in key}, metrics="muc")
    everyone = {"full": [full], "half": [half], "twin": [half]}
    cells = {"all": everyone, "two": {**everyone, "twin": [None]}, "one": {"full": [full]}}
    found = compare_corpora(cells, trials=99)
    assert found.better_than("muc", "full", "two") == ("half",)
    [told] = [one for one in found.notices if one.kind == "few-documents"]
    assert told.items == ("all",)


def test_a_system_without_results_in_a_group_is_not_tested_there():
    cells = make_cells(8, 4, 3, documents=12)
    for corpus in ("c0", "c1"):
        cells[corpus]["s2"] = [None]
    groups = {"spoken": ["c0", "c1"], "mixed": ["c1", "c2"]}
    found = compare_corpora(cells, metrics=["muc"], groups=groups, trials=200)
    spoken, mixed = (found.standing("muc", group) for group in groups)
    assert list(spoken.by_names) == [("s0", "s1"), ("s1", "s0")]
    assert spoken.scores["s2"] == 0 and spoken.ranks["s2"] == 3
    assert len(mixed.pairs) == len(found.standing("muc").pairs) == 3


@pytest.mark.parametrize(
    ("resample", "documents", "seeds", "least"),
    [
        (("corpora", "documents", "seeds"), 1, 1, 1 / 2),  # two documents: two ways to swap
        (("corpora", "documents"), 2, 1, 1 / 8),
        (("documents",), 2, 1, 1 / 8),
        (("corpora",), 30, 1, 1 / 2),  # two corpora, whatever is in them
        (("seeds",), 30, 1, 1.0),  # nothing is drawn
        (("seeds",), 30, 3, 2 / 20),  # 20 ways to part six runs
    ],
)
def test_few_units_leave_no_certainty(resample, documents, seeds, least):
    key = {str(name): [["a", "b", "c"]] for name in range(documents)}
    half = {name: [["a", "b"]] for name in key}
    one = {
        name: [corefeval.score(key, response, metrics="muc")] * seeds
        for name, response in {"full": key, "half": half}.items()
    }
    cells = {"news": one, "novels": one}
    found = compare_corpora(cells, trials=999, resample=resample)
    [pair] = found.standing("muc").pairs
    assert pair.p == pytest.approx(least) and not pair.significant
    [told] = [one for one in found.notices if one.kind == "hopeless-test"]
    assert f"no p-value is below {least:.2g}" in told.message
    generous = compare_corpora(cells, trials=999, resample=resample, alpha=0.6)
    assert generous.standing("muc").pairs[0].significant == (least < 0.6)


def test_documents_of_a_corpus_must_be_the_same():
    cells = make_cells(1, 1, 2)
    cells["c0"]["s1"] = [drawn(cells["c0"]["s1"][0], [0, 1])]
    with pytest.raises(UsageError, match="s1 on c0"):
        compare_corpora(cells)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["standings"][0]["scores"].update(s9=0.5),
        lambda r: r["standings"][0]["intervals"].pop("s0"),
        lambda r: r["standings"][0]["pairs"][0].update(first="s9"),
        lambda r: r["standings"][0]["pairs"][0].update(p="0.1"),
        lambda r: r["standings"][0]["pairs"][0]["better"].update(corpora=["x"]),
        lambda r: r["standings"][0]["scores"].update(s0=float("nan")),
        lambda r: r["standings"][0].update(more=1),
        lambda r: r["tests"]["muc"]["c0"][0].pop(),
        lambda r: r["tests"]["muc"].update(x=[]),
        lambda r: r["options"].pop("resample"),
        lambda r: r.update(systems=None),
    ],
)
def test_damaged_records_are_told(change):
    record = json.loads(json.dumps(compare_corpora(make_cells(2, 2, 2), metrics=["muc"]).as_dict()))
    CorporaComparison.from_dict(record)
    change(record)
    with pytest.raises((KeyError, TypeError, ValueError)):
        CorporaComparison.from_dict(record)


def test_trials_that_draw_nothing_leave_no_holes():
    cells = make_cells(3, 12, 2, documents=2)
    for corpus in list(cells)[1:]:
        cells[corpus]["s1"] = [None]
    found = compare_corpora(cells, metrics=["muc"], trials=3, seed=1, absent="leave-out")
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.standing("muc").pairs[0].better.tested == 1


def test_seeds_are_tested_by_the_mean_of_their_counts():
    cells = make_cells(11, 1, 2, documents=6, seeds=3)
    pooled = []
    for runs in cells["c0"].values():
        values = np.mean([run.tables["muc"].values for run in runs], axis=0)
        pooled.append(
            replace(runs[0], tables={"muc": replace(runs[0].tables["muc"], values=values)})
        )
    expected = compare_two(*pooled, test="exact")["muc"]
    found = compare_corpora(cells, metrics=["muc"], trials=100).tests["muc"]["c0"]["s0", "s1"]
    assert found.difference == pytest.approx(expected.difference)
    assert min(found.p_better, found.p_worse) == pytest.approx(expected.p / 2)
    assert found.adjusted_p == pytest.approx(expected.p)


def test_nothing_is_claimed_where_there_is_nothing():
    """Of equal systems, the share of false claims stays below alpha."""
    generator = np.random.default_rng(12)
    claims = 0
    for _ in range(60):
        cells = {}
        for corpus in range(4):
            sizes = generator.integers(2, 30, 7)
            cells[str(corpus)] = {name: [simulated(generator, sizes)] for name in ("one", "other")}
        found = compare_corpora(cells, metrics=["muc"], trials=64, alpha=0.2, combination="fisher")
        claims += found.standing("muc").pairs[0].better.count > 0
    assert claims <= 22  # of 60 at 0.2: more has a chance of 1 in 1000
