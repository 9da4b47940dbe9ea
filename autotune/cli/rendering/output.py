"""How results reach people and scripts."""

from __future__ import annotations

import csv
import json
import logging
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from autotune.cli.printable import printable

from .layout import fitted_widths, natural_widths, table_lines, total_width

_WIDE = 1000  # columns of an output that is no terminal: nothing is wrapped or cut short there
_BESIDE = 4  # lines of a terminal that are left for the prompt and for what was typed


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable(json_text(value)))


def json_text(value: Any) -> str:
    """A value as JSON; dates and paths become strings."""
    return json.dumps(value, indent=1, default=str, ensure_ascii=False)


def tell(doing: str) -> None:
    """Say in a terminal what is going to take more than a second."""
    if sys.stderr.isatty():
        print(f"{doing} …", file=sys.stderr)


class Teller(logging.Handler):
    """`tell` for what libraries say of slow steps."""

    def emit(self, record: logging.LogRecord) -> None:  # noqa: D102
        tell(record.getMessage())


def print_csv(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print rows as CSV, with a first line of names; None is an empty cell."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([printable(str(one)) if isinstance(one, str) else one for one in row] for row in rows)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[Any]],
    expendable: Sequence[str] = (),
    *,
    below: str = "",
    rest: str = "",
    above: int = 0,
) -> int:
    """Print rows of anything that has a string form; None is an empty cell and numbers stand to the right.

    Where a terminal is too narrow for whole lines, a column whose rows are all alike becomes a word of the title. Then
    the column `below` moves to lines of its own under each row, and the `expendable` columns are left out, one by one,
    until lines fit. After that, the widest cells are folded.

    With `rest`, which says how to get them, rows beyond a screen are only counted; `above` lines of it are taken.

    Returns:
        How many lines were printed.
    """
    values = [list(row) for row in rows]
    size = shutil.get_terminal_size() if sys.stdout.isatty() else os.terminal_size((_WIDE, 0))
    right = [bool(values) and all(_is_number(row[index]) for row in values) for index in range(len(columns))]
    cells = [["" if value is None else printable(str(value)) for value in row] for row in values]

    def fits() -> bool:
        return total_width(natural_widths(columns, cells)) <= size.columns

    def without(index: int) -> list[str]:
        nonlocal columns
        columns = [name for at, name in enumerate(columns) if at != index]
        del right[index]
        return [row.pop(index) for row in cells]

    alike = [index for index in range(len(columns) - 1) if len({row[index] for row in cells}) == 1]
    words = []
    if len(cells) > 1 and not fits():
        words = [f"{columns[index]} {cells[0][index]}" for index in alike if cells[0][index]]
        for index in reversed(alike):
            without(index)
    under = without(columns.index(below)) if below and below in columns and not fits() else []
    for name in expendable:
        if name in columns and not fits():
            without(columns.index(name))
    heading = printable(": ".join(filter(None, [title, ", ".join(words)])))
    bold = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    head, *body = table_lines(columns, cells, fitted_widths(columns, cells, size.columns), right, under, size.columns)
    print(f"\x1b[1m{heading}\x1b[0m" if bold else heading, *head, sep="\n")
    printed = 1 + len(head)
    for shown, lines in enumerate(body):
        if rest and size.lines and shown and above + printed + len(lines) > size.lines - _BESIDE:
            print(f"… {len(body) - shown} more; {rest}")
            break
        print(*lines, sep="\n")
        printed += len(lines)
    print()
    return printed + 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
