"""The first call of a process, part by part. Run as a module, it is that process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping

CUDA = "CUDA's own initialisation"
_PROCESSES = 4  # the first one compiles into the cache


def first_call(sizes: tuple[int, int, int], database: str | None) -> Mapping[str, float]:
    """Seconds of each part from the start of a process to the first result of an sgemm on GPU 0, kernels cached.

    Of some processes the quickest: what else the machine does is no part of it.

    Args:
        sizes: m, n and k.
        database: where the records are; by default those of the environment.

    Raises:
        subprocess.CalledProcessError: a process failed.
    """
    environment = os.environ | ({"AUTOTUNE_DB": database} if database else {})
    runs: list[dict[str, float]] = []
    for _ in range(_PROCESSES):
        command = [sys.executable, "-m", __name__, repr(time.monotonic()), *map(str, sizes)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return min(runs[1:], key=own_seconds)


def own_seconds(parts: Mapping[str, float]) -> float:
    """The sum of all parts but CUDA's own."""
    return sum(seconds for name, seconds in parts.items() if name != CUDA)


def _run(begun: float, m: int, n: int, k: int) -> dict[str, float]:
    parts: dict[str, float] = {}

    def done(part: str) -> None:
        nonlocal begun
        now = time.monotonic()
        parts[part], begun = now - begun, now

    done("Python's start")
    from cuda.core import Device
    from cuda.core.utils import StridedMemoryView

    done("import cuda.core")  # and NumPy with it: whoever has an array has imported its library
    from ...dispatcher.calls.bound_call import plan
    from ...dispatcher.targets.factory import target

    done("import autotune.dispatcher")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    buffers = [device.allocate(4 * size, stream=stream) for size in (m * k, k * n, m * n)]
    stream.sync()
    done(CUDA)
    import numpy as np

    shapes = ((m, k), (k, n), (m, n))
    a, b, c = (
        StridedMemoryView.from_buffer(buffer, shape=shape, dtype=np.dtype("float32"))
        for buffer, shape in zip(buffers, shapes, strict=True)
    )
    limits = target(0).limits
    from ...dispatcher.choice.records import records
    from ...search_spaces.registry import operator

    records(operator("sgemm"), limits)
    done("read the records")
    step = plan("sgemm", a, b, out=c, stream=stream)
    done("choose and load")
    step()
    stream.sync()
    done("launch")
    return parts


if __name__ == "__main__":
    print(json.dumps(_run(float(sys.argv[1]), *map(int, sys.argv[2:]))))
