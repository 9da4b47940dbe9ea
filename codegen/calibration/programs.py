"""The programs that a calibration launches; the .cuh files beside this one say what each kernel does."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.headers import used_source

THREADS = 256  # threads of a block
GATHER_BLOCKS = 6  # blocks of an SM: with eight loads of each of 256 threads, 48 KiB are in flight
SHARED_VECTORS = 2048  # vectors of the tile that `read_shared` reads
SHARED_THREADS = 1024
SHARED_LOADS = 8  # loads of a thread in a pass
FMA_CHAINS, FMA_UNROLL = 16, 16
TILE_CHAINS, TILE_UNROLL = 8, 4
TILE_WORDS = 6 * 32  # words of both tiles that a warp multiplies: six for each lane
TILE_OPERATIONS = 2 * 16 * 8 * 16

_SUMS = Argument("sums", "unsigned*")
_FLOAT_SUMS = Argument("sums", "float*")
_PASSES = Argument("passes", "int")


def read(blocks: int, unroll: int, threads: int = THREADS) -> Program:
    """Sum the words of an array, read `passes` times; `unroll` loads of 16 bytes of a thread are in flight."""
    members = (
        Argument("x", "const uint4*"),
        _SUMS,
        Argument("vectors", "unsigned"),
        Argument("shift", "unsigned"),
        _PASSES,
    )
    return _program("memory", "read_vectors", members, blocks, Footprint(threads), _unroll(unroll))


def copy(blocks: int, unroll: int) -> Program:
    """Copy `vectors` of 16 bytes."""
    members = (Argument("x", "const uint4*"), Argument("y", "uint4*"), Argument("vectors", "unsigned"))
    return _program("memory", "copy_vectors", members, blocks, Footprint(THREADS), _unroll(unroll))


def write(blocks: int, unroll: int) -> Program:
    """Write to each word its index."""
    members = (Argument("y", "uint4*"), Argument("vectors", "unsigned"))
    return _program("memory", "write_vectors", members, blocks, Footprint(THREADS), _unroll(unroll))


def gather(blocks: int) -> Program:
    """Sum the words of chunks that lie `pitch` words apart, in the order of a multiplier."""
    words = tuple(Argument(name, "unsigned") for name in ("chunks", "pitch", "offset", "multiplier"))
    members = (Argument("x", "const unsigned*"), _SUMS, *words, Argument("log2_words", "int"))
    footprint = Footprint(THREADS, min_blocks_per_sm=GATHER_BLOCKS)
    return _program("memory", "gather_words", members, blocks, footprint, _unroll(8))


def link(blocks: int) -> Program:
    """Chain `nodes`, a power of two, `pitch` addresses of 8 bytes apart."""
    return _chain("link_nodes", blocks)


def follow() -> Program:
    """Go `steps` along the chain from its first node, with one thread; ``end`` gets the place in the array."""
    return _chain("follow_chain", 1)


def read_shared(blocks: int) -> Program:
    """Sum what each thread reads of a tile in shared memory."""
    footprint = Footprint(SHARED_THREADS, SHARED_VECTORS * WIDEST_ACCESS)
    return _program("shared", "read_shared", (_SUMS, _PASSES), blocks, footprint)


def multiply_add(blocks: int) -> Program:
    """Sums of chains of s ← s·x + y, one sum of each thread."""
    members = (_FLOAT_SUMS, _PASSES, Argument("x", "float"), Argument("y", "float"))
    return _program("arithmetic", "multiply_add", members, blocks, Footprint(THREADS))


def multiply_tiles(blocks: int) -> Program:
    """Sums of products of two tiles of bfloat16, one sum of each thread; sm_80 and newer."""
    members = (_FLOAT_SUMS, _PASSES, Argument("tiles", "const unsigned*"))
    return _program("tensor", "multiply_tiles", members, blocks, Footprint(THREADS))


def nothing() -> Program:
    """A launch that does nothing."""
    return _program("nothing", "nothing", (_PASSES,), 1, Footprint(1))


def _chain(entry: str, blocks: int) -> Program:
    """A launch of one of two entries, which have one source."""
    members = (
        Argument("chain", "unsigned long long*"),
        Argument("end", "long long*"),
        Argument("nodes", "unsigned"),
        Argument("pitch", "unsigned"),
        Argument("steps", "int"),
    )
    entries = {"link_nodes": Footprint(THREADS), "follow_chain": Footprint(1)}
    return Program(_source("latency", members, entries), members, (entries[entry].launch(entry, blocks),))


def _program(
    file: str,
    name: str,
    members: tuple[Argument, ...],
    blocks: int,
    footprint: Footprint,
    constants: str = "",
) -> Program:
    """A program with one entry."""
    source = _source(file, members, {name: footprint}, constants)
    return Program(source, members, (footprint.launch(name, blocks),))


def _source(file: str, members: tuple[Argument, ...], entries: Mapping[str, Footprint], constants: str = "") -> str:
    """What a file has, and entries that call its functions."""
    functions = tuple(f"{name}_block" for name in entries)
    called = "".join(footprint.entry(name, f"{name}_block(arguments);") for name, footprint in entries.items())
    return f"{cuda_arguments(members)}\n\n{constants}{used_source(f'calibration/{file}.cuh', functions, {})}\n{called}"


def _unroll(loads: int) -> str:
    return f"struct Constants {{\n  static constexpr int unroll = {loads};\n}};\n\n"
