"""What is hard for merge's kernels, and bugs planted in them; tests/contract runs its cases."""

import numpy as np
import pytest
from planted import caught
from radix_sort_cases import SPEC

from autotune import dispatcher, emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge.schedule import MergeSchedule, Partition
from autotune.codegen.sorting.values import Values
from autotune.emulator import verify
from autotune.search_spaces.sorting.merge import OPERATOR

TILES = MergeSchedule(64, 5)
AHEAD = TILES.replace(partition=Partition.AHEAD)
PAIRS, BYTES = MergeProblem(701, 900, values=Values.BYTES4), MergeProblem(900, 701, DType.UINT8, Values.BYTES2)
FLOATS = MergeProblem(320, 641, DType.FLOAT32)


def program(problem, schedule=TILES):
    return OPERATOR.program(problem, schedule, SPEC)


def with_keys(a, b, values=Values.BYTES4):
    """A problem whose keys are given."""

    class Given(MergeProblem):
        def inputs(self, seed):
            return super().inputs(seed) | {"a": np.asarray(a, np.uint32), "b": np.asarray(b, np.uint32)}

    return Given(len(a), len(b), values=values)


_ADVERSARIAL = {
    "equal": ([7] * 640, [7] * 321),
    "all of the second first": (np.arange(400) + 1000, np.arange(640)),
    "all of the first first": (np.arange(640), np.arange(400) + 1000),
    "in turns": (np.arange(500) * 2, np.arange(500) * 2 + 1),
    "one among many": ([500], np.arange(1000)),
    "the largest of keys": ([2**32 - 1] * 320, [2**32 - 1] * 320),
}


@pytest.mark.parametrize(("a", "b"), _ADVERSARIAL.values(), ids=_ADVERSARIAL)
def test_adversarial_keys(a, b):
    problem = with_keys(a, b)
    verify(problem, program(problem))


@pytest.mark.parametrize("preset", ["merge_path", "tiles"])
def test_what_is_not_sorted_leads_nowhere_else(preset):
    random = np.random.default_rng(0)
    problem = with_keys(random.integers(0, 99, 700), random.integers(0, 99, 1000))
    arrays = problem.inputs(0) | {"keys_out": np.zeros(1700, np.uint32), "values_out": np.zeros(1700, np.uint32)}
    emulator.run(OPERATOR.presets[preset](problem), problem.tensors, arrays, {}, seed=1)


def test_calls():
    a, b = np.array([-1, 3, np.nan], np.float32), np.array([-0.0, 0, 3], np.float32)
    values = np.empty(6, np.int32)
    out = dispatcher.merge(a, b, np.arange(3, dtype=np.int32), np.arange(3, 6, dtype=np.int32), values_out=values)
    np.testing.assert_array_equal(out, [-1, -0.0, 0, 3, 3, np.nan])
    assert values.tolist() == [0, 3, 4, 1, 5, 2]
    assert dispatcher.merge(a[1::-1].copy(), b[::-1].copy(), descending=True).tolist() == [3, 3, 0, 0, -1]
    with pytest.raises(ValueError, match="a_values or b_values is given alone"):
        dispatcher.merge(a, b, a)
    with pytest.raises(ValueError, match="a_values is given without values_out"):
        dispatcher.merge(a, b, a, b)
    with pytest.raises(ValueError, match="values_out is given without a_values"):
        dispatcher.merge(a, b, values_out=values)
    with pytest.raises(ValueError, match=r"b has shape \(1, 3\): expected one axis"):
        dispatcher.merge(a, b[None])


test_bugs_are_caught = caught(
    program,
    [
        (PAIRS, TILES, "high = count < a_count ? count : a_count;", "high = a_count - 1;"),
        (BYTES, TILES, "is_ahead(next_b, next_a))", "!is_ahead(next_a, next_b))"),
        (BYTES, TILES, "return is_ahead(b[j], a[i])", "return !is_ahead(a[i], b[j])"),
        (PAIRS, TILES, "(b < of_end) & ", ""),
        (PAIRS, TILES, "at = low + (lane + 1) * step - 1;", "at = low + lane * step;"),
        (FLOATS, AHEAD, "& (number == number)", ""),
        (PAIRS, AHEAD, "low >= high || at >= high", "at >= high"),
        (PAIRS, AHEAD, "a.count : parts[tile + 1]", "a.count : parts[tile]"),
        (PAIRS, TILES, "place < of_a ? first_values", "place <= of_a ? first_values"),
    ],
)
