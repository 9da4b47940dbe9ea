"""What a mutant is: one file with a bug, and the fewest tests that may see it."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
_FOLDERS = ("autotune", "base", "codegen", "db", "search_spaces")
_KINDS = {".py", ".cuh", ".cpp", ".hpp"}


@dataclass(frozen=True)
class Mutant:
    """A bug to plant, and the tests that may see it.

    Attributes:
        file: what it changes, from the root on.
        begin, end, instead: the part of its text that is replaced, and by what.
        bug: what is wrong then.
        cases: tests, as pytest names them, from ``tests/`` on.
        only: which of their parametrised cases, as pytest's ``-k``; empty for all.
        code: the line of the right text that is wrong then, of CUDA. Contract cases whose source has it come first.
    """

    file: str
    begin: int
    end: int
    instead: str
    bug: str
    cases: tuple[str, ...] = ()
    only: str = ""
    code: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{text_of(self.file).count(chr(10), 0, self.begin) + 1}: {self.bug}"

    @property
    def mutated(self) -> str:
        """The file's text with the bug."""
        text = text_of(self.file)
        return text[: self.begin] + self.instead + text[self.end :]


@cache
def text_of(file: str) -> str:
    """What a file of the tree has."""
    return (ROOT / file).read_text()


@cache
def sources() -> tuple[str, ...]:
    """The files that bugs are planted in, from the root on: Python, CUDA and the emulator's C++.

    Without PyTorch, the tests of what needs it are skipped.
    """
    left_out = ["/migrations/"] if find_spec("torch") else ["/migrations/", "autotune/torch/"]
    paths = (path for folder in _FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in _KINDS)
    inside = (str(path.relative_to(ROOT)) for path in paths)
    return tuple(sorted({one for one in inside if not _linked(one) and not any(part in one for part in left_out)}))


def _linked(file: str) -> bool:
    """Whether a link leads there: the file has another name."""
    return any((ROOT / file).parents[index].is_symlink() for index in range(len(Path(file).parts) - 1))
