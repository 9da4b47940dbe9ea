"""``autotune doctor``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import requires
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from autotune.base.version import version_of
from autotune.cli.errors import CommandError, one_line
from autotune.cli.options import DatabaseOption, JsonOption
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.codegen.model.program import Program

_ROOM = 1 << 20  # bytes that the cache must have room for: a few kernels


@dataclass(frozen=True)
class Check:
    """What was looked at.

    Attributes:
        name: of the part.
        ok: whether it works.
        essential: whether autotune needs it.
        detail: its version or path, or what is wrong with it and the remedy.
    """

    name: str
    ok: bool
    essential: bool
    detail: str


def doctor(db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Check all that autotune needs, and name the remedy for what is missing."""
    checks = [
        _check("Python", lambda: sys.version.partition(" ")[0]),
        _check("packages", _packages),
        _check("NVRTC", _nvrtc),
        _check("C++ compiler", _emulator),
        _check("GPU", _gpus, essential=False),
        _check("database", lambda: _database(db)),
        _check("cache folder", _cache),
    ]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        rows = ((check.name, _verdict(check), check.detail) for check in checks)
        print_table("autotune doctor", ("part", "state", "detail"), rows)
    broken = [check.name for check in checks if check.essential and not check.ok]
    if broken:
        raise CommandError(f"not working, but needed: {', '.join(broken)}")


def _verdict(check: Check) -> str:
    if check.ok:
        return "ok"
    return "problem" if check.essential else "none"


def _check(name: str, look: Callable[[], str], essential: bool = True) -> Check:
    try:
        return Check(name, True, essential, look())
    except Exception as error:  # whatever it is, it is what the user wants to know
        return Check(name, False, essential, one_line(error))


def _packages() -> str:
    names = [re.split(r"[^\w.-]", line)[0] for line in requires("autotune") or () if "extra ==" not in line]
    missing = [name for name in names if version_of(name) is None]
    if missing:
        raise OSError(f"missing: {', '.join(missing)}; run: pip install {' '.join(missing)}")
    return f"{len(names)} installed"


def _nvrtc() -> str:
    from autotune.compiler import compile_kernel

    return compile_kernel(_probe(), "sm_75").compiler


def _emulator() -> str:
    import numpy as np

    from autotune.codegen.model.dtype import DType
    from autotune.codegen.model.tensor import Role, Tensor
    from autotune.emulator import compiler_version, run

    out = np.zeros(1, np.float32)
    run(_probe(), [Tensor.flat("out", DType.FLOAT32, 1, Role.OUTPUT, 4)], {"out": out}, {})
    return compiler_version()


def _probe() -> Program:
    """The smallest kernel that shows that a compiler works."""
    from autotune.codegen.model.argument import Argument
    from autotune.codegen.model.launch import Launch
    from autotune.codegen.model.program import Program
    from autotune.codegen.source.arguments import cuda_arguments

    arguments = (Argument("out", "float*"),)
    source = f'{cuda_arguments(arguments)}\nextern "C" __global__ void probe(const Arguments a) {{ *a.out = 1; }}\n'
    return Program(source, arguments, (Launch("probe", (1, 1, 1), (1, 1, 1)),))


def _gpus() -> str:
    from autotune.db.pretuned import advice
    from autotune.devices.driver import check_device, cuda_device_count
    from autotune.devices.select import selected_spec

    check_device(0)
    models = [selected_spec(str(ordinal)).name for ordinal in range(cuda_device_count())]
    named = ", ".join(f"{ordinal}: {model}" for ordinal, model in enumerate(models))
    return "; ".join([named, *filter(None, map(advice, dict.fromkeys(models)))])


def _database(url: str | None) -> str:
    from autotune.db import TuningDB
    from autotune.db.location import name_of, named_file

    file = named_file(name_of(url))
    if file and not file.exists():
        folder = next(parent for parent in file.parents if parent.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise OSError(f"{file}: it does not exist, and {folder} is not a writable folder")
        return f"{file}: does not exist yet, created at first use"
    with TuningDB(url, create=False) as database:
        return f"{database.location}, {len(database.problems())} problems"


def _cache() -> str:
    from autotune.base.cache import checked_cache_folder

    folder = checked_cache_folder("sources")
    for other in folder.parent.iterdir():
        if other.is_dir():
            checked_cache_folder(other.name)
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        remedy = f"{error.strerror}: free some, or set AUTOTUNE_CACHE"
        raise OSError(error.errno, remedy, str(folder.parent)) from None
    return str(folder.parent)
