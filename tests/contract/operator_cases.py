"""What the tests folder of each operator gives to the contract: its module `tests/<family>/<operator>_cases.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_120")
Case = tuple[Problem, Schedule]


class OperatorCases(Protocol):
    """A module of cases.

    Attributes:
        PROBLEMS: ordinary and odd problems of all sizes, by the key that databases know them by.
        SMALL_PROBLEMS: for the emulator: whole tiles first, then edges on all sides in a batch.
        CASES: drawn schedules for an H200, each with an odd problem: few that cover every value of every field,
            and most pairs of them (pair_coverage.py).
        drawn_cases: as many cases for a device.
    """

    PROBLEMS: Mapping[str, Problem]
    SMALL_PROBLEMS: Sequence[Problem]
    CASES: Sequence[Case]
    drawn_cases: Callable[..., list[Case]]


@cache
def cases_of(operator: str) -> OperatorCases:
    """The module of an operator, found by its name."""
    found = list(Path(__file__).parents[1].glob(f"*/{operator}_cases.py"))
    assert len(found) == 1, f"expected one file tests/<family>/{operator}_cases.py, found {len(found)}"
    path = found[0]
    return cast(OperatorCases, import_module(f"{path.parent.name}.{path.stem}"))


def archs(program: Program) -> Sequence[str]:
    """The architectures that a kernel compiles for: clusters are there from sm_90 on."""
    if program.arch_suffix:
        return ("sm_90",)
    return ARCHS if all(launch.cluster == (1, 1, 1) for launch in program.launches) else ARCHS[2:]


def label(value: object) -> str:
    """A problem, a schedule or a tuple of them in a test's name."""
    if isinstance(value, tuple):
        return "-".join(map(label, value))
    return value.key if isinstance(value, Problem) else str(value).replace(" ", ",")


PROBLEMS = [(name, problem) for name in OPERATORS for problem in cases_of(name).PROBLEMS.values()]
SMALL_PROBLEMS = [(name, problem) for name in OPERATORS for problem in cases_of(name).SMALL_PROBLEMS]
CASES = [(name, *case) for name in OPERATORS for case in cases_of(name).CASES]
PRESETS = [(name, preset) for name, operator in OPERATORS.items() for preset in operator.presets]
