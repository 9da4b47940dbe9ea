"""HTML for notebooks: small tables, in which a share is a bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

# Colours with which light and dark notebooks go.
_TRACK, _FILLED = "rgba(128, 128, 128, 0.3)", "#3b82c4"


class Bar(NamedTuple):
    """A cell that shows a share as the length of a bar, and as text beside it.

    Attributes:
        share: 0 to 1; the bar ends at 1.
        text: what is beside it.
    """

    share: float
    text: str

    def __str__(self) -> str:
        return self.text


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of anything that has a string form; None is an empty cell."""
    head = "".join(f"<th style='text-align: left'>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(title: str, named: Iterable[tuple[str, Any]]) -> str:
    """A table with a row for each fact; those without a value are left out."""
    return table(title, ("", ""), [(name, value) for name, value in named if value not in (None, "")])


def _cell(value: Any) -> str:
    return f"<td style='text-align: left'>{_bar(value) if isinstance(value, Bar) else _text(value)}</td>"


def _text(value: Any) -> str:
    return "" if value is None else escape(str(value))


def _bar(bar: Bar) -> str:
    filled = f"width: {min(1.0, max(0.0, bar.share)):.1%}; height: 100%; background: {_FILLED}"
    track = f"display: inline-block; width: 8em; height: 0.7em; margin-right: 0.6em; background: {_TRACK}"
    return f"<span style='{track}'><span style='display: block; {filled}'></span></span>{escape(bar.text)}"
