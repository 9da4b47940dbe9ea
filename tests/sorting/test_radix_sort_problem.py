"""Which problems of radix_sort there are, how users call it, and which schedules are legal."""

import numpy as np
import pytest
from radix_sort_cases import SPEC
from refusals import illegal

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.sorting.radix_sort.radix_sort import OPERATOR

LONG, ROWS = RadixSortProblem(1 << 24), RadixSortProblem(1000, 64)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"begin_bit": 8, "end_bit": 8}, "begin_bit=8, end_bit=8: expected a range within the 32 bits of uint32"),
        ({"end_bit": 33}, "begin_bit=0, end_bit=33: expected a range within the 32 bits of uint32"),
        ({"dtype": DType.FLOAT32, "end_bit": 8}, "expected all bits of float32, which is compared as a whole"),
        ({"columns": 2**31, "values": Values.INDEX32}, "values=index32, columns=2147483648: expected index64"),
        ({"order_only": True}, "order_only=True, values=keys: expected values to write"),
        ({"dtype": DType.FLOAT8_E4M3}, "dtype=float8_e4m3fn: expected one of uint32"),
    ],
)
def test_problems_that_cannot_exist(fields, said):
    with pytest.raises(ValueError, match=said):
        RadixSortProblem(**{"columns": 100, **fields})


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        LONG: {
            "kernel=onesweep threads=128": "digit_bits 8: 256 digits over the 128 threads",
            "kernel=onesweep threads=400": "threads 400: expected a multiple of 32",
            "kernel=onesweep bits=9": "digit_bits 9: expected one of 4, 5, 6, 7, 8",
            "kernel=onesweep histogram_threads=500": "histogram_threads 500: expected a multiple of 32",
            "kernel=onesweep histogram_threads=128": "histogram_threads 128 under the 256 digits",
            "kernel=onesweep threads=1024 items=64": "shared memory 264352 B over the 232448 B",
            "kernel=onesweep threads=256 histogram_copies=64": "shared memory 262144 B",
            "kernel=block": "threads 256, items 4: 1024 keys of 16777216 of a row",
        },
        RadixSortProblem(4, 1 << 30): {"kernel=onesweep": "1073741824 tiles, whose words take"},
        ROWS: {"kernel=block threads=64 items=16": "digit_bits 8: 256 digits over the 64 threads"},
    },
    "onesweep",
)


def test_counts_and_indices_grow_with_the_columns():
    """A count takes 8 bytes as of 2^32 keys, an index on its way as many as a count."""
    small, wide = (RadixSortProblem(columns, 1, DType.UINT8, Values.INDEX64) for columns in (2**32 - 1, 2**32))
    assert (small.carried_bytes, wide.carried_bytes) == (4, 8)
    schedule = OnesweepSchedule()
    assert "using Count = unsigned;" in OPERATOR.program(small, schedule, SPEC).source
    assert "using Count = unsigned long long;" in OPERATOR.program(wide, schedule, SPEC).source
    counters, tables, row = 16, 2 * 256 * 8, 8
    words = 256 * 16 * schedule.blocks(wide)
    assert schedule.workspace_bytes(wide) == counters + tables + words + row
    assert schedule.pieces(RadixSortProblem(2**40, 1000)) == 2**9  # no block counts more than 2^31 keys


def test_default_sorts_rows_in_a_block_where_they_fit():
    assert isinstance(OPERATOR.default(ROWS, SPEC), BlockSchedule)
    assert isinstance(OPERATOR.default(LONG, SPEC), OnesweepSchedule)


def test_sort_and_argsort_are_those_of_pytorch():
    x = np.array([[3.0, np.nan, -1.0, 3.0], [0.0, -0.0, 7.0, -np.inf]], np.float32)
    values, indices = dispatcher.sort(x, descending=True)
    assert indices.tolist() == [[1, 0, 3, 2], [2, 0, 1, 3]]
    np.testing.assert_array_equal(values, np.take_along_axis(x, indices, 1))
    assert dispatcher.argsort(x, index_dtype=np.int32).tolist() == [[2, 0, 3, 1], [3, 0, 1, 2]]
    with pytest.raises(ValueError, match="dim=0: argsort takes the last axis, -1 or 1"):
        dispatcher.argsort(x, dim=0)
    with pytest.raises(TypeError, match="index_dtype=uint8: expected one of int64, int32"):
        dispatcher.sort(x, index_dtype=np.uint8)


def test_calls():
    keys = np.array([[3, 1, 2, 1], [0, 9, 8, 9]], np.uint32)
    indices, values = np.empty(keys.shape, np.int64), np.empty(keys.shape, np.complex128)
    out = dispatcher.radix_sort(keys, descending=True, values_out=indices)
    assert out.tolist() == [[3, 2, 1, 1], [9, 9, 8, 0]]
    assert indices.tolist() == [[0, 2, 1, 3], [1, 3, 2, 0]]
    dispatcher.radix_sort(keys, keys * 1j, begin_bit=1, end_bit=2, values_out=values)
    assert values.imag.tolist() == [[1, 1, 3, 2], [0, 9, 8, 9]]
    experts = np.array([3, -5, 2, 255, 3], np.int32)  # by their lowest bits, of which -5 has 251
    tokens = np.empty(5, np.int64)
    assert dispatcher.radix_sort(experts, end_bit=8, values_out=tokens).tolist() == [2, 3, 3, -5, 255]
    assert tokens.tolist() == [2, 0, 4, 1, 3]
    few = np.empty(keys.shape, np.int32)
    dispatcher.radix_sort(keys, index_dtype=np.int32, values_out=few)
    assert few.tolist() == [[1, 3, 2, 0], [0, 2, 1, 3]]
    with pytest.raises(TypeError, match="index_dtype=uint8: expected int32 or int64"):
        dispatcher.radix_sort(keys, index_dtype=np.uint8)
    with pytest.raises(ValueError, match="values is given without values_out"):
        dispatcher.radix_sort(keys, keys)
    with pytest.raises(ValueError, match=r"values has shape \(2,\): expected that of keys, \(2, 4\)"):
        dispatcher.radix_sort(keys, keys[:, 0], values_out=values)
