"""The rows of the database as plain frozen values, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from reprlib import repr as short
from statistics import median
from typing import Any, Self

from autotune.base.markup import Bar, facts
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.rates import duration, peak_share

from .checks import NAME_LENGTH, check_json, check_name, check_seconds, check_text, finite_or_none
from .comparison import BaselineTimes
from .states import Objective, Status, TimeSource


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class DeviceRecord:
    """A device model.

    Attributes:
        model: the name that the driver gives it, such as ``NVIDIA H200``; devices are told apart by it.
        compute_capability: (major, minor).
        limits: its limits and peak rates as JSON values.

    Raises:
        ValueError: one line, if a value is of the wrong type or out of range.
    """

    model: str
    compute_capability: tuple[int, int]
    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_name("device model", self.model)
        numbers = self.compute_capability
        if not (
            isinstance(numbers, tuple) and len(numbers) == 2 and all(type(n) is int and 0 <= n < 1000 for n in numbers)
        ):
            raise ValueError(f"compute_capability={short(numbers)}: expected two whole numbers, such as 9 and 0")
        check_json("limits", self.limits)

    @classmethod
    def of(cls, spec: DeviceSpec) -> Self:
        """The record of a device of these limits, as JSON gives it back."""
        limits = asdict(spec) | {"compute_capability": list(spec.compute_capability)}
        return cls(spec.name, spec.compute_capability, limits)


@dataclass(frozen=True)
class ProblemRecord:
    """A problem.

    Attributes:
        operator: such as ``sgemm``.
        key: the stable string that names the problem among its operator's.
        fields: shape, layouts and so on as JSON values.

    Raises:
        ValueError: one line, if a value is of the wrong type.
    """

    operator: str
    key: str
    fields: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_name("operator", self.operator)
        check_name("problem key", self.key)
        check_json("fields", self.fields)

    @classmethod
    def of(cls, operator: str, problem: Problem) -> Self:
        """The record of an operator's problem."""
        return cls(operator, problem.key, problem.to_dict())


