"""Mutants: bugs that people write, planted in a copy of the tree to see whether a test fails.

They are data in ``mutants.toml`` beside the tests, or ``<subject>_mutants.toml``. A mutant is a table under the file
that it changes:

    [["db/reduction.py"]]
    bug = "a problem gets the slowest of the kernels kept"
    before = "fastest = {key: min("
    after = "fastest = {key: max("
    cases = ["db/test_db_reduction.py::test_a_problem_gets_the_fastest_of_those_kept"]

`before` occurs once in the file. `cases` are the fewest tests that fail, as pytest names them, from ``tests/`` on.
`only` is pytest's ``-k`` for them, such as an operator in the contract's tests. A mutant that no test can tell from the
original states why, as `equivalent`, in place of cases.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
_TESTS = ROOT / "tests"
_OF_COMMIT = 12


@dataclass(frozen=True)
class Mutant:
    """A bug to plant, and the tests that see it.

    Attributes:
        listed: the file that lists it, from ``tests/`` on.
        file: what it changes, from the root on.
        bug: a sentence that says what is wrong then.
        before, after: the text that is replaced, and by what.
        cases: tests of which one fails then.
        only: which of their parametrised cases, as pytest's ``-k``; empty for all.
        equivalent: why none can.
    """

    listed: str
    file: str
    bug: str
    before: str
    after: str
    cases: tuple[str, ...] = ()
    only: str = ""
    equivalent: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.bug}"

    @property
    def mutated(self) -> str:
        """The file's text with the bug.

        Raises:
            ValueError: one line, if the mutant does not fit the file any more.
        """
        text = (ROOT / self.file).read_text()
        if (found := text.count(self.before)) != 1:
            raise ValueError(f"`before` occurs {found} times: expected once")
        return text.replace(self.before, self.after)

    @property
    def lacks(self) -> set[str]:
        """The modules that are not installed, and without which its tests are skipped, such as torch."""
        texts = (_test_file(case).read_text() for case in self.cases)
        return {name for text in texts for name in re.findall(r'importorskip\("(\w+)', text) if not find_spec(name)}

    def stale(self) -> str:
        """Why it cannot be planted, or what is wrong with its data, in one line; empty if nothing is."""
        if self.before == self.after:
            return "`after` is `before`"
        if bool(self.cases) == bool(self.equivalent):
            return "expected either cases or a reason why it is equivalent"
        try:
            mutated = self.mutated
            if self.file.endswith(".py"):
                ast.parse(mutated)
        except (OSError, ValueError, SyntaxError) as error:
            return str(error)
        return next((f"there is no test {case}" for case in self.cases if not _is_there(case)), "")


def mutants() -> list[Mutant]:
    """All of them, by the file that they change."""
    return sorted(_listed(), key=lambda one: (one.file, one.listed))


def of_commit(listed: Sequence[Mutant]) -> list[Mutant]:
    """About twelve to try with the present commit: from every area some, and others with the next commit."""
    apart = -(-len(listed) // _OF_COMMIT) or 1
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return list(listed[int(done.stdout, 16) % apart :: apart])


def _listed() -> Iterator[Mutant]:
    for path in _TESTS.rglob("*mutants.toml"):
        for file, tables in tomllib.loads(path.read_text()).items():
            for table in tables:
                cases = tuple(table.pop("cases", ()))
                yield Mutant(str(path.relative_to(_TESTS)), file, cases=cases, **table)


def _is_there(case: str) -> bool:
    """Whether a file, a test in it, or a test's parametrised case is there, as far as the text tells."""
    path, name = _test_file(case), case.partition("::")[2]
    return path.is_file() and (not name or f"def {name.partition('[')[0]}(" in path.read_text())


def _test_file(case: str) -> Path:
    return _TESTS / case.partition("::")[0]
