"""rope: its angles, kernels, schedules and calls; tests/contract runs its cases."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from refusals import illegal, refused
from rope_cases import BFLOAT16, FLOAT32, INT64, OFFSET, SPEC, TABLE

from autotune import dispatcher
from autotune.codegen.streaming.rope.problem import RopeProblem, frequencies
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.emulator import verify
from autotune.search_spaces.streaming.rope import OPERATOR

PLAIN = {"theta": 10000.0, "factor": 1.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "old_context": 8192.0}


def with_scalars(problem, **scalars):
    class Changed(RopeProblem):
        @property
        def scalars(self):
            return {**super().scalars, **scalars}

    return Changed.from_dict(problem.to_dict())


def program(problem, words):
    return OPERATOR.program(problem, RopeSchedule.parse(words.split()), SPEC)


@pytest.mark.parametrize("offset", [131_071, 2**31 - 2, -5])
def test_angles_of_far_positions_are_reduced(offset):
    """The scale of errors grows with angles: this holds sines and cosines to what they are at 0."""
    problem = with_scalars(RopeProblem(3, 1, 1, 16, dtype=FLOAT32), offset=offset, **PLAIN)

    class Strict(type(problem)):  # type: ignore[misc]
        def reference(self, inputs, scalars):  # type: ignore[no-untyped-def]
            found = super().reference(inputs, scalars)
            steps = PLAIN["theta"] ** (-np.arange(8, dtype=np.longdouble) / 8)
            turns = (offset + np.arange(3))[:, None, None] * steps / (2 * np.longdouble(np.pi))
            angles = (2 * np.longdouble(np.pi) * (turns - np.rint(turns))).astype(np.float64)
            for given, result in (("q", "r"), ("k", "s")):
                a, b = np.split(inputs[given].reshape(3, 1, 16).astype(np.float64), 2, axis=-1)
                y = np.concatenate(
                    (a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)), -1
                )
                largest = np.concatenate((np.abs(a) + np.abs(b),) * 2, -1)
                found[result], found[f"{result}_scale"] = y.ravel(), 16 * largest.ravel()
            return found

    for seed in (0, 2):  # which is another launch
        verify(Strict.from_dict(problem.to_dict()), program(problem, "vector_width=4 HPT=2"), seeds=(seed,))


def test_long_wavelengths_are_stretched_as_in_llama():
    """By the branches of its own code: kept below 2048 positions, divided by 8 above 8192, blended between."""
    scaling = {
        "theta": 500_000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "old_context": 8192.0,
    }
    plain = 500_000.0 ** (-np.arange(64) / 64)
    wavelength = 2 * np.pi / plain
    smooth = (8192 / wavelength - 1) / 3
    blended = (1 - smooth) * plain / 8 + smooth * plain
    expected = np.where(wavelength < 2048, plain, np.where(wavelength > 8192, plain / 8, blended))
    np.testing.assert_allclose(frequencies(128, scaling), expected, rtol=1e-13)
    np.testing.assert_allclose(frequencies(128, scaling | {"factor": 1.0}), plain, rtol=1e-13)


def test_a_conjugate_rotates_back():
    problem = RopeProblem(5, 2, 1, 16, 8, dtype=FLOAT32, positions=INT64)
    inputs = problem.inputs(0)
    turned = problem.reference(inputs, problem.scalars)
    back = replace(problem, conj=True).reference(inputs | {"q": turned["r"], "k": turned["s"]}, problem.scalars)
    np.testing.assert_allclose(back["r"], inputs["q"], atol=1e-12)
    np.testing.assert_allclose(back["s"], inputs["k"], atol=1e-12)


@pytest.mark.parametrize("interleaved", [False, True])
def test_pairs_are_those_of_complex_numbers(interleaved):
    problem = RopeProblem(4, 1, 1, 6, dtype=FLOAT32, interleaved=interleaved)
    inputs = problem.inputs(0)
    pairs = inputs["q"].reshape(4, 3, 2) if interleaved else inputs["q"].reshape(4, 2, 3).swapaxes(1, 2)
    angles = (3 + np.arange(4))[:, None] * frequencies(6, problem.scalars)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)
    found = problem.reference(inputs, problem.scalars)["r"].reshape((4, 3, 2) if interleaved else (4, 2, 3))
    real, imaginary = np.moveaxis(found, -1, 0) if interleaved else np.moveaxis(found, 1, 0)
    np.testing.assert_allclose(real + 1j * imaginary, turned)


HALVES = RopeProblem(5, 3, 2, 24, 16, dtype=FLOAT32, positions=INT64)
STORE = "store_global_whole<false>(target, loaded[i][0]);"


def test_elements_that_are_not_rotated_are_copied():
    source = program(HALVES, "vector_width=4 HPT=2")
    check_caught(HALVES, source, STORE, f"if (unit.rotated) {STORE}", seeds=(0,))


def test_threads_without_a_unit_do_nothing():
    problem = RopeProblem(20, 3, 1, 24, dtype=BFLOAT16)
    source = program(problem, "threads=128 vector_width=4")  # 42 slots of 3 units
    assert source.launch.blocks == 2
    verify(problem, source, seeds=(0,))


def test_positions_begin_anew_with_each_sequence():
    once, twice = RopeProblem(3, 2, 1, 8, dtype=FLOAT32), RopeProblem(6, 2, 1, 8, sequence=3, dtype=FLOAT32)
    assert twice.positions is OFFSET
    inputs = once.inputs(0)
    expected = once.reference(inputs, once.scalars)["r"]
    doubled = {name: np.tile(array, 2) for name, array in inputs.items()}
    np.testing.assert_array_equal(twice.reference(doubled, twice.scalars)["r"], np.tile(expected, 2))


LLAMA = RopeProblem(16384, 32, 8, 128, dtype=BFLOAT16)
LISTED = replace(LLAMA, table_rows=131072, angles=TABLE, positions=INT64)
_BYTES_IN_FLIGHT = 48 << 10  # of an SM, to keep an H200's memory busy


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        LLAMA: {
            "threads=96": "threads 96: expected a power of two",
            "apart=1": "apart: expected heads of which a part is rotated, not 128 of 128 elements",
        },
        RopeProblem(4, 2, 2, 24, dtype=BFLOAT16): {
            "vector_width=8": "vector_width 8 over the 4 elements of aligned accesses"
        },
        RopeProblem(4, 2, 2, 1024): {"threads=128": "512 units of a head, of vectors of 1, over the 128 threads"},
        RopeProblem(5, 3, 1, 1): {"apart=1": "apart: expected heads of which a part is rotated, not 0 of 1 elements"},
    },
)


@pytest.mark.parametrize(
    "problem", [LLAMA, LISTED, RopeProblem(65536, 12, 12, 64, dtype=BFLOAT16)], ids=lambda p: p.key
)
def test_first_seeds_keep_memory_busy(problem):
    for schedule in OPERATOR.seeds(problem, SPEC)[:2]:
        (counted,) = OPERATOR.workload(problem, schedule, SPEC)
        registers = min(counted.footprint.registers, 65536 // schedule.min_blocks_per_sm // schedule.threads)
        resident = min(2048 // schedule.threads, 65536 // (schedule.threads * registers))
        of_thread = 4 * schedule.loaded_words(problem) * schedule.heads_per_thread
        assert resident * schedule.threads * of_thread >= _BYTES_IN_FLIGHT, schedule


def test_few_tokens_are_shared_by_many_blocks():
    assert OPERATOR.default(LLAMA, SPEC).heads_per_thread == 4
    assert OPERATOR.default(replace(LLAMA, batch=16), SPEC).heads_per_thread == 1


def test_workload_counts_what_moves():
    (counted,) = OPERATOR.workload(LLAMA, RopeSchedule.parse(["vector_width=8", "HPT=4"]), SPEC)
    assert counted.blocks * counted.bytes_loaded == counted.blocks * counted.bytes_stored == 2 * 16384 * 40 * 128
    assert LISTED.work.bytes == LLAMA.work.bytes + 16384 * (8 + 4 * 128)


test_problems_that_cannot_be_are_refused = refused(
    lambda **fields: RopeProblem(**{"batch": 4, "heads_q": 2, "heads_k": 2, "head_dim": 64, **fields}),
    [
        ({"rotary_dim": 7}, "rotary_dim=7: expected an even number of elements of a head"),
        ({"angles": TABLE}, "table_rows=0: expected at least 1 with a table"),
        ({"table_rows": 5}, "table_rows=5: expected 0 without a table"),
        ({"heads_k": 2**29 + 1}, "heads_k=536870913: expected 0 … 536870912"),
        ({"align_table": 2}, "align_table=2: expected one of 4, 8, 16 bytes"),
    ],
)


Q, K = np.ones((2, 3, 4, 8), np.float32), np.ones((2, 3, 2, 8), np.float32)


test_calls_say_what_they_refuse = refused(
    lambda **arguments: dispatcher.rope(**{"q": Q, "k": K, **arguments}),
    [
        ({"q": Q[0, 0]}, "q has shape (4, 8): expected (…, heads, head_dim) with an axis of tokens before"),
        (
            {"k": K[:1]},
            "k has shape (1, 3, 2, 8) and dtype float32: expected (2, 3, 4, 8) but for the heads, and float32",
        ),
        ({"positions": np.zeros(2, np.int32)}, "positions has shape (2,) and dtype int32: expected (2, 3) or (3,)"),
        ({"cos_sin_cache": np.zeros((9, 4), np.float32)}, "cos_sin_cache has shape (9, 4) and dtype float32: expected"),
        ({"q": Q.swapaxes(0, 1), "k": K.swapaxes(0, 1)}, "expected contiguous rows, evenly spaced"),
        ({"theta": 0.0}, "theta=0.0: expected more than 0"),
    ],
)


def test_a_slice_of_packed_qkv_is_rotated_in_place():
    random = np.random.default_rng(0)
    packed = random.standard_normal((6, 4 + 2 + 2, 8)).astype(np.float32)
    before = packed.copy()
    q, k = packed[:, :4], packed[:, 4:6]
    expected = dispatcher.rope(q.copy(), k.copy(), offset=2)
    found = dispatcher.rope(q, k, offset=2, out=(q, k))
    assert found[0] is q
    np.testing.assert_array_equal(packed[:, :4], expected[0])
    np.testing.assert_array_equal(packed[:, 4:6], expected[1])
    np.testing.assert_array_equal(packed[:, 6:], before[:, 6:])


def test_a_table_of_the_angles_gives_what_is_computed():
    random = np.random.default_rng(0)
    q, k = (random.standard_normal((2, 3, heads, 8)).astype(np.float32) for heads in (4, 2))
    angles = np.arange(10)[:, None] * 100.0 ** (-np.arange(2) / 2)
    table = np.concatenate((np.cos(angles), np.sin(angles)), 1).astype(np.float32)
    computed = dispatcher.rope(q, k, rotary_dim=4, offset=7, theta=100.0, interleaved=True)
    positions = np.array([7, 8, 9], np.int64)
    of_table = dispatcher.rope(q, k, positions, table, rotary_dim=4, interleaved=True)
    other = np.array([1, 0, 2], np.int64)
    of_each = dispatcher.rope(q, k, np.stack((positions, other)), table, rotary_dim=4, interleaved=True)
    of_other = dispatcher.rope(q, k, other, table, rotary_dim=4, interleaved=True)
    for first, second, third, fourth in zip(computed, of_table, of_each, of_other, strict=True):
        np.testing.assert_allclose(first, second, atol=1e-5)
        np.testing.assert_array_equal(np.stack((second[0], fourth[1])), third)
    np.testing.assert_array_equal(computed[0][..., 4:], q[..., 4:])


def test_a_fitted_table_has_a_row_for_each_place():
    sizes = {"batch": 9, "heads_q": 1, "heads_k": 1, "head_dim": 4, "table_rows": 2}
    for sequence in (0, 5, 20):
        fitted = RopeProblem(**RopeProblem.fitted(sizes | {"angles": TABLE, "sequence": sequence}))
        assert fitted.table_rows == 3 + fitted.places
        fitted.reference(fitted.inputs(0), fitted.scalars)