@dataclass(frozen=True)
class Trial:
    """One schedule tried on one problem on one device.

    Attributes:
        device, problem: where and what.
        schedule: the schedule's fields as JSON values.
        schedule_digest: names the schedule among its problem's.
        status: how the trial ended.
        time_source: whether the samples are measured or modelled.
        samples: seconds of each timed launch, in the order taken; an ok trial has at least one.
        error: one line that says what went wrong, empty if nothing did.
        max_error: largest absolute error of the output; None where none was found out, or where it is not finite.
        resources: what the kernel uses (registers, spills, …) as JSON values.
        environment: what the time depends on and where it comes from (driver, limits, UUID, …) as JSON values.
        conditions: how the samples were taken, as `Evaluation` says, as JSON values.
        lost_to: digest of the schedule that the tuner preferred to this one though this one has the shorter time;
            empty if there is none.
        comparison: how fast baselines are beside it; None where that was never measured.
        compiler: name and version.
        program_digest: digest of the emitted program.
        machine_code_digest: digest of what the compiler made of it; empty if that is not known.
        run: the run that tried it last, by its id in the same database; None if there was none.
        created_at: when it was tried, with a time zone; stored as UTC.

    Raises:
        ValueError: one line, if a value is of the wrong type or out of range.
    """

    device: DeviceRecord
    problem: ProblemRecord
    schedule: Mapping[str, Any]
    schedule_digest: str
    status: Status
    time_source: TimeSource
    samples: tuple[float, ...] = ()
    error: str = ""
    max_error: float | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    lost_to: str = ""
    comparison: BaselineTimes | None = None
    compiler: str = ""
    program_digest: str = ""
    machine_code_digest: str = ""
    run: str | None = None
    created_at: datetime = field(default_factory=_now)

    def __post_init__(self) -> None:
        check_name("schedule_digest", self.schedule_digest)
        for name in ("compiler", "program_digest", "machine_code_digest", "lost_to"):
            check_text(name, getattr(self, name), NAME_LENGTH)
        check_text("error", self.error)
        if self.run is not None:
            check_name("run", self.run)
        for name in ("schedule", "resources", "environment", "conditions"):
            check_json(name, getattr(self, name))
        if not (isinstance(self.status, Status) and isinstance(self.time_source, TimeSource)):
            raise ValueError(f"status={self.status!r}, time_source={self.time_source!r}: expected the enums' members")
        if not (self.comparison is None or isinstance(self.comparison, BaselineTimes)):
            raise ValueError(f"comparison={short(self.comparison)}: expected a BaselineTimes, or none")
        self._check_samples()
        object.__setattr__(self, "max_error", finite_or_none("max_error", self.max_error))
        self._check_created_at()

    @property
    def ok(self) -> bool:
        """Whether it has a valid time."""
        return self.status is Status.OK

    @property
    def seconds(self) -> float | None:
        """Median of the samples; None if there are none."""
        return median(self.samples) if self.samples else None

    @property
    def joules(self) -> float | None:
        """The energy of a launch; None where it was not measured."""
        joules = self.conditions.get("joules")
        return joules if isinstance(joules, int | float) and 0 < joules < inf else None

    def cost(self, objective: Objective) -> float:
        """What a run minimises of it; infinite if it failed, or if that was not measured."""
        value = self.joules if objective is Objective.ENERGY else self.seconds
        return value if self.ok and value else inf

    @property
    def faster_baselines(self) -> frozenset[str]:
        """The baselines that are known to be faster."""
        return self.comparison.faster if self.comparison else frozenset()

    def compared(self, comparison: BaselineTimes) -> Self:
        """The trial with a comparison that was made now."""
        return replace(self, comparison=comparison, created_at=_now())

    @property
    def peak_share(self) -> float | None:
        """The roofline's time over this one; None without a time, or of a problem or a device of another version."""
        from autotune.search_spaces.contract.known import known

        about = known(self.problem.operator, self.problem.fields, self.device.limits)
        return peak_share(about.problem, about.spec, self.seconds) if about and self.seconds else None

    @property
    def summary(self) -> str:
        """What tells its schedule apart; all fields if they are another version's."""
        from autotune.search_spaces.contract.registry import OPERATORS

        try:
            schedule = OPERATORS[self.problem.operator].schedule(self.schedule)
        except (LookupError, ValueError):
            return " ".join(f"{name}={value}" for name, value in self.schedule.items())
        summary: str = schedule.summary
        return summary

    def _repr_html_(self) -> str:
        """The trial in a notebook."""
        share, taken = self.peak_share, self.resources
        title = f"{self.problem.operator} {self.problem.key} on {self.device.model}"
        return facts(
            title,
            [
                ("status", f"{self.status}: {self.error}" if self.error else self.status),
                ("time", self.seconds and f"{duration(self.seconds)} {self.time_source}"),
                ("share of peak", share and Bar(share, f"{share:.1%}")),
                ("schedule", self.summary),
                ("resources", ", ".join(f"{name} {value}" for name, value in taken.items() if value)),
                ("compiler", self.compiler),
            ],
        )

    def _check_samples(self) -> None:
        if not isinstance(self.samples, tuple):
            raise ValueError(f"samples={short(self.samples)}: expected a sequence of seconds")
        for sample in self.samples:
            check_seconds("sample", sample)
        if self.status is Status.OK and not self.samples:
            raise ValueError("an ok trial needs at least one sample")

    def _check_created_at(self) -> None:
        if not isinstance(self.created_at, datetime) or self.created_at.tzinfo is None:
            raise ValueError(f"created_at={short(self.created_at)}: expected a time with its time zone")
        try:
            object.__setattr__(self, "created_at", self.created_at.astimezone(UTC))
        except OverflowError:
            raise ValueError(f"created_at={self.created_at}: expected a year from 1 to 9999 in UTC") from None


@dataclass(frozen=True)
class Tried:
    """What a run that continues from a trial needs to know of it.

    Attributes:
        study: the name of the study that it ended in; empty if there is none. The others are as in `Trial`.
    """

    schedule: Mapping[str, Any]
    schedule_digest: str
    status: Status
    seconds: float | None
    environment: Mapping[str, Any]
    compiler: str
    program_digest: str
    study: str = ""

    def __post_init__(self) -> None:
        for name in ("schedule", "environment"):
            check_json(name, getattr(self, name))
        if self.seconds is not None:
            check_seconds("seconds", self.seconds)
