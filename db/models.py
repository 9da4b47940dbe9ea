"""The tables, and how their rows become plain values.

The tables change by migrations only; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    CheckConstraint,
    DateTime,
    Dialect,
    Enum,
    Float,
    ForeignKey,
    Index,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from autotune.search_spaces.machine.calibration import Calibration

from .checks import NAME_LENGTH
from .comparison import BaselineTimes
from .run_record import RunRecord
from .states import Outcome, Status, TimeSource
from .trials import DeviceRecord, ProblemRecord, Trial


class Utc(TypeDecorator[datetime]):
    """A time in UTC, which the database holds without its zone: SQLite has no type for one."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database."""
        return value and value.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database."""
        return value and value.replace(tzinfo=UTC)


def _words(kind: type[StrEnum], name: str) -> Enum:
    """A column that holds the values of `kind`, by a CHECK constraint: not every database has enum types."""
    return Enum(kind, name=name, native_enum=False, create_constraint=True, values_callable=list, length=32)


class Base(DeclarativeBase):
    """All tables."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {str: String(NAME_LENGTH), dict[str, Any]: JSON, float: Float(53)}


class InfoRow(Base):
    """A fact about the database itself."""

    __tablename__ = "database_info"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class DeviceRow(Base):
    """A device model."""

    __tablename__ = "devices"

    id: Mapped[int] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(unique=True)
    compute_capability_major: Mapped[int]
    compute_capability_minor: Mapped[int]
    limits: Mapped[dict[str, Any]]

    @classmethod
    def of(cls, device: DeviceRecord) -> DeviceRow:
        """A new row."""
        major, minor = device.compute_capability
        return cls(
            model=device.model,
            compute_capability_major=major,
            compute_capability_minor=minor,
            limits=dict(device.limits),
        )

    @cached_property  # a device has thousands of trials
    def plain(self) -> DeviceRecord:
        """The row as a plain value."""
        capability = (self.compute_capability_major, self.compute_capability_minor)
        return DeviceRecord(self.model, capability, self.limits)


class CalibrationRow(Base):
    """A calibration of a device."""

    __tablename__ = "calibrations"

    id: Mapped[int] = mapped_column(primary_key=True)
    device_id: Mapped[int] = mapped_column(ForeignKey(DeviceRow.id))
    uuid: Mapped[str]
    driver: Mapped[str]
    environment: Mapped[dict[str, Any]]
    conditions: Mapped[dict[str, Any]]
    figures: Mapped[dict[str, Any]]
    curves: Mapped[dict[str, Any]]
    taken_at: Mapped[datetime] = mapped_column(Utc, index=True)

    device: Mapped[DeviceRow] = relationship(lazy="joined", innerjoin=True)

    @classmethod
    def of(cls, calibration: Calibration, device_id: int) -> CalibrationRow:
        """A new row."""
        plain = {name: dict(getattr(calibration, name)) for name in _MEASURED}
        told = {name: calibration.environment.get(name, "") for name in ("uuid", "driver")}
        return cls(device_id=device_id, taken_at=calibration.taken_at, **told, **plain)

    @property
    def plain(self) -> Calibration:
        """The row as a plain value."""
        return Calibration.from_dict(
            {name: getattr(self, name) for name in _MEASURED}
            | {"device": self.device.model, "taken_at": self.taken_at.isoformat()}
        )


_MEASURED = ("environment", "conditions", "figures", "curves")


