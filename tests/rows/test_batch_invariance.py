"""Results of rows that do not depend on how many rows there are, nor on where a row is among them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.norm.problem import LayerNormProblem, RmsNormProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.db.states import TimeSource
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import Record
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
BF16 = DType.BFLOAT16
PROBLEMS = {
    "softmax": SoftmaxProblem,
    "rms_norm": RmsNormProblem,
    "layer_norm": LayerNormProblem,
    "cross_entropy": CrossEntropyProblem,
}
anywhere = pytest.mark.parametrize("name", PROBLEMS)


@anywhere
def test_the_schedule_follows_from_the_columns(name):
    chosen, problem = operator(name), PROBLEMS[name](4096, 2048, BF16)
    few, many = replace(problem, rows=16), problem
    generic = [one for one in chosen.seeds(problem, H200) if one.specialize is Specialize.NONE]
    drawn = generic[3]
    records = [
        Record(few, generic[2], 1e-6, TimeSource.MEASURED),
        Record(many, replace(drawn, specialize=Specialize.SHAPE), 1e-6, TimeSource.MEASURED),
        Record(many, drawn, 2e-6, TimeSource.MEASURED),
    ]

    def schedules(**changes):
        found = (replace(problem, rows=rows, **changes) for rows in (1, 16, 4096, 10**6))
        return {next(choices(chosen, one, H200, records)).schedule for one in found}

    assert len(schedules()) > 1
    assert schedules(batch_invariant=True) == {drawn}


@anywhere
def test_a_record_for_one_shape_serves_by_a_kernel_for_all(name):
    chosen, problem = operator(name), PROBLEMS[name](4096, 2048, BF16, batch_invariant=True)
    schedule = replace(chosen.seeds(problem, H200)[3], specialize=Specialize.SHAPE)
    record = Record(problem, schedule, 1e-9, TimeSource.MEASURED)
    for rows in (1, 4096):
        served = next(choices(chosen, replace(problem, rows=rows), H200, [record]))
        assert served.schedule == schedule.shape_generic


@anywhere
@pytest.mark.parametrize("columns", [33, 513])
def test_rows_do_not_begin_between_vectors(name, columns):
    chosen, problem = operator(name), PROBLEMS[name](5, columns, BF16, batch_invariant=True)
    assert chosen.default(problem, H200).vector_width == 1
    wide = replace(chosen.default(problem, H200), vector_width=8)
    assert (
        "results of a batch-invariant problem would depend on where a row is"
        in chosen.violations(problem, wide, H200)[0]
    )
    assert chosen.violations(replace(problem, batch_invariant=False), wide, H200) == []


CALLS: dict[str, Callable[..., Any]] = {
    "softmax": lambda x: dispatcher.softmax(x, batch_invariant=True),
    "rms_norm": lambda x: dispatcher.rms_norm(x, x.shape[-1], batch_invariant=True),
    "layer_norm": lambda x: dispatcher.layer_norm(x, x.shape[-1], batch_invariant=True),
    "cross_entropy": lambda x: dispatcher.cross_entropy(x, np.zeros(len(x), int), batch_invariant=True),
}


@anywhere
def test_a_row_has_the_same_bits_alone(name):
    x = np.random.default_rng(0).standard_normal((7, 131), np.float32)
    together = CALLS[name](x)
    for row in range(0, 7, 3):
        np.testing.assert_array_equal(CALLS[name](x[row : row + 1].copy()), together[row : row + 1])
