"""What somebody may have meant by a name that is none."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """``did you mean sgemm? ``, or nothing where no known name is close; upper and lower case are as close as equal."""
    names = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), names, n=1) if isinstance(word, str) else []
    return f"did you mean {names[close[0]]}? " if close else ""
