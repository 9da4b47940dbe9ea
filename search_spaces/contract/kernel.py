"""One kernel of an operator: how its schedules look, which are legal, which to try, and what they emit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from .derived import EmittedWorkload, field_space, no_constraints, one_by_one, tile_checks
from .space import Space

P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=Schedule)


def _everywhere(_problem: Any, _spec: DeviceSpec) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Kernel(Generic[P, S]):
    """One kernel. An operator reaches it by the type of a schedule, so no two kernels of an operator share that.

    What is left out follows from the schedule's fields, its footprint, its tiles and its program (derived.py).

    Attributes:
        schedule_type: its dataclass, whose `Schedule.kernel` is the kernel's name if the operator has several.
        emit: the source of a legal schedule; use `Operator.program`, which checks first.
        constraints: what is illegal beyond what fields may be and what blocks may take: one string for each violation,
            with its values. It is asked of schedules whose fields are right.
        space: what a sampler draws from.
        candidates: schedules to try first, best guess first; illegal ones are skipped.
        checks: small problems with full tiles, edges and tails that prove a schedule in the emulator, each with the
            schedule itself, or its like for so few tiles.
        workload: what each launch of a legal schedule does, for the time model.
        applies: whether some schedule of this kernel is legal for a problem on a device. Where it is not, the kernel
            has neither a space nor candidates.
    """

    schedule_type: type[S]
    emit: Callable[[P, S], Program]
    constraints: Callable[[P, S, DeviceSpec], Iterable[str]] = no_constraints
    space: Callable[[P, DeviceSpec], Space[S]] = field(default=None)  # type: ignore[assignment]
    candidates: Callable[[P, DeviceSpec], Iterable[S]] = field(default=None)  # type: ignore[assignment]
    checks: Callable[[P, S], list[tuple[P, S]]] = tile_checks
    workload: Callable[[P, S, DeviceSpec], tuple[Workload, ...]] = field(default=None)  # type: ignore[assignment]
    applies: Callable[[P, DeviceSpec], bool] = _everywhere

    def __post_init__(self) -> None:
        self._derive("space", field_space(self.schedule_type, self.constraints))
        self._derive("candidates", one_by_one(self.schedule_type, self.space))
        self._derive("workload", EmittedWorkload(self.emit))

    def _derive(self, member: str, derived: Any) -> None:
        if getattr(self, member) is None:
            object.__setattr__(self, member, derived)

    @property
    def name(self) -> str:
        """Its name among the operator's kernels; empty for one that was the only one before there were others."""
        return self.schedule_type.kernel

    @property
    def counted(self) -> bool:
        """Whether `workload` counts what this kernel does, and not only the bytes of the problem."""
        return not isinstance(self.workload, EmittedWorkload)
