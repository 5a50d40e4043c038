"""Parts of a suite by names, and what is wrong with one of its files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from corefeval.checks import did_you_mean
from corefeval.diagnostics import CorefEvalError, InputError, UsageError
from corefeval.files import is_remote
from corefeval.formats import files_of
from corefeval.suites.definition import Suite


def select(suite: Suite, systems: Sequence[str] = (), corpora: Sequence[str] = ()) -> Suite:
    """The suite with these systems and corpora only; without any names, all of them.

    Corpora and systems that then have no part in each other are left out. Raises a UsageError for a
    name that the suite does not have.
    """
    if not systems and not corpora:
        return suite
    for kind, chosen, entries in (
        ("system", systems, suite.systems),
        ("corpus", corpora, suite.corpora),
    ):
        known_names = [entry.name for entry in entries]
        for name in chosen:
            if name not in known_names:
                raise UsageError(f"there is no {kind} {name!r}: {did_you_mean(name, known_names)}")
    members = [system for system in suite.systems if not systems or system.name in systems]
    names = [
        corpus.name
        for corpus in suite.corpora
        if (not corpora or corpus.name in corpora)
        and any(system.takes_part(corpus.name) for system in members)
    ]
    if not names:
        raise UsageError("none of the chosen systems takes part in any of the chosen corpora")
    parts = ((system, tuple(filter(system.takes_part, names))) for system in members)
    return replace(
        suite,
        corpora=tuple(corpus for corpus in suite.corpora if corpus.name in names),
        systems=tuple(replace(system, corpora=part) for system, part in parts if part),
    )


def find_path_problem(path: str) -> str:
    """The problem with a path that leads nowhere, else an empty text; addresses are not checked."""
    try:
        is_there = is_remote(path) or bool(files_of(path)[1]) or os.path.exists(path)
    except CorefEvalError as error:
        return error.problem if isinstance(error, InputError) else one_line(error)
    return "" if is_there else "there is no such file"


def one_line(error: Exception) -> str:
    """An error on one line: what is wrong and where, and what was found."""
    if isinstance(error, InputError) and error.found:
        return f"{str(error).splitlines()[0]} (found {error.found})"
    return "; ".join(line.strip() for line in str(error).splitlines()) or type(error).__name__
