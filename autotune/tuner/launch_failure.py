"""A program: launch the kernel of a failure report once, under a sanitizer.

python -m autotune.tuner.launch_failure REPORT GPU
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..compiler import compile_kernel
from ..devices.cuda import CudaDevice
from ..devices.sanitizer_launch import run
from ..verification import launch_arrays
from .failed_candidate import FailedCandidate
from .failure_report import FailureReport


def main(report: str, ordinal: str) -> None:
    """Launch on the report's inputs and poisoned outputs; the result is not checked."""
    spec = CudaDevice(int(ordinal)).limits
    read = FailureReport.read(Path(report))
    candidate = FailedCandidate.of(read, spec)
    problem, program = candidate.problem, candidate.program
    arrays = launch_arrays(problem, read.seed)
    kernel = compile_kernel(program, spec.arch)
    run(program, problem.tensors, arrays, problem.scalars, kernel=kernel)


if __name__ == "__main__":
    main(*sys.argv[1:])
