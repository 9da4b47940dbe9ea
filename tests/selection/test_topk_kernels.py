"""What is hard for topk's kernels: equal elements, odd numbers, samples that mislead; and bugs planted in them."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from selection.topk_cases import BFLOAT16, CLUSTER, FLOAT16, FLOAT32, ONCE, PIVOT, SHARED, TIES

from autotune.codegen.selection.keys import keys
from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.emulator import verify
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.selection.topk import OPERATOR

SPEC = named_device("h200")
WARPS = WarpsSchedule(64, 2, 4, 32)
COUNTED = replace(ONCE, samples=0)
COLUMNS = 3000


def program(problem, schedule):
    return OPERATOR.program(problem, schedule, SPEC)


def with_rows(problem, *values):
    """A problem whose rows have these elements, over and over."""

    class Given(TopkProblem):
        def inputs(self, seed):
            found = super().inputs(seed)
            found["x"] = np.resize(np.array(values, np.float32), found["x"].size).astype(self.dtype.numpy)
            return found

    return Given.from_dict(problem.to_dict())


def seen(problem, sampled, others):
    """A row with one number where a sample of `ONCE` looks, and with another elsewhere, that differ a little."""
    vectors = problem.columns // ONCE.vector_width
    x = np.full((vectors, ONCE.vector_width), others, np.float32)
    x[np.arange(ONCE.threads) * vectors // ONCE.threads] = sampled
    x += np.random.default_rng(0).random(x.shape, np.float32)
    return with_rows(problem, *x.reshape(-1))


ODD = (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-40, 1.0, -0.0)
BELOW, ABOVE = TopkProblem(1, 4000, 500), TopkProblem(1, 8000, 40)
BURIED, SPIKES = seen(BELOW, 5, 0), seen(ABOVE, 0, 5)
ZEROS = with_rows(TopkProblem(2, 250, 20), *ODD)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, BFLOAT16])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("schedule", [WARPS, COUNTED], ids=["warps", "counted"])
def test_zeros_infinities_and_nan(dtype, largest, schedule):
    columns, k = (250, 31) if schedule is WARPS else (1500, 700)
    problem = with_rows(TopkProblem(2, columns, k, dtype, largest), *ODD)
    verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize("largest", [True, False])
def test_keys_order_as_numbers_do(largest):
    x = np.array([-np.inf, -3, -1e-40, -0.0, 0.0, 1e-40, 2, np.inf, np.nan], np.float32)
    order = np.argsort(keys(x, largest), kind="stable")
    expected = [0, 1, 2, 3, 4, 5, 6, 7, 8] if largest else [8, 7, 6, 5, 3, 4, 2, 1, 0]
    assert order.tolist() == expected
    assert keys(x, largest).min() > 0


def test_rows_of_one_number():
    """No floor by value keeps few of them: columns decide."""
    for schedule in (ONCE, COUNTED, SHARED):
        problem = with_rows(TopkProblem(1, COLUMNS, 100), 1.5)
        verify(problem, program(problem, schedule), seeds=(0,))


def test_rows_of_quantised_activations():
    """Behind a ReLU, half of a row is 0, and the rest has few values."""
    activations = np.maximum(np.random.default_rng(0).standard_normal(COLUMNS), 0)
    for schedule in (ONCE, COUNTED, SHARED):
        problem = with_rows(TopkProblem(1, COLUMNS, 100), *(activations * 4).round())
        verify(problem, program(problem, schedule), seeds=(0,))


TIED, MANY = TopkProblem(2, 250, 20, pattern=TIES), TopkProblem(1, 3005, 300)
SIGNS = with_rows(TopkProblem(2, 250, 20), 0.0, -0.0, -1.0, -0.0)
ORDERED = TopkProblem(4, 250, 20, order=Order.INDEX, lengths=True, ldx=252)
LEVELS, RISING = TopkProblem(1, 5000, 900, pattern=TIES), with_rows(MANY, *range(3005))
WHOLE, PIVOTS = TopkProblem(3, 250, 250), TopkProblem(2, 1000, 64, pattern=PIVOT)
BUGS = {
    "zeros of two signs differ": (SIGNS, WARPS, "element + 0.0f", "element"),
    "NaN is below all numbers": (ZEROS, WARPS, "element != element ? 0xfffffffeu", "element != element ? 1u"),
    "the last of equal elements is first": (TIED, WARPS, "| ~static_cast<unsigned>(col", "| static_cast<unsigned>(col"),
    "a floor that too many reach": (MANY, ONCE, "floor_among(own, k, k)", "floor_among(own, k, k + 9)"),
    "elements behind a row count": (WHOLE, replace(WARPS, slots=256), "keys[i] = exists ?", "keys[i] = true ?"),
    "no element is the first": (ORDERED, WARPS, "entry ? column_of(entry) : -1", "entry ? column_of(entry) : 0"),
    "a length beyond the row": (ORDERED, WARPS, "stated < problem.columns ? stated : problem.columns", "stated"),
    "results in order of value": (ORDERED, WARPS, "return static_cast<unsigned>(entry);", "return entry;"),
    "few that pass a floor are enough": (BURIED, ONCE, "kept < k || ", ""),
    "more pass a floor than there is room for": (SPIKES, ONCE, " || kept > candidates", ""),
    "digits of all elements": (LEVELS, COUNTED, "(entry ^ floor) >> shift >> bits == 0", "true"),
    "the rank among all elements": (LEVELS, COUNTED, "wanted -= from_lane<32>(through - group, first);", ""),
    "the last part of a row": (RISING, SHARED, "(row.vectors() + parts - 1)", "row.vectors()"),
    "one block's results": (MANY, SHARED, "{of_row, Schedule::splits * problem.k}", "{of_row, problem.k}"),
    "counts of one block": (TIED, CLUSTER, "rank * own + i,", "i,"),
    "keys of too few groups drop others": (TIED, CLUSTER, "lanes < 32 && 2 * lanes * k <= threads", "lanes < 32"),
    "a floor that more reach than there is room for": (PIVOTS, CLUSTER, "reached > Schedule::candidates", "false"),
    "what another block's counts are added to": (TIED, CLUSTER, "cluster_barrier();\n    add_counts", "add_counts"),
    "each warp keeps its own from the start": (TIED, CLUSTER, "= from_lane<32>(slot, 0) + through", "= through"),
    "pairs of a sort all fall": (MANY, ONCE, "(a < b) == falling", "a < b"),
    "a sort does not wait": (MANY, ONCE, "= high;\n    }\n    __syncthreads();", "= high;\n    }"),
}


@pytest.mark.parametrize(("problem", "schedule", "right", "wrong"), BUGS.values(), ids=BUGS)
def test_planted_bugs_are_caught(problem, schedule, right, wrong):
    check_caught(problem, program(problem, schedule), right, wrong, seeds=(0,))


def test_equal_elements_take_one_read():
    """A sample orders equal elements by their columns, so its floor parts them: the digits are never counted."""
    problem = TopkProblem(1, 8000, 200, pattern=PIVOT)
    emitted = program(problem, ONCE)
    assert "kept = keep(source, counted_floor(source, k));" in emitted.source
    once = emitted.source.replace("kept = keep(source, counted_floor(source, k));", "kept = 0;")
    verify(problem, replace(emitted, source=once), seeds=(0,))
