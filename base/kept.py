"""JSON values in files of the cache that several processes change, none of which loses what another one wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cache import own_content, own_place
from .files import write_text
from .locks import lock


def read(path: Path) -> Any:
    """The value in a file; None if there is none, or if it is damaged."""
    try:
        return json.loads(own_content(path))
    except (OSError, ValueError, RecursionError):
        return None


def change(path: Path, changed: Callable[[Any], Any]) -> None:
    """Write what a function makes of the value in a file, or of None, while all others that would do so wait.

    Raises:
        OSError: the file cannot be locked or written; what was there is still there.
    """
    with lock(path.with_suffix(".lock")):
        write_text(own_place(path), json.dumps(changed(read(path)), indent=1, allow_nan=False) + "\n")
