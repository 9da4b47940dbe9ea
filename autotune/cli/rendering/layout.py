"""How the cells of a table become lines of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

_GAP = "  "  # between columns
_INDENT = 4  # of what is below a row
_LEAST = 12  # columns of a terminal that a folded cell takes, whatever its longest word
_LONGEST_RULE = 120
_MOST = 40  # of a word that is not broken as long as others can be

Cells = Sequence[Sequence[str]]


def text_width(text: str) -> int:
    """The columns that a line of text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def natural_widths(columns: Sequence[str], cells: Cells) -> list[int]:
    """The columns of a terminal that each column of a table takes as it is."""
    return [
        max(text_width(line) for cell in (name, *(row[index] for row in cells)) for line in cell.split("\n"))
        for index, name in enumerate(columns)
    ]


def total_width(widths: Sequence[int]) -> int:
    """That of whole lines."""
    return sum(widths) + len(_GAP) * max(0, len(widths) - 1)


def fitted_widths(columns: Sequence[str], cells: Cells, width: int) -> list[int]:
    """Widths whose lines fit: the widest columns are folded, between words as long as that is enough."""
    widths = natural_widths(columns, cells)
    for floors in (_longest_words(columns, cells), [_LEAST] * len(widths), [1] * len(widths)):
        while total_width(widths) > width:
            wide = [index for index, floor in enumerate(floors) if widths[index] > floor]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _longest_words(columns: Sequence[str], cells: Cells) -> list[int]:
    words = [
        max(text_width(word) for cell in (name, *(row[index] for row in cells)) for word in cell.split() or [""])
        for index, name in enumerate(columns)
    ]
    return [max(_LEAST, min(word, _MOST)) for word in words]


def table_lines(
    columns: Sequence[str],
    cells: Cells,
    widths: Sequence[int],
    right: Sequence[bool],
    below: Sequence[str] = (),
    width: int = 80,
) -> Iterator[tuple[str, ...]]:
    """The lines of the head, then those of each row, with what stands below it in lines of a width."""
    yield (_line(columns, widths, right), "─" * min(total_width(widths), _LONGEST_RULE))
    for number, row in enumerate(cells):
        folded = [folded_text(cell, most) for cell, most in zip(row, widths, strict=True)]
        height = max(map(len, folded), default=1)
        lines = [[*cell, *[""] * (height - len(cell))] for cell in folded]
        own = [_line([cell[line] for cell in lines], widths, right) for line in range(height)]
        under = folded_text(below[number], width - _INDENT) if below and below[number] else []
        yield (*own, *(" " * _INDENT + line for line in under))


def folded_text(text: str, width: int) -> list[str]:
    """Lines of at most so many columns, folded between words and after hyphens; words that are longer are broken."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in re.split(r"(?<=\S)(?= )|(?<=\w-)(?=\w)", paragraph):
            if text_width(line + word) <= width:
                line += word
                continue
            if line.strip():
                lines.append(line.rstrip())
            line = word.lstrip()
            while text_width(line) > width:
                lines.append(line[:width])
                line = line[width:]
        lines.append(line)
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        f"{' ' * (width - text_width(cell))}{cell}" if to_the_right else f"{cell}{' ' * (width - text_width(cell))}"
        for cell, width, to_the_right in zip(cells, widths, right, strict=True)
    )
    return _GAP.join(padded).rstrip()
