"""What lines of fuzz.py are made of, and what they are."""

from __future__ import annotations

from typing import NamedTuple

DONE, FAILED, BAD_INPUT = 0, 1, 2
ODD = [
    "",
    " ",
    "-",
    "--",
    "=",
    "x",
    "é",
    "ſ",
    "\x1b[2J",
    "a" * 5000,
    "\udcff",
    "../..",
    "%n",
    "'",
    "[red]",
    "nan",
    "\n",
]
NUMBERS = ["", "x", "1.5", "1e3", "0x10", "-1", str(2**31), "9" * 40, "nan", "1 2", "--"]
Words = list[str]


class Case(NamedTuple):
    """A command line, and the exit codes that are right for it."""

    words: Words
    codes: tuple[int, ...]
