"""Every baseline computes what the operator's reference computes, as a CUDA graph too."""

import pytest

from autotune.bench import OwnSchedule, Setting
from autotune.bench.baselines import baselines_of
from autotune.contract.operator_cases import SMALL_PROBLEMS
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.contract.registry import operator

pytestmark = pytest.mark.gpu

SGEMM, TRANSPOSE = (operator(name).problem_type for name in ("sgemm", "transpose"))
# Of every operator, its small problems, and layouts that libraries take other kernels for.
PROBLEMS = [
    *SMALL_PROBLEMS,
    ("sgemm", SGEMM(33, 65, 17, batch=3, stride_a=33 * 17, align_a=4, align_b=4, align_c=4)),
    (
        "sgemm",
        SGEMM(64, 48, 32, transpose_b=True, lda=40, ldb=36, ldc=64, batch=2, stride_b=48 * 36, beta_nonzero=True),
    ),
    ("sgemm", SGEMM(1, 512, 4096)),
    ("transpose", TRANSPOSE(64, 48, element_bytes=2, lda=56)),
]


@pytest.fixture(scope="module")
def device():
    return CudaDevice(0)


@pytest.mark.parametrize(
    ("name", "baseline", "problem"),
    [
        pytest.param(name, baseline, problem, id=f"{name}-{baseline}-{problem.key}")
        for name, problem in PROBLEMS
        for baseline in baselines_of(operator(name))
    ],
)
def test_it_is_right(device, name, baseline, problem):
    opponent = baselines_of(operator(name))[baseline]
    if missing := opponent.missing():
        pytest.skip(missing)
    chosen = operator(name)
    own = OwnSchedule(chosen.default(problem, device.spec))
    run = Setting(chosen, device, {baseline: opponent}, rounds=4, peaks=device.spec).run(problem, own)
    if run.comparison and run.comparison.untaken:
        pytest.skip(run.comparison.untaken[baseline])
    assert run.error == ""
    assert len(run.comparison.samples[baseline]) == 4
    assert all(opponent.versions().values())


def test_the_ladder_is_right(device):
    sgemm, problem = operator("sgemm"), SGEMM(512, 512, 512)
    own = OwnSchedule(sgemm.default(problem, device.spec))
    run = Setting(sgemm, device, {}, rounds=4, peaks=device.spec, ladder=True).run(problem, own)
    assert run.error == ""
    assert list(run.comparison.samples) == [*sgemm.presets, "autotune"]
