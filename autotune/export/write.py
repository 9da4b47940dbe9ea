"""A folder with everything that a program in C++ needs: kernels, tables, selector and example."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ..compile_pool import CompilePool
from .bundle import Bundle
from .tables import tables

_FOLDER = Path(__file__).parent


def write_bundle(bundle: Bundle, folder: Path) -> None:
    """Compile the kernels and write the folder, all of it or nothing.

    Raises:
        CompileError: a kernel does not compile.
        FileExistsError: the folder exists.
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True)  # fails before anything is compiled if somebody else's files are there
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            built = Path(temporary) / folder.name
            built.mkdir(mode=0o755)
            _write_kernels(bundle, built)
            for name in ("selector.hpp", "sgemm.h", "sgemm.cpp", "example.cpp"):
                shutil.copy(_FOLDER / name, built)
            (built / "tables.hpp").write_text(tables(bundle), encoding="utf-8")
            built.replace(folder)
    except BaseException:
        folder.rmdir()
        raise


def _write_kernels(bundle: Bundle, folder: Path) -> None:
    with CompilePool() as pool:
        jobs = {digest: pool.submit(source, bundle.limits.arch) for digest, (_, source) in bundle.kernels.items()}
        for digest, job in jobs.items():
            (folder / f"{digest[:16]}.cubin").write_bytes(job.result().cubin)
