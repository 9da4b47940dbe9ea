"""What the source of a kernel of rows is specialised for, as its vectors lie in them, and which rows it serves."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.schedule import Specialize

from .problem import RowProblem
from .schedule import RowSchedule, RowStorage


def vector_facts(
    problem: RowProblem, schedule: RowSchedule, own: Mapping[str, int] | None = None, *, masked: bool = False
) -> dict[str, int | str]:
    """See docs/rows.md.

    Args:
        problem, schedule: what is emitted.
        own: an operator's, such as the width of accesses to other arrays.
        masked: whether elements of a row may count for nothing.
    """
    skewed, ragged = schedule.skewed(problem), problem.columns % schedule.vector_width != 0
    return {
        "skewed": skewed,
        "ragged": ragged,
        "partial": skewed or ragged or masked,
        "scattered": not problem.alike(schedule.vector_width),
        "exchanged": schedule.exchanges(problem),
        "heads_first": False,
        "bulk": False,
        **(own or {}),
        "rounds": schedule.rounds_in(problem),
        "held_at": schedule.held_at,
    }


def served(problem: RowProblem, schedule: RowSchedule, rows: str) -> str:
    """The problems that a source serves, one or all of a kind: equal sources say the same.

    Args:
        problem, schedule: what is emitted.
        rows: what a source computes of them that is not specialised for their shape.
    """
    if schedule.specialize is Specialize.SHAPE:
        return problem.key
    facts, step = vector_facts(problem, schedule), schedule.row_step
    if schedule.hold is not RowStorage.RELOAD:
        rounds, skew = schedule.rounds_in(problem), schedule.reach_in(problem) - problem.columns
        rows += f", of {max(0, (rounds - 1) * step + 1 - skew)} to {rounds * step - skew} columns"
    if schedule.vector_width > 1 and not facts["ragged"]:
        rows += f", a multiple of {schedule.vector_width}"
    if facts["skewed"]:
        rows += ", that begin between vectors"
    if facts["exchanged"]:
        rows += ", exchanged among lanes"
    elif facts["scattered"]:
        rows += ", stored one by one"
    return rows
