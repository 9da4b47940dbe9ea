"""The first call of a process, part by part. Run as a module, it is that process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.search_spaces.contract.operator import Operator

CUDA = "CUDA's own initialisation"
_PROCESSES = 4  # the first one compiles into the cache


def first_call(operator: Operator[Any, Any], problem: Problem, database: str | None) -> Mapping[str, float]:
    """Seconds of each part from the start of a process to the first result of a problem on GPU 0, kernels cached.

    The quickest of a few processes counts: what else the machine does is no part of it.

    Args:
        operator, problem: what is computed.
        database: where the records are; by default those of the environment.

    Raises:
        ValueError: no call is known to compute the problem.
        subprocess.CalledProcessError: a process failed.
    """
    call = json.dumps(described(operator, problem))
    environment = os.environ | ({"AUTOTUNE_DB": database} if database else {})
    runs: list[dict[str, float]] = []
    for _ in range(_PROCESSES):
        command = [sys.executable, "-m", __name__, repr(time.monotonic()), call]
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        runs.append(json.loads(done.stdout))
    return min(runs[1:], key=own_seconds)


def own_seconds(parts: Mapping[str, float]) -> float:
    """The sum of all parts but CUDA's own."""
    return sum(seconds for name, seconds in parts.items() if name != CUDA)


def described(operator: Operator[Any, Any], problem: Problem) -> dict[str, Any]:
    """The call that computes a problem as JSON values: each array by its bytes, shape, strides and dtype.

    Raises:
        ValueError: none is known.
    """
    from .example_call import example_call

    example = example_call(operator, problem)
    arrays = {
        name: {
            "bytes": tensor.bytes,
            "shape": example.shape(name),
            "strides": example.strides(name),
            "dtype": tensor.dtype,
        }
        for name, tensor in example.tensors.items()
    }
    bound = example.bound(arrays)
    return {"operator": operator.name, "args": bound.args, "kwargs": bound.kwargs}


def _run(begun: float, call: dict[str, Any]) -> dict[str, float]:
    parts: dict[str, float] = {}

    def done(part: str) -> None:
        nonlocal begun
        now = time.monotonic()
        parts[part], begun = now - begun, now

    done("Python's start")
    from cuda.core import Device

    done("import cuda.core")  # and NumPy with it: whoever has an array has imported its library
    from autotune.dispatcher.calls.bound_call import plan
    from autotune.dispatcher.targets.factory import target

    done("import autotune.dispatcher")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    args, kwargs = _allocated([call["args"], call["kwargs"]], device, stream)
    stream.sync()
    done(CUDA)
    from autotune.dispatcher.choice.records import records
    from autotune.search_spaces.contract.registry import operator

    records(operator(call["operator"]), target(0).spec)
    done("read the records")
    step = plan(call["operator"], *args, stream=stream, **kwargs)
    done("choose and load")
    step()
    stream.sync()
    done("launch")
    return parts


def _allocated(described: Any, device: Any, stream: Any) -> Any:
    """What `described` describes, with arrays of cuda.core, and tuples for lists."""
    from cuda.core.utils import StridedMemoryView

    from autotune.codegen.model.dtype import DType

    if isinstance(described, list):
        return tuple(_allocated(one, device, stream) for one in described)
    if not isinstance(described, dict):
        return described
    if "bytes" not in described:
        return {name: _allocated(one, device, stream) for name, one in described.items()}
    buffer = device.allocate(max(1, described["bytes"]), stream=stream)
    shape, strides = tuple(described["shape"]), tuple(described["strides"])
    return StridedMemoryView.from_buffer(buffer, shape, strides, dtype=DType(described["dtype"]).numpy)


if __name__ == "__main__":
    print(json.dumps(_run(float(sys.argv[1]), json.loads(sys.argv[2]))))
