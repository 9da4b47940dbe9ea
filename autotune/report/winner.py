"""The fastest schedule of a group: its time, source and resources, and what limits its occupancy."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.listing import listing
from autotune.db.freshness import changed_program
from autotune.db.states import TimeSource
from autotune.db.trials import Trial
from autotune.search_spaces.contract.known import Known
from autotune.search_spaces.machine.occupancy_document import occupancy_document

from .resources import count
from .subject import Group

_BY_MODEL = ", by the time model"


def winner(group: Group, *, with_source: bool) -> dict[str, Any] | None:
    """The best trial as JSON values; None if there is none.

    Returns:
        ``micros``, ``schedule``, ``words`` (what of the schedule tells it apart), ``facts`` (by name), ``resources``,
        ``stale`` (why its program is another one today) and ``ratios`` (to baselines). Of a schedule that is legal
        today also ``command`` (which prints its source), ``grid`` (blocks of each launch), ``occupancy`` (of each
        entry) and ``source``; else these are empty.
    """
    best = group.best
    if best is None or best.seconds is None:
        return None
    document: dict[str, Any] = {
        "micros": best.seconds * 1e6,
        "schedule": dict(best.schedule),
        "facts": _facts(best),
        "resources": dict(best.resources),
        "stale": changed_program(best),
        "ratios": ratios(best),
        "words": best.summary,
        "command": "",
        "grid": [],
        "occupancy": [],
        "source": "",
    }
    schedule, known = group.known.schedule(best.schedule), group.known
    if schedule is None or known.operator.violations(known.problem, schedule, known.spec):  # another version's
        return document
    program = known.operator.program(known.problem, schedule, known.spec)
    registers, shared = count(best.resources, "registers"), count(best.resources, "shared_bytes")
    blocks = {
        launch.entry: Footprint(launch.threads, launch.shared_bytes + shared, registers) for launch in program.launches
    }
    return document | {
        "command": _emit(known, schedule),
        "grid": [launch.blocks for launch in program.launches],
        "occupancy": [occupancy_document(known.spec, *one) for one in blocks.items()] if registers else [],
        "source": listing(program) if with_source else "",
    }


def ratios(trial: Trial) -> dict[str, float]:
    """How many times as fast as each baseline that was measured alternately with it."""
    compared = trial.comparison
    return {name: seconds / compared.own for name, seconds in compared.others.items()} if compared else {}


def _emit(known: Known, schedule: Schedule) -> str:
    """The command line that prints the source."""
    problem = known.problem
    options: list[str] = []
    for field in fields(problem):
        value, option = getattr(problem, field.name), f"--{field.name.replace('_', '-')}"
        layout = field_specs(type(problem))[field.name].role is FieldRole.LAYOUT
        if value == (problem.usual(field.name) if layout else field.default):
            continue
        options += [option] if value is True else [option, str(value)]
    return " ".join(["autotune emit", known.operator.name, *options, str(schedule)])


def _facts(trial: Trial) -> dict[str, str]:
    """Where the time comes from."""
    told = {**trial.environment, **trial.conditions}
    names = {"driver": "driver", "cuda": "CUDA", "sm_mhz": "SM clock (MHz)", "celsius": "temperature (°C)"}
    facts = {"time": f"{trial.time_source}{_BY_MODEL * (trial.time_source is TimeSource.MODELLED)}"}
    facts |= {"compiler": trial.compiler} | {name: str(told[key]) for key, name in names.items() if key in told}
    if trial.samples:
        facts["samples"] = str(len(trial.samples))
    return facts | {"tried": f"{trial.created_at:%Y-%m-%d %H:%M} UTC"}
