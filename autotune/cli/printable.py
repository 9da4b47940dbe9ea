"""Text from databases, files and arguments as a terminal may have it."""

from __future__ import annotations

import codecs
import json
import os
import sys
from io import TextIOWrapper
from pathlib import Path

_ESCAPED = "autotune-escaped"  # the name of a codec's error handler


def printable(text: str) -> str:
    r"""The text with ``\u001b`` and the like in place of what would control the terminal; JSON stays the same JSON."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\xa0" else json.dumps(c)[1:-1] for c in text)


def open_closed_streams() -> None:
    """Have stdout and stderr drop what is written if they are closed; the next file that is opened would take it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def escape_what_streams_lack() -> None:
    r"""Have stdout and stderr write ``\u00b7`` and the like for what their encoding lacks; JSON stays the same JSON."""
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
