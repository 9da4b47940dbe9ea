"""A program: one self-contained CUDA source, and what is launched of it, in which order, with which arguments."""

from __future__ import annotations

import ctypes
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from math import prod
from typing import Protocol, TypeVar

from .tensor_map import TENSOR_MAP_BYTES, TensorMap

_CTYPES: Mapping[str, type] = {
    "bool": ctypes.c_bool,
    "signed char": ctypes.c_int8,
    "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_int16,
    "unsigned short": ctypes.c_uint16,
    "int": ctypes.c_int32,
    "unsigned": ctypes.c_uint32,
    "long long": ctypes.c_int64,
    "unsigned long long": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_T = TypeVar("_T")

SOURCE_DIGITS = 32  # of a program's digest
_DECLARED = ("float16", "bfloat16", "float8_e4m3", "float8_e5m2", "Report")  # defined in headers of cuda/
_COMMENT = re.compile(r"[ \t]*//.*$", re.MULTILINE)
_TensorMapBytes = ctypes.c_uint64 * (TENSOR_MAP_BYTES // 8)


@dataclass(frozen=True)
class Argument:
    """One member of ``struct Arguments``, which is the one parameter of every entry.

    A scalar that lies in device memory is a pointer here and a tensor of one element of the problem.

    Attributes:
        name: the member's name; a pointer has that of its tensor, or is ``workspace``.
        cuda_type: a number's type such as ``int`` or ``unsigned long long``, a pointer type such as ``const float*``,
            or ``TensorMap``.
        value: the value where the problem fixes it; None for pointers and for scalars that the caller brings.
        tensor_map: what a ``TensorMap`` describes; it is encoded anew for each address of its tensor.
        positive, probability: of a scalar that the caller brings, whether it must be more than 0, or 0 to 1.
    """

    name: str
    cuda_type: str
    value: int | None = None
    tensor_map: TensorMap | None = None
    positive: bool = False
    probability: bool = False

    @property
    def pointer(self) -> bool:
        """Whether it is an address."""
        return self.cuda_type.endswith("*")

    @property
    def scalar(self) -> bool:
        """Whether the caller brings its value."""
        return self.value is None and not self.pointer and self.tensor_map is None

    @property
    def ctype(self) -> type:
        """The ctypes twin of `cuda_type`."""
        if self.tensor_map is not None:
            return _TensorMapBytes
        return ctypes.c_void_p if self.pointer else _CTYPES[self.cuda_type]


@dataclass(frozen=True)
class Launch:
    """A launch of one entry of the source.

    A grid with a zero in it means that there is nothing to compute and nothing to launch.

    Attributes:
        entry: the name of the ``extern "C" __global__`` function.
        grid, block: blocks of the grid and threads of a block along x, y, z.
        shared_bytes: dynamic shared memory of a block.
        cluster: blocks of a cluster; more than one are declared by the entry too (``__cluster_dims__``).
    """

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)


@dataclass(frozen=True)
class Memset:
    """A part of the workspace that is set to one byte value before the steps that follow.

    Attributes:
        offset: bytes from the start of the workspace.
        bytes: how many.
        value: of each byte, 0 to 255.
    """

    offset: int
    bytes: int
    value: int = 0


Step = Launch | Memset


class Encode(Protocol):
    """Makes the `TENSOR_MAP_BYTES` bytes of a tensor map that begins at an address."""

    def __call__(self, tensor_map: TensorMap, address: int) -> bytes: ...  # noqa: D102


@dataclass(frozen=True)
class Program:
    """One self-contained .cu file and its steps, for one problem and one schedule.

    Each entry is ``extern "C" __global__ void <entry>(const Arguments arguments)``: one struct by value, so the same
    packed bytes serve the driver's launch call and the emulator.

    Attributes:
        source: the whole file; equal sources may serve many problems.
        arguments: the members of ``struct Arguments``, in order; tensor maps come first.
        steps: launches, and memsets of the workspace between them, in stream order.
        workspace_bytes: scratch that the pointer argument ``workspace`` refers to; zeroed once when allocated,
            and left fit for the next launch by the program.
        scratch: whether a launch expects nothing in the workspace, neither zeros nor what an earlier one left there, so
            that programs may share it.
        arch_suffix: ``a`` where the source needs architecture-specific instructions, such as those of ``sm_90a``.
    """

    source: str
    arguments: tuple[Argument, ...]
    steps: tuple[Step, ...]
    workspace_bytes: int = 0
    scratch: bool = field(default=False, kw_only=True)
    arch_suffix: str = field(default="", kw_only=True)

    @property
    def title(self) -> str:
        """The kernel in messages: ``sgemm 0123abcd``, with digits of `digest`."""
        return f"{self.name} {self.digest[:8]}"

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that launch, in order."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names of the entries that are launched, each once."""
        return tuple(dict.fromkeys(launch.entry for launch in self.launches))

    @property
    def launch(self) -> Launch:
        """The launch of a program that has no other step.

        Raises:
            ValueError: it has several.
        """
        (launch,) = self.launches
        return launch

    @property
    def name(self) -> str:
        """What people call it: its first entry."""
        return self.entries[0]

    @property
    def tensor_names(self) -> set[str]:
        """The tensors whose addresses it takes."""
        mapped = {a.tensor_map.tensor for a in self.arguments if a.tensor_map}
        return (mapped | {a.name for a in self.arguments if a.pointer}) - {"workspace"}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to launch."""
        return all(launch.blocks == 0 for launch in self.launches)

    @cached_property
    def code(self) -> str:
        """What is compiled: the source without comments and blank lines."""
        return "\n".join(line for line in _COMMENT.sub("", self.source).splitlines() if line)

    @cached_property
    def source_digest(self) -> str:
        """32 hexadecimal digits over what is compiled: the code, the suffix."""
        return hashlib.sha256(f"{self.arch_suffix}\n{self.code}".encode()).hexdigest()[:SOURCE_DIGITS]

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits over all that decides what runs: `source_digest`, then 32 digits over the steps."""
        steps = json.dumps([asdict(step) for step in self.steps])
        return self.source_digest + hashlib.sha256(steps.encode()).hexdigest()[:SOURCE_DIGITS]

    def pack(
        self, pointers: Mapping[str, int], scalars: Mapping[str, float], encode: Encode | None = None
    ) -> ctypes.Structure:
        """The argument struct: the problem's constants, the device `pointers` and the caller's `scalars`.

        Args:
            pointers: the address of each tensor by name, and of ``workspace``.
            scalars: by name.
            encode: for programs with tensor maps.

        Raises:
            ValueError: a pointer or a scalar of the struct was not given.
        """

        def given(values: Mapping[str, _T], name: str) -> _T:
            if name not in values:
                raise ValueError(f"{self.name} takes {name}, which is none of {', '.join(values)}")
            return values[name]

        def value(argument: Argument) -> object:
            if argument.tensor_map is not None:
                assert encode is not None
                tensor_map = argument.tensor_map
                encoded = encode(tensor_map, given(pointers, tensor_map.tensor) + tensor_map.offset)
                return _TensorMapBytes.from_buffer_copy(encoded)
            if argument.pointer:
                return given(pointers, argument.name)
            return given(scalars, argument.name) if argument.value is None else argument.value

        return _structure(tuple((a.name, a.ctype) for a in self.arguments))(*map(value, self.arguments))


@cache
def _structure(members: tuple[tuple[str, type], ...]) -> type[ctypes.Structure]:
    """The twin of ``struct Arguments``; with tensor maps, which come first, as long as their alignment makes that."""
    plain: type[ctypes.Structure] = type("Arguments", (ctypes.Structure,), {"_fields_": members})
    if not any(kind is _TensorMapBytes for _, kind in members):
        return plain
    padding = -ctypes.sizeof(plain) % 64
    return type("Arguments", (ctypes.Structure,), {"_fields_": (*members, ("padding_", ctypes.c_uint8 * padding))})


def cuda_arguments(arguments: Sequence[Argument]) -> str:
    """``struct Arguments`` as C++ source, after the project's own types that it needs; others are defined later."""
    elements = dict.fromkeys(a.cuda_type.removeprefix("const ").removesuffix("*") for a in arguments if a.pointer)
    declared = "".join(f"struct {element};\n" for element in elements if element in _DECLARED)
    members = "".join(f"  {a.cuda_type} {a.name};\n" for a in arguments)
    if any(argument.tensor_map for argument in arguments):
        declared += f"struct alignas(64) TensorMap {{\n  unsigned long long words[{TENSOR_MAP_BYTES // 8}];\n}};\n"
    return f"{declared}struct Arguments {{\n{members}}};"
