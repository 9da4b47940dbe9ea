"""Inputs of the problems that tests state follow from the seed alone."""

import os
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

DIGESTS = """
import sys
from autotune.contract.test_contract_seeds import digests
print(*digests(sys.argv[1:]), sep="\\n")
"""


def digests(modules):
    for name in modules:
        for problem in getattr(import_module(name), "SMALL_PROBLEMS", ()):
            inputs = sorted(problem.inputs(seed=1).items())
            yield " ".join([name, problem.key, *(sha256(array.tobytes()).hexdigest() for _, array in inputs)])


def test_inputs_follow_from_the_seed_alone_in_every_process():
    path = os.pathsep.join(sys.path)
    here = Path(__file__).parent
    modules = [f"{one.parent.name}.{one.stem}" for one in here.parent.glob("*/*_cases.py") if one.parent != here]
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    elsewhere = subprocess.run(
        [sys.executable, "-c", DIGESTS, *modules],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": other},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert len(elsewhere) > len(modules)
    assert elsewhere == [*digests(modules)]
