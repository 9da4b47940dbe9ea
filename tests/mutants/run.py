"""A mutant's tests, run in a copy of the tree that has the bug."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import NamedTuple

from autotune.base.files import locked_folder, sweep
from tests.mutants.cache import CACHE, FOLDER, copy_runtime
from tests.mutants.emulated import cases_with
from tests.mutants.mutant import ROOT, Mutant

_LEFT_OUT = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
_PASSED, _FAILED, _STOPPED = 0, 1, 2  # exit codes of pytest
_TEXT = "NothingToReplaceError"  # the source of a kernel lacks what a test wants to replace: no verdict on the kernel


class Verdict(NamedTuple):
    """What became of a mutant.

    Attributes:
        status: ``caught``; ``text`` where tests of planted bugs alone fail, for want of the text that they replace;
            ``survived``; ``hung`` where no test failed in time; ``broken`` where the tests could not be run or the
            mutant does not compile.
        seconds: that it took.
        why: the first failure in pytest's words.
    """

    status: str
    seconds: float
    why: str


class Trees:
    """Copies of the tree, one for each mutant that is tried at a time; a context manager that removes them."""

    def __init__(self, jobs: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._copies = [_copy() for _ in range(jobs)]
        self._times = count(2**30)

    def __enter__(self) -> Trees:
        for copy in self._copies:
            self._free.put(copy.__enter__())
        return self

    def __exit__(self, *error: object) -> None:
        for copy in self._copies:
            copy.__exit__(None, None, None)

    def verdict(self, mutant: Mutant, seconds: float = 600) -> Verdict:
        """Plant a mutant in a copy and run its tests there; those of contract cases first.

        Kernels of the tree are not taken for those of the mutant: its caches are empty but for the emulator's runtime,
        which goes by the digest of all that it is built of. Bytecode goes by the time of a file, which is always a new
        one.
        """
        began = monotonic()
        tree = self._free.get()
        try:
            with self._planted(tree, mutant), tempfile.TemporaryDirectory(dir=tree.parent) as temporary:
                Path(temporary).chmod(0o755)  # PostgreSQL's user must get there
                copy_runtime(Path(temporary, FOLDER.name, CACHE))
                code, said = _emulated(tree, mutant, seconds) if mutant.code else (_PASSED, "")
                if code == _PASSED and mutant.cases:
                    code, said = _tested(tree, mutant, Path(temporary), seconds)
        finally:
            self._free.put(tree)
        return Verdict(_status(mutant, code, said), monotonic() - began, said)

    @contextmanager
    def _planted(self, tree: Path, mutant: Mutant) -> Iterator[None]:
        path, right = tree / mutant.file, (tree / mutant.file).read_text()
        try:
            self._write(path, mutant.mutated)
            yield
        finally:
            self._write(path, right)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        time = next(self._times)
        os.utime(path, (time, time))


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
    imports = code == _STOPPED and mutant.file.endswith(".py") and said.startswith("ERROR")  # a module fails
    if not (code in (_PASSED, _FAILED) or imports) or refused:
        return "broken"
    return "survived" if code == _PASSED else "text" if _TEXT in said else "caught"


def _emulated(tree: Path, mutant: Mutant, seconds: float) -> tuple[int | None, str]:
    """What contract cases say whose source has the line; kernels of the same source are the same."""
    cases = cases_with(mutant.code)
    return _run(["-m", "tests.mutants.emulated"], tree, os.environ, seconds, pickle.dumps(cases)) if cases else (0, "")


def _tested(tree: Path, mutant: Mutant, temporary: Path, seconds: float) -> tuple[int | None, str]:
    """The first failure; after one for want of a text, the first other one, if there is any."""
    code, said = _pytest(tree, mutant.cases, mutant.only, temporary, seconds, ["-x"])
    if _TEXT in said:
        _, all_said = _pytest(tree, mutant.cases, mutant.only, temporary, seconds, [])
        said = next((line for line in all_said.splitlines() if _TEXT not in line), said)
    return code, said.partition("\n")[0]


def failing(mutants: Iterable[Mutant], jobs: int) -> str:
    """The first of some mutants' tests that fails without them, in pytest's words; empty if all pass."""
    cases: dict[str, dict[str, None]] = {}
    for mutant in mutants:
        cases.setdefault(mutant.only, {}).update(dict.fromkeys(mutant.cases))
    for only, listed in cases.items():
        code, said = _pytest(ROOT, list(listed), only, Path(tempfile.gettempdir()), None, ["-x", "-n", str(jobs)])
        if code != _PASSED:
            return said or f"pytest ended with exit code {code}"
    return ""


def _pytest(
    tree: Path, cases: Sequence[str], only: str, temporary: Path, seconds: float | None, words: list[str]
) -> tuple[int | None, str]:
    """The exit code, None after a timeout, and the failures, a line each."""
    words = ["-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-k", only, *words]
    words.append("--hypothesis-profile=mutants")  # shrinking takes minutes, and any failure will do
    environment = os.environ | {"TMPDIR": str(temporary), "COLUMNS": "400"}
    return _run([*words, *(f"tests/{case}" for case in cases)], tree, environment, seconds)


def _run(
    words: list[str],
    tree: Path,
    environment: dict[str, str] | os._Environ[str],
    seconds: float | None,
    sent: bytes = b"",
) -> tuple[int | None, str]:
    """Python's exit code in a tree, None after a timeout, and its lines about failures."""
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=tree,
        env={**environment} | {"PYTHONPATH": f"{tree}:{tree / 'tests'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(sent, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"no test failed within {seconds:.0f} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    lines = said.decode(errors="replace").splitlines()
    return process.returncode, "\n".join(line for line in lines if line.startswith(("FAILED ", "ERROR")))
