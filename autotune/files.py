"""Files that readers see whole: the old one or the new one, never half of one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write at, in a folder of its own; at the end what is there takes the place of `path`, by a rename.

    A device or a pipe is written to as it is.

    Raises:
        OSError: nothing can be written there; what was there is still there.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        written = Path(folder) / path.name
        yield written
        written.replace(path)


def write_text(path: Path, text: str) -> None:
    """Write a file by `replacing`."""
    with replacing(path) as written:
        written.write_text(text, encoding="utf-8")
