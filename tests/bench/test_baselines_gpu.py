"""Every baseline computes what the operator's reference computes, as a CUDA graph too."""

import pytest

from autotune.bench import OwnSchedule, Setting
from autotune.bench.baselines import baselines_of
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.registry import operator

pytestmark = pytest.mark.gpu

SGEMM = operator("sgemm").problem_type
PROBLEMS = {
    "sgemm": [
        SGEMM(256, 256, 256),
        SGEMM(200, 136, 72, transpose_a=True, transpose_b=True, beta_nonzero=True),
        SGEMM(33, 65, 17, batch=3, stride_a=33 * 17, align_a=4, align_b=4, align_c=4),
        SGEMM(64, 48, 32, transpose_b=True, lda=40, ldb=36, ldc=64, batch=2, stride_b=48 * 36, beta_nonzero=True),
        SGEMM(1, 512, 4096),
    ],
    "transpose": [
        operator("transpose").problem_type(1000, 520),
        operator("transpose").problem_type(33, 70, element_bytes=16, batch=2, ldb=40),
        operator("transpose").problem_type(64, 48, element_bytes=2, lda=56),
    ],
}


@pytest.fixture(scope="module")
def device():
    return CudaDevice(0)


@pytest.mark.parametrize(
    ("name", "baseline", "problem"),
    [
        pytest.param(name, baseline, problem, id=f"{baseline}-{problem.key}")
        for name in PROBLEMS
        for baseline in baselines_of(operator(name))
        for problem in PROBLEMS[name]
    ],
)
def test_it_is_right(device, name, baseline, problem):
    opponent = baselines_of(operator(name))[baseline]
    if missing := opponent.missing():
        pytest.skip(missing)
    chosen = operator(name)
    own = OwnSchedule(chosen.default(problem, device.limits))
    run = Setting(chosen, device, {baseline: opponent}, rounds=4).run(problem, own)
    assert run.error == ""
    assert len(run.comparison.samples[baseline]) == 4
    assert all(opponent.versions().values())


def test_the_ladder_is_right(device):
    sgemm, problem = operator("sgemm"), SGEMM(512, 512, 512)
    own = OwnSchedule(sgemm.default(problem, device.limits))
    run = Setting(sgemm, device, {}, rounds=4, ladder=True).run(problem, own)
    assert run.error == ""
    assert list(run.comparison.samples) == [*sgemm.presets, "autotune"]
