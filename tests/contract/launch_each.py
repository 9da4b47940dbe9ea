"""A program: launch each of the kernels of a file once on GPU 0, for a tool that watches."""

import pickle
import sys
from pathlib import Path

from cuda.core import Device

from autotune.devices.sanitizer_launch import run
from autotune.verification import launch_arrays


def main(file):
    """Read pickled tuples of a problem, a source and a compiled kernel, and say which one comes next."""
    Device(0).set_current()
    for problem, program, kernel in pickle.loads(Path(file).read_bytes()):
        print(f"launching {program.name} for {problem.key}: {program.steps}", flush=True)
        arrays = launch_arrays(problem, seed=1)
        run(program, problem.tensors, arrays, problem.scalars, kernel=kernel)


if __name__ == "__main__":
    main(sys.argv[1])
