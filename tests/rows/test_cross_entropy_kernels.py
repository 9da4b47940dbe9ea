"""What is peculiar to the kernels of cross_entropy and its backward; tests/contract runs all cases."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from planted import caught
from refusals import illegal

from autotune import emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem, CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropySchedule
from autotune.codegen.rows.softmax.schedule import Passes
from autotune.contract.checker import check_reference_kernel
from autotune.emulator import EmulatorError
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.verification import launch_arrays

SPEC = named_device("h200")
BF16 = DType.BFLOAT16


def program(problem, words):
    chosen = operator("cross_entropy_backward" if problem.lse_given else "cross_entropy")
    return chosen.program(problem, chosen.kernels[0].schedule_type.parse(words.split()), SPEC)


def test_the_reference_takes_impossible_logits_beside_the_target():
    problem = CrossEntropyProblem(18, 64)  # here such a row has a possible target
    check_reference_kernel(operator("cross_entropy"), problem, partial(emulator.run, seed=0))


def test_exponentials_of_logits_are_not_kept():
    kept = CrossEntropySchedule(passes=Passes.KEPT)
    found = operator("cross_entropy").violations(CrossEntropyProblem(18, 64), kept, SPEC)
    assert found == ["passes kept: expected one of two, online"]


BLOCK = "threads=128 TPR=64 vector_width=2"
CLUSTER = "threads=32 TPR=32 cluster=4 vector_width=2"
EARLY_CLUSTER = "threads=32 TPR=32 cluster=4 vector_width=2 hold=shared passes=online early=1"
STEPS = "threads=64 TPR=64 vector_width=2 hold=reload loads_in_flight=2"
PLAIN = CrossEntropyProblem(19, 333, ldx=334, lse=True)
SMOOTHED = replace(PLAIN, smoothed=True, z_loss=True)
EVERYTHING = replace(SMOOTHED, capped=True, gradient=True)
BULK = "threads=64 TPR=64 cluster=2 vector_width=4 hold=shared passes=online early=1 bulk=1"
LONG = CrossEntropyProblem(3, 1044, lse=True, gradient=True)
IN_PLACE = replace(EVERYTHING, ldd=334)
BACKWARD = CrossEntropyBackwardProblem(19, 333, BF16, ldx=334, smoothed=True, z_loss=True, capped=True)


test_planted_bug_is_caught = caught(
    program,
    [
        # in place, where another block may store over the target's logit before it is read
        (IN_PLACE, CLUSTER, "first = is_first_to_write(part, target)", "first = is_first_of_row(part)"),
        (IN_PLACE, EARLY_CLUSTER, "first = is_first_to_write(part, target)", "first = is_first_of_row(part)"),
    ],
)


UNKNOWN = {DType.INT64: (-1, 70, 2**32 + 3, -(2**63)), DType.INT32: (-1, 70, 2**31 - 1, -(2**31))}


@pytest.mark.parametrize("target_dtype", UNKNOWN)
def test_targets_of_no_column_are_nan_and_read_nothing(target_dtype):
    problem = CrossEntropyProblem(6, 70, target_dtype=target_dtype, lse=True, gradient=True)
    kernel, arrays = program(problem, BLOCK), launch_arrays(problem, 0)
    arrays["x"] = np.random.default_rng(0).standard_normal(arrays["x"].size, np.float32)
    arrays["target"][:] = (*UNKNOWN[target_dtype], -100, 69)
    emulator.run(kernel, problem.tensors, arrays, problem.scalars, seed=0)
    np.testing.assert_array_equal(np.isnan(arrays["loss"]), [True] * 4 + [False] * 2)
    np.testing.assert_array_equal(np.isnan(arrays["d"].reshape(6, 70)), [[True] * 70] * 4 + [[False] * 70] * 2)
    assert np.isfinite(arrays["lse"]).all()
    wrong = kernel.source.replace("target < problem.columns", "target <= problem.columns")
    arrays["target"][5] = 70
    with pytest.raises(EmulatorError, match="of x, which has 1680 bytes"):
        emulator.run(replace(kernel, source=wrong), problem.tensors, arrays, problem.scalars, seed=0)


def test_only_a_log_sum_of_infinity_or_nan_has_the_gradient_nan():
    problem = CrossEntropyBackwardProblem(4, 33)
    kernel, arrays = program(problem, STEPS), launch_arrays(problem, 0)
    arrays["x"][:], arrays["target"][:], arrays["lse"][:] = 1, (0, 1, 2, -100), (np.inf, -np.inf, np.nan, np.nan)
    emulator.run(kernel, problem.tensors, arrays, problem.scalars, seed=0)
    gradients = arrays["d"].reshape(4, 33)
    np.testing.assert_array_equal(np.isnan(gradients).all(1), [True, False, True, False])
    assert np.isinf(gradients[1]).all() and not gradients[3].any()  # exp(1 + infinity) is infinite


test_illegal_schedules_say_why = illegal(
    operator("cross_entropy_backward"),
    {
        BACKWARD: {
            "hold=shared vector_width=2": "hold shared: expected registers or reload for rows that are read once",
            "threads=64 TPR=32 cluster=2": "threads_per_row 32: expected all 64 threads of the blocks of a cluster",
        }
    },
)


def test_rows_that_are_read_again_are_not_loaded_early():
    chosen = operator("cross_entropy")
    found = chosen.violations(PLAIN, chosen.kernels[0].schedule_type.parse([*STEPS.split(), "early=1"]), SPEC)
    assert found == ["early: expected rows that are held, whose loads all leave at once"]


@pytest.mark.parametrize(
    "words", [BULK.replace("early=1", "early=0"), BULK.replace("vector_width=4", "vector_width=2")]
)
def test_what_can_be_copied_in_bulk(words):
    chosen = operator("cross_entropy")
    found = chosen.violations(LONG, chosen.kernels[0].schedule_type.parse(words.split()), SPEC)
    assert any(line.startswith("bulk: expected early rows of several warps") for line in found)
