"""The operator contract: all that the rest of the project knows about sgemm, transpose, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Self

from autotune.base.errors import InputError
from autotune.codegen.model.fields import field_specs, invalid_fields
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import KERNEL, Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.forecast import Forecast, forecast
from autotune.search_spaces.machine.resources import footprint_violations, grid_violations
from autotune.search_spaces.machine.workload import Workload

from .baselines import Published, Substitute, TorchCall
from .call import Call
from .derivative import Derivative
from .equivalent_problem import EquivalentProblem
from .kernel import Kernel, P, S
from .space import Space
from .union_space import union_of


class IllegalScheduleError(InputError, ValueError):
    """A schedule that breaks a rule of `Operator.violations`, or a problem that has no other."""


@dataclass(frozen=True, eq=False)
class Operator(Generic[P, S]):
    """One operator. Everything else reaches it through these members only. Operators are compared by identity.

    Attributes:
        name: as in ``autotune tune <name>`` and in the database.
        summary: one line for people.
        problem_type: the dataclass of its problems.
        kernels: what computes them. A schedule's type tells its kernel.
        checker: for problems with outputs that are `Checked`, a kernel that takes the tensors that it needs and, for
            each such output, a pointer ``<name>_report`` to a `Report` (cuda/report.cuh), to which it adds what
            `Problem.check` finds. What a tensor that is read and written held before is at ``<name>_before``.
        default: a schedule that is sound for any problem on any device, chosen without measuring; if it is left out,
            the first candidate of the first kernel.
        presets: small kernels and named schedules for teaching and comparison, by name.
        reference: a naive kernel with the problem's own argument struct that writes what `Problem.reference`
            computes (float64 outputs where the kernel rounds): the truth for verification on a device. If it is left
            out, the first preset, which is right for outputs that are `Exact`. None without presets: then
            `Problem.reference` itself is the truth, computed on the host.
        reference_digest: of what `Problem.reference` computes, where there is no reference kernel.
        rungs: the launches of each preset, as the time model counts them; None where nobody counted.
        kernel_field: the field that named the kernel when all kernels shared a schedule type. Schedules stored then,
            and words that users typed then, still open.
        baselines: what users would call instead, by name: a call of PyTorch, or ``module:NAME`` of a `Baseline` within
            this package. ``autotune bench`` adds ``copy``, the driver's copy of as many bytes.
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
    kernels: tuple[Kernel[P, Any], ...]
    presets: Mapping[str, Callable[[P], Program]]
    reference: Callable[[P], Program] | None = None
    reference_digest: str = ""
    default: Callable[[P, DeviceSpec], S] = field(default=None)  # type: ignore[assignment]
    rungs: Callable[[P, DeviceSpec], Mapping[str, Sequence[Workload]]] | None = None
    kernel_field: str = ""
    baselines: Mapping[str, TorchCall | str] = field(default_factory=dict)
    published: Published | None = None
    call: Call | None = None
    shorthands: tuple[Callable[..., Mapping[str, Any]], ...] = ()
    derivative: Derivative | None = None
    substitutes: Mapping[str, Substitute] = field(default_factory=dict)
    restated: Callable[[P], EquivalentProblem | None] | None = None
    checker: Callable[[P], Program] | None = None

    def __post_init__(self) -> None:
        if self.call and self.call.lists and self.derivative:
            raise ValueError(f"{self.name}: {self.call.lists[0]} is a list, and calls with lists have no derivative")
        if same := self.presets.keys() & self.baselines.keys():
            raise ValueError(f"{self.name}: {min(same)} names a preset and a baseline, which a ladder has both")
        if self.reference is None:
            object.__setattr__(self, "reference", next(iter(self.presets.values()), None))
        if self.default is None:
            candidates = self.kernels[0].candidates
            object.__setattr__(self, "default", lambda problem, spec: next(iter(candidates(problem, spec))))

    @property
    def suites(self) -> dict[str, Path]:
        """Its suites by name, JSON lists of problems: the files in ``suites`` beside its call.

        Where operators share a folder, each has one of its name in ``suites``.
        """
        if not self.call:
            return {}
        folder = Path(self.call.declaration.__code__.co_filename).parent / "suites"
        found = sorted((folder / self.name).glob("*.json")) or sorted(folder.glob("*.json"))
        return {path.stem: path for path in found}

    @property
    def default_scalars(self) -> Mapping[str, float]:
        """What its kernels take for scalars that a call leaves out, or that an operator which it restates lacks."""
        return self.call.default_scalars if self.call else {}

    def kernel(self, name: str) -> Kernel[P, Any]:
        """The kernel of a name; ``ValueError`` lists those that there are."""
        found = next((kernel for kernel in self.kernels if kernel.name == name), None)
        if found is None:
            known = ", ".join(kernel.name for kernel in self.kernels)
            raise ValueError(f"unknown kernel {name!r} of {self.name}; known: {known}")
        return found

    @property
    def counted(self) -> bool:
        """Whether the time model tells schedules of all its kernels apart by what they do."""
        return all(kernel.counted for kernel in self.kernels)

    @property
    def schedule_types(self) -> list[type[Schedule]]:
        """The type of each kernel's schedules."""
        return [kernel.schedule_type for kernel in self.kernels]

    def kernel_of(self, schedule: S) -> Kernel[P, Any]:
        """The kernel that a schedule is for."""
        return self.kernels[0] if len(self.kernels) == 1 else self.kernel(schedule.kernel)

    def with_kernels(self, **members: Any) -> Self:
        """The operator with other members of each of its kernels."""
        return replace(self, kernels=tuple(replace(kernel, **members) for kernel in self.kernels))

    def schedule(self, values: Mapping[str, Any]) -> S:
        """The schedule of stored values, as `Schedule.to_dict` makes them or an earlier version did.

        Raises:
            ValueError: one line that says what is wrong.
        """
        values = self._under_kernel(values)
        kernel = self.kernel(values.get(KERNEL, "")) if len(self.kernels) > 1 else self.kernels[0]
        schedule: S = kernel.schedule_type.from_dict(values)
        return schedule

    def parse(self, words: list[str], problem: P, spec: DeviceSpec) -> S:
        """The default for a problem, or what ``kernel=NAME`` tries first, changed by ``NAME=VALUE`` words.

        Raises:
            ValueError: one line that says what is allowed.
        """
        base: Any = self.default(problem, spec)
        if len(self.kernels) > 1:
            known = {self.kernel_field: KERNEL}
            split = [word.partition("=") for word in words]
            words = [known.get(name, name) + equals + text for name, equals, text in split]
            for name in (text for name, equals, text in split if known.get(name, name) == KERNEL and equals):
                base = base if base.kernel == name else self.first(name, problem, spec)
        schedule: S = type(base).parse(words, base)
        return schedule

    def first(self, kernel: str, problem: P, spec: DeviceSpec) -> S:
        """The first legal candidate of a kernel; its default fields if there is none."""
        chosen = self.kernel(kernel)
        candidates = chosen.candidates(problem, spec) if chosen.applies(problem, spec) else ()
        legal = (one for one in candidates if not self.violations(problem, one, spec))
        found: S = next(legal, None) or chosen.schedule_type()
        return found

    def constraints(self, problem: P, schedule: S, spec: DeviceSpec) -> Iterable[str]:
        """See `Kernel`."""
        return self.kernel_of(schedule).constraints(problem, schedule, spec)

    def emit(self, problem: P, schedule: S) -> Program:
        """See `Kernel`."""
        return self.kernel_of(schedule).emit(problem, schedule)

    def checks(self, problem: P, schedule: S) -> list[tuple[P, S]]:
        """See `Kernel`."""
        return self.kernel_of(schedule).checks(problem, schedule)

    def workload(self, problem: P, schedule: S, spec: DeviceSpec) -> tuple[Workload, ...]:
        """See `Kernel`."""
        return self.kernel_of(schedule).workload(problem, schedule, spec)

    def forecast(self, problem: P, schedule: S, spec: DeviceSpec) -> Forecast:
        """What is known of a legal schedule before it is compiled."""
        return forecast(self.kernel_of(schedule).workload, problem, schedule, spec)

    def space(self, problem: P, spec: DeviceSpec) -> Space[S]:
        """What a sampler draws from: of several kernels, the union of the spaces of those that apply."""
        spaces = {kernel.name: kernel.space(problem, spec) for kernel in self._applying(problem, spec)}
        return spaces[""] if spaces.keys() == {""} else union_of(spaces)

    def candidates(self, problem: P, spec: DeviceSpec) -> Iterator[S]:
        """Schedules to try first, those of one kernel after those of another; some may be illegal."""
        return (one for kernel in self._applying(problem, spec) for one in kernel.candidates(problem, spec))

    def violations(self, problem: P, schedule: S, spec: DeviceSpec) -> list[str]:
        """What makes a schedule illegal for a problem on a device; nothing if it is legal."""
        found = [f"{name} {value}: {wrong}" for name, value, wrong in invalid_fields(schedule)]
        found = found or list(self.constraints(problem, schedule, spec))
        found = found or list(footprint_violations(spec, schedule.footprint(problem)))
        return found or list(grid_violations(schedule.blocks(problem)))

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

    def _applying(self, problem: P, spec: DeviceSpec) -> list[Kernel[P, Any]]:
        return [kernel for kernel in self.kernels if kernel.applies(problem, spec)]

    def _under_kernel(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Stored values without the fields that other kernels had when all kernels shared a schedule type."""
        if self.kernel_field not in values or KERNEL in values:
            return values
        name = values[self.kernel_field]
        own = field_specs(self.kernel(name).schedule_type)
        others = {field for kernel in self.kernels for field in field_specs(kernel.schedule_type)} - own.keys()
        left = {field: value for field, value in values.items() if field not in {*others, self.kernel_field}}
        return {KERNEL: name, **left}
