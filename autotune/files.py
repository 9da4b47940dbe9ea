"""Files that readers see whole: the old one or the new one, never half of one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path to write to, which is renamed to `path` at the end.

    A device or a pipe is written to directly.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        written = Path(folder) / path.name
        yield written
        written.replace(path)


def write_text(path: Path, text: str) -> None:
    """Write a whole file by `atomic_write`."""
    with atomic_write(path) as written:
        written.write_text(text, encoding="utf-8")
