"""Which rope schedules are legal and tried first, what they are counted to do, and what calls compute and refuse."""

from dataclasses import replace

import numpy as np
import pytest
from rope_cases import BFLOAT16, INT64, SPEC, TABLE

from autotune import dispatcher
from autotune.codegen.streaming.rope.problem import RopeProblem
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.search_spaces.streaming.rope import OPERATOR

LLAMA = RopeProblem(16384, 32, 8, 128, dtype=BFLOAT16)
LISTED = replace(LLAMA, table_rows=131072, angles=TABLE, positions=INT64)
_BYTES_IN_FLIGHT = 48 << 10  # of an SM, to keep an H200's memory busy


@pytest.mark.parametrize(
    ("words", "problem", "expected"),
    [
        ("threads=96", LLAMA, "threads 96: expected a power of two"),
        (
            "vector_width=8",
            RopeProblem(4, 2, 2, 24, dtype=BFLOAT16),
            "vector_width 8 over the 4 elements of aligned accesses",
        ),
        ("threads=128", RopeProblem(4, 2, 2, 1024), "512 units of a head, of vectors of 1, over the 128 threads"),
        ("apart=1", LLAMA, "apart: expected heads of which a part is rotated, not 128 of 128 elements"),
        ("apart=1", RopeProblem(5, 3, 1, 1), "apart: expected heads of which a part is rotated, not 0 of 1 elements"),
    ],
)
def test_violations_carry_the_values(words: str, problem: RopeProblem, expected: str) -> None:
    found = OPERATOR.violations(problem, RopeSchedule.parse(words.split()), SPEC)
    assert any(expected in line for line in found), found


@pytest.mark.parametrize(
    "problem", [LLAMA, LISTED, RopeProblem(65536, 12, 12, 64, dtype=BFLOAT16)], ids=lambda p: p.key
)
def test_first_seeds_keep_memory_busy(problem: RopeProblem) -> None:
    for schedule in OPERATOR.seeds(problem, SPEC)[:2]:
        (counted,) = OPERATOR.workload(problem, schedule, SPEC)
        registers = min(counted.footprint.registers, 65536 // schedule.min_blocks_per_sm // schedule.threads)
        resident = min(2048 // schedule.threads, 65536 // (schedule.threads * registers))
        of_thread = 4 * schedule.loaded_words(problem) * schedule.heads_per_thread
        assert resident * schedule.threads * of_thread >= _BYTES_IN_FLIGHT, schedule


def test_few_tokens_are_shared_by_many_blocks() -> None:
    assert OPERATOR.default(LLAMA, SPEC).heads_per_thread == 4
    assert OPERATOR.default(replace(LLAMA, batch=16), SPEC).heads_per_thread == 1


def test_workload_counts_what_moves() -> None:
    (counted,) = OPERATOR.workload(LLAMA, RopeSchedule.parse(["vector_width=8", "HPT=4"]), SPEC)
    assert counted.blocks * counted.bytes_loaded == counted.blocks * counted.bytes_stored == 2 * 16384 * 40 * 128
    assert LISTED.work.bytes == LLAMA.work.bytes + 16384 * (8 + 4 * 128)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rotary_dim": 7}, "rotary_dim=7: expected an even number of elements of a head"),
        ({"angles": TABLE}, "table_rows=0: expected at least 1 with a table"),
        ({"table_rows": 5}, "table_rows=5: expected 0 without a table"),
        ({"heads_k": 2**29 + 1}, "heads_k=536870913: expected 0 … 536870912"),
        ({"align_table": 2}, "align_table=2: expected one of 4, 8, 16 bytes"),
    ],
)
def test_problems_that_cannot_be_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        RopeProblem(**{"batch": 4, "heads_q": 2, "heads_k": 2, "head_dim": 64, **fields})  # type: ignore[arg-type]
    assert str(raised.value) == message


Q, K = np.ones((2, 3, 4, 8), np.float32), np.ones((2, 3, 2, 8), np.float32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": Q[0, 0]}, "q has shape (4, 8): expected (…, heads, head_dim) with an axis of tokens before"),
        (
            {"k": K[:1]},
            "k has shape (1, 3, 2, 8) and dtype float32: expected (2, 3, 4, 8) but for the heads, and float32",
        ),
        ({"positions": np.zeros(2, np.int32)}, "positions has shape (2,) and dtype int32: expected (2, 3) or (3,)"),
        ({"cos_sin_cache": np.zeros((9, 4), np.float32)}, "cos_sin_cache has shape (9, 4) and dtype float32: expected"),
        ({"q": Q.swapaxes(0, 1), "k": K.swapaxes(0, 1)}, "matrices that are not evenly spaced"),
        ({"theta": 0.0}, "theta=0.0: expected more than 0"),
    ],
)
def test_calls_say_what_they_refuse(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        dispatcher.rope(**{"q": Q, "k": K, **arguments})
    assert message in str(raised.value)


def test_a_slice_of_packed_qkv_is_rotated_in_place() -> None:
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


def test_a_table_of_the_angles_gives_what_is_computed() -> None:
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
