"""What the emulator's process is asked to run: structures that main.cpp and tensor_copies.cpp read."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from autotune.codegen.model.argument import WORKSPACE
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out, packed
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap

from .parts import Parts
from .sparse import elements, is_sparse, offsets, piece_bytes

_WORKSPACE_ALIGNMENT = 256  # of cudaMalloc
_MEMSET = -1
_DIMENSIONS = 5  # of a tensor map
_IMAGE_DIMENSIONS = 3


class _Use(IntEnum):
    READ_ONLY = 0
    WRITE_FIRST = 1
    READ_WRITE = 2
    WORKSPACE = 3


_USES = {Role.INPUT: _Use.READ_ONLY, Role.OUTPUT: _Use.WRITE_FIRST, Role.IN_OUT: _Use.READ_WRITE}


class _Added(IntEnum):
    """The arithmetic by which elements of a tensor are added up in place."""

    NOT = 0
    INT32 = 1
    INT64 = 2
    FLOAT32 = 3
    FLOAT16 = 4
    BFLOAT16 = 5


_ADDED = {
    DType.INT32: _Added.INT32,
    DType.UINT32: _Added.INT32,
    DType.UINT64: _Added.INT64,
    DType.FLOAT32: _Added.FLOAT32,
    DType.FLOAT16: _Added.FLOAT16,
    DType.BFLOAT16: _Added.BFLOAT16,
}


class _Request(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint32)
        for name in ("seed", "runs", "cpu_seconds", "argument_bytes", "modules", "buffers", "pointers", "steps", "ends")
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 64),
        ("bytes", ctypes.c_int64),
        ("alignment", ctypes.c_int64),
        ("pieces", ctypes.c_int64),
        ("piece_bytes", ctypes.c_int64),
        ("use", ctypes.c_int32),
    )


class _Pointer(ctypes.Structure):
    _fields_ = (("argument_offset", ctypes.c_int32), ("buffer", ctypes.c_int32))


class _Step(ctypes.Structure):
    _fields_ = (
        ("module", ctypes.c_int32),
        ("entry", ctypes.c_int32),
        ("arguments", ctypes.c_int32),
        ("argument_bytes", ctypes.c_int32),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("ranks", ctypes.c_uint32),
        ("shared_bytes", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("buffer", ctypes.c_int32),
        ("value", ctypes.c_int32),
    )


class _TensorMap(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("shape", ctypes.c_int64 * _DIMENSIONS),
        ("strides", ctypes.c_int64 * _DIMENSIONS),
        ("box", ctypes.c_int32 * _DIMENSIONS),
        *((name, ctypes.c_int8) for name in ("dimensions", "element_bytes", "kind")),
        ("swizzle_bytes", ctypes.c_uint8),
        ("tf32", ctypes.c_bool),
        ("im2col", ctypes.c_bool),
        ("ahead", ctypes.c_bool),
        ("lower", ctypes.c_int16 * _IMAGE_DIMENSIONS),
        ("upper", ctypes.c_int16 * _IMAGE_DIMENSIONS),
    )


def request(
    program: Program,
    buffered: Sequence[Tensor],
    buffer_of: Mapping[str, str],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    *,
    seed: int,
    runs: int,
    cpu_seconds: int,
    ends: int,
) -> bytes:
    """The request: structures, the packed arguments, the contents of the tensors in their order.

    Args:
        buffered: the tensors that have a buffer each.
        buffer_of: by the name of each tensor, that of the one whose buffer it has.
        program, arrays, scalars, seed, runs, cpu_seconds, ends: see `run`.
    """
    # The process adds its own addresses to these zeros, or to how far from a buffer's beginning an address is.
    parts = Parts.of(program)
    addresses = dict.fromkeys([*buffer_of, WORKSPACE, *parts.regions], 0)
    kinds, begins = laid_out(parts.blocks)
    blocks = zip(program.block_names, parts.blocks, strict=True)
    structs = [bytes(packed(name, block, addresses, scalars, _encoded)) for name, block in blocks]
    padded = [one.ljust(end - begin, b"\0") for one, (begin, end) in zip(structs, pairwise(begins), strict=True)]
    buffers = [_buffer(tensor) for tensor in buffered]
    at = {buffer.name.decode(): index for index, buffer in enumerate(buffers)}
    indices = {name: at[buffer] for name, buffer in buffer_of.items()}
    workspace = {WORKSPACE: (WORKSPACE, parts.own_bytes)} if parts.own_bytes else {}
    workspace |= {name: (region.name, region.bytes) for name, region in parts.regions.items()}
    for name, (shown, size) in workspace.items():
        indices[name] = len(buffers)
        buffers.append(_Buffer(shown.encode(), size, _WORKSPACE_ALIGNMENT, 0, 0, _Use.WORKSPACE))
    pointers = [
        _Pointer(begin + getattr(kind, member(a.name)).offset, indices[a.brought])
        for begin, kind, block in zip(begins, kinds, parts.blocks, strict=False)
        for a in block
        if a.brought in indices
    ]

    def launched(launch: Launch, number: int) -> _Step:
        entries = program.parts[launch.module].entries
        arguments = begins[number], len(structs[number])
        dimensions = launch.grid, launch.block, launch.cluster[0], launch.shared_bytes
        return _Step(launch.module, entries.index(launch.entry), *arguments, *dimensions)

    def cleared(step: Memset, place: int) -> _Step:
        name, offset = parts.set_by(place) or (WORKSPACE, step.offset)
        found = _Step(entry=_MEMSET, offset=offset, bytes=step.bytes, value=step.value)
        found.buffer = indices[name]
        return found

    steps = [
        cleared(step, place) if isinstance(step, Memset) else launched(step, number)
        for place, (step, number) in enumerate(program.numbered)
    ]
    sizes = (begins[-1], len(program.modules), len(buffers), len(pointers), len(steps), ends)
    contents = (_contents(tensor, arrays[tensor.name]) for tensor in buffered)
    header = _Request(seed, runs, cpu_seconds, *sizes)
    return b"".join([bytes(header), *map(bytes, (*buffers, *pointers, *steps)), *padded, *contents])


def _buffer(tensor: Tensor) -> _Buffer:
    pieces = (len(offsets(tensor)), piece_bytes(tensor)) if is_sparse(tensor) else (0, 0)
    return _Buffer(tensor.name.encode(), tensor.bytes, tensor.alignment, *pieces, _USES[tensor.role])


def _contents(tensor: Tensor, array: Array) -> bytes:
    return offsets(tensor).tobytes() + elements(tensor, array).tobytes() if is_sparse(tensor) else array.tobytes()


def _encoded(tensor_map: TensorMap, address: int) -> bytes:
    """The emulator's own tensor map."""
    dtype = DType(tensor_map.dtype)
    encoded = _TensorMap(
        address,
        tensor_map.shape,
        tuple(stride * dtype.bytes for stride in tensor_map.strides),
        (*tensor_map.box, *(tensor_map.im2col.steps if tensor_map.im2col else ())),
        len(tensor_map.shape),
        dtype.bytes,
        _ADDED.get(dtype, _Added.NOT),
        tensor_map.swizzle.bytes,
        tensor_map.tf32,
        tensor_map.im2col is not None,
        tensor_map.offset < 0,
        *((tensor_map.im2col.lower, tensor_map.im2col.upper) if tensor_map.im2col else ()),
    )
    return bytes(encoded).ljust(TENSOR_MAP_BYTES, b"\0")
