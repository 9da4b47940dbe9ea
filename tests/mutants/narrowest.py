"""The fewest tests that should see a bug in a file, by names: those of its folder that say most of its names."""

import re
from functools import cache
from pathlib import Path

from tests.mutants.mutant import TESTS, text_of

_SHARED = {"model", "source", "cuda", "calibration"}  # folders of codegen/ that are no family
_MOST = 4
_DEFINED = re.compile(r"^(?:class|def) ([a-zA-Z]\w*)|^([A-Z]\w*)(?::.*)? =", re.M)


@cache
def cases_of(file: str) -> tuple[str, ...]:
    """The test files of an operator, those first that say most names of a module; a few of what is no operator's."""
    path = Path(file)
    inside = sorted(_folder(path).glob("test_*.py"))
    own = [test for test in inside if f"_{path.parent.name}_" in f"{test.stem}_"]
    found = own or inside
    if path.suffix == ".py":
        found = _naming(path, found) or _naming(path, _all()) or found
        found = list(dict.fromkeys([*found[:_MOST], *own]))
    return tuple(str(one.relative_to(TESTS)) for one in found)


def _folder(path: Path) -> Path:
    """The test folder of a file: that of its family or its part of the package; else ``tests/``.

    The contract's tests are those of all operators, and take minutes.
    """
    parts = path.parts[:-1]
    if parts[0] == "codegen" and _SHARED.intersection(parts):
        parts = parts[:1]
    folders = [part for part in reversed(parts) if part != "contract" and (TESTS / part).is_dir()]
    return TESTS / folders[0] if folders else TESTS


def _naming(path: Path, tests: list[Path]) -> list[Path]:
    """Those that say the name of the module, or names that it defines: the ones that say most, and are small."""
    names = {path.stem, *(one or other for one, other in _DEFINED.findall(text_of(str(path))))}
    counts = {test: len(names & _words(test)) + 3 * (path.stem in test.stem) for test in tests}
    return sorted((test for test in tests if counts[test]), key=lambda test: (-counts[test], test.stat().st_size))[
        :_MOST
    ]


@cache
def _all() -> list[Path]:
    return [path for path in TESTS.rglob("test_*.py") if path.parent.name not in ("contract", "mutants")]


@cache
def _words(test: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", test.read_text()))
