"""What is hard for merge_sort's kernels, and bugs planted in them; tests/contract runs its cases."""

import numpy as np
import pytest
from planted import caught
from radix_sort_cases import SPEC

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.merge_sort.schedule import MergeSortSchedule
from autotune.codegen.sorting.values import Values
from autotune.emulator import verify
from autotune.search_spaces.sorting.merge_sort import OPERATOR

TILES = MergeSortSchedule(64, 5)
AHEAD = TILES.replace(block_levels=1)
BYTES = MergeSortProblem(1506, 2, DType.UINT8, Values.INDEX32)
ROWS = MergeSortProblem(641, 2)
FLOATS = MergeSortProblem(1000, 1, DType.FLOAT32, Values.BYTES4, descending=True)


def program(problem, schedule=TILES):
    return OPERATOR.program(problem, schedule, SPEC)


def with_bits(bits, dtype, values=Values.INDEX64, descending=False):
    """A problem whose keys have these bits, over and over."""

    class Given(MergeSortProblem):
        def inputs(self, seed):
            found = np.resize(np.asarray(bits).astype(f"u{self.dtype.bytes}"), self.columns)
            return super().inputs(seed) | {"keys": found.view(self.dtype.numpy)}

    return Given(1000, 1, dtype, values, descending)


_ADVERSARIAL = {
    "equal": [7],
    "sorted": np.arange(1000),
    "reversed": np.arange(1000)[::-1],
    "saw": np.arange(1000) % 37 * 1000003,
    "in turns": np.arange(1000) % 2,
    "the largest of keys": [2**32 - 1],
}


@pytest.mark.parametrize("keys", _ADVERSARIAL.values(), ids=_ADVERSARIAL)
def test_adversarial_keys(keys):
    problem = with_bits(keys, DType.UINT32)
    verify(problem, program(problem))


# NaN of several payloads and both signs, zeros, infinities and denormals, by the 16 upper bits.
_FLOATS = [0x7FC1, 0x0001, 0xFFC2, 0x8001, 0x7F81, 0, 0x807F, 0xFF80, 0x0002, 0xFFFF, 0x8000, 0x7F80, 0x3F80, 0]


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_of_all_payloads_are_equal_and_denormals_are_not(dtype, descending):
    problem = with_bits(np.array(_FLOATS) << (dtype.bits - 16), dtype, Values.NONE, descending)
    verify(problem, program(problem))


@pytest.mark.parametrize("columns", [1, 319, 320, 321, 640, 641])
def test_edges_of_tiles_and_of_runs(columns):
    problem = MergeSortProblem(columns, 2, DType.INT8, Values.BYTES2)
    verify(problem, program(problem))


def test_calls():
    keys, indices = np.array([[3, 1, 2, 1], [0, 9, 8, 9]], np.uint32), np.empty((2, 4), np.int64)
    assert dispatcher.merge_sort(keys, descending=True, values_out=indices).tolist() == [[3, 2, 1, 1], [9, 9, 8, 0]]
    assert indices.tolist() == [[0, 2, 1, 3], [1, 3, 2, 0]]
    with pytest.raises(ValueError, match="values is given without values_out"):
        dispatcher.merge_sort(keys, keys)


test_bugs_are_caught = caught(
    program,
    [
        (BYTES, TILES, "!is_ahead(own.keys[i], own.keys[i - 1])", "is_ahead(own.keys[i - 1], own.keys[i])"),
        (FLOATS, TILES, "for (int round = 0; round < items; ++round)", "for (int round = 1; round < items; ++round)"),
        (BYTES, TILES, "= shared.places[own.places[i]]", "= own.places[i]"),
        (BYTES, TILES, "(tile_keys) << arguments.level", "(tile_keys) << (arguments.level > 0)"),
        (BYTES, TILES, "if (middle < count)", "if (middle < count - 1)"),
        (BYTES, TILES, "rest < length ? rest : length", "length"),
        (FLOATS, TILES, "merge_tile(a, b, begin, tile.count", "merge_tile(a, b, begin, tile_keys"),
        (BYTES, TILES, "(at < most ? at : most) + size", "at + size"),
        (BYTES, AHEAD, "is_last ? a.count : ", ""),
        (BYTES, AHEAD, "parts == nullptr", "false"),
        (FLOATS, TILES, "first, merged, shift_of(target.keys + begin)", "first, merged, 0"),
        (ROWS, TILES, "2 * width < tile_keys ? 0 : shift", "shift"),
        (BYTES, TILES, "2 * width <= 32 * items", "width <= 32 * items"),
        (BYTES, TILES, "number - row * tiles", "number"),
    ],
)
