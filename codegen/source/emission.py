"""Putting a source together: comments, and the project's own headers inlined."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

from autotune.codegen.model.launch import Launch

_FOLDER = Path(__file__).parents[1]
_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)


def comment(text: str) -> str:
    """A C++ comment, wrapped."""
    return textwrap.fill(text, 110, initial_indent="// ", subsequent_indent="// ")


def launch_comment(launch: Launch) -> str:
    """What the launches of a source have in common; the grid goes with the problem."""
    return comment(
        f"launched in blocks of {launch.threads} threads with {launch.shared_bytes} bytes of dynamic shared memory"
    )


@cache
def inlined(*names: str) -> str:
    """The source of .cuh files under codegen/ with the project's own headers inlined, each once."""
    seen: set[str] = set()
    return "".join(_inlined(name, seen) for name in names)


def _inlined(name: str, seen: set[str]) -> str:
    if name in seen:
        return ""
    seen.add(name)
    source = (_FOLDER / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
    return _INCLUDE.sub(lambda match: f"{_inlined(match.group(1), seen)}\n".lstrip("\n"), source)
