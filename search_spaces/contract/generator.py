"""The generator: the sources that emit programs and say what is legal. Equal ones emit equal programs."""

from __future__ import annotations

import hashlib
import time
from functools import cache
from pathlib import Path
from typing import Any

from autotune import codegen, search_spaces

from .operator import Operator

_LOADED = time.time()
_PACKAGES = tuple(f"{package.__name__}." for package in (codegen, search_spaces))


def vouches(operator: Operator[Any, Any]) -> bool:
    """Whether the generator emits an operator's programs: it does not where another package brings its own code."""
    own = (operator.problem_type, *(part for kernel in operator.kernels for part in (kernel.emit, kernel.constraints)))
    return all(part.__module__.startswith(_PACKAGES) for part in own)


@cache
def generator_digest() -> str:
    """A digest of the generator's sources."""
    digest = hashlib.sha256()
    for name, file in _files():
        digest.update(f"{name}\n".encode() + file.read_bytes())
    return digest.hexdigest()


@cache
def as_loaded() -> bool:
    """Whether the sources are those that this process runs: none was written since they were imported."""
    return all(file.stat().st_mtime < _LOADED for _, file in _files())


def _files() -> list[tuple[Path, Path]]:
    """The sources by their names within their packages."""
    folders = (Path(str(package.__file__)).parent for package in (codegen, search_spaces))
    return [
        (file.relative_to(folder), file)
        for folder in folders
        for file in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".cuh"))
    ]
