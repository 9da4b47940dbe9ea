"""How results reach people and scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from autotune.cli.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

_WIDE = 1000  # columns of an output that is no terminal: nothing is wrapped or cut short there


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable(json_text(value)))


def json_text(value: Any) -> str:
    """A value as JSON; dates and paths become strings."""
    return json.dumps(value, indent=1, default=str, ensure_ascii=False)


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]], expendable: Sequence[str] = ()
) -> None:
    """Print rows of anything that has a string form; None is an empty cell and numbers stand to the right.

    Where a terminal is too narrow for whole lines, a column whose rows are all alike becomes a word of the title. Then
    the `expendable` columns are left out, one by one, until lines fit. After that, the widest cells are folded.
    """
    from rich.console import Console
    from rich.text import Text

    cells = [list(row) for row in rows]
    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else _WIDE, markup=False, highlight=False, emoji=False)

    def fits(table: Table) -> bool:
        return console.measure(table, options=console.options.update(max_width=_WIDE)).maximum <= console.width

    table = _table(columns, cells)
    if not fits(table) and len(cells) > 1:
        title, columns, cells = _without_alike(title, columns, cells)
        table = _table(columns, cells)
    for name in expendable:
        if name in columns and not fits(table):
            columns, cells = _without(columns, cells, [columns.index(name)])
            table = _table(columns, cells)
    heading = Text(printable(title), style="bold")  # the title of a Table would be folded to the table's width
    if terminal:
        console.print(heading, table, sep="\n")
        return
    with console.capture() as text:
        console.print(heading, table, sep="\n")
    print("\n".join(line.rstrip() for line in text.get().splitlines()))


def _without_alike(
    title: str, columns: Sequence[str], cells: list[list[Any]]
) -> tuple[str, Sequence[str], list[list[Any]]]:
    """The columns whose rows differ, and the last one; the others become words of the title."""
    first = cells[0]
    alike = [index for index in range(len(columns) - 1) if all(row[index] == first[index] for row in cells)]
    words = [f"{columns[index]} {first[index]}" for index in alike if first[index] not in (None, "")]
    return (": ".join(filter(None, [title, ", ".join(words)])), *_without(columns, cells, alike))


def _without(
    columns: Sequence[str], cells: list[list[Any]], left_out: Sequence[int]
) -> tuple[Sequence[str], list[list[Any]]]:
    kept = [index for index in range(len(columns)) if index not in left_out]
    return [columns[index] for index in kept], [[row[index] for index in kept] for row in cells]


def _table(columns: Sequence[str], cells: Sequence[Sequence[Any]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numbers = all(isinstance(row[index], (int, float)) and not isinstance(row[index], bool) for row in cells)
        table.add_column(column, justify="right" if cells and numbers else "left", overflow="fold")
    for row in cells:
        table.add_row(*("" if value is None else printable(str(value)) for value in row))
    return table
