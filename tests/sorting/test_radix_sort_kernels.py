"""What is hard for radix_sort's kernels, and bugs planted in them; tests/contract runs its cases."""

import numpy as np
import pytest
from planted import caught, with_bug
from radix_sort_cases import SPEC

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import ordered
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.match import Advance
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.presets import PRESETS
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.emulator import verify
from autotune.search_spaces.sorting.radix_sort.radix_sort import OPERATOR

ONESWEEP = OnesweepSchedule(128, 4, 7, histogram_threads=128)
LOAD_STORE = ONESWEEP.replace(advance=Advance.LOAD_STORE)
BLOCK = BlockSchedule(64, 4, 6)
CLUSTER = ClusterSchedule(64, 3, 6, cluster=4)
KEYS, TILES = RadixSortProblem(700), RadixSortProblem(1601, 1, DType.UINT16, Values.INDEX32)
ROWS = RadixSortProblem(521, 3, DType.UINT32, Values.BYTES4, descending=True)
FLOATS = RadixSortProblem(900, 1, DType.FLOAT32, Values.INDEX64)
IN_BLOCK = RadixSortProblem(201, 3, DType.FLOAT16, Values.INDEX64, descending=True)
SKIPS = RadixSortProblem(600, 1, DType.UINT32, Values.INDEX64, begin_bit=4, end_bit=25)


def program(problem, schedule):
    return OPERATOR.program(problem, schedule, SPEC)


def with_keys(problem, keys):
    """A problem whose keys are given."""

    class Given(RadixSortProblem):
        def inputs(self, seed):
            return super().inputs(seed) | {"keys": np.resize(keys, self.rows * self.columns).astype(self.dtype.numpy)}

    return Given.from_dict(problem.to_dict())


_ADVERSARIAL = {
    "equal": [7],
    "sorted": np.arange(700),
    "reversed": np.arange(700)[::-1],
    "saw": np.arange(700) % 37 * 1000003,
    "a digit that all share but one": [0x01020304] * 699 + [0x01FF0304],
}


@pytest.mark.parametrize("keys", _ADVERSARIAL.values(), ids=_ADVERSARIAL)
@pytest.mark.parametrize(
    "schedule", [ONESWEEP, BlockSchedule(256, 3, 8), CLUSTER], ids=["onesweep", "block", "cluster"]
)
def test_adversarial_keys(keys, schedule):
    problem = with_keys(RadixSortProblem(700, 1, DType.UINT32, Values.INDEX64), np.asarray(keys))
    verify(problem, program(problem, schedule))


@pytest.mark.parametrize("columns", [1, 511, 512, 513])
def test_edges_of_a_tile(columns):
    problem = RadixSortProblem(columns, 2, DType.INT8, Values.BYTES2)
    verify(problem, program(problem, ONESWEEP))


@pytest.mark.parametrize(("threads", "window"), [(128, 1), (128, 8), (512, 1), (512, 2)])
def test_look_back_adds_counts_of_tiles_that_have_no_total_yet(threads, window):
    """Blocks run one by one here, so each would find a total in the tile before."""
    right = "replace_status(word(tile, digit)"
    problem = RadixSortProblem(13 * threads, 1, DType.UINT16, Values.INDEX32)
    schedule = ONESWEEP.replace(threads=threads, items=1, window=window)
    verify(problem, with_bug(program(problem, schedule), right, f"if (tile == 0) {right}"))


def test_floats_in_order():
    """-0 and 0 are equal and keep their order; NaN of either sign is last, first in descending order."""
    special = [0.0, -np.inf, np.nan, -0.0, 1.0, 0.0, -np.nan, -1.0, np.inf, -0.0, 5e-324, np.nan]
    expected = [1, 7, 0, 3, 5, 9, 10, 4, 8, 2, 6, 11]
    for descending in (False, True):
        problem = RadixSortProblem(len(special), 1, DType.FLOAT64, Values.INDEX64, descending=descending)
        found = problem.reference({"keys": np.array(special)}, {})["values_out"]
        keys = ordered(np.array(special), DType.FLOAT64)
        assert found.tolist() == (sorted(range(12), key=lambda i: -int(keys[i])) if descending else expected)
        given = with_keys(problem, np.array(special))
        for preset in PRESETS.values():
            verify(given, preset(given))


