"""One self-contained CUDA source: its text, its entry, how to launch it and how to pack its arguments."""

from __future__ import annotations

import ctypes
import hashlib
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)
_CTYPES: Mapping[str, type] = {
    "int": ctypes.c_int32,
    "long long": ctypes.c_int64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


@dataclass(frozen=True)
class Argument:
    """One member of a kernel's argument struct.

    Attributes:
        name: the member's name.
        cuda_type: ``int``, ``long long``, ``float``, ``double`` or a pointer type such as ``const float*``.
        value: the value where the problem fixes it; None for pointers and for scalars that the caller brings.
    """

    name: str
    cuda_type: str
    value: int | None = None

    @property
    def ctype(self) -> type:
        """The ctypes twin of `cuda_type`."""
        return ctypes.c_void_p if self.cuda_type.endswith("*") else _CTYPES[self.cuda_type]


@dataclass(frozen=True)
class Launch:
    """Launch dimensions: blocks in the grid, threads in a block, blocks in a cluster, bytes of dynamic shared memory.

    A grid with a zero in it means that there is nothing to compute and nothing to launch.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def blocks(self) -> int:
        """Blocks in the whole grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]


@dataclass(frozen=True)
class Program:
    """The text of one self-contained .cu file for one problem and one schedule.

    The entry is ``extern "C" __global__ void <entry>(const Arguments arguments)``: one struct by value, so the same
    packed bytes serve the driver's launch call and the emulator.

    Attributes:
        text: the whole file; equal texts may serve many problems.
        entry: the name of the kernel.
        arguments: the members of ``struct Arguments``, in order.
        launch: the launch dimensions for the problem that it was emitted for.
        workspace_bytes: scratch that the pointer argument ``workspace`` refers to; zeroed once when allocated,
            and left fit for the next launch by the kernel.
    """

    text: str
    entry: str
    arguments: tuple[Argument, ...]
    launch: Launch
    workspace_bytes: int = 0

    @property
    def digest(self) -> str:
        """64 hexadecimal digits of the text: part of every cache key."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def pack(self, pointers: Mapping[str, int], scalars: Mapping[str, float]) -> ctypes.Structure:
        """The argument struct: the problem's constants, the device `pointers` and the caller's `scalars`.

        Raises:
            KeyError: a pointer or a scalar of the struct was not given.
        """
        values = [
            pointers[a.name] if a.cuda_type.endswith("*") else scalars[a.name] if a.value is None else a.value
            for a in self.arguments
        ]
        structure = _structure(tuple((a.name, a.ctype) for a in self.arguments))
        packed: ctypes.Structure = structure(*values)
        return packed


@cache
def _structure(members: tuple[tuple[str, type], ...]) -> type[ctypes.Structure]:
    return type("Arguments", (ctypes.Structure,), {"_fields_": members})


def comment(text: str) -> str:
    """A C++ comment, wrapped."""
    return textwrap.fill(text, 110, initial_indent="// ", subsequent_indent="// ")


def launch_comment(launch: Launch) -> str:
    """What the launches of a text have in common; the grid goes with the problem."""
    return comment(
        f"launched in blocks of {launch.threads} threads with {launch.shared_bytes} bytes of dynamic shared memory"
    )


def cuda_arguments(arguments: tuple[Argument, ...]) -> str:
    """``struct Arguments`` as C++ text."""
    members = "".join(f"  {a.cuda_type} {a.name};\n" for a in arguments)
    return f"struct Arguments {{\n{members}}};"


@cache
def inlined(*names: str) -> str:
    """The text of .cuh files under codegen/ with the project's own headers inlined, each once."""
    seen: set[str] = set()
    return "".join(_inlined(name, seen) for name in names)


def _inlined(name: str, seen: set[str]) -> str:
    if name in seen:
        return ""
    seen.add(name)
    text = (_FOLDER / name).read_text().replace("#pragma once\n", "")
    return _INCLUDE.sub(lambda match: f"{_inlined(match.group(1), seen)}\n".lstrip("\n"), text)


@cache
def generator_digest() -> str:
    """16 hexadecimal digits over every file of the generator: a record made by another one may be stale."""
    digest = hashlib.sha256()
    for path in sorted([*_FOLDER.rglob("*.py"), *_FOLDER.rglob("*.cuh")]):
        digest.update(path.relative_to(_FOLDER).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
