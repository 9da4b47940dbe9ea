"""Bugs that anyone may write: comparisons, constants, signs, off by one, dropped statements, swapped arguments."""

from collections.abc import Collection, Iterator
from pathlib import Path

from tests.mutants import cuda_bugs, python_bugs
from tests.mutants.mutant import Mutant, text_of
from tests.mutants.narrowest import cases_of


def bugs_of(file: str, lines: Collection[int] | None = None) -> Iterator[Mutant]:
    """The bugs of a file, or those of some of its lines."""
    text = text_of(file)
    python = Path(file).suffix == ".py"
    for begin, end, instead in (python_bugs if python else cuda_bugs).edits(text):
        line = text.count("\n", 0, begin) + 1
        if lines is not None and line not in lines:
            continue
        bug = f"{_short(text[begin:end])} → {_short(instead) or 'nothing'}"
        code = "" if python else text.split("\n")[line - 1].partition("//")[0].strip()
        yield Mutant(file, begin, end, instead, bug, cases_of(file), code=code)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) < 60 else f"{text[:57]}…"
