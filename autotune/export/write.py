"""A folder with everything that a program in C or C++ needs: kernels, tables, interface and example."""

from __future__ import annotations

import shutil
from pathlib import Path

from autotune.base.files import locked_folder
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.compile_pool import CompilePool

from .example import example, write_data
from .interface import header, source
from .kernels import Kernels
from .tables import file_name, tables

_FOLDER = Path(__file__).parent
HEADERS = ("choose.hpp", "driver.hpp")


def write_bundle(exported: Kernels, folder: Path) -> None:
    """Compile the kernels and write the folder, all of it or nothing.

    Raises:
        CompileError: a kernel does not compile.
        FileExistsError: the folder exists.
        OSError: it cannot be written.
    """
    if folder.exists():
        raise FileExistsError(folder)
    with locked_folder(folder) as temporary:
        built = temporary / folder.name
        built.mkdir(mode=0o755)
        write_sources(exported, built)
        _write_kernels(exported, built)
        built.rename(folder)


def write_sources(exported: Kernels, folder: Path) -> None:
    """Everything but the kernels."""
    name = exported.bundle.operator.name
    texts = {
        "tables.hpp": tables(exported),
        f"{name}.h": header(exported),
        f"{name}.cpp": source(exported),
        "example.cpp": example(exported),
    }
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    for file in HEADERS:
        shutil.copy(_FOLDER / file, folder)
    (folder / "data").mkdir()
    write_data(exported, folder / "data")


def _write_kernels(exported: Kernels, folder: Path) -> None:
    arch = exported.bundle.spec.arch
    with CompilePool() as pool:
        jobs = {digest: pool.submit(_plain(program), arch) for digest, program in exported.sources.items()}
        for digest, job in jobs.items():
            (folder / file_name(digest)).write_bytes(job.result().cubin)


def _plain(program: Program) -> Program:
    """A program to compile, without launches, whose numbers may be traced."""
    steps = tuple(Launch(entry, (1, 1, 1), (1, 1, 1)) for entry in program.entries)
    return Program(program.code, (), steps, arch_suffix=program.arch_suffix)
