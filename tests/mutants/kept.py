"""Bugs that no tool would think of, and that tests were once blind to.

They are data in ``mutants.toml`` beside the tests:

    [["reduction.py fastest_of"]]
    bug = "a problem gets the slowest of the kernels kept"
    before = "min("
    after = "max("
    cases = ["db/test_db_reduction.py::test_a_problem_gets_the_fastest_of_those_kept"]

The title is an anchor (anchors.py), and `before` occurs in it once. `cases` are the fewest tests that fail, as pytest
names them, from ``tests/`` on. `only` is pytest's ``-k`` for them, such as an operator in the contract's tests.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from _pytest.mark.expression import Expression

from tests.mutants.anchors import find
from tests.mutants.mutant import ROOT, TESTS, Mutant, text_of

_OF_COMMIT = 2


@dataclass(frozen=True)
class Kept:
    """A bug as it is listed."""

    anchor: str
    bug: str
    before: str
    after: str
    cases: tuple[str, ...]
    only: str = ""

    def __str__(self) -> str:
        return f"{self.anchor}: {self.bug}"

    @property
    def mutant(self) -> Mutant:
        """The mutant.

        Raises:
            ValueError: one line, if it does not fit the tree, or is no Python.
        """
        file, begin, end = find(self.anchor, self.before)
        mutant = Mutant(file, begin, end, self.after.strip(), self.bug, self.cases, self.only)
        if mutant.mutated == text_of(file):
            raise ValueError("`after` is `before`")
        if file.endswith(".py"):
            ast.parse(mutant.mutated)
        if missing := [case for case in self.cases if not _is_there(case)]:
            raise ValueError(f"there is no test {missing[0]}")
        return mutant

    @property
    def lacks(self) -> set[str]:
        """The modules that are not installed, and without which its tests are skipped, such as torch."""
        texts = ((TESTS / case.partition("::")[0]).read_text() for case in self.cases)
        return {name for text in texts for name in re.findall(r'importorskip\("(\w+)', text) if not find_spec(name)}

    def stale(self) -> str:
        """Why it cannot be planted, in one line; empty if nothing is wrong."""
        try:
            if self.only:
                Expression.compile(self.only)
            return "" if self.mutant.cases else "expected cases"
        except (ValueError, SyntaxError) as error:
            return str(error)


def kept() -> list[Kept]:
    """All of them, by their anchors."""
    return sorted(_listed(), key=lambda one: one.anchor)


def of_commit(listed: Sequence[Kept]) -> list[Kept]:
    """Some to try with the present commit: from every area, and others with the next commit.

    They go by the digest of its files, so a commit that is made again elsewhere tries the same ones.
    """
    apart = -(-len(listed) // _OF_COMMIT) or 1
    done = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=True)
    return list(listed[int(done.stdout, 16) % apart :: apart])


def _listed() -> Iterator[Kept]:
    for path in TESTS.rglob("mutants.toml"):
        for anchor, tables in tomllib.loads(path.read_text()).items():
            for table in tables:
                yield Kept(anchor, **table | {"cases": tuple(table.get("cases", ()))})


def _is_there(case: str) -> bool:
    """Whether a file, a test in it, or a test's parametrised case is there, as far as the text tells."""
    path, _, name = case.partition("::")
    test = TESTS / path
    if not test.is_file():
        return False
    name = re.escape(name.partition("[")[0])
    return not name or bool(re.search(rf"^(?:def {name}\(|{name} = )", test.read_text(), re.M))
