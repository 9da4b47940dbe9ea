"""A program: launch the candidate of a bundle once, for a tool that watches.

python -m autotune.tuner.launch_once BUNDLE GPU
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..codegen.tensor import Role
from ..compiler import compile_kernel
from ..devices.bare_launch import run
from ..devices.cuda import CudaDevice
from ..verification import poisoned
from .bundle import Bundle
from .replay import Candidate


def main(bundle: str, ordinal: str) -> None:
    """Launch on the bundle's inputs and poisoned outputs; what comes out is nobody's business."""
    limits = CudaDevice(int(ordinal)).limits
    read = Bundle.read(Path(bundle))
    candidate = Candidate.of(read, limits)
    problem, program = candidate.problem, candidate.program
    outputs = {t.name: poisoned(t) for t in problem.tensors if t.role is Role.OUTPUT}
    kernel = compile_kernel(program, limits.arch)
    run(program, problem.tensors, problem.inputs(read.seed) | outputs, problem.scalars, kernel=kernel)


if __name__ == "__main__":
    main(*sys.argv[1:])
