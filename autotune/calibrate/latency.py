"""Latencies of L1, L2 and device memory, and the bytes in flight that hide the last one (Little's law)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autotune.codegen.calibration import programs
from autotune.codegen.model.hardware import LINE_BYTES, WIDEST_ACCESS
from autotune.search_spaces.machine.calibration import Curve, Figure, Point

from .bandwidth import check_read
from .experiment import Found, check_result
from .instrument import Instrument

_FOOTPRINTS = tuple(1 << log2 for log2 in (14, 15, 16, 17, 18, 20, 22, 24, 25, 26, 28, 30))
_L1_FOOTPRINT, _L2_FOOTPRINT = (
    1 << 14,
    1 << 20,
)  # bytes of a chain in L1 on every device, and of one in L2 but not in L1
_MEMORY_CACHES = 4  # caches full, as the footprint of a chain in device memory
_ADDRESS_BYTES = 8
_MOST_NODES = 1 << 16
_L1_STEPS, _MEMORY_STEPS = 1 << 18, 1 << 12
_L1_BYTES = 1 << 18  # footprints that L1 may hold: it is empty when a kernel begins, so the chain is gone through often
_GENERATOR = (1664525, 1013904223)  # factor and summand of latency.cuh
_SHAPES = tuple((threads, 1) for threads in (32, 64, 128, 256, 512, 1024)) + tuple((1024, loads) for loads in (2, 4, 8))
_FEWEST_BYTES = 1 << 28  # bytes of the array
_ENOUGH = 0.95  # share of the most bandwidth


def latency(instrument: Instrument) -> Found:
    """One thread goes along a chain of loads, through more and more memory."""
    l2_bytes = instrument.spec.l2_bytes
    points = tuple((size, _latency(instrument, size)) for size in _FOOTPRINTS if size <= instrument.bytes_y)
    seconds = dict(points)
    in_memory = [size for size in seconds if size >= _MEMORY_CACHES * l2_bytes]
    places = {Figure.L1_LATENCY: [_L1_FOOTPRINT], Figure.L2_LATENCY: [_L2_FOOTPRINT], Figure.MEMORY_LATENCY: in_memory}
    return Found({figure: seconds[sizes[0]] for figure, sizes in places.items() if sizes}, {Curve.LATENCY: points})


def _latency(instrument: Instrument, size: int) -> float:
    """Seconds of a load in a chain through so many bytes, a power of two."""
    pitch_bytes = max(LINE_BYTES, size // _MOST_NODES)
    nodes, pitch = size // pitch_bytes, pitch_bytes // _ADDRESS_BYTES
    cold = size > instrument.spec.l2_bytes
    steps = _MEMORY_STEPS if cold else _L1_STEPS if size <= _L1_BYTES else max(_MEMORY_STEPS, nodes)
    scalars = {"nodes": nodes, "pitch": pitch, "steps": steps}
    instrument.launch(programs.link(instrument.spec.sm_count), scalars)
    program = programs.follow()
    instrument.launch(program, scalars)
    check_result(program, int(instrument.download("end", np.int64, 1)[0]), pitch * node_after(steps, nodes))
    return instrument.seconds(program, scalars, cold=cold) / steps


def node_after(steps: int, nodes: int) -> int:
    """The node that a chain has reached after so many steps from node 0."""
    multiplier, increment = _GENERATOR
    node, scale, shift = 0, multiplier, increment
    while steps:  # the generator applied 1, 2, 4, … times is of the same form
        if steps & 1:
            node = (scale * node + shift) % nodes
        scale, shift = scale * scale % nodes, (scale * shift + shift) % nodes
        steps >>= 1
    return node


def in_flight(instrument: Instrument) -> Found:
    """One block on each SM reads device memory, with more and more bytes in flight."""
    spec = instrument.spec
    vectors = min(_FEWEST_BYTES, instrument.bytes_x) // WIDEST_ACCESS
    points = []
    for threads, loads in _SHAPES:
        program = programs.read(spec.sm_count, loads, threads)
        check_read(instrument, program, vectors)
        seconds = instrument.seconds(program, {"vectors": vectors, "shift": 0, "passes": 1})
        points.append((threads * loads * WIDEST_ACCESS, vectors * WIDEST_ACCESS / seconds))
    return Found({Figure.IN_FLIGHT: enough(points)}, {Curve.IN_FLIGHT: tuple(points)})


def enough(points: Sequence[Point]) -> float:
    """The bytes in flight that give 95 % of the most bandwidth, between points in proportion."""
    wanted = _ENOUGH * max(rate for _, rate in points)
    before: Point = (0, 0)
    for point in points:
        if point[1] >= wanted:
            break
        before = point
    (low, slow), (high, fast) = before, point
    return low + (high - low) * (wanted - slow) / (fast - slow)
