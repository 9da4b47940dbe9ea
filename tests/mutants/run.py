"""A mutant's tests, run in a copy of the tree that has the bug."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from autotune.base.files import locked_folder, sweep
from tests.mutants.cache import CACHE, FOLDER, copy_runtime
from tests.mutants.mutant import ROOT, Mutant

_SECONDS = 600  # of a machine that is busy, too
_LEFT_OUT = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
_PASSED, _FAILED = 0, 1  # exit codes of pytest


class Verdict(NamedTuple):
    """What became of a mutant.

    Attributes:
        status: ``caught``, ``survived``, ``hung`` where no test failed in time, or ``broken`` where the tests could not
            be run or the mutant does not compile.
        seconds: that it took.
        why: the first failure in pytest's words.
    """

    status: str
    seconds: float
    why: str


def verdict(mutant: Mutant) -> Verdict:
    """Plant a mutant in a new copy of the tree and run its tests there.

    Bytecode and kernels of the tree are not taken for those of the mutant: bytecode is not copied, and its caches are
    empty but for the emulator's runtime, which goes by the digest of all that it is built of.
    """
    began = monotonic()
    with _copy() as tree:
        temporary = tree.with_name("tmp")
        (tree / mutant.file).write_text(mutant.mutated)
        copy_runtime(temporary / FOLDER.name / CACHE)
        code, said = _pytest(tree, mutant.cases, mutant.only, temporary)
    return Verdict(_status(mutant, code, said), monotonic() - began, said)


def failing(mutants: Iterable[Mutant], jobs: int) -> str:
    """The first of some mutants' tests that fails without them, in pytest's words; empty if all pass."""
    cases: dict[str, dict[str, None]] = {}
    for mutant in mutants:
        cases.setdefault(mutant.only, {}).update(dict.fromkeys(mutant.cases))
    with _copy() as tree:
        for only, listed in cases.items():
            code, said = _pytest(tree, listed, only, Path(tempfile.gettempdir()), None, jobs)
            if code != _PASSED:
                return said or f"pytest ended with exit code {code}"
    return ""


@contextmanager
def _copy() -> Iterator[Path]:
    """A copy of the tree in a folder of its own, which tests may read as another user.

    What runs that were killed have left goes first.
    """
    copies = Path(tempfile.gettempdir(), f"autotune-mutants-{os.getuid()}")
    copies.mkdir(exist_ok=True)
    sweep(copies)
    with locked_folder(copies / "mutant") as folder:
        folder.chmod(0o755)
        yield Path(shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=_LEFT_OUT))


def _status(mutant: Mutant, code: int | None, said: str) -> str:
    if code is None:
        return "hung"
    refused = not mutant.file.endswith(".py") and ("CompileError" in said or "HostCompilerMissingError" in said)
    if code not in (_PASSED, _FAILED) or refused:
        return "broken"
    return "survived" if code == _PASSED else "caught"


def _pytest(
    tree: Path, cases: Iterable[str], only: str, temporary: Path, seconds: float | None = _SECONDS, jobs: int = 0
) -> tuple[int | None, str]:
    """The exit code, None after a timeout, and the first failure; the tests run in so many processes, or in one."""
    words = ["-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-n", str(jobs), "-k", only]
    words.append("--hypothesis-profile=mutants")  # shrinking takes minutes, and any failure will do
    process = subprocess.Popen(
        [sys.executable, *words, *(f"tests/{case}" for case in cases)],
        cwd=tree,
        env=os.environ
        | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary), "COLUMNS": "400"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"no test failed within {seconds} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, next((line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR"))), "")
