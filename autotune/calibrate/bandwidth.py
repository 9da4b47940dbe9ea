"""Bandwidths: of copying, reading and writing device memory, of L2, of shared memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autotune.codegen.calibration import programs
from autotune.codegen.calibration.programs import THREADS
from autotune.codegen.model.hardware import WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.search_spaces.machine.calibration import Curve, Figure

from .experiment import Found, check_result, sum_of_words, wrapped
from .instrument import Instrument

_RESIDENT = 4  # blocks of an SM that share the work; as many as that fit on every device
_UNROLLS = (2, 4, 8)
_L2_SHARES = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1, 3 / 2, 2, 4)  # footprints, as shares of the L2 cache
_L2_BYTES = 1 << 31  # bytes of a launch
_SHARED_PASSES = 1024


def memory_bandwidth(instrument: Instrument) -> Found:
    """The best of some kernels that differ in the loads in flight and in how many blocks share the work."""
    vectors = instrument.bytes_y // WIDEST_ACCESS
    moved = {Figure.COPY: 2 * instrument.bytes_y, Figure.READ: instrument.bytes_y, Figure.WRITE: instrument.bytes_y}
    kernels = {Figure.COPY: programs.copy, Figure.READ: programs.read, Figure.WRITE: programs.write}
    return Found({one: moved[one] / _fastest(instrument, kernels[one], vectors) for one in kernels})


def _fastest(instrument: Instrument, kernel: Callable[[int, int], Program], vectors: int) -> float:
    seconds = []
    scalars = {"vectors": vectors, "shift": 0, "passes": 1}
    for unroll in _UNROLLS:
        for blocks in (_RESIDENT * instrument.spec.sm_count, ceil_div(vectors, THREADS * unroll)):
            program = kernel(blocks, unroll)
            if kernel is programs.read:
                check_read(instrument, program, vectors)
            else:
                instrument.clear("y")
                instrument.launch(program, scalars)
                check_read(instrument, programs.read(blocks, unroll), vectors, array="y", of=program)
            seconds.append(instrument.seconds(program, scalars))
    return min(seconds)


def check_read(
    instrument: Instrument,
    program: Program,
    vectors: int,
    passes: int = 1,
    shift: int = 0,
    array: str = "x",
    of: Program | None = None,
) -> None:
    """Make sure that `programs.read` sums what an array begins with, or that another kernel wrote that."""
    instrument.launch(program, {"vectors": vectors, "shift": shift, "passes": passes}, x=array)
    words = vectors * WIDEST_ACCESS // WORD_BYTES
    check_result(of or program, _sum(instrument, program), wrapped(passes * sum_of_words(words)))


def _sum(instrument: Instrument, program: Program) -> int:
    """The sum of the sums of all warps."""
    warps = program.launch.blocks * program.launch.threads // 32
    return wrapped(int(instrument.download("sums", np.uint32, warps).sum(dtype=np.uint64)))


def l2_bandwidth(instrument: Instrument) -> Found:
    """Reading again and again what fits L2, and what does not."""
    spec = instrument.spec
    program = programs.read(_RESIDENT * spec.sm_count, 4)
    points = []
    for share in _L2_SHARES:
        vectors = min(int(share * spec.l2_bytes), instrument.bytes_x) // WIDEST_ACCESS
        footprint, shift = vectors * WIDEST_ACCESS, vectors // 3
        passes = max(2, _L2_BYTES // footprint)
        check_read(instrument, program, vectors, passes, shift)
        seconds = instrument.seconds(program, {"vectors": vectors, "shift": shift, "passes": passes}, cold=False)
        points.append((footprint, passes * footprint / seconds))
    fits = [rate for footprint, rate in points if footprint <= spec.l2_bytes / 2]
    return Found({Figure.L2: max(fits)}, {Curve.FOOTPRINT: tuple(dict(points).items())})


def shared_bandwidth(instrument: Instrument) -> Found:
    """Reading shared memory without bank conflicts, on all SMs."""
    threads = programs.SHARED_THREADS
    blocks = instrument.spec.sm_count * (instrument.spec.threads_per_sm // threads)
    program = programs.read_shared(blocks)
    instrument.launch(program, {"passes": (few := 5)})
    places = (np.arange(threads)[:, None] + 32 * np.arange(few)) % threads
    vectors = places[:, :, None] + 128 * np.arange(programs.SHARED_LOADS)
    words = 4 * (4 * vectors).sum() + 6 * vectors.size  # vector v has the words 4·v to 4·v + 3
    found = instrument.download("sums", np.uint32, blocks * threads).sum(dtype=np.uint64)
    check_result(program, wrapped(int(found)), wrapped(blocks * int(words)))
    seconds = instrument.seconds(program, {"passes": _SHARED_PASSES}, cold=False)
    read = blocks * threads * _SHARED_PASSES * programs.SHARED_LOADS * WIDEST_ACCESS
    return Found({Figure.SHARED: read / seconds})