class ProblemRow(Base):
    """A problem of an operator."""

    __tablename__ = "problems"
    __table_args__ = (UniqueConstraint("operator", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    operator: Mapped[str]
    key: Mapped[str]
    fields: Mapped[dict[str, Any]]

    @classmethod
    def of(cls, problem: ProblemRecord) -> ProblemRow:
        """A new row."""
        return cls(operator=problem.operator, key=problem.key, fields=dict(problem.fields))

    @property
    def plain(self) -> ProblemRecord:
        """The row as a plain value."""
        return ProblemRecord(self.operator, self.key, self.fields)


class RunRow(Base):
    """A tuning run."""

    __tablename__ = "runs"
    __table_args__ = (CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="ended_has_outcome"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    command: Mapped[str] = mapped_column(Text)
    operator: Mapped[str]
    options: Mapped[dict[str, Any]]
    sampler: Mapped[str]
    seed: Mapped[int]
    devices: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    begun_at: Mapped[datetime] = mapped_column(Utc, index=True)
    ended_at: Mapped[datetime | None] = mapped_column(Utc)
    outcome: Mapped[Outcome | None] = mapped_column(_words(Outcome, "outcome"))
    error: Mapped[str] = mapped_column(Text)
    counts: Mapped[dict[str, Any]]

    @classmethod
    def of(cls, run: RunRecord) -> RunRow:
        """A new row."""
        plain = {"options": dict(run.options), "devices": [dict(one) for one in run.devices], "counts": {}}
        return cls(**{name: getattr(run, name) for name in _RUN} | plain)

    def plain(self, counts: Mapping[str, int], *, alive: bool) -> RunRecord:
        """The row as a plain value: with its counts so far if it has not ended, and whether its process is there."""
        same = {name: getattr(self, name) for name in _RUN}
        return RunRecord(**same | {"counts": counts if self.outcome is None else self.counts}, alive=alive)


_RUN = [field.name for field in fields(RunRecord) if field.name != "alive"]


class StudyRow(Base):
    """What tuners share who may use each other's times: a problem on a device model; see `StoredStudy`."""

    __tablename__ = "studies"
    __table_args__ = (UniqueConstraint("problem_id", "device_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    problem_id: Mapped[int] = mapped_column(ForeignKey(ProblemRow.id))
    device_id: Mapped[int] = mapped_column(ForeignKey(DeviceRow.id))
    name: Mapped[str]


class ClaimRow(Base):
    """A schedule of a study that a tuner is trying, or was until it ended."""

    __tablename__ = "claims"
    __table_args__ = (UniqueConstraint("study_id", "schedule_digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey(StudyRow.id))
    schedule: Mapped[dict[str, Any]]
    schedule_digest: Mapped[str]
    run_id: Mapped[str] = mapped_column(ForeignKey(RunRow.id))
    tuner: Mapped[str]
    until: Mapped[datetime] = mapped_column(Utc)
    tries: Mapped[int]


# The columns that tell trials apart.
KEY = ("device_id", "problem_id", "schedule_digest", "time_source", "program_digest", "compiler")


class TrialRow(Base):
    """A trial."""

    __tablename__ = "trials"
    __table_args__ = (
        UniqueConstraint(*KEY),
        Index("study_number", "study_id", "number", unique=True),
        # The fastest of a problem are found without a look at the others.
        Index("fastest", "device_id", "problem_id", "status", "time_source", "compiler", "seconds"),
        CheckConstraint("seconds > 0", name="seconds_positive"),
        CheckConstraint("status <> 'ok' OR seconds IS NOT NULL", name="ok_has_seconds"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    problem_id: Mapped[int] = mapped_column(ForeignKey(ProblemRow.id))
    device_id: Mapped[int] = mapped_column(ForeignKey(DeviceRow.id))
    run_id: Mapped[str | None] = mapped_column(ForeignKey(RunRow.id), index=True)
    schedule: Mapped[dict[str, Any]]
    schedule_digest: Mapped[str]
    status: Mapped[Status] = mapped_column(_words(Status, "status"))
    time_source: Mapped[TimeSource] = mapped_column(_words(TimeSource, "time_source"))
    seconds: Mapped[float | None]
    samples: Mapped[list[float]] = mapped_column(JSON)
    error: Mapped[str] = mapped_column(Text)
    max_error: Mapped[float | None]
    resources: Mapped[dict[str, Any]]
    environment: Mapped[dict[str, Any]]
    conditions: Mapped[dict[str, Any]]
    lost_to: Mapped[str]
    comparison: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    compiler: Mapped[str]
    program_digest: Mapped[str]
    machine_code_digest: Mapped[str] = mapped_column(server_default=text("''"))
    study_id: Mapped[int | None] = mapped_column(ForeignKey(StudyRow.id))
    number: Mapped[int | None]  # in its study, by the order in which trials ended
    created_at: Mapped[datetime] = mapped_column(Utc, index=True)

    problem: Mapped[ProblemRow] = relationship(lazy="joined", innerjoin=True)
    device: Mapped[DeviceRow] = relationship(lazy="joined", innerjoin=True)

    @property
    def plain(self) -> Trial:
        """The row as a plain value.

        Raises:
            ValueError: it holds what autotune never writes.
        """
        same = {name: getattr(self, name) for name in _SAME}
        try:
            compared = None if self.comparison is None else BaselineTimes.from_dict(self.comparison)
            own = {"samples": tuple(self.samples), "comparison": compared, "run": self.run_id}
            return Trial(self.device.plain, self.problem.plain, **own | same)
        except (TypeError, ValueError) as error:
            raise ValueError(f"trial {self.id}: {error}") from error


# What a trial and its row both have, by the same names and with the same values.
_OTHERWISE = ("device", "problem", "run", "samples", "comparison")
_SAME = [field.name for field in fields(Trial) if field.name not in _OTHERWISE]


def outcome(trial: Trial) -> dict[str, Any]:
    """The columns that are set when a trial is made and again when it is replaced."""
    same = {name: getattr(trial, name) for name in _SAME}
    plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in same.items()}
    compared = trial.comparison and trial.comparison.to_dict()
    return {**plain, "seconds": trial.seconds, "samples": list(trial.samples), "comparison": compared}
