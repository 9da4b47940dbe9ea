"""Whoever catches `AutotuneError` catches all errors of the project."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import autotune
from autotune.base.errors import AutotuneError

PACKAGE = Path(autotune.__file__).parent
SOURCES = sorted(
    path
    for folder in (PACKAGE, *(link for link in PACKAGE.iterdir() if link.is_symlink()))
    for path in folder.rglob("*.py")
)
ERRORS = [
    (".".join(path.relative_to(PACKAGE).with_suffix("").parts), name)
    for path in SOURCES
    for name in re.findall(r"^ *class (\w+Error)\b", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("module", "name"), ERRORS)
def test_errors_have_one_root(module: str, name: str) -> None:
    assert issubclass(getattr(import_module(f"autotune.{module}"), name), AutotuneError)
