"""A measured record that is legal goes before what the dispatcher chooses, and nothing else does."""

import pytest
from bench_fakes import SPEC

from autotune.bench import OwnSchedule, find_own_schedule
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.dtype import DType
from autotune.db import TimeSource, TuningDB
from autotune.dispatcher.choice.modelled import preferred
from autotune.emulator import verify
from autotune.search_spaces.contract.registry import operator

TRANSPOSE = operator("transpose")
PROBLEM = TransposeProblem(48, 80)
DEFAULT = TRANSPOSE.default(PROBLEM, SPEC)
SEED = next(seed for seed in TRANSPOSE.seeds(PROBLEM, SPEC) if seed != DEFAULT)


def chosen(operator=TRANSPOSE, problem=PROBLEM):
    with TuningDB() as database:
        return find_own_schedule(operator, problem, SPEC, database)


def test_the_record(record):
    record(PROBLEM, SEED.to_dict())
    found = chosen()
    assert (found.schedule, found.source, found.record.schedule) == (SEED, "record", SEED.to_dict())


@pytest.mark.parametrize("changes", [{"no_such_field": 1}, {"tile_m": 3}])
def test_a_record_that_does_not_fit_is_none(record, changes):
    record(PROBLEM, SEED.to_dict() | changes)
    assert chosen() == OwnSchedule(preferred(TRANSPOSE, PROBLEM, SPEC)[0], rule="model")


def test_a_record_that_emits_another_program_today_goes_the_dispatchers_way(record):
    record(PROBLEM, SEED.to_dict(), digest="0" * 64)
    assert chosen() == OwnSchedule(preferred(TRANSPOSE, PROBLEM, SPEC)[0], rule="model")


def test_without_a_measured_record_it_is_what_a_call_gets(record):
    record(PROBLEM, SEED.to_dict(), TimeSource.MODELLED)
    assert chosen() == OwnSchedule(SEED, rule="exact")
    record(TransposeProblem(96, 160), SEED.to_dict(), seconds=1e-9)
    assert chosen(problem=TransposeProblem(96, 168)) == OwnSchedule(SEED.shape_generic, rule="nearest")


def test_what_serves_may_be_another_operators():
    sgemm = operator("sgemm")
    layer = sgemm.problem_type(1, 4096, 4096, transpose_b=True)
    found = chosen(sgemm, layer)
    assert (found.source, found.restated) == ("model", sgemm.restated(layer))
    assert found.program(sgemm, layer, SPEC).name == "gemv"


def test_the_faster_record_of_a_problem_that_is_another_operators_too(record):
    sgemm, gemv = operator("sgemm"), operator("gemv")
    layer = sgemm.problem_type(1, 4096, 4096, transpose_b=True)
    restated = sgemm.restated(layer)
    schedules = {
        name: one.default(problem, SPEC)
        for name, one, problem in (("sgemm", sgemm, layer), ("gemv", gemv, restated.problem))
    }
    for name, seconds, expected in (("gemv", 3e-6, "gemv"), ("sgemm", 2e-6, "record"), ("gemv", 1e-6, "gemv")):
        problem = layer if name == "sgemm" else restated.problem
        record(problem, schedules[name].to_dict(), operator=name, seconds=seconds)
        assert chosen(sgemm, layer).source == expected
    program = chosen(sgemm, layer).program(sgemm, layer, SPEC)
    assert {"a", "b", "c"} <= {argument.name for argument in program.arguments}
    assert program.source == gemv.program(restated.problem, schedules["gemv"], SPEC).source


def test_a_kernel_with_tensor_maps_gets_the_arrays_of_the_problem_that_it_restates():
    gemv, gemm = operator("gemv"), operator("gemm")
    vectors = gemv.problem_type(64, 128, 16, dtype=DType.BFLOAT16)
    restated = gemv.restated(vectors)
    program = OwnSchedule(gemm.default(restated.problem, SPEC), restated=restated).program(gemv, vectors, SPEC)
    assert any(argument.tensor_map for argument in program.arguments)
    verify(vectors, program)


def test_a_scalar_that_the_problem_lacks_has_its_default():
    gradient, gemm = operator("conv2d_input"), operator("gemm")
    problem = gradient.problem_type(12, 9, 5, 7, 2, 1, 1, dtype=DType.FLOAT16, align_grad=2, align_weight=8)
    restated = gradient.restated(problem)
    program = OwnSchedule(gemm.default(restated.problem, SPEC), restated=restated).program(gradient, problem, SPEC)
    verify(problem, program)
