"""From how many keys on a GPU sorts sooner than NumPy on its host: radix_sort beside numpy.sort, of float32.

    python benchmarks/crossover.py DEVICE RESULT.json [LARGEST=24]

For 2^10, 2^12, … 2^LARGEST keys, the result has the seconds of the kernel, of the kernel with copies of the keys from
the host and back, and of numpy.sort, which need not be stable. `pictures.py` draws them. The kernel is verified first.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from cuda.bindings import driver
from side_by_side import compiled

from autotune.base.cuda_core import handle_return
from autotune.base.files import write_text
from autotune.codegen.model.dtype import DType
from autotune.compile_pool import CompilePool
from autotune.db import Status
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.contract.registry import operator

SORT = operator("radix_sort")
SAMPLES, SECONDS = 15, 0.3  # of each size, as many samples as take so long, and three at least


def main(selector: str, path: str, largest: str = "24") -> None:
    """Measure each size, and write the result."""
    device = CudaDevice(int(selector))
    with CompilePool() as pool:
        sizes = [_measured(device, pool, 1 << exponent) for exponent in range(10, int(largest) + 1, 2)]
    result = {
        "operator": SORT.name,
        "device": device.spec.name,
        "environment": {**device.environment, "numpy": np.__version__, "host": _processor()},
        "sizes": sizes,
    }
    write_text(Path(path), json.dumps(result, indent=1) + "\n")


def _measured(device: CudaDevice, pool: CompilePool, columns: int) -> dict[str, float]:
    problem = SORT.problem_type(columns, dtype=DType.FLOAT32)
    kernel = compiled(SORT, problem, device, pool, SORT.default(problem, device.spec))
    keys = problem.inputs(0)["keys"]
    target = np.empty_like(keys)
    with device.session(SORT, problem, seed=0) as session, session.prepared(*kernel[1:]) as launch:
        found = session.verify(launch)
        if found.status is not Status.OK:
            sys.exit(f"{columns} keys: {found.status}: {found.error}")
        alone = median(session.sample(launch) for _ in range(SAMPLES))

        def with_copies() -> None:
            handle_return(driver.cuMemcpyHtoD(session.pointer("keys"), keys.ctypes.data, keys.nbytes))
            launch()
            session.wait()
            handle_return(driver.cuMemcpyDtoH(target.ctypes.data, session.pointer("keys_out"), keys.nbytes))

        times = {"gpu": alone, "gpu with copies": _seconds(with_copies), "numpy": _seconds(lambda: np.sort(keys))}
    print(f"{columns:9} keys ", *(f"{name} {1e6 * one:.1f} µs" for name, one in times.items()), flush=True)
    return {"keys": columns, **times}


def _seconds(call: Callable[[], object]) -> float:
    """The median of a call on the host."""
    call()
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < SAMPLES and sum(taken) < SECONDS):
        begun = perf_counter()
        call()
        taken.append(perf_counter() - begun)
    return median(taken)


def _processor() -> str:
    """The host's, as Linux names it, and how many of its cores this process may use."""
    named = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{named[0].partition(':')[2].strip() if named else 'unknown'}, {len(os.sched_getaffinity(0))} cores"


if __name__ == "__main__":
    main(*sys.argv[1:])
