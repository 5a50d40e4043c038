"""What is registered while a test runs is forgotten when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from corefeval.cli.commands import COMMANDS
from corefeval.formats import FORMATS
from corefeval.metrics import REGISTRY
from corefeval.protocol import MATCHERS, NAMED, choices, fields


@contextmanager
def kept_registries() -> Iterator[None]:
    """Formats, metrics, matchers, protocols and commands, as they are before and after."""
    with (
        patch.dict(FORMATS),
        patch.dict(REGISTRY),
        patch.dict(MATCHERS),
        patch.dict(NAMED),
        patch.dict(COMMANDS),
    ):
        yield
    fields.cache_clear()
    choices.cache_clear()
