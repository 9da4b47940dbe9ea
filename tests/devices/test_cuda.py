"""A CUDA GPU: limits, occupancy, verification of good and of bad kernels, timing."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scale import OPERATOR, Claim, ScaleProblem, scale

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.work import Unit
from autotune.compiler import compile_kernel
from autotune.db.states import Status, TimeSource
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.machine.occupancy import occupancy

pytestmark = pytest.mark.gpu

PROBLEM = ScaleProblem()
ACCUMULATE = ScaleProblem(accumulate=True)
EXACT = ScaleProblem(exact=True)


@pytest.fixture(scope="module")
def device():
    return CudaDevice(0)


def evaluated(device, problem, *sources):
    """What one session says about some kernels, one after another."""
    with device.session(OPERATOR, problem, seed=1) as session:
        return [session.evaluate(Schedule(), source, compile_kernel(source, device.spec.arch)) for source in sources]


def test_a_trial_says_in_which_state_the_gpu_was(device):
    (found,) = evaluated(device, PROBLEM, scale(PROBLEM, "SCALE"))
    assert found.conditions.keys() <= {"sm_mhz", "memory_mhz", "celsius", "clock_event_reasons"}
    if found.conditions:  # a container may lack NVML
        assert 100 < found.conditions["sm_mhz"] < 5000


def test_the_energy_of_a_launch_is_measured_where_it_is_asked_for():
    try:
        device = CudaDevice(0, energy=True)
    except DeviceError as error:
        pytest.skip(str(error))
    (found,) = evaluated(device, PROBLEM, scale(PROBLEM, "SCALE"))
    assert found.seconds
    assert 10 < found.conditions["watts"] < 2000
    assert 0 < found.conditions["joules"] < 0.1


def test_limits_and_environment(device):
    spec = device.spec
    assert device.selector == "0"
    assert device.time_source is TimeSource.MEASURED
    assert spec.name.startswith("NVIDIA") or spec.name.startswith("Tesla")
    assert spec.sm_count > 0
    assert spec.shared_per_block + spec.shared_reserved <= spec.shared_per_sm
    assert 1e12 < spec.peak(Unit.FP32) < 1e15
    assert 1e11 < spec.bandwidth < 1e14
    assert spec.l2_bytes >= 1 << 20
    assert set(device.environment) == {"device", "uuid", "driver", "cuda", "compiler", "cuda-core"}
    assert all(type(value) is str and value for value in device.environment.values())
    json.dumps(device.environment)


def test_an_ordinal_that_is_not_there_lists_those_that_are(device):
    with pytest.raises(DeviceError, match=rf"there is no CUDA device 99; there are: 0 \({device.spec.name}\)"):
        CudaDevice(99)


REGISTERS = """
  float r[COUNT];
  for (int i = 0; i < COUNT; ++i) r[i] = x[i];
  __syncthreads();
  for (int i = 0; i < COUNT; ++i) y[i] = r[i] * r[(5 * i) % COUNT];
