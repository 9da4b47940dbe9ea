"""Compiling ahead, with a compiler that refuses."""

from concurrent.futures import Future
from contextlib import nullcontext

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial

from autotune import compile_pool, dispatcher
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Specialize
from autotune.compiler import CompiledKernel, CompileError
from autotune.dispatcher.calls.plan import plan_for
from autotune.dispatcher.calls.warming import compile_ahead
from autotune.dispatcher.choice.records import records
from autotune.dispatcher.choice.rule import Rule


@pytest.fixture
def compiler(monkeypatch):
    """The words that a kernel's text may not have, and the texts that were compiled."""
    refused, compiled = [], []

    class Pool:
        def submit(self, source, arch):
            future = Future()
            if any(word in source.source for word in refused):
                future.set_exception(CompileError("no such register"))
            else:
                compiled.append(source.source)
                future.set_result(CompiledKernel(b"", Resources(1), arch, ""))
            return future

    monkeypatch.setattr(compile_pool, "CompilePool", lambda: nullcontext(Pool()))
    return refused, compiled


def known(operator):
    return records(operator, H200)


def ahead(*problems):
    return [(found.problem, found.choice.rule) for found in compile_ahead(SGEMM, problems, H200, known)]


def test_what_serves_is_compiled(compiler, database):
    database.record(trial(problem(512), schedule(0, problem(512))))
    assert ahead(problem(512), problem(8)) == [(problem(512), Rule.EXACT), (problem(8), Rule.MODEL)]
    assert len(compiler[1]) == 2


def test_without_a_record_it_is_a_kernel_for_the_shape_alone(compiler, database):
    database.record(trial(problem(512), schedule(0, problem(512))))
    own, other = compile_ahead(SGEMM, [problem(512), problem(520)], H200, known)
    assert own.choice.schedule == schedule(0, problem(512))
    assert other.choice.schedule.specialize is Specialize.SHAPE
    assert f"for {problem(520).key}\n" in compiler[1][1]


def test_a_call_takes_a_kernel_for_the_shape_alone_only_if_it_was_compiled_ahead(gpu):
    [warmed] = dispatcher.warm([problem(8)])
    assert warmed.schedule.specialize is Specialize.SHAPE
    assert plan_for(SGEMM, problem(16), 0).choice.schedule.specialize is Specialize.NONE
    gpu.problems.append(problem(24))
    assert plan_for(SGEMM, problem(24), 0).choice.schedule.specialize is Specialize.SHAPE


def test_a_kernel_for_the_shape_alone_that_is_refused_makes_way_for_one_for_any(gpu):
    gpu.refused[f"for {problem(8).key}\n"] = CompileError("no such register")
    with pytest.warns(RuntimeWarning, match="no such register"):
        [warmed] = dispatcher.warm([problem(8)])
    assert (warmed.rule, warmed.schedule.specialize) == (Rule.MODEL, Specialize.NONE)


def test_what_does_not_compile_is_passed_over(compiler, database):
    database.record(trial(problem(512), schedule(0, problem(512))))
    compiler[0].append("raster_group = 100")
    assert ahead(problem(512)) == [(problem(512), Rule.MODEL)]


def test_ahead_a_kernel_for_the_shape_alone_that_is_refused_makes_way_for_one_for_any(compiler):
    compiler[0].append(f"for {problem(512).key}\n")
    [found] = compile_ahead(SGEMM, [problem(512)], H200, known)
    assert (found.choice.rule, found.choice.schedule.specialize) == (Rule.MODEL, Specialize.NONE)


def test_if_nothing_compiles_the_last_reason_is_told(compiler):
    compiler[0].append("sgemm")
    with pytest.raises(CompileError, match="no such register"):
        ahead(problem(512))


def test_what_is_no_problem_is_refused():
    with pytest.raises(TypeError, match="1: expected a problem, one of SgemmProblem, TransposeProblem"):
        dispatcher.warm([1])
