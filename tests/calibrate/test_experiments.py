"""The experiments: their kernels compute in the emulator, where each launch takes a millisecond."""

import numpy as np
import pytest
from emulated import SECONDS, SPEC, EmulatedInstrument

from autotune.calibrate import arithmetic, bandwidth, latency, launches, patterns
from autotune.calibrate.run import EXPERIMENTS
from autotune.devices.base import DeviceError
from autotune.search_spaces.machine.calibration import Curve, Figure


@pytest.fixture
def instrument(monkeypatch):
    """Few kernels and short loops."""
    monkeypatch.setattr(bandwidth, "_UNROLLS", (2,))
    monkeypatch.setattr(bandwidth, "_L2_BYTES", 1 << 16)
    monkeypatch.setattr(arithmetic, "_CHECKED_PASSES", 2)
    monkeypatch.setattr(arithmetic, "_TENSOR_BLOCKS", 1)
    monkeypatch.setattr(latency, "_FOOTPRINTS", (1 << 13, 1 << 14, 1 << 17))
    monkeypatch.setattr(latency, "_L1_FOOTPRINT", 1 << 13)
    monkeypatch.setattr(latency, "_L2_FOOTPRINT", 1 << 14)
    monkeypatch.setattr(latency, "_L1_BYTES", 1 << 13)
    monkeypatch.setattr(latency, "_L1_STEPS", 1 << 12)
    monkeypatch.setattr(latency, "_MEMORY_STEPS", 100)
    monkeypatch.setattr(latency, "_SHAPES", ((32, 1), (64, 2)))
    return EmulatedInstrument()


def test_memory_bandwidth_counts_each_byte_that_moves(instrument):
    moved = instrument.bytes_y / SECONDS
    assert bandwidth.memory_bandwidth(instrument).figures == {
        Figure.COPY: 2 * moved, Figure.READ: moved, Figure.WRITE: moved
    }  # fmt: skip
    assert {name for name, _, _ in instrument.timed} == {"copy_vectors", "read_vectors", "write_vectors"}


def test_the_fastest_kernel_counts(instrument):
    times = iter([5e-3, 4e-3, 2e-3, 3e-3, 8e-3, 7e-3])
    instrument.seconds = lambda *_, **__: next(times)
    found = bandwidth.memory_bandwidth(instrument).figures
    assert found[Figure.COPY] == 2 * instrument.bytes_y / 4e-3
    assert (found[Figure.READ], found[Figure.WRITE]) == (instrument.bytes_y / 2e-3, instrument.bytes_y / 7e-3)


def test_strides_and_offsets_count_the_bytes_asked_for(instrument):
    strides = dict(patterns.stride(instrument).curves[Curve.STRIDE])
    assert strides == {4 * pitch: instrument.bytes_x / pitch / SECONDS for pitch in patterns._STRIDES}
    offsets = dict(patterns.alignment(instrument).curves[Curve.ALIGNMENT])
    assert offsets == dict.fromkeys((4 * one for one in patterns._OFFSETS), instrument.bytes_y / 2 / SECONDS)
    assert [scalars["offset"] for name, scalars, _ in instrument.timed[-10:]] == list(patterns._OFFSETS)


def test_scattered_pieces_are_all_words_once(instrument):
    pieces = dict(patterns.scattered(instrument).curves[Curve.SCATTERED])
    assert pieces == dict.fromkeys((4 * one for one in patterns._PIECES), instrument.bytes_x / SECONDS)