""".replace("for", '_Pragma("unroll") for')


@pytest.mark.parametrize("registers", [8, 40, 100, 200])
def test_occupancy_agrees_with_the_driver(device, registers):
    from autotune.devices.launcher import LoadedProgram

    spec = device.spec
    source = scale(PROBLEM, REGISTERS.replace("COUNT", str(registers)), shared_bytes=spec.shared_per_block)
    compiled = compile_kernel(source, spec.arch)
    loaded = LoadedProgram(compiled, source)
    used = compiled.resources.registers
    for threads in (32, 33, 96, 128, 160, 256, 384, 512, 1024):
        for shared in (0, 1, 1000, 16384, 40000, spec.shared_per_block // 2, spec.shared_per_block):
            ours = occupancy(spec, threads, used, shared).blocks_per_sm
            assert loaded.max_active_blocks(threads, shared) == ours, (threads, used, shared)


@pytest.mark.parametrize("problem", [PROBLEM, ACCUMULATE, EXACT], ids=["scale", "accumulate", "exact"])
@pytest.mark.parametrize(("alignment", "multiple", "remainder"), [(4, 8, 4), (8, 16, 8), (16, 256, 0), (256, 256, 0)])
def test_a_good_kernel_is_ok_and_timed(device, problem, alignment, multiple, remainder):
    problem = replace(problem, alignment=alignment)
    aligned = "(unsigned long long)a.{} % {} == {}"
    both = " && ".join(aligned.format(name, multiple, remainder) for name in "xy")
    (found,) = evaluated(device, problem, scale(problem, f"if ({both}) {{ SCALE }}"))
    assert found.error == ""
    assert found.status is Status.OK
    assert found.max_error == 0.0 if problem.exact else found.max_error <= 1e-6
    assert 10 <= len(found.samples) <= 100
    assert all(0 < seconds < 1 for seconds in found.samples)


@pytest.mark.parametrize(
    ("problem", "body", "complaint"),
    [
        (PROBLEM, "SCALE y[7] = 0;", "y: wrong: 100 of 3696 elements, first at [0, 7]: got 0.0, expected "),
        (PROBLEM, "if (!last) { SCALE }", "y: wrong: 33 of 3696 elements, first at [99, 0]: got nan, expected "),
        (PROBLEM, "SCALE if (!last) y[a.columns] = 1;",
         "y: wrong: 99 of 3696 elements, first at 33: got 1.0, expected the gap untouched"),
        (PROBLEM, "SCALE if (last) y[a.columns] = 1;", "wrote outside of y"),
        (PROBLEM, "SCALE a.y[-1] = 1;", "wrote outside of y"),
        (PROBLEM, "SCALE y[200000] = 1;", "wrote outside of y"),
        (PROBLEM, "SCALE ((float*)x)[5] = 1;", "wrote to the input x or outside of it"),
        (PROBLEM, "SCALE ((float*)a.x)[-1] = 1;", "wrote to the input x or outside of it"),
        (PROBLEM, "SCALE if (last) y[0] = x[a.columns];", "y: wrong: 1 of 3696 elements, first at [99, 0]: got nan"),
        (ACCUMULATE, "SCALE SCALE", "y: wrong: "),
        (EXACT, "SCALE y[32] ^= 1u << 31;", "y: wrong: 100 of 3696 elements, first at [0, 32]: "),
        (EXACT, "SCALE if (!last) y[a.columns] = 0;",
         "y: wrong: 99 of 3696 elements, first at 33: got 0, expected the gap untouched"),
    ],
)  # fmt: skip
def test_a_bad_kernel_is_wrong_and_harms_no_other(device, problem, body, complaint):
    bad, good = evaluated(
        device,
        problem,
        scale(problem, "__syncthreads(); " + body.replace("SCALE", "SCALE __syncthreads();")),
        scale(problem),
    )
    assert (bad.status, bad.samples) == (Status.WRONG, ())
    assert complaint in bad.error
    assert (good.status, good.error) == (Status.OK, "")


def test_a_kernel_that_is_right_at_first_only_is_wrong(device):
    count = "__shared__ unsigned n; if (threadIdx.x == 0) n = atomicAdd(a.workspace, 1); __syncthreads();"
    forgets = scale(PROBLEM, count + "if (n < 200) { SCALE }", workspace_bytes=4)
    keeps = scale(PROBLEM, count + "if (n < 4000000000) { SCALE }", workspace_bytes=4)
    bad, good = evaluated(device, PROBLEM, forgets, keeps)
    assert bad.status is Status.WRONG
    assert bad.error.startswith("right before timing, wrong after it: y: wrong: ")
    assert (good.status, good.error) == (Status.OK, "")


def test_a_kernel_that_differs_from_launch_to_launch_is_wrong(device):
    body = "SCALE if (threadIdx.x == 0) y[0] += 5e-10f * (clock64() & 1023);"
    (found,) = evaluated(device, PROBLEM, scale(PROBLEM, body))
    assert found.status is Status.WRONG
    assert found.error.startswith("y: two launches on the same inputs differ")


def test_a_workspace_is_zeroed_and_guarded(device):
    zeroed = scale(PROBLEM, "if (a.workspace[threadIdx.x] == 0) { SCALE }", workspace_bytes=64 * 4)
    outside = scale(PROBLEM, "SCALE a.workspace[threadIdx.x + 1] = 0;", workspace_bytes=64 * 4)
    good, bad = evaluated(device, PROBLEM, zeroed, outside)
    assert (good.status, good.error) == (Status.OK, "")
    assert (bad.status, bad.error) == (Status.WRONG, "wrote outside of workspace")


def test_all_the_shared_memory_of_a_block_can_be_had(device):
    body = (
        "float* s = shared + LAST; if (threadIdx.x == 0) *s = a.factor; __syncthreads(); if (*s == a.factor) { SCALE }"
    )
    most = device.spec.shared_per_block
    source = scale(PROBLEM, body.replace("LAST", str(most // 4 - 1)), shared_bytes=most)
    too_much = scale(PROBLEM, shared_bytes=most + 1024)
    good, bad = evaluated(device, PROBLEM, source, too_much)
    assert (good.status, good.error) == (Status.OK, "")
    assert bad.status is Status.LAUNCH_ERROR
    assert bad.error.startswith("CUDA_ERROR_")


def test_a_launch_that_the_driver_refuses_is_a_launch_error(device):
    bad, good = evaluated(device, PROBLEM, scale(PROBLEM, threads=2048), scale(PROBLEM))
    assert (bad.status, bad.samples) == (Status.LAUNCH_ERROR, ())
    assert bad.error.startswith("CUDA_ERROR_INVALID_VALUE")
    assert "\n" not in bad.error
    assert good.status is Status.OK


@pytest.mark.parametrize(
    ("problem", "complaint"),
    [
        (Claim(claimed_operations=10**18), "is above the device's peak of "),
        (Claim(claimed_bytes=10**15), "is above the device's bandwidth of "),
    ],
)
def test_a_time_that_cannot_be_true_is_wrong(device, problem, complaint):
    (found,) = evaluated(device, problem, scale(problem))
    assert found.status is Status.WRONG
    assert complaint in found.error
    assert found.samples


def test_a_problem_that_does_not_fit_is_one_line(device, monkeypatch):
    huge = ScaleProblem(rows=10**9, columns=1000, ld=1000)
    with monkeypatch.context() as patch:
        patch.setattr(ScaleProblem, "inputs", lambda *_: {"x": np.zeros(1, np.float32)})
        with (
            pytest.raises(DeviceError, match=r"on device 0: CUDA_ERROR_OUT_OF_MEMORY") as caught,
            device.session(OPERATOR, huge, seed=1),
        ):
            pass
    assert "\n" not in str(caught.value)
    assert evaluated(device, PROBLEM, scale(PROBLEM))[0].status is Status.OK


CRASH = """
import json
from scale import OPERATOR, ScaleProblem, scale
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import compile_kernel
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice

device, problem, said = CudaDevice(0), ScaleProblem(), []
with device.session(OPERATOR, problem, seed=1) as session:
    for body in ("SCALE *(float*)16 = 1;", "SCALE"):
        source = scale(problem, body)
        try:
            found = session.evaluate(Schedule(), source, compile_kernel(source, device.spec.arch))
            said.append([found.status, found.error])
        except DeviceError as error:
            said.append(str(error))
try:
    device.session(OPERATOR, problem, seed=1).__enter__()
except DeviceError as error:
    said.append(str(error))
print(json.dumps(said))
"""


def test_a_kernel_that_crashes_costs_the_context_and_no_traceback():
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    crash = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, env=environment)
    assert crash.returncode == 0, crash.stderr
    assert "Traceback" not in crash.stderr  # cuda.core warns of memory that it cannot free, and no more
    (status, error), *later = json.loads(crash.stdout)
    assert status == Status.CRASHED
    assert error.startswith("CUDA_ERROR_ILLEGAL_ADDRESS")
    lost = "the CUDA context of device 0 was lost to a kernel that crashed; run the same command again to continue"
    assert later == [lost, lost]
