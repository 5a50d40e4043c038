"""What a release says of itself: addresses, and a README that works away from the repository.

Where a release is built, REPOSITORY_URL is the address of the repository, and REPOSITORY_REF the
tag (`main` if there is none). Links of the README then lead there, pictures included. Without an
address there are neither pictures nor links to files, so that none can be broken.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# [text](path), or a picture with ! in front; addresses and places on the same page are left alone.
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")


class ReleaseHook(MetadataHookInterface):
    """Fills in the fields that `pyproject.toml` calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set readme and urls."""
        url = os.environ.get("REPOSITORY_URL", "").rstrip("/")
        ref = os.environ.get("REPOSITORY_REF", "main")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": make_absolute(text, url, ref),
        }
        metadata["urls"] = {
            "Repository": url,
            "Documentation": os.environ.get("SITE_URL") or f"{url}/tree/{ref}/docs",
            "Changes": f"{url}/blob/{ref}/CHANGELOG.md",
            "Issues": f"{url}/issues",
        } if url else {}  # fmt: skip


def make_absolute(text: str, url: str, ref: str) -> str:
    """The text with links that lead into a repository; without an address, with none to files."""

    def replace(found: re.Match[str]) -> str:
        picture, label, path = found.groups()
        if not url:
            return "" if picture else label
        return f"{picture}[{label}]({url}/{'raw' if picture else 'blob'}/{ref}/{path})"

    return LINK.sub(replace, text)
