"""`corefeval suite compare` and `suite page`: who is better over all corpora."""

# No `annotations` from __future__ here: types of fields are looked up where commands are made.

import os
import sys
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from corefeval.cli.arguments import STYLE, Format, Output, Quiet, StyleOptions, file_parameter
from corefeval.cli.printing import check_paths, show, show_trials, tell
from corefeval.display import visible

_TESTS = Group("Tests", sort_key=2)


@Parameter(name="*", group=_TESTS)
@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """How systems are compared; what is not said is as when the suite was run.

    Parameters
    ----------
    trials
        How many trials tests on a corpus and the bootstrap over corpora have; 10,000 by default.
    seed
        The seed of the random numbers.
    alpha
        The largest p-value, after correction, that counts as significant; 0.05 by default.
    level
        The share of samples that an interval covers; 0.95 by default.
    correction
        The correction of p-values for many pairs; `holm` by default.
    combination
        How to combine the p-values of corpora: `bonferroni` for any corpora, or `fisher` for
        independent ones.
    resample
        What the bootstrap draws: any of corpora, documents and seeds; by default all three.
    """

    trials: int | None = None
    seed: int | None = None
    alpha: float | None = None
    level: float | None = None
    correction: Literal["holm", "bonferroni", "none"] | None = None
    combination: Literal["bonferroni", "fisher"] | None = None
    resample: str | None = None

    @property
    def wishes(self) -> dict[str, Any]:
        """The options that were given, as `compare_corpora` takes them."""
        from corefeval.checks import split_list

        options = {name: value for name, value in asdict(self).items() if value is not None}
        if "resample" in options:
            options["resample"] = tuple(split_list(options["resample"]))
        return options


TESTS = TestOptions()
_RESULTS = file_parameter("suite compare")(help="What `suite run --save` wrote.")


def compare(
    results: Annotated[str, _RESULTS],
    /,
    *,
    metric: str | None = None,
    group: Annotated[str, Parameter(show_default=False)] = "",
    format: Format = "text",
    output: Output = None,
    style: StyleOptions = STYLE,
    tests: TestOptions = TESTS,
    quiet: Quiet = False,
) -> None:
    """Compare the systems of a suite over its corpora: by how much, and on how many, one is better.

    ```
    corefeval suite compare results.json.gz
    corefeval suite compare results.json.gz --metric lea --combination fisher
    corefeval suite compare results.json.gz --resample documents,seeds -f json
    corefeval suite compare results.json.gz -f latex --width page --digits 1
    ```

    Parameters
    ----------
    metric
        Which metric; by default the suite's headline.
    group
        Only the corpora of this group.
    """
    from corefeval.suites.outcome import load_suite
    from corefeval.suites.statistics import with_statistics

    check_paths([], [results], output)
    style.check(format)
    outcome = load_suite(results)
    name = outcome.metric(metric)
    with show_trials(quiet):
        comparison = with_statistics(outcome, [name], **tests.wishes)
    standing = comparison.standing(name, group)
    shown = {"metric": standing.metric, "group": standing.group, **style.wishes}
    show(comparison, output, format=format, **shown)
    tell(comparison.notices, quiet=quiet)


def page(
    results: Annotated[str, file_parameter("suite page")(help="What `suite run --save` wrote.")],
    /,
    *,
    output: Annotated[str, Parameter(alias="-o")] = "leaderboard.html",
    title: str | None = None,
    reports: str | None = None,
    tests: TestOptions = TESTS,
    quiet: Quiet = False,
) -> None:
    """Make a leaderboard of a suite: one HTML file that opens anywhere, without a network.

    ```
    corefeval suite page results.json.gz
    corefeval suite page results.json.gz --title "Shared task" --output board.html
    corefeval suite page results.json.gz --reports reports/
    ```

    It is made from saved results only, and contains no words of the corpora.

    Parameters
    ----------
    output
        The file to write.
    title
        The title of the leaderboard; by default the suite's.
    reports
        A folder of reports to link: CORPUS.html or CORPUS/SYSTEM.html; or a pattern of paths with
        {corpus} and {system} in it.
    """
    from corefeval.reports.leaderboard import make_leaderboard
    from corefeval.suites.outcome import load_suite

    check_paths([], [results], output)
    outcome = load_suite(results)
    options = {"title": title, "reports": reports, "beside": output, **tests.wishes}
    with show_trials(quiet):
        leaderboard = make_leaderboard(outcome, **options)
    leaderboard.save(output)
    size = os.path.getsize(output) / 1_000_000
    sys.stdout.write(f"{visible(output)}: {leaderboard.summary}, {size:.2f} MB\n")
    tell(leaderboard.notices, quiet=quiet)
