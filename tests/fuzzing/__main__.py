"""`python -m fuzzing`: many runs, and what broke a rule in them, made small."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fuzzing import Case, Problem, make_case, problems_of, run
from fuzzing.batches import Signature, run_batches
from fuzzing.rules import RULES
from fuzzing.running import lay_out
from fuzzing.shrinking import shrink

BATCH = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; the exit status is 1 where one of them broke a rule."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", default="1", help="cases are called SEED-0, SEED-1, …")
    parser.add_argument("--case", help="run this one case, such as 1-4711, and show what it did")
    parser.add_argument("--keep", help="with --case: write its files to this folder")
    parser.add_argument("--skip", action="append", default=[], choices=[*RULES], help="a rule")
    parser.add_argument("--shrink", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args(arguments)
    if options.case:
        return _show(options.case, options.keep, options.skip)
    seeds = [f"{options.seed}-{number}" for number in range(options.runs)]
    found, ends = _run_all(seeds, options.jobs, frozenset(options.skip))
    for (rule, cause), cases in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"\n{rule}: {cause} ({len(cases)} times, in {', '.join(cases[:5])})")
        case = make_case(cases[0])
        if options.shrink:
            case = shrink(case, partial(_breaks, (rule, cause), frozenset(options.skip)))
        print(_description(case, options.skip))
    print(f"\n{len(seeds)} runs, {len(found)} kinds of failures")
    for (command, status), count in sorted(ends.items()):
        print(f"  {command:10}{status:3}{count:8}")
    return int(bool(found))


def _run_all(
    seeds: Sequence[str], jobs: int, skip: frozenset[str]
) -> tuple[dict[Signature, list[str]], Counter[tuple[str, int]]]:
    """The seeds that broke a rule, by rule and cause; and how often each command ended how."""
    batches = [seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)]
    found: dict[Signature, list[str]] = {}
    ends: Counter[tuple[str, int]] = Counter()
    began = time.monotonic()
    for done, (broken, batch_ends) in enumerate(run_batches(batches, jobs, skip), start=1):
        ends += batch_ends
        for signature, seed in broken:
            if signature not in found:
                print(f"{': '.join(signature)} (in {seed})", file=sys.stderr)
            found.setdefault(signature, []).append(seed)
        if done % 10 == 0 or done == len(batches):
            count = sum(ends.values())
            speed = count / (time.monotonic() - began)
            print(f"{count} runs, {speed:.0f}/s, {len(found)} kinds of failures", file=sys.stderr)
    return found, ends


def _breaks(signature: Signature, skip: frozenset[str], case: Case) -> bool:
    try:
        found = problems_of(case, run(case), skip=skip)
    except ValueError:  # what is left is no case any more
        return False
    return signature in {problem.signature for problem in found}


def _description(case: Case, skip: Sequence[str]) -> str:
    """A case as people can try it, and what came of it."""
    outcome = run(case)
    problems: list[Problem] = problems_of(case, outcome, skip=skip)
    lines = [f"  corefeval {shlex.join(case.line)!a}"]
    lines += [
        f"  {name!a}: {data[:400]!r}{'…' * (len(data) > 400)}" for name, data in case.files.items()
    ]
    lines += [f"  standard input: {case.stdin[:400]!r}"] if case.stdin else []
    lines += [f"  -> {outcome.status} {problem.rule}: {problem.what!a}" for problem in problems]
    return "\n".join(lines)


def _show(seed: str, keep: str | None, skip: Sequence[str]) -> int:
    case = make_case(seed)
    if keep:
        lay_out(case.files, Path(keep))
    print(_description(case, skip))
    outcome = run(case)
    print(outcome.out.decode("utf-8", "backslashreplace")[:3000])
    print(outcome.err[:3000])
    if outcome.escaped is not None:
        raise outcome.escaped
    return int(bool(problems_of(case, outcome, skip=skip)))


if __name__ == "__main__":
    sys.exit(main())