def test_l2_is_read_again_and_again(instrument):
    found = bandwidth.l2_bandwidth(instrument)
    points = dict(found.curves[Curve.FOOTPRINT])
    assert points[SPEC.l2_bytes // 8] == (1 << 16) / SECONDS
    assert points[4 * SPEC.l2_bytes] == 2 * 4 * SPEC.l2_bytes / SECONDS
    assert found.figures == {Figure.L2: (1 << 16) / SECONDS}, "what does not fit L2 is no bandwidth of it"
    assert all(options == {"cold": False} for _, _, options in instrument.timed)


def test_shared_memory_is_read_by_every_thread(instrument):
    read = 1024 * bandwidth._SHARED_PASSES * 8 * 16
    assert bandwidth.shared_bandwidth(instrument).figures == {Figure.SHARED: read / SECONDS}


def test_a_chain_tells_the_time_of_a_load(instrument):
    found = latency.latency(instrument)
    seconds = {1 << 13: SECONDS / 4096, 1 << 14: SECONDS / 128, 1 << 17: SECONDS / 100}
    assert dict(found.curves[Curve.LATENCY]) == seconds
    assert found.figures == {
        Figure.L1_LATENCY: SECONDS / 4096, Figure.L2_LATENCY: SECONDS / 128, Figure.MEMORY_LATENCY: SECONDS / 100
    }  # fmt: skip
    assert [options for _, _, options in instrument.timed] == [{"cold": False}, {"cold": False}, {"cold": True}]


@pytest.mark.parametrize(("steps", "nodes"), [(0, 8), (1, 8), (5, 16), (1000, 64), (64, 64)])
def test_the_chain_is_a_generator_of_numbers(steps, nodes):
    node, seen = 0, set()
    for _ in range(steps):
        node = (1664525 * node + 1013904223) % nodes
        seen.add(node)
    assert latency.node_after(steps, nodes) == node
    assert len(seen) == min(steps, nodes), "each node is met before one is met again"


def test_bytes_in_flight_are_those_of_one_block_on_each_sm(instrument):
    points = latency.in_flight(instrument).curves[Curve.IN_FLIGHT]
    assert [x for x, _ in points] == [32 * 16, 64 * 2 * 16]


@pytest.mark.parametrize(
    ("points", "expected"),
    [([(1, 50), (2, 95), (4, 100)], 2), ([(2, 60), (4, 100)], 3.75), ([(8, 10)], 7.6), ([(1, 99), (2, 100)], 95 / 99)],
)
def test_enough_is_95_per_cent_of_the_most(points, expected):
    assert latency.enough(points) == pytest.approx(expected)


def test_arithmetic_counts_two_operations_for_each_multiply_add(instrument):
    assert arithmetic.multiply_add(instrument).figures == {Figure.FP32: 2 * 256 * 512 * 1024 / SECONDS}
    warps = 256 // 32
    assert arithmetic.tensor_cores(instrument).figures == {Figure.TENSOR: 4096 * 32 * 512 * warps / SECONDS}


def test_tensor_cores_are_timed_on_random_numbers(instrument):
    arithmetic.tensor_cores(instrument)
    tiles = instrument.arrays["tiles"].view(np.uint16)
    assert len(set(tiles.tolist())) > tiles.size / 2


def test_a_device_without_bf16_has_no_figure_of_it(instrument, monkeypatch):
    monkeypatch.setattr(instrument, "spec", type("Spec", (), {"compute_capability": (7, 5)}))
    assert arithmetic.tensor_cores(instrument).figures == {}
    assert not instrument.timed


def test_launches_are_timed_alone_and_in_a_row(instrument):
    assert launches.launches(instrument).figures == {Figure.LAUNCH: SECONDS, Figure.LAUNCH_INTERVAL: SECONDS}
    assert [options for _, _, options in instrument.timed] == [{}, {"cold": False, "launches": 1000}]


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "launches"])
def test_a_wrong_result_ends_the_calibration(instrument, name):
    launch = instrument.launch

    def spoilt(program, *arguments, **options):
        launch(program, *arguments, **options)
        instrument.arrays["sums"][0] += 1

    instrument.launch = spoilt
    with pytest.raises(DeviceError, match=r"of the calibration is wrong: it found .*, expected "):
        EXPERIMENTS[name](instrument)
    assert not instrument.timed


@pytest.mark.parametrize("kernel", ["copy_vectors", "write_vectors"])
def test_what_is_not_written_is_noticed(instrument, kernel):
    launch = instrument.launch

    def skipping(program, *arguments, **options):
        if program.name != kernel:
            launch(program, *arguments, **options)

    instrument.launch = skipping
    with pytest.raises(DeviceError, match=f"{kernel} of the calibration is wrong"):
        bandwidth.memory_bandwidth(instrument)
