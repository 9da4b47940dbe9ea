"""Each operator's problems and schedules for the contract: of `tests/<family>/<operator>_cases.py`, else derived."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from contract.derived_cases import DerivedCases

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_120")
Case = tuple[Problem, Schedule]
T = TypeVar("T")


class OperatorCases(Protocol):
    """A module of cases. What it leaves out is derived (derived_cases.py): as many cases as its `MOST` says.

    Beside derived cases, it may have others as `OWN_CASES`.

    Attributes:
        PROBLEMS: ordinary and odd problems of all sizes, by the key that databases know them by.
        SMALL_PROBLEMS: for the emulator: whole tiles first, then edges on all sides in a batch.
        CASES: drawn schedules for an H200, each with an odd problem: few that cover every value of every field,
            and most pairs of them (pair_coverage.py).
        drawn_cases: as many cases for a device.
        PECULIAR: other cases, which are unlike those that are drawn, for the emulator alone.
    """

    PROBLEMS: Mapping[str, Problem]
    SMALL_PROBLEMS: Sequence[Problem]
    CASES: Sequence[Case]
    drawn_cases: Callable[..., list[Case]]
    PECULIAR: Sequence[Case]


class _Cases:
    """What a module states, and what follows from the operator for all else."""

    def __init__(self, name: str) -> None:
        found = list(Path(__file__).parents[1].glob(f"*/{name}_cases.py"))
        assert len(found) <= 1, f"expected one file tests/<family>/{name}_cases.py, found {len(found)}"
        self._stated = vars(import_module(f"{found[0].parent.name}.{found[0].stem}")) if found else {}
        self._derived = DerivedCases(operator(name), self._stated.get("MOST", 16))

    def __getattr__(self, member: str) -> Any:
        if member in self._stated or member == "PECULIAR":
            return self._stated.get(member, ())
        derived = getattr(self._derived, member)
        return [*derived, *self._stated.get("OWN_CASES", ())] if member == "CASES" else derived


@cache
def cases_of(operator: str) -> OperatorCases:
    """Those of an operator, by its name."""
    return cast(OperatorCases, _Cases(operator))


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


def each(cases: Callable[[str], Iterable[T]]) -> list[tuple[str, T]]:
    """The cases of all operators, each with its operator's name.

    An operator whose cases cannot be found out has none: `test_drawn_cases_are_few` fails for it, by the same error,
    and other operators are tested.
    """
    found: list[tuple[str, T]] = []
    for name in OPERATORS:
        with suppress(Exception):
            found += [(name, case) for case in list(cases(name))]
    return found


PROBLEMS = each(lambda name: cases_of(name).PROBLEMS.values())
SMALL_PROBLEMS = each(lambda name: cases_of(name).SMALL_PROBLEMS)
CASES = [(name, *case) for name, case in each(lambda name: cases_of(name).CASES)]
PECULIAR = [(name, *case) for name, case in each(lambda name: cases_of(name).PECULIAR)]
PRESETS = [(name, preset) for name, operator in OPERATORS.items() for preset in operator.presets]
