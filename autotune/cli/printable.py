"""Text from databases, files and arguments as a terminal may have it."""

from __future__ import annotations

import json


def printable(text: str) -> str:
    r"""The text with ``\u001b`` and the like in place of what would control the terminal; JSON stays the same JSON."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\xa0" else json.dumps(c)[1:-1] for c in text)
