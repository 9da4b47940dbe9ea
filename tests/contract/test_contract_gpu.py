"""Every kind of kernel that every operator emits, on a GPU."""

from functools import partial

import pytest
from cuda.bindings import driver

from autotune.base.cuda_core import CUDAError, handle_return
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.compile_pool import CompilePool
from autotune.compiler import compile_kernel
from autotune.contract.checker import check_checker, check_reference_kernel
from autotune.contract.operator_cases import NAMES, PROBLEMS, SMALL_PROBLEMS, cases_of, label
from autotune.db.states import Status
from autotune.devices.cuda import CudaDevice
from autotune.devices.driver import reason
from autotune.devices.sanitizer_launch import run
from autotune.search_spaces.contract.registry import operator

pytestmark = pytest.mark.gpu

_MOST_CASES = 120
_COPIES = 5  # of a problem's tensors, at most: a session holds a reference in float64 and what restores them

# What a kernel is called, and what it computes.
Kernel = tuple[str, Problem, Program]


@pytest.fixture(scope="module")
def device():
    return CudaDevice(0)


@pytest.mark.parametrize("name", NAMES)
def test_drawn_schedules_are_right(name, device):
    chosen, cases = operator(name), cases_of(name)
    drawn = cases.drawn_cases(min(_MOST_CASES, len(cases.CASES)), device.spec)
    assert complaints(device, chosen, [(str(s), p, chosen.program(p, s, device.spec)) for p, s in drawn]) == []


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_presets_are_right(name, device):
    chosen, kernels = operator(name), []
    for problem in cases_of(name).SMALL_PROBLEMS:
        kernels += [(preset, problem, emit(problem)) for preset, emit in chosen.presets.items()]
        seeds = chosen.seeds(problem, device.spec)
        kernels += [(str(seed), problem, chosen.program(problem, seed, device.spec)) for seed in seeds]
    assert complaints(device, chosen, kernels) == []


@pytest.mark.parametrize(("name", "problem"), PROBLEMS, ids=label)
def test_default_is_right_and_timed(name, problem, device):
    free, _ = handle_return(driver.cuMemGetInfo())
    needed = _COPIES * sum(tensor.bytes for tensor in problem.tensors)
    if needed > free:
        pytest.skip(f"needs {needed} B of device memory, and {free} B are free")
    chosen = operator(name)
    schedule = chosen.default(problem, device.spec)
    program = chosen.program(problem, schedule, device.spec)
    with device.session(chosen, problem, seed=1) as session:
        found = session.evaluate(schedule, program, compile_kernel(program, device.spec.arch))
    assert (found.error, found.status) == ("", Status.OK)
    assert found.samples


@pytest.mark.parametrize(("name", "problem"), SMALL_PROBLEMS, ids=label)
def test_reference_kernel_is_right(name, problem, device):
    kernel = compile_kernel(operator(name).reference(problem), device.spec.arch)
    check_reference_kernel(operator(name), problem, partial(run, kernel=kernel))
    if operator(name).checker:
        kernel = compile_kernel(operator(name).checked_by(problem), device.spec.arch)
        check_checker(operator(name), problem, partial(run, kernel=kernel))


def complaints(device, chosen, kernels):
    """A line for each kernel that is not right; they compile in parallel, ahead."""
    found = []
    with CompilePool() as pool:
        compiled = [pool.submit(program, device.spec.arch) for _, _, program in kernels]
        for (called, problem, program), kernel in zip(kernels, compiled, strict=True):
            try:
                error = _complaint(device, chosen, problem, program, kernel.result())
            except CUDAError as crash:
                # It may have taken the context with it: the kernels after it could say nothing.
                return [*found, f"{called}, {problem.key}: {reason(crash)}"]
            found += [f"{called}, {problem.key}: {error}"] if error else []
    return found


def _complaint(device, chosen, problem, program, kernel):
    """What is wrong after a launch, after a second one on the same workspace, or in place; empty if nothing is."""
    with device.session(chosen, problem, seed=1) as session, session.prepared(program, kernel) as launch:
        found = session.verify(launch).error or session.verify(launch).error
        return found or session.verify_in_place(program, kernel).error
