"""A tuning run as a plain frozen value, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from .checks import check_json, check_name, check_text
from .states import Outcome

SEVERAL = "several"  # the operator of a run that is of more than one
_DIGITS = 8


def new_id() -> str:
    """A name for a run: eight hexadecimal digits at random, since runs on many hosts share a database."""
    return uuid4().hex[:_DIGITS]


def is_id(name: str) -> bool:
    """Whether it could be the id of a run, which names files: a database from elsewhere may have any text there."""
    return len(name) == _DIGITS and set(name) <= set("0123456789abcdef")


@dataclass(frozen=True)
class RunRecord:
    """One command that tunes or records, or one call of `autotune.tune`.

    Attributes:
        command: the command line; ``autotune.tune()`` for a call.
        operator: what was tuned; `SEVERAL` if it was more than one.
        options: all options but sampler and seed, as JSON values.
        sampler, seed: what proposed schedules, and where its random numbers began.
        devices: of each device its selector, model, host and environment (driver, UUID, …).
        id: eight hexadecimal digits; trials of the database and of Optuna's studies have it, too.
        begun_at: with a time zone; stored as UTC.
        ended_at, outcome: None until the run ends, and for ever if it was killed.
        error: one line that says why it failed, empty if it did not.
        counts: its trials by status: at its end, or so far.
        alive: whether its process is there.

    Raises:
        ValueError: one line, if a value is of the wrong type.
    """

    command: str
    operator: str
    options: Mapping[str, Any]
    sampler: str
    seed: int
    devices: Sequence[Mapping[str, Any]]
    id: str = field(default_factory=new_id)
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    alive: bool = False

    def __post_init__(self) -> None:
        for name in ("id", "operator", "sampler"):
            check_name(name, getattr(self, name))
        for name in ("command", "error"):
            check_text(name, getattr(self, name))
        for name in ("options", "counts"):
            check_json(name, getattr(self, name))
        for one in self.devices:
            check_json("device", one)

    @property
    def only(self) -> str | None:
        """The operator that was tuned; None if it was more than one."""
        return None if self.operator == SEVERAL else self.operator

    @property
    def state(self) -> str:
        """``running``, how it ended, or ``killed`` if it could not say so."""
        return self.outcome or ("running" if self.alive else "killed")

    @property
    def seconds(self) -> float | None:
        """How long it took; None if that is not known."""
        return (self.ended_at - self.begun_at).total_seconds() if self.ended_at else None
