"""The T1 format of the auto-tuning community: a description of a search space and of its kernel.

It is what the JSON schema of github.com/odgaard/TuningSchema says, which KTT has, too. T1 states sizes of launches and
constraints as expressions of the parameters. Here they are Python functions, so sizes are those of one schedule, and
there are no conditions: a T4 file of the same recording says which configurations are invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from autotune.devices.recording import Recording
from autotune.search_spaces.contract.space import Parameter

_TYPES = {bool: "bool", int: "int", float: "float"}


def t1_document(recording: Recording) -> dict[str, Any]:
    """The search space of a recording, and the kernel of its fastest schedule."""
    operator, problem, spec = recording.operator, recording.problem, recording.spec
    fastest = min(recording.trials, key=lambda schedule: recording.seconds.get(schedule, inf))
    program = operator.program(problem, fastest, spec)
    launch = program.launches[0]
    return {
        "ConfigurationSpace": {"TuningParameters": list(map(_parameter, operator.space(problem, spec).parameters))},
        "General": {"TimeUnit": "Milliseconds"},
        "KernelSpecification": {
            "Device": {"Id": 0, "Name": spec.name},
            "Language": "CUDA",
            "CompilerOptions": ["--std=c++17", f"--gpu-architecture={spec.arch}{program.arch_suffix}"],
            "KernelName": launch.entry,
            "KernelFile": f"{operator.name}.cu",
            "GlobalSizeType": "CUDA",
            "GlobalSize": _size(launch.grid),
            "LocalSize": _size(launch.block),
            "SharedMemory": launch.shared_bytes,
        },
    }


def _parameter(parameter: Parameter) -> dict[str, str]:
    """A parameter; its values are a Python list in a string."""
    values = [value if type(value) in _TYPES else str(value) for value in parameter.values]
    return {"Name": parameter.name, "Type": _TYPES.get(type(values[0]), "string"), "Values": repr(values)}


def _size(extents: Sequence[int]) -> dict[str, str]:
    return {axis: str(extent) for axis, extent in zip("XYZ", extents, strict=True)}
