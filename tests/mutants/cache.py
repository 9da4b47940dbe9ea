"""The tests' own cache, and new ones that begin with its runtime of the emulator, which takes seconds to build."""

import os
import shutil
import tempfile
from pathlib import Path

from autotune.emulator.build import RUNTIME, host_compiler, runtime

# Kernels are cached from a run to the next.
FOLDER = Path(tempfile.gettempdir()) / f"autotune-tests-{os.getuid()}"
CACHE = "cache"
_RUNTIMES = 3  # of this tree one at most; others may run tests of theirs


def copy_runtime(new: Path) -> None:
    """Copy the newest runtimes to a new cache, and the secret by which they are known to be intact."""
    own = FOLDER / CACHE
    (new / "emulator").mkdir(parents=True)
    runtimes = sorted(own.glob(f"emulator/{RUNTIME}*"), key=lambda path: path.stat().st_mtime)
    for kept in (*own.glob("secret"), *runtimes[-_RUNTIMES:]):
        shutil.copy2(kept, new / kept.relative_to(own))


def cache_with_runtime(new: Path) -> Path:
    """A new cache in a folder that is not there yet; tests have their own now."""
    runtime(host_compiler())
    copy_runtime(new)
    return new
