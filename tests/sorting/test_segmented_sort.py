"""What is hard for segmented_sort's kernels, and bugs planted in them; tests/contract runs its cases."""

import numpy as np
import pytest
from planted import caught
from radix_sort_cases import SPEC

from autotune import dispatcher, emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.codegen.sorting.segmented_sort.schedule import SegmentedSortSchedule
from autotune.codegen.sorting.values import Values
from autotune.emulator import verify
from autotune.search_spaces.sorting.segmented_sort import OPERATOR

TILES = SegmentedSortSchedule(64, 5)
MANY = SegmentedSortProblem(1500, 90, DType.UINT16, Values.BYTES4)
FEW = SegmentedSortProblem(3000, 7, DType.UINT16, Values.BYTES2, descending=True)
LONG = SegmentedSortProblem(2300, 5, DType.UINT8, Values.BYTES4, spread=Spread.LONG)


def program(problem, schedule=TILES):
    return OPERATOR.program(problem, schedule, SPEC)


def given(columns, offsets):
    """A problem whose offsets are given."""

    class Given(SegmentedSortProblem):
        def inputs(self, seed):
            return super().inputs(seed) | {"offsets": np.asarray(offsets, np.int64)}

    return Given(columns, len(offsets) - 1, DType.UINT8, Values.BYTES4)


_OFFSETS = {
    "one giant": [0, 1, 1999, 2000],
    "all of length 1": np.arange(2001),
    "empty ones first and last": [0] * 400 + [2000] * 400,
    "bounds of tiles": [0, 320, 640, 1600, 2000],
    "across bounds of tiles": [0, 319, 321, 639, 961, 1281, 2000],
    "across a bound of runs": [0, 1279, 1281, 2000],
}


AT_TILES = given(2000, _OFFSETS["bounds of tiles"])


@pytest.mark.parametrize("offsets", _OFFSETS.values(), ids=_OFFSETS)
def test_segments_of_any_length(offsets):
    problem = given(2000, offsets)
    verify(problem, program(problem))


@pytest.mark.parametrize("preset", OPERATOR.presets)
def test_offsets_that_are_wrong_lead_nowhere_else(preset):
    """They fall, or are out of bounds."""
    problem, random = given(2000, [0] * 41), np.random.default_rng(0)
    outputs = {"keys_out": np.zeros(2000, np.uint8), "values_out": np.zeros(2000, np.uint32)}
    for low, high in ((-(2**40), 2001), (0, 2001), (-3000, 5000), (-(2**63), 2**63 - 1)):
        offsets = random.integers(low, high, 41)
        if preset == "naive":
            offsets.sort()  # of falling ones, several keys go to the same place, which the emulator calls a race
        arrays = problem.inputs(0) | {"offsets": offsets} | outputs
        emulator.run(OPERATOR.presets[preset](problem), problem.tensors, arrays, {}, seed=1)


@pytest.mark.parametrize("preset", OPERATOR.presets)
@pytest.mark.parametrize("offsets", [[5, 50, 900, 1993], [700, 703, 1300], [-5, 1, 2500], [1999, 3000], [-9, 0]])
def test_keys_in_no_segment_are_not_written(preset, offsets):
    problem = given(2000, offsets)
    arrays = problem.inputs(0)
    out = {"keys_out": np.full(2000, 77, np.uint8), "values_out": np.full(2000, 77, np.uint32)}
    emulator.run(OPERATOR.presets[preset](problem), problem.tensors, arrays | out, {}, seed=1)
    first, last = np.clip(offsets, 0, 2000)[[0, -1]]
    inner = problem.reference(arrays | {"offsets": np.clip([0, *offsets, 2000], 0, 2000)}, {})
    for name, array in out.items():
        expected = np.full(2000, 77, array.dtype)
        expected[first:last] = inner[name][first:last]
        np.testing.assert_array_equal(array, expected)


def test_no_source_depends_on_the_lengths_of_segments():
    even = SegmentedSortProblem(3000, 7, DType.UINT16, Values.BYTES2, descending=True, spread=Spread.EVEN)
    assert program(even) == program(FEW)


def test_calls():
    keys, offsets = np.array([3, 1, 2, 1, 0, 9], np.float32), np.array([0, 3, 3, 6], np.int32)
    values = np.empty(6, np.int32)
    out = dispatcher.segmented_sort(keys, offsets, np.arange(6, dtype=np.int32), values_out=values)
    assert out.tolist() == [1, 2, 3, 0, 1, 9]
    assert values.tolist() == [1, 2, 0, 4, 3, 5]
    assert dispatcher.segmented_sort(keys, offsets, descending=True).tolist() == [3, 2, 1, 9, 1, 0]
    with pytest.raises(TypeError, match="offsets has dtype float32: segmented_sort takes int32, int64"):
        dispatcher.segmented_sort(keys, keys)
    with pytest.raises(ValueError, match=r"offsets has shape \(1,\): expected two or more along one axis"):
        dispatcher.segmented_sort(keys, offsets[:1])
    with pytest.raises(ValueError, match="values is given without values_out"):
        dispatcher.segmented_sort(keys, offsets, keys)


test_bugs_are_caught = caught(
    program,
    [
        (MANY, TILES, "parts.begins(i) || ", ""),
        (MANY, TILES, "both >> first % 32", "both >> first % 31"),
        (MANY, TILES, "if (heads.ends[thread] < end)", "if (heads.ends[thread] < middle)"),
        (MANY, TILES, "if (heads.begins[thread] > begin)", "if (heads.begins[thread] > middle)"),
        (FEW, TILES, "found.begin >= pair && found.end <= pair_end", "found.begin >= pair"),
        (FEW, TILES, "found.begin > pair ? found.begin : pair", "found.begin"),
        (LONG, TILES, "reach.left <= at && at < reach.right", "reach.left <= at"),
        (AT_TILES, TILES, "if (found.begin < middle)", "if (found.begin <= middle)"),
        (LONG, TILES, "reach.left = first.end < end ? first.end : end", "reach.left = end"),
        (MANY, TILES, "1u << at % 32", "1u << (at + 1) % 32"),
    ],
)
