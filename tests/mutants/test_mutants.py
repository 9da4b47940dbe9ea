"""Every mutant fits the tree, and those of this commit are caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from mutants.cache import cache_with_runtime
from mutants.mutant import Mutant, mutants, of_commit
from mutants.run import verdict

from autotune.emulator.build import command
from autotune.search_spaces.contract.registry import operator

LISTED = mutants()
TRIED = [one for one in LISTED if one.cases and not one.lacks]
SOUND = Mutant("", "autotune/base/files.py", "none", "def atomic_write", "def atomic_write", ("test_files.py",))


def test_none_is_stale() -> None:
    assert [f"{one}: {why}" for one in LISTED if (why := one.stale())] == []


@pytest.mark.parametrize("mutant", of_commit(TRIED), ids=str)
def test_it_is_caught(mutant: Mutant) -> None:
    found = verdict(mutant)
    assert found.status == "caught", found


def test_a_copy_without_a_bug_survives() -> None:
    assert verdict(SOUND).status == "survived"


def test_a_new_cache_has_the_runtime_of_the_emulator(tmp_path: Path) -> None:
    cache = cache_with_runtime(tmp_path / "cache")
    transpose = operator("transpose")
    executable, _ = command(transpose.reference(transpose.problem_type(2, 2)))
    assert [path.name for path in cache.glob(f"emulator/{executable.name}")] == [executable.name]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"before": "nothing of it"}, "`before` occurs 0 times"),
        ({"before": "path"}, "`before` occurs"),
        ({}, "`after` is `before`"),
        ({"after": "def ("}, "invalid syntax"),
        ({"after": "def write", "cases": ()}, "expected either cases or a reason"),
        ({"after": "def write", "equivalent": "it is unused"}, "expected either cases or a reason"),
        ({"after": "def write", "cases": ("test_files.py::test_nothing",)}, "there is no test"),
        ({"after": "def write", "file": "autotune/nothing.py"}, "No such file"),
    ],
)
def test_a_stale_one_says_why(changes: dict[str, object], complaint: str) -> None:
    assert complaint in replace(SOUND, **changes).stale()
