"""The records that ship with the package: exports of best trials in pretuned/."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trials import Trial

FOLDER = Path(__file__).parent / "pretuned"


def digest() -> str:
    """16 hexadecimal digits that name the shipped set."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in _files())).hexdigest()[:16]


def trials() -> list[Trial]:
    """All shipped trials."""
    from .exchange import from_document, read_document

    return [trial for path in _files() for trial in from_document(read_document(path))]


def _files() -> list[Path]:
    """The shipped files, or those in the folder that ``AUTOTUNE_PRETUNED`` names instead."""
    return sorted(Path(os.environ.get("AUTOTUNE_PRETUNED") or FOLDER).glob("*.json"))
