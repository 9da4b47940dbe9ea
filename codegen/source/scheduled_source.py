"""The source of a kernel that has a schedule, put together."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.schedule import Schedule

from .arguments import cuda_arguments
from .emission import comment, launch_comment
from .schedule_struct import schedule_struct


def scheduled_source(
    title: str,
    schedule: Schedule,
    launch: Launch,
    members: Sequence[Argument],
    problem: str,
    body: str,
    entries: str,
) -> str:
    """What all such sources consist of, in their order.

    Args:
        title: the operator, and which problems the source serves.
        schedule: whose fields the body reads as members of ``struct Schedule``.
        launch: the first one.
        members: of ``struct Arguments``.
        problem: ``struct Problem``.
        body: what the entries call.
        entries: the kernels.
    """
    return f"""{comment(title)}
{comment(str(schedule))}
{launch_comment(launch)}

{cuda_arguments(members)}

{schedule_struct(schedule, body)}

{problem}

{body}
{entries}"""
