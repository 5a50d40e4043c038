"""A feature that somebody asks for, as text: `kind`, `size(1, 2+)`, `class(column=10)`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from corefeval.diagnostics import UsageError
from corefeval.features.declarations import FEATURES, FeatureDeclaration
from corefeval.syntax import parse_call


@dataclass(frozen=True, slots=True)
class FeatureRequest:
    """A feature and its arguments; its text parses back to it.

    >>> str(FeatureRequest.parse(" Distance( sentences,0,1+ ) "))
    'distance(sentences, 0, 1+)'
    >>> FeatureRequest.parse("class(column=10)").setting("column")
    '10'
    """

    name: str
    arguments: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def parse(text: str) -> FeatureRequest:
        """From text; names of declared features and of settings are in lower case then."""
        call = parse_call(text, "feature", "argument, setting=value")
        name = call.name.lower() if call.name.lower() in FEATURES else call.name
        return FeatureRequest(name, call.arguments, tuple(call.settings.items())).checked()

    @property
    def declaration(self) -> FeatureDeclaration | None:
        """What is declared of the feature; None for given ones, properties and columns."""
        return FEATURES.get(self.name)

    def checked(self) -> FeatureRequest:
        """The request, with words in lower case; an error where it asks for what is not there."""
        declared = self.declaration or FeatureDeclaration(self.name, "")
        for key, _ in self.settings:
            if key not in declared.settings:
                has = ", ".join(declared.settings) or "none"
                raise UsageError(f"{self.name} has no setting {key!r} (it has {has})")
        arguments = []
        for argument in self.arguments:
            if argument.lower() in declared.words:
                arguments.append(argument.lower())
            elif declared.takes_name or (declared.takes_bins and is_bin(argument)):
                arguments.append(argument)
            else:
                takes = [*declared.words, *(["bins such as 1, 2-5, 6+"] * declared.takes_bins)]
                what = f"it takes {' or '.join(takes)}" if takes else "it takes none"
                raise UsageError(f"{self.name} takes no argument {argument!r}: {what}")
        if declared.takes_name and len(arguments) != 1:
            raise UsageError(f"{self.name} takes one name: {self.name}(NAME)")
        return FeatureRequest(self.name, tuple(arguments), self.settings)

    def setting(self, name: str) -> str | None:
        """The value of a setting."""
        return dict(self.settings).get(name)

    @property
    def bins(self) -> tuple[str, ...]:
        """The arguments that are bins."""
        return tuple(argument for argument in self.arguments if is_bin(argument))

    def __str__(self) -> str:
        parts = (*self.arguments, *(f"{key}={value}" for key, value in self.settings))
        return f"{self.name}({', '.join(parts)})" if parts else self.name


def is_bin(text: str) -> bool:
    """Whether a text is a bin of numbers: `3`, `2-10`, `11+`."""
    return re.fullmatch(r"\d{1,18}(\s*[-–]\s*\d{1,18}|\+)?", text) is not None
