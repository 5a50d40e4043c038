"""Over all samples of small populations, estimated sums have the true sum for a mean."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from sheet_makers import Person, rows_of, write_rows

MENTIONS = [f"x{number}" for number in range(6)]


@st.composite
def populations(draw):
    """A response with all mentions, and a key with most of them, so that the frame is known."""
    size = draw(st.integers(3, 5))
    mentions = MENTIONS[:size]

    def group(chosen):
        owners = [draw(st.integers(0, 2)) for _ in chosen]
        return [
            [m for m, o in zip(chosen, owners, strict=True) if o == owner]
            for owner in sorted(set(owners))
        ]

    kept = [m for m in mentions if draw(st.integers(0, 5))] or mentions
    return group(kept), group(mentions), draw(st.integers(2, size))


def list_samples(key, response, n, design) -> Iterator[list[dict[str, str]]]:
    """Rows of every sample of n mentions with every choice of companions or partners."""
    person = Person(key)
    full = corefeval.sample(response, design=design, n=len(MENTIONS))
    rows = {row["id"]: row for row in rows_of(person.fill(full))}
    labels = {row["mention"]: row["id"] for row in rows.values()}
    owner = {labels[m]: [labels[x] for x in entity] for entity in response for m in entity}
    answers = {row.cells["id"]: person.name(row) for row in full}
    members = {row.cells["id"]: row for row in full}
    for drawn in combinations(sorted(rows), n):
        choices = []
        for mention in drawn:
            alone = design == "pairs" or len({*owner[mention]} & {*drawn}) == 1
            others = [x for x in owner[mention] if x != mention]
            choices.append(others if alone and others else [None])
        for chosen in product(*choices):
            made = []
            for mention, partner in zip(drawn, chosen, strict=True):
                row = dict(rows[mention])
                if design == "pairs":
                    same = partner and answers[partner] == answers[mention] != "-"
                    single = (
                        len(person.members(members[mention])) == 0 if answers[mention] != "-" else 0
                    )
                    row["partner"] = partner or ""
                    row["answer"] = (
                        "-" if answers[mention] == "-" else "ny"[bool(same if partner else single)]
                    )
                    row["systems"] = "response"
                else:
                    row["answer"] = answers[mention]
                    is_named = answers[mention] != "-"
                    listed = person.members(members[mention]) if is_named else []
                    ids = " ".join(labels[m] for m in listed if m in labels)
                    row["members"] = (ids or "none") if is_named else ""
                made.append(row)
                if partner and design == "names":
                    made.append(
                        {**rows[partner], "role": "companion", "of": mention, "members": "",
                         "systems": "response", "answer": answers[partner]}
                    )  # fmt: skip
            for number, row in enumerate(made, 1):
                row["row"] = str(number)
            yield made, Fraction(1, len([*product(*choices)]))


def true_sums(key, response) -> dict[tuple[str, str], float]:
    """Sums over the mentions of the frame, from the scores against the key."""
    result = corefeval.score(key, response, metrics="b3, lea")
    sizes = {"recall": sum(map(len, key)), "precision": sum(map(len, response))}
    return {
        (metric, rate): getattr(result[metric], rate) * size
        for metric in ("b3", "lea")
        for rate, size in sizes.items()
    }


@pytest.mark.parametrize("design", ["names", "pairs"])
@given(population=populations())
@settings(max_examples=examples(60))
def test_sums_of_all_samples_have_the_true_mean(design, population, tmp_path):
    key, response, n = population
    full = corefeval.sample(response, design=design, n=len(MENTIONS))
    size = full.signature.frame
    sums, weights = dict.fromkeys(true_sums(key, response), 0.0), 0.0
    for rows, weight in list_samples(key, response, n, design):
        path = write_rows(tmp_path / "sheet.csv", full, rows)
        scores = corefeval.estimate(corefeval.read_sheet(path), response)["response"]
        for metric, rate in sums:
            if rate in scores[metric] and scores[metric][rate].value is not None:
                entry = scores[metric][rate]
                sums[metric, rate] += float(weight) * entry.value * entry.counted * size / n
        weights += float(weight)
    for (metric, rate), total in true_sums(key, response).items():
        if design == "names" or rate == "precision":
            assert sums[metric, rate] / weights == pytest.approx(total, abs=1e-9), (metric, rate)


@given(population=populations())
@settings(max_examples=examples(60))
def test_who_draws_everything_has_the_score(population):
    key, response, _ = population
    person = Person(key)
    names = person.fill(corefeval.sample(response, design="names", n=9))
    entities = person.fill(corefeval.sample(response, design="entities", n=9))
    for sheet in (names, entities):
        scores = corefeval.estimate(sheet, response)["response"]
        result = corefeval.score(key, response, metrics="b3, lea, mentions")
        for metric, rates in scores.items():
            for rate, entry in rates.items():
                expected = getattr(result[metric], rate)
                assert (entry.value or 0) == pytest.approx(expected, abs=1e-12), (metric, rate)
                assert entry.error in (None, 0) or sheet is names


def test_muc_of_everything_is_the_score():
    key = [[f"k{i}-{j}" for j in range(i % 5 + 1)] for i in range(60)]
    mentions = [m for entity in key for m in entity]
    response = [mentions[i : i + 3] for i in range(0, len(mentions), 3)]
    sheet = Person(key).fill(corefeval.sample(response, design="entities", n=1000))
    muc = corefeval.estimate(sheet, response)["response"]["muc"]
    expected = corefeval.score(key, response, metrics="muc")["muc"]
    for rate in ("recall", "precision", "f1"):
        assert muc[rate].value == pytest.approx(getattr(expected, rate))
        assert muc[rate].error == 0
