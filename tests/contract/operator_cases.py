"""Each operator's problems and schedules for the contract: of `tests/<family>/<operator>_cases.py`, else derived."""

from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from autotune.codegen.model.problem import Problem
from autotune.contract import tested
from autotune.contract.derived_cases import DerivedCases
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

NAMES = tested()
SPEC = named_device("h200")
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_120")


class OperatorCases:
    """The cases of a module. What it leaves out is derived (derived_cases.py): as many cases as its `MOST` says.

    Beside derived cases, it may have others as `OWN_CASES`.

    Attributes:
        PROBLEMS: ordinary and odd problems of all sizes, by the key that databases know them by.
        SMALL_PROBLEMS: for the emulator: whole tiles first, then edges on all sides in a batch.
        CASES: drawn schedules for an H200, each with an odd problem: few that cover every value of every field,
            and most pairs of them (pair_coverage.py).
        drawn_cases: as many cases for a device.
        PECULIAR: other cases, which are unlike those that are drawn, for the emulator alone.
    """

    def __init__(self, name):
        # In the tree, autotune/contract is a link to this folder in tests/.
        found = list(Path(__file__).resolve().parents[1].glob(f"*/{name}_cases.py"))
        assert len(found) <= 1, f"expected one file tests/<family>/{name}_cases.py, found {len(found)}"
        self._stated = vars(import_module(f"{found[0].parent.name}.{found[0].stem}")) if found else {}
        self._derived = DerivedCases(operator(name), self._stated.get("MOST", 10))

    def __getattr__(self, member):
        if member in self._stated or member == "PECULIAR":
            return self._stated.get(member, ())
        derived = getattr(self._derived, member)
        return [*derived, *self._stated.get("OWN_CASES", ())] if member == "CASES" else derived


@cache
def cases_of(operator):
    """Those of an operator, by its name."""
    return OperatorCases(operator)


def archs(program):
    """The architectures that a kernel compiles for: clusters are there from sm_90 on."""
    if any(module.arch_suffix for module in program.modules):
        return ("sm_90",)
    return ARCHS if all(launch.cluster == (1, 1, 1) for launch in program.launches) else ARCHS[2:]


def label(value):
    """A problem, a schedule or a tuple of them in a test's name."""
    if isinstance(value, tuple):
        return "-".join(map(label, value))
    return value.key if isinstance(value, Problem) else str(value).replace(" ", ",")


def each(cases):
    """The cases of all operators, each with its operator's name.

    An operator whose cases cannot be found out has none: `test_drawn_cases_are_few` fails for it, by the same error,
    and other operators are tested.
    """
    found = []
    for name in NAMES:
        with suppress(Exception):
            found += [(name, case) for case in list(cases(name))]
    return found


def walked(cases):
    """A decorator: the test of a case becomes one of each operator, which walks through `cases(operator)`.

    An error has a note of its case. Thousands of tests that take milliseconds would take longer to be collected.
    """

    def decorated(test):
        @pytest.mark.parametrize("name", NAMES)
        def walk(name):
            for case in cases(name):
                try:
                    test(name, *case)
                except BaseException as error:
                    error.add_note(f"of {name} {label(case)}")
                    raise

        walk.__name__, walk.__doc__ = test.__name__, test.__doc__
        return walk

    return decorated


anywhere = walked(lambda name: ((problem,) for problem in cases_of(name).PROBLEMS.values()))
PROBLEMS = each(lambda name: cases_of(name).PROBLEMS.values())
SMALL_PROBLEMS = each(lambda name: cases_of(name).SMALL_PROBLEMS)
CASES = [(name, *case) for name, case in each(lambda name: cases_of(name).CASES)]
PECULIAR = [(name, *case) for name, case in each(lambda name: cases_of(name).PECULIAR)]
PRESETS = [(name, preset) for name in NAMES for preset in operator(name).presets]
