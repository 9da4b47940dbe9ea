"""A kernel that Nsight Compute looks at: launched once to warm up, and once more while it counts.

python -m autotune.bench.profiled_launch GPU OPERATOR PROBLEM SCHEDULE, the last two as JSON.
"""

from __future__ import annotations

import json
import sys

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return
from autotune.compiler import compile_kernel
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.contract.registry import operator as registered


def main(ordinal: str, name: str, fields: str, schedule_fields: str) -> None:
    """Launch on random inputs; the result is not checked."""
    operator, device = registered(name), CudaDevice(int(ordinal))
    problem = operator.problem_type.from_dict(json.loads(fields))
    program = operator.program(problem, operator.schedule(json.loads(schedule_fields)), device.spec)
    kernel = compile_kernel(program, device.spec.arch)
    with device.session(operator, problem, seed=0) as session, session.prepared(program, kernel) as launch:
        launch()
        session.wait()
        handle_return(driver.cuProfilerStart())
        launch()
        session.wait()
        handle_return(driver.cuProfilerStop())


if __name__ == "__main__":
    main(*sys.argv[1:])
