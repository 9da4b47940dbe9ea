"""The operator contract: all that the rest of the project knows about sgemm, transpose, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from autotune.base.errors import AutotuneError
from autotune.codegen.model.fields import invalid_fields
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.machine.workload import Workload

from .baselines import Published, Substitute, TorchCall
from .call import Call
from .derivative import Derivative
from .restatement import Restatement
from .space import Space

P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=Schedule)


class IllegalScheduleError(AutotuneError, ValueError):
    """A schedule that breaks a rule of `Operator.violations`."""


@dataclass(frozen=True, eq=False)
class Operator(Generic[P, S]):
    """One operator. Everything else reaches it through these members only. Operators are compared by identity.

    Attributes:
        name: as in ``autotune tune <name>`` and in the database.
        summary: one line for people.
        problem_type, schedule_type: its dataclasses.
        constraints: what is legal beyond what fields may be and what blocks may take: one string for each violation,
            with its values. It is asked of schedules whose fields are right.
        emit: the source of a legal schedule; use `source`, which checks first.
        reference: a naive kernel with the problem's own argument struct that writes what `Problem.reference`
            computes (float64 outputs where the kernel rounds): the truth for verification on a device.
        checker: for problems with outputs that are `Checked`, a kernel that takes the tensors that it needs and, for
            each such output, a pointer ``<name>_report`` to a `Report` (cuda/report.cuh), to which it adds what
            `Problem.check` finds. What a tensor that is read and written held before is at ``<name>_before``.
        space: what a sampler draws from.
        default: a schedule that is sound for any problem on any device, chosen without measuring.
        candidates: schedules to try first, best guess first; illegal ones are passed over.
        presets: small kernels and named schedules for teaching and comparison, by name.
        checks: small problems with full tiles, edges and tails that prove a schedule in the emulator, each with the
            schedule itself, or its like for so few tiles.
        workload: what each launch of a legal schedule does, for the time model.
        baselines: what users would call instead, by name: a call of PyTorch, or ``module:NAME`` of a `Baseline` within
            this package. ``autotune bench`` adds ``copy``, the driver's copy of as many bytes.
        suites: the folder of its suites, JSON lists of problems; None if there are none.
        published: what is known of kernels like the presets.
        call: how users call it, by which it is ``dispatcher.<name>``; None for one that has no function.
        shorthands: functions beside `call`, by names that users know, such as ``gelu``. Each returns the arguments of
            `call`; its parameters and its docstring are what users see.
        derivative: how PyTorch's autograd goes back through a call; None for one that has no derivative.
        substitutes: the baselines that the dispatcher can call in place of a kernel, by name.
        restated: a problem as another operator's, which the dispatcher takes where it promises to be faster; None for
            problems that are none of another operator's.
    """

    name: str
    summary: str
    problem_type: type[P]
    schedule_type: type[S]
    constraints: Callable[[P, S, DeviceSpec], Iterable[str]]
    emit: Callable[[P, S], Program]
    reference: Callable[[P], Program]
    space: Callable[[P, DeviceSpec], Space[S]]
    default: Callable[[P, DeviceSpec], S]
    candidates: Callable[[P, DeviceSpec], Iterable[S]]
    presets: Mapping[str, Callable[[P], Program]]
    checks: Callable[[P, S], list[tuple[P, S]]]
    workload: Callable[[P, S, DeviceSpec], tuple[Workload, ...]]
    baselines: Mapping[str, TorchCall | str] = field(default_factory=dict)
    suites: Path | None = None
    published: Published | None = None
    call: Call | None = None
    shorthands: tuple[Callable[..., Mapping[str, Any]], ...] = ()
    derivative: Derivative | None = None
    substitutes: Mapping[str, Substitute] = field(default_factory=dict)
    restated: Callable[[P], Restatement | None] | None = None
    checker: Callable[[P], Program] | None = None

    def violations(self, problem: P, schedule: S, spec: DeviceSpec) -> list[str]:
        """What makes a schedule illegal for a problem on a device; nothing if it is legal."""
        found = [f"{name} {value}: {wrong}" for name, value, wrong in invalid_fields(schedule)]
        found = found or list(self.constraints(problem, schedule, spec))
        return found or list(footprint_violations(spec, schedule.footprint(problem)))

    def seeds(self, problem: P, spec: DeviceSpec) -> list[S]:
        """Legal schedules to try first, best guess first, each once; the default is among them."""
        listed = dict.fromkeys([*self.candidates(problem, spec), self.default(problem, spec)])
        return [schedule for schedule in listed if not self.violations(problem, schedule, spec)]

    def checked_by(self, problem: P) -> Program:
        """The checker of a problem with outputs that are `Checked`.

        Raises:
            ValueError: there is none.
        """
        if self.checker is None:
            raise ValueError(f"{self.name}: {problem.key} has outputs with several right answers, and no checker")
        return self.checker(problem)

    def program(self, problem: P, schedule: S, spec: DeviceSpec) -> Program:
        """Emit the kernel of a legal schedule.

        Raises:
            IllegalScheduleError: the schedule is not legal for this problem on this device.
            ValueError: the kernel's pointers are not named as the problem's tensors.
        """
        violations = self.violations(problem, schedule, spec)
        if violations:
            raise IllegalScheduleError("; ".join(violations))
        program = self.emit(problem, schedule)
        pointers, tensors = program.tensor_names, {tensor.name for tensor in problem.tensors}
        if pointers != tensors:
            taken, stated = (", ".join(sorted(names)) for names in (pointers, tensors))
            raise ValueError(f"the kernel of {self.name} takes {taken}, and its problem has the tensors {stated}")
        return program
