"""What softmax's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught, check_caught
from refusals import illegal
from rows.softmax_cases import BF16, FP16, SPEC

from autotune import emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.softmax.emit import emit
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from autotune.compiler import compile_kernel
from autotune.contract.checker import check_reference_kernel
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.rows.softmax import OPERATOR
from autotune.verification import launch_arrays


def schedule(words):
    return SoftmaxSchedule.parse(words.split())


def program(problem, words):
    return OPERATOR.program(problem, schedule(words), SPEC)


@pytest.mark.parametrize("temperature", [1e-3, 0.5, 100.0, np.inf])
@pytest.mark.parametrize("words", ["passes=two", "passes=online"])
def test_temperature_divides(words, temperature):
    problem = SoftmaxProblem(12, 40)
    arrays = launch_arrays(problem, 0)
    expected = problem.reference(arrays, {"temperature": min(temperature, 1e30)})["y"]
    kernel = program(problem, f"threads=32 TPR=8 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"temperature": temperature}, seed=2)
    np.testing.assert_allclose(arrays["y"], expected, rtol=2.0**-16, atol=2.0**-30)


@pytest.mark.parametrize("words", ["skip=0", "skip=1", "skip=1 passes=kept"])
@pytest.mark.parametrize("lengths", [[-5, 0, 1, 39], [40, 41, 2**31 - 1, -(2**31)]])
def test_any_length_is_safe(lengths, words):
    problem = SoftmaxProblem(4, 40, FP16, lengths=True)
    arrays = launch_arrays(problem, 0) | {"lengths": np.int32(lengths)}
    kernel = program(problem, f"threads=64 TPR=16 vector_width=8 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"temperature": 1.0}, seed=0)
    y = arrays["y"].reshape(4, 40).astype(np.float64)
    for row, length in zip(y, lengths, strict=True):
        assert np.isnan(row).all() if length <= 0 or np.isnan(row[0]) else (row[max(0, length) :] == 0).all()


@pytest.mark.parametrize("words", ["skip=0", "skip=1", "passes=kept", "skip=1 passes=kept"])
@pytest.mark.parametrize("offset", [-(2**31), -3, 0, 4, 2**31 - 1])
def test_a_causal_row_ends_at_its_own_column(offset, words):
    problem = SoftmaxProblem(12, 9, causal=True, zero_rows=True, queries=5)
    arrays = launch_arrays(problem, 0) | {"x": np.zeros(12 * 9, np.float32)}
    kernel = program(problem, f"threads=32 TPR=8 vector_width=4 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"temperature": 1.0, "causal_offset": offset}, seed=0)
    assert not np.isnan(arrays["y"]).any()
    kept = (arrays["y"].reshape(12, 9) > 0).sum(axis=1)
    assert kept.tolist() == [min(max(row % 5 + offset + 1, 0), 9) for row in range(12)]


MASKED = SoftmaxProblem(18, 37, zero_rows=True, mask=Mask.KEEP, queries=3, heads=2, ldx=40, ldy=40, ldm=44)


def test_masks_of_later_matrices_are_their_own():
    problem = SoftmaxProblem(24, 37, mask=Mask.ADD, queries=3, heads=4, ldx=40, ldy=40, ldm=44)
    kernel = program(problem, "threads=64 TPR=4 vector_width=4 heads_first=1")
    check_caught(problem, kernel, "of_mask / queries * heads + head", "of_mask / queries + head", (0,))


def test_heads_come_first_where_all_masks_serve_as_many_matrices():
    assert OPERATOR.violations(replace(MASKED, rows=12), schedule("TPR=4 heads_first=1"), SPEC) == []
    for rows, heads in ((15, 2), (12, 1)):
        problem = replace(MASKED, rows=rows, heads=heads)
        expected = f"heads_first: expected whole blocks of {3 * heads} rows that share a mask"
        assert OPERATOR.violations(problem, schedule("TPR=4 heads_first=1"), SPEC) == [expected]


test_rows_with_a_mask_wait_where_it_can_be_applied = illegal(
    OPERATOR,
    {
        MASKED: {"hold=shared TPR=16": "hold shared: expected registers or reload for rows with a mask"},
        replace(MASKED, ldx=37): {
            "hold=reload vector_width=4": "hold reload: vectors of 4, which wait in y, are aligned otherwise"
        },
    },
)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (SoftmaxProblem(4, 64), "skip=1"),
        (SoftmaxProblem(4, 64, lengths=True), "vector_width=4 hold=shared skip=1"),
        (SoftmaxProblem(4, 64, causal=True, mask=Mask.KEEP), "skip=1"),
    ],
)
def test_only_what_does_not_count_is_skipped(problem, words):
    expected = "skip: expected rows in registers, of which a part counts by lengths or by a causal mask alone"
    assert OPERATOR.violations(problem, schedule(words), SPEC) == [expected]


@pytest.mark.parametrize(
    ("problem", "words"),
    [(SoftmaxProblem(4, 64, log=True), "passes=kept"), (SoftmaxProblem(4, 64), "hold=reload passes=kept")],
)
def test_exponentials_are_kept_in_registers_alone(problem, words):
    expected = "passes kept: expected rows in registers, and no logarithm, which takes each exponential once anyway"
    assert OPERATOR.violations(problem, schedule(words), SPEC) == [expected]


def test_kept_exponentials_are_floats_in_place_of_what_was_loaded():
    held = schedule("threads=128 TPR=64 vector_width=8")
    kept = replace(held, passes=Passes.KEPT)
    problem = SoftmaxProblem(4, 2048, BF16)  # 16 words of a thread, or 32 floats
    assert kept.footprint(problem).registers == held.footprint(problem).registers + 16
    added = replace(problem, mask=Mask.ADD)  # whose 16 words are gone when floats are there
    assert kept.footprint(added).registers == held.footprint(added).registers == kept.footprint(problem).registers


KEPT = "threads=64 TPR=64 vector_width=2 skip=1 passes=kept"
LENGTHS = SoftmaxProblem(9, 333, lengths=True, ldx=334, ldy=336)
test_planted_bug_is_caught = caught(
    program,
    [
        (LENGTHS, KEPT, "powers_[round][i] = 0.0f", "powers_[round][i] = 1.0f"),
        (LENGTHS, KEPT, "if (!values.counts(round * row_step)) continue;", ""),
    ],
)


def test_rows_that_begin_between_vectors_take_one_round_more():
    problem = SoftmaxProblem(9, 255, BF16)
    check_caught(problem, program(problem, "threads=32 TPR=16 vector_width=8"), "rounds = 3", "rounds = 2")


@pytest.mark.parametrize(
    ("problem", "alike"),
    [
        (SoftmaxProblem(9, 333, BF16), True),
        (SoftmaxProblem(9, 333, BF16, ldy=341), True),
        (SoftmaxProblem(9, 333, BF16, ldy=337), False),
        (SoftmaxProblem(9, 333, BF16, align_x=8, align_y=8), False),
        (SoftmaxProblem(9, 336, BF16, align_x=4), False),
    ],
)
def test_vectors_are_stored_where_rows_share_their_address(problem, alike):
    assert problem.alike(8) == alike
    assert ("__shfl_up_sync" in program(problem, "vector_width=8").source) == (not alike)
    assert ("store_global" in program(problem, "vector_width=8 hold=reload").source) == alike


def test_an_update_scales_by_exactly_one_where_the_maximum_stays():
    """2^0 may be off by an error of exp2, and each vector of a long row would multiply by that."""
    problem = SoftmaxProblem(1, 4096)
    kernel = program(problem, "threads=32 TPR=1 hold=reload passes=online")
    check_caught(problem, kernel, "so_far == max ? 1.0f :", "", said="wrong")


def test_many_small_terms_are_not_lost():
    """Each of them is less than half of a unit in the last place of the sum."""
    problem = SoftmaxProblem(1, 4096)
    arrays = launch_arrays(problem, 0)
    arrays["x"][1:], arrays["x"][0] = -25 * np.log(2), 0
    expected = problem.reference(arrays, {"temperature": 1.0})["y"]
    kernel = program(problem, "threads=32 TPR=1 hold=reload")
    emulator.run(kernel, problem.tensors, arrays, {"temperature": 1.0}, seed=0)
    assert arrays["y"][0] == pytest.approx(expected[0], rel=2.0**-18)


def test_source_depends_on_what_it_uses():
    reload = schedule("hold=reload")
    assert emit(SoftmaxProblem(5, 64), reload).source == emit(SoftmaxProblem(500, 96), reload).source
    held = schedule("TPR=32")
    assert emit(SoftmaxProblem(5, 65), held).source == emit(SoftmaxProblem(500, 96), held).source
    assert emit(SoftmaxProblem(5, 64), held).source != emit(SoftmaxProblem(5, 65), held).source
    assert "cluster_arrive" not in emit(SoftmaxProblem(5, 64), held).source


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [(65536, 256, "bfloat16"), (16384, 8192, "float32"), (2048, 131072, "bfloat16"), (4096, 50257, "float32")],
)
def test_seeds_spill_nothing(rows, columns, dtype):
    problem = SoftmaxProblem.from_dict({"rows": rows, "columns": columns, "dtype": dtype})
    for seed in OPERATOR.seeds(problem, SPEC)[:4]:
        resources = compile_kernel(OPERATOR.program(problem, seed, SPEC), "sm_90").resources
        assert resources.spill_store_bytes == resources.stack_bytes == 0, seed


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("softmax", SoftmaxProblem(65, 1, DType.FLOAT16, log=True, lse=True)),
        ("cross_entropy", CrossEntropyProblem(65, 1, lse=True)),
    ],
)
def test_a_row_of_one_nan(name, problem):
    check_reference_kernel(operator(name), problem, emulator.run)
