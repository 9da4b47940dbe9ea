"""The time model: bounded by the device's peaks, monotone, quantised in waves, and near to what was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.dtype import DType
from autotune.codegen.problem import Array, Problem
from autotune.codegen.program import Launch, Program
from autotune.codegen.tensor import Role, Tensor
from autotune.codegen.work import Unit, Work
from autotune.compiler import Resources
from autotune.devices.model import FIX_UP_SECONDS, LAUNCH_SECONDS, predict_seconds
from autotune.search_spaces.devices import named_device, named_devices

H200 = named_device("h200")


@dataclass(frozen=True)
class Amount(Problem):
    """A problem of which only the amount of work is known."""

    amount: int
    moved: int
    results: int

    @property
    def key(self) -> str:
        return "work"

    @property
    def work(self) -> Work:
        return Work(self.moved, {Unit.FP32: self.amount})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return (Tensor.flat("c", DType.FLOAT32, self.results, Role.OUTPUT, 4),)

    def inputs(self, seed: int) -> dict[str, Array]:
        raise NotImplementedError

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        raise NotImplementedError


def sgemm(m: int, n: int, k: int) -> Amount:
    return Amount(2 * m * n * k, 4 * (m * k + k * n + m * n), m * n)


def kernel(blocks: int, threads: int, shared_bytes: int = 0, workspace_bytes: int = 0) -> Program:
    return Program("", (), (Launch("kernel", (blocks, 1, 1), (threads, 1, 1), shared_bytes),), workspace_bytes)


works = st.builds(Amount, st.integers(0, 10**13), st.integers(4, 10**10), st.integers(1, 10**9))
kernels = st.builds(kernel, st.integers(1, 10**6), st.sampled_from([32, 128, 256]), st.integers(0, 64 * 1024))
resources = st.builds(Resources, st.integers(16, 255))
devices = st.sampled_from([named_device(identifier) for identifier in named_devices()])


@given(works, kernels, resources, devices)
def test_no_rate_is_above_a_peak(work, source, used, limits) -> None:
    seconds = predict_seconds(work, source, used, limits)
    assert seconds >= LAUNCH_SECONDS + max(work.amount / limits.peak(Unit.FP32), work.moved / limits.bandwidth)


@given(works, kernels, resources, devices, st.integers(0, 10**12))
def test_more_work_is_never_faster(work, source, used, limits, more) -> None:
    seconds = predict_seconds(work, source, used, limits)
    for harder in (replace(work, amount=work.amount + more), replace(work, moved=work.moved + more)):
        assert predict_seconds(harder, source, used, limits) >= seconds


@given(works, kernels, resources, devices, st.integers(4, 4096))
def test_spills_are_always_slower(work, source, used, limits, spilled) -> None:
    seconds = predict_seconds(work, source, used, limits)
    assert predict_seconds(work, source, replace(used, spill_store_bytes=spilled), limits) > seconds
    assert predict_seconds(work, source, replace(used, spill_load_bytes=spilled), limits) > seconds


@given(works, kernels, resources, devices, st.floats(1, 4))
def test_a_faster_device_is_never_slower(work, source, used, limits, factor) -> None:
    seconds = predict_seconds(work, source, used, limits) * (1 + 1e-12)
    for faster in (
        replace(limits, clock_hz=factor * limits.clock_hz),
        replace(limits, bandwidth=factor * limits.bandwidth),
    ):
        assert predict_seconds(work, source, used, faster) <= seconds


@given(works, kernels, resources, devices, st.integers(1, 64))
def test_more_sms_are_never_slower_at_arithmetic(work, source, used, limits, more) -> None:
    arithmetic = replace(work, moved=0)
    seconds = predict_seconds(arithmetic, source, used, limits) * (1 + 1e-12)
    assert predict_seconds(arithmetic, source, used, replace(limits, sm_count=limits.sm_count + more)) <= seconds


def test_one_block_over_a_full_wave_costs_another_round() -> None:
    tile, used = 128 * 128, Resources(128)

    def seconds(blocks: int) -> float:
        work = Amount(2 * tile * 4096 * blocks, 0, tile * blocks)
        return predict_seconds(work, kernel(blocks, 256), used, H200) - LAUNCH_SECONDS

    wave = 2 * H200.sm_count
    assert seconds(wave) == pytest.approx(seconds(wave - 1))
    assert seconds(wave + 1) > 1.5 * seconds(wave)
    assert seconds(2 * wave) == pytest.approx(2 * seconds(wave))


def test_too_few_blocks_leave_sms_idle() -> None:
    problem = sgemm(512, 512, 4096)
    large = predict_seconds(problem, kernel(4 * 4, 256), Resources(128), H200)
    small = predict_seconds(problem, kernel(8 * 8, 64), Resources(128), H200)
    assert small < large


def test_split_k_helps_where_there_are_few_tiles() -> None:
    problem = sgemm(128, 128, 65536)
    whole = predict_seconds(problem, kernel(1, 256), Resources(128), H200)
    split = predict_seconds(problem, kernel(64, 256, workspace_bytes=64 * 4 * 128 * 128), Resources(128), H200)
    assert split < whole / 20


def test_partial_results_in_a_workspace_are_moved_too() -> None:
    work, used = Amount(0, 2**30, 2**20), Resources(32)
    plain = predict_seconds(work, kernel(2**15, 256), used, H200) - LAUNCH_SECONDS
    shared = predict_seconds(work, kernel(2**15, 256, workspace_bytes=2**29), used, H200)
    through_workspace = shared - LAUNCH_SECONDS - FIX_UP_SECONDS
    assert through_workspace == pytest.approx(2 * plain)


def test_no_more_results_are_reused_than_fit_in_registers() -> None:
    persistent, used = kernel(2 * H200.sm_count, 256), Resources(32)
    many, more = (Amount(10**13, 0, results) for results in (10**8, 10**9))
    assert predict_seconds(many, persistent, used, H200) == predict_seconds(more, persistent, used, H200)


@pytest.mark.parametrize("identifier", named_devices())
def test_a_good_matrix_product_nears_the_peak_of_every_device(identifier: str) -> None:
    limits, problem = named_device(identifier), sgemm(16384, 16384, 4096)
    rate = problem.work.count(Unit.FP32) / predict_seconds(
        problem, kernel(256 * 64, 128, shared_bytes=30720), Resources(240), limits
    )
    assert 0.7 * limits.peak(Unit.FP32) < rate < 0.9 * limits.peak(Unit.FP32)


def test_larger_thread_tiles_load_less() -> None:
    problem = sgemm(4096, 4096, 4096)
    naive = predict_seconds(problem, kernel(256 * 256, 256), Resources(32), H200)
    tiled = predict_seconds(problem, kernel(32 * 32, 256), Resources(128), H200)
    assert tiled < naive / 3


def test_more_warps_hide_more_latency() -> None:
    work, used = Amount(0, 2**32, 2**29), Resources(32)
    few = predict_seconds(work, kernel(2**15, 128, shared_bytes=100 * 1024), used, H200)
    many = predict_seconds(work, kernel(2**15, 128, shared_bytes=0), used, H200)
    assert many < few / 1.5


def test_near_a_measured_copy() -> None:
    work = Amount(0, 2**32, 2**29)
    rate = work.moved / predict_seconds(work, kernel(2**21, 256), Resources(32), H200)
    assert rate == pytest.approx(4.21e12, rel=0.05)


def test_near_a_measured_matrix_product() -> None:
    """64×256×16 tiles, 16×8 per thread, 128 threads, 2 blocks per SM: 51.8 TFLOP/s at 4096³ on an H200."""
    problem = sgemm(4096, 4096, 4096)
    seconds = predict_seconds(problem, kernel(64 * 16, 128, shared_bytes=40960), Resources(240), H200)
    assert problem.work.count(Unit.FP32) / seconds == pytest.approx(51.8e12, rel=0.05)


def test_an_empty_grid_costs_a_launch() -> None:
    assert predict_seconds(Amount(0, 0, 1), kernel(0, 128), Resources(32), H200) == LAUNCH_SECONDS


def test_a_block_that_does_not_fit_is_refused_with_its_figures() -> None:
    with pytest.raises(ValueError, match=r"1024 threads with 72 registers each and 100 B .* NVIDIA H200: .* registers"):
        predict_seconds(sgemm(64, 64, 64), kernel(1, 1024, shared_bytes=36), Resources(72, shared_bytes=64), H200)