@pytest.mark.parametrize("schedule", [ONESWEEP, CLUSTER], ids=["onesweep", "cluster"])
def test_nan_of_all_payloads_are_equal_and_denormals_are_not(schedule):
    bits = [0x7FC00001, 1, 0xFFC12345, 0x80000001, 0x7F800001, 0, 0x807FFFFF, 0xFF800000, 2, 0xFFFFFFFF]
    problem = with_keys(RadixSortProblem(700, 1, DType.FLOAT32, Values.INDEX64), np.array(bits, "u4").view("f4"))
    verify(problem, program(problem, schedule))


test_bugs_are_caught = caught(
    program,
    [
        (FLOATS, ONESWEEP, "if (magnitude == 0) key = sign_bit;", ""),
        (FLOATS, ONESWEEP, "if (magnitude > infinity) key = all_bits;", ""),
        (FLOATS, ONESWEEP, "key & sign_bit ? all_bits : sign_bit", "sign_bit"),
        (FLOATS, ONESWEEP, "static_cast<Result>(value)", "static_cast<Result>(value + (value > 255))"),
        (ROWS, ONESWEEP, "key ^= all_bits;", ""),
        (ROWS, ONESWEEP, "workspace.counts + row * all_bins", "workspace.counts"),
        (KEYS, ONESWEEP, "digit_of(ordered(keys[i]), shift) : bins - 1", "digit_of(ordered(keys[i]), shift) : 0"),
        (KEYS, ONESWEEP, "counts[pass * bins + threadIdx.x] = 0;", ""),
        (KEYS, ONESWEEP, "varying |= 1u << pass;", "varying |= 1u << pass / 2;"),
        (KEYS, ONESWEEP, "const bool odd = left % 2 != 0;", "const bool odd = left % 2 == 0;"),
        (KEYS, ONESWEEP, "__popc(alike & before)", "__popc(alike & before >> 1)"),
        (KEYS, ONESWEEP, "if (other < warp)", "if (other <= warp)"),
        (KEYS, ONESWEEP, "counts[warp * bins + digit] = first;", "counts[warp * bins + digit] = first + 1;"),
        (TILES, ONESWEEP, "before + shared.sizes[digit]", "shared.sizes[digit]"),
        (TILES, ONESWEEP, "static_cast<int>(tile) - 1 -", "static_cast<int>(tile) - 1 - (tile > 2) -"),
        (KEYS, LOAD_STORE, "    __syncwarp();\n    if (lane == last)", "    if (lane == last)"),
        (SKIPS, ONESWEEP.replace(digit_bits=6), "key &= (static_cast<Ordered>(1) << Problem::end_bit) - 1;", ""),
        (IN_BLOCK, BLOCK, "first + i * 32 < count ? digit_of(ordered(keys[i]), shift) : bins - 1", "0"),
        (IN_BLOCK, BLOCK, "columns[i] = column;", "columns[i] = column & 127;"),
        (IN_BLOCK, BLOCK, "    rank_keys(counts, places);", "    rank_keys(shared.counts, places);"),
        (ROWS, CLUSTER, "if (other < rank) before += theirs;", ""),
        (ROWS, CLUSTER, "    cluster_barrier();\n#pragma unroll", "    __syncthreads();\n#pragma unroll"),
        (
            ROWS,
            CLUSTER,
            "    cluster_barrier();\n    const unsigned place",
            "    __syncthreads();\n    const unsigned place",
        ),
        (ROWS, CLUSTER, "columns[i] = begin + column;", "columns[i] = column;"),
    ],
)
