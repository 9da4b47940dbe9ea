"""Every kept mutant fits the tree, those of this commit are caught, and generic bugs are what they say."""

from dataclasses import replace
from pathlib import Path

import pytest
from mutants import cuda_bugs, python_bugs
from mutants.bugs import bugs_of
from mutants.cache import cache_with_runtime
from mutants.changed import changed_lines
from mutants.kept import Kept, kept, of_commit
from mutants.mutant import Mutant, sources
from mutants.narrowest import cases_of
from mutants.run import Trees

from autotune.emulator.build import command
from autotune.search_spaces.contract.registry import operator

LISTED = kept()
SOUND = Kept("base/files.py atomic_write", "none", "def atomic_write", "def atomic_write ", ("test_files.py",))


@pytest.fixture(scope="module")
def trees():
    with Trees(1) as copies:
        yield copies


def test_none_is_stale():
    assert [f"{one}: {why}" for one in LISTED if (why := one.stale())] == []


@pytest.mark.parametrize("bug", of_commit([one for one in LISTED if not one.lacks]), ids=str)
def test_it_is_caught(bug, trees):
    found = trees.verdict(bug.mutant)
    assert found.status == "caught", found


def test_what_is_no_bug_survives(trees):
    assert trees.verdict(Mutant("base/files.py", 0, 0, "", "none", ("test_files.py",))).status == "survived"


def test_a_test_that_lacks_its_text_catches_nothing(trees):
    """The test of a planted bug replaces what is written otherwise then, and means the same."""
    case = "layout/test_transpose.py::test_planted_bug_is_caught"
    bug = Kept("transpose.cuh", "none", "(m < inside_m && n < inside_n)))", "(n < inside_n && m < inside_m)))", (case,))
    assert trees.verdict(bug.mutant).status == "text"


def test_a_new_cache_has_the_runtime_of_the_emulator(tmp_path):
    cache = cache_with_runtime(tmp_path / "cache")
    transpose = operator("transpose")
    executable, _ = command(transpose.reference(transpose.problem_type(2, 2)))
    assert [path.name for path in cache.glob(f"emulator/{executable.name}")] == [executable.name]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"before": "nothing of it"}, "`before` occurs 0 times in base/files.py atomic_write: expected once"),
        ({"before": "path"}, "`before` occurs"),
        ({"anchor": "base/files.py nothing"}, "`before` occurs 0 times"),
        ({"anchor": "nothing.py atomic_write"}, "`before` occurs 0 times"),
        ({"after": "def atomic_write"}, "`after` is `before`"),
        ({"after": "def ("}, "invalid syntax"),
        ({"after": "def write", "cases": ()}, "expected cases"),
        ({"after": "def write", "cases": ("test_files.py::test_nothing",)}, "there is no test"),
    ],
)
def test_a_stale_one_says_why(changes, complaint):
    assert complaint in replace(SOUND, **changes).stale()


def test_an_anchor_is_the_name_of_a_definition_however_it_is_laid_out():
    found = Kept("tickets.cuh is_last_block", "x", "atomicAdd(counter,\n  1)", "0", ("test_files.py",)).mutant
    assert found.file == "codegen/cuda/tickets.cuh"
    assert found.mutated.count("atomicAdd") == 0


def edited(text, edits):
    return {text[:begin] + instead + text[end:] for begin, end, instead in edits}


@pytest.mark.parametrize(
    ("text", "bugs"),
    [
        ("a < 3", {"a <= 3", "a < 4"}),
        ("f(a, b)", {"f(b, a)", "pass"}),
        ("x = -y + True", {"x = y + True", "x = -y - True", "x = -y + False"}),
        ("if a and not b:\n    raise E", {"if a or not b:\n    raise E", "if a and b:\n    raise E"}),
        ("é = min(a, b) if c else 0", {"é = max(a, b) if c else 0", "é = min(a, b) if c else 1", "é = None"}),
        ("x = f()", {"x = None"}),
        ("self.x = y", {"pass"}),
        ("def f(a: Literal[3]) -> Literal[4]: ...", set()),
    ],
)
def test_bugs_of_python(text, bugs):
    found = edited(text, python_bugs.edits(text))
    assert bugs <= found
    assert bool(found) == bool(bugs)


@pytest.mark.parametrize(
    ("line", "bugs"),
    [
        ("if (i < n && k >= 2) x[i] = a;", {"if (i <= n && k >= 2) x[i] = a;", "if (i < n || k >= 2) x[i] = a;", ";"}),
        ("y = Vec<float, 4>(-a * 2u);", {"y = Vec<float, 5>(-a * 2u);", "y = Vec<float, 4>(a * 2u);"}),
        ("add(x, y);", {"add(y, x);", ";"}),
        ("float add = max(a, 0.5f);  // a < b", {"float add = min(a, 0.5f);  // a < b", "float add = {};  // a < b"}),
        ("return true;", {"return false;"}),
    ],
)
def test_bugs_of_cuda(line, bugs):
    text = f"void f() {{\n  g();\n  {line}\n}}\n"
    found = edited(text, cuda_bugs.edits(text))
    assert {text.replace(line, bug) for bug in bugs} <= found
    assert not any("a <= b" in one or "int f" in one for one in found)


def test_every_file_has_bugs_to_plant_and_tests_to_run():
    assert {Path(file).suffix for file in sources()} == {".py", ".cuh", ".cpp", ".hpp"}
    assert all(cases_of(file) for file in sources())
    (bug,) = [one for one in bugs_of("codegen/cuda/tickets.cuh") if one.bug == "- → +"]
    assert bug.code.startswith("last = atomicAdd(counter, 1)")


def test_an_unknown_base_is_one_line():
    with pytest.raises(LookupError, match="git knows no such-commit here: fatal: "):
        changed_lines("such-commit")
