"""A fuzzer of the command line: cases from seeds, run in this process, and rules they must keep.

`python -m fuzzing --runs 100000 --jobs 2` runs many and prints what broke a rule, made small;
`tests/project/test_fuzzing.py` runs a few hundred.
"""

from __future__ import annotations

from fuzzing.cases import Case, make_case
from fuzzing.rules import Problem, problems_of
from fuzzing.running import Outcome, run

__all__ = ["Case", "Outcome", "Problem", "make_case", "problems_of", "run"]
