"""A package with an operator of its own, written from a template."""

from __future__ import annotations

import keyword
from importlib.util import find_spec
from pathlib import Path

from autotune.base.files import write_text
from autotune.search_spaces.contract.registry import OPERATORS

_TEMPLATE = Path(__file__).parent / "template"
_ENDING = ".in"
_NAME, _CLASS = "NAME", "CLASS"  # what a template says for the operator's name, and for the begin of its classes' names


def write_operator(name: str, folder: Path) -> list[Path]:
    """Write the smallest package that adds an operator, and return its files.

    Args:
        name: of the operator, which is also that of the package.
        folder: where the package's folder, of that name, is made.

    Raises:
        ValueError: there is an operator or a package of this name, it is no name, or the folder is there.
    """
    if not (name.isidentifier() and name.isascii() and name == name.lower()):
        raise ValueError(f"{name!r}: expected a name of small letters, digits and underscores")
    if keyword.iskeyword(name):
        raise ValueError(f"{name} is a word of Python's language: expected another name")
    if name in list(OPERATORS):
        raise ValueError(f"there is an operator {name}: expected another name")
    if find_spec(name):
        raise ValueError(
            f"there is a Python package {name}, which could not be imported any more: expected another name"
        )
    root = folder / name
    if root.exists():
        raise ValueError(f"{root} exists: expected a name without a folder here")
    begin = "".join(word.capitalize() for word in name.split("_"))
    written = []
    for source in sorted(_TEMPLATE.rglob(f"*{_ENDING}")):
        own = str(source.relative_to(_TEMPLATE)).removesuffix(_ENDING).replace(_NAME, name)
        text = source.read_text(encoding="utf-8").replace(_NAME, name).replace(_CLASS, begin)
        (root / own).parent.mkdir(parents=True, exist_ok=True)
        write_text(root / own, text)
        written.append(root / own)
    return written
