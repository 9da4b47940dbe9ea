"""The program of kernels that have no schedule, put together: naive ones and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch, Step
from autotune.codegen.model.program import Program

from .arguments import cuda_arguments
from .emission import comment


def plain_program(
    title: str,
    members: Sequence[Argument],
    problem: str,
    body: str,
    calls: Mapping[Launch, str],
    workspace_bytes: int = 0,
    steps: Sequence[Step] = (),
) -> Program:
    """What all such programs consist of, in their order.

    Args:
        title: the operator, which problems the source serves, and how.
        members: of ``struct Arguments``.
        problem: ``struct Problem``.
        body: what the entries call.
        calls: the statement that is the entry of each launch.
        workspace_bytes: see `Program`.
        steps: what runs, if not each launch once: with memsets and repetitions, and with arguments of their own.
    """
    entries = "".join(
        f'extern "C" __global__ void __launch_bounds__({launch.threads}) {launch.entry}(const Arguments arguments) {{\n'
        f"  {call}\n}}\n"
        for launch, call in calls.items()
    )
    source = f"""{comment(title)}

{cuda_arguments(members)}

{problem}

{body}
{entries}"""
    return Program(source, tuple(members), tuple(steps or calls), workspace_bytes)
