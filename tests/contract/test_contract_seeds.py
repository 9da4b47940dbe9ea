"""Inputs of the problems that tests state follow from the seed alone."""

import os
import subprocess
import sys
from pathlib import Path

DIGESTS = """
import sys
from hashlib import sha256
from importlib import import_module
for name in sys.argv[1:]:
    for problem in getattr(import_module(name), "SMALL_PROBLEMS", ()):
        inputs = sorted(problem.inputs(seed=1).items())
        print(name, problem.key, *(sha256(array.tobytes()).hexdigest() for _, array in inputs))
"""


def test_inputs_follow_from_the_seed_alone_in_every_process():
    path = os.pathsep.join(sys.path)
    here = Path(__file__).parent
    modules = [f"{one.parent.name}.{one.stem}" for one in here.parent.glob("*/*_cases.py") if one.parent != here]
    made = [
        subprocess.run(
            [sys.executable, "-c", DIGESTS, *modules],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for hash_seed in ("1", "2")
    ]
    assert len(made[0]) > len(modules)
    assert made[0] == made[1]
