"""What attention refuses, how it counts what queries see, and what its space and its exports hold."""

import math
from dataclasses import replace

import numpy as np
import pytest
from attention.attention_cases import KINDS, LIMITS
from refusals import refused

from autotune import dispatcher
from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread
from autotune.emulator import run
from autotune.fragments import integers, mask
from autotune.search_spaces.attention.attention import OPERATOR
from autotune.search_spaces.attention.attention_varlen import OPERATOR as PACKED
from autotune.search_spaces.attention.packed_sequences import PackedCosts, finding_rounds, looking_clocks
from autotune.search_spaces.attention.tiles import TileSteps, seen_keys, stored_bytes
from autotune.search_spaces.contract.modelled_time import modelled_seconds


@pytest.mark.parametrize("sizes", [(9, 9), (5, 12), (12, 5), (1, 7), (7, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("kinds", [*KINDS, {"window_right": 4}, {"window_left": 1, "window_right": 1}])
def test_pairs_are_those_that_are_seen(sizes, kinds):
    problem = replace(AttentionProblem(*sizes, 1), **kinds)
    seen = problem.band.seen(np.arange(problem.queries), problem.queries, problem.keys)
    assert problem.pairs == seen.sum()
    places = np.flatnonzero(seen.any(axis=0))
    reached = places[-1] - places[0] + 1 if places.size else 0
    assert problem.band.reached(problem.queries, problem.keys) == reached


@pytest.mark.parametrize("kinds", [{}, {"causal": True}, {"causal": True, "window_left": 64}])
@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("batch", [1, 4, 50])
def test_usual_pairs_are_about_those_of_sequences_as_they_are_drawn(kinds, spread, batch):
    problem = VarlenAttentionProblem(8192, 8192, 2, batch=batch, spread=spread, **kinds)
    drawn = [
        sum(problem.band.pairs(length, length) for length in np.diff(problem.offsets(seed)["offsets"]).tolist())
        for seed in range(20)
    ]
    assert problem.usual_pairs == pytest.approx(np.mean(drawn), rel=0.3 if batch > 1 else 0)


def test_causal_queries_see_their_diagonal_last():
    np.testing.assert_array_equal(
        AttentionProblem(2, 3, 1, causal=True).band.seen(np.arange(2), 2, 3), [[True, True, False], [True, True, True]]
    )
    np.testing.assert_array_equal(
        AttentionProblem(2, 3, 1, causal=True, top_left=True, window_left=1).band.seen(np.arange(2), 2, 3),
        [[True, False, False], [False, True, False]],
    )


test_problems_that_cannot_be = refused(
    lambda **fields: replace(AttentionProblem(64, 64, 2), **fields),
    [
        ({"heads": 6, "heads_kv": 4}, "heads_kv=4: expected a divisor of the 6 heads of q"),
        ({"causal": True, "window_right": 2}, "window_right=2: expected 0 with causal"),
        ({"head_dim": 257}, "head_dim=257: expected 1 … 256"),
        ({"batch": 2**20, "queries": 2**11}, "expected 2147483647 rows at most"),
    ],
)


test_calls_that_are_refused = refused(
    lambda shapes, options: dispatcher.attention(*(np.ones(one, np.float16) for one in shapes), **options),
    [
        ((((2, 8, 3, 16), (2, 8, 2, 16), (2, 8, 2, 16)), {}), "expected heads that divide the 3 of q"),
        ((((2, 8, 2, 16), (2, 8, 2, 8), (2, 8, 2, 16)), {}), "expected the batch and head_dim of q"),
        ((((2, 8, 2, 16), (2, 8, 2, 16), (2, 9, 2, 16)), {}), "expected that of k"),
        ((((8, 2, 16), (8, 2, 16), (8, 2, 16)), {}), "expected 4 axes, bshd"),
        ((((2, 8, 2, 16),) * 3, {"order": "sbhd"}), "order='sbhd': expected bshd or bhsd"),
        ((((2, 8, 2, 16),) * 3, {"scale": -0.1}), "scale=-0.1: expected a finite number of at least 0"),
        ((((2, 8, 2, 16),) * 3, {"softcap": math.inf}), "softcap=inf: expected a finite number of at least 0"),
        ((((2, 8, 2, 16),) * 3, {"scale": "1"}), "TypeError: scale is a str: expected a number"),
        ((((2, 8, 2, 16),) * 3, {"score": abs}), "TypeError: score is a builtin_function_or_method: expected str"),
    ],
)


@pytest.mark.parametrize("shape", [(0, 3, 2, 16), (2, 0, 2, 16)])
def test_no_queries_have_no_results(shape):
    keys = np.ones((shape[0], 5, 2, 16), np.float16)
    assert dispatcher.attention(np.ones(shape, np.float16), keys, keys).shape == shape


def test_heads_ahead_of_queries():
    """All of a call with other strides: a packed QKV, and PyTorch's order."""
    random = np.random.default_rng(0)
    packed = random.standard_normal((2, 9, 3, 2, 16)).astype(np.float16)
    q, k, v = (packed[:, :, part] for part in range(3))
    expected = dispatcher.attention(q, k, v, causal=True)
    swapped = [np.swapaxes(one, 1, 2) for one in (q, k, v)]
    found = dispatcher.attention(*swapped, causal=True, order="bhsd")
    assert found.shape == (2, 2, 9, 16)
    np.testing.assert_array_equal(np.swapaxes(found, 1, 2), expected)


@pytest.mark.parametrize("schedule", [FlashSchedule(64), MmaSyncSchedule(32, tile_keys=16)])
def test_scores_far_beyond_a_softcap_are_finite(schedule):
    """The powers that tanh is taken of would be infinite."""
    problem = AttentionProblem(16, 16, 1, head_dim=16, softcap=True, dtype=DType.FLOAT16)
    signs, place = np.where(np.arange(16) % 3, 1.0, -1.0), np.arange(16.0)
    rows = {"q": np.full(16, 8.0), "k": 8.0 * signs, "v": place, "o": np.zeros(16)}
    buffers = {name: np.repeat(values, 16).astype(np.float16) for name, values in rows.items()}
    run(OPERATOR.program(problem, schedule, LIMITS), problem.tensors, buffers, {"scale": 1.0, "softcap": 1.0})
    np.testing.assert_allclose(buffers["o"], np.average(place, weights=np.exp(signs)), rtol=2e-3)


@pytest.mark.parametrize(
    "schedule",
    [
        WgmmaSchedule(1, 32),
        WgmmaSchedule(1, 32, splits=2),
        MmaSyncSchedule(64, tile_keys=16),
        FlashSchedule(64, rows_per_warp=2),
    ],
)
def test_equal_scores_of_billions_have_equal_weights(schedule):
    """Wherever they are: products with log2(e) are rounded by up to 64."""
    problem = AttentionProblem(16, 96, 1, head_dim=16)
    random = np.random.default_rng(0)
    made = {name: random.integers(-1, 2, (rows, 16)) for name, rows in (("q", 16), ("k", 96), ("v", 96))}
    factors = {"q": 2.0**15, "k": 2.0**14, "v": 1.0}
    tensors = {tensor.name: tensor for tensor in problem.tensors}
    buffers = {name: (factors[name] * one).ravel().astype(tensors[name].dtype.numpy) for name, one in made.items()}
    buffers["o"] = np.zeros(16 * 16, tensors["o"].dtype.numpy)
    run(OPERATOR.program(problem, schedule, LIMITS), problem.tensors, buffers, problem.scalars)
    scores = made["q"] @ made["k"].T
    largest = scores == scores.max(axis=1, keepdims=True)
    assert largest.sum(axis=1).max() > 2
    expected = largest @ made["v"] / largest.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(buffers["o"].astype(float).reshape(16, 16), expected, atol=2**-7)


def test_a_tile_of_several_parts_of_a_table_is_seen_for_its_last_one():
    """Entries of a table are looked at by 64: the document of the queries is in the second half of 128 keys alone."""
    documents = mask(lambda batch, head, q, k: integers[q + 64] == integers[k])
    problem = AttentionProblem(16, 128, 1, head_dim=16, mask=documents, integers_count=128)
    buffers = dict(problem.inputs(0))
    buffers["integers"] = np.repeat(np.int32([1, 2]), 64)
    buffers["v"] = np.where(np.arange(128 * 16) < 64 * 16, 0, 1).astype(buffers["v"].dtype)
    buffers["o"] = np.zeros(16 * 16, buffers["v"].dtype)
    run(OPERATOR.program(problem, WgmmaSchedule(1, 128), LIMITS), problem.tensors, buffers, problem.scalars)
    np.testing.assert_array_equal(buffers["o"].astype(float), 1)


@pytest.mark.parametrize(
    "schedule", [WgmmaSchedule(1, 32, grid_blocks=1, tickets=True), MmaSyncSchedule(64, tile_keys=16)]
)
def test_a_packed_sequence_has_the_weights_and_the_bits_that_it_has_alone(schedule):
    """Value j is the unit vector j, so that o is the weights; a lone key has weight 1."""
    lengths, columns = (1, 70, 33), 72
    problem = VarlenAttentionProblem(104, 104, 1, len(lengths), head_dim=16, value_dim=columns, causal=True)
    program = PACKED.program(problem, schedule, LIMITS)
    inputs = dict(problem.inputs(0))
    places = np.concatenate([np.arange(length) for length in lengths])
    values = (places[:, None] == np.arange(columns)).astype(inputs["v"].dtype)
    ends = np.cumsum(lengths)

    def solved(rows, offsets):
        buffers = {name: np.zeros_like(inputs[name]) for name in "qk"} | {"v": np.zeros_like(values.ravel())}
        for name, given in {"q": inputs["q"], "k": inputs["k"], "v": values.ravel()}.items():
            of_rows = given.reshape(104, -1)[rows]
            buffers[name].reshape(104, -1)[: len(of_rows)] = of_rows
        buffers |= {"offsets": np.array(offsets, np.int32), "o": np.zeros_like(buffers["v"])}
        run(program, problem.tensors, buffers, problem.scalars)
        return buffers

    together = solved(slice(None), [0, *ends])
    expected = problem.reference(together, problem.scalars)
    found = together["o"].reshape(104, columns)
    assert (np.abs(found.ravel().astype(float) - expected["o"]) <= 2.0**-7 * expected["o"]).all()
    np.testing.assert_array_equal(found[0], values[0])
    for length, end in zip(lengths, ends, strict=True):
        rows = slice(end - length, end)
        alone = solved(rows, [0, length, length, length])["o"].reshape(104, columns)
        np.testing.assert_array_equal(alone[:length], found[rows])


def test_vectors_are_no_wider_than_heads_are_aligned_for():
    problem = AttentionProblem(64, 64, 2, head_dim=12)
    assert "vector_width 8 over the 4 elements of aligned loads" in OPERATOR.violations(
        problem, FlashSchedule(vector_width=8), LIMITS
    )


def test_no_more_blocks_stay_than_there_are_tiles():
    complaints = OPERATOR.violations(AttentionProblem(64, 64, 2, head_dim=64), WgmmaSchedule(grid_blocks=9), LIMITS)
    assert complaints == ["grid_blocks 9: expected 2 tiles at most, or 0"]


def test_a_lone_block_takes_as_long_as_the_queries_that_see_the_most():
    few, many = (AttentionProblem(1024, 1024, heads, head_dim=128, causal=True) for heads in (8, 80))
    average = (512.5 + 32 + 32) / 64
    assert TileSteps.of(few, 64, 64).of_block(1, LIMITS) == 16
    assert TileSteps.of(few, 64, 64, 2).of_block(2, LIMITS) == (average + 16) / 2 / 2
    waves = TileSteps.of(many, 64, 64, together=80)
    assert waves.of_block(1, LIMITS) * 10 == waves.of_busiest(132) == average * 1280 / 132


@pytest.mark.parametrize(("queries", "top_left", "all_keys"), [(100, False, 60), (100, True, 100), (40, True, 40)])
def test_a_window_that_cuts_no_key_is_none(queries, top_left, all_keys):
    kinds = {"causal": True, "top_left": top_left}
    whole, cut = (AttentionProblem(queries, 60, 2, window_left=left, **kinds) for left in (all_keys, all_keys - 1))
    assert whole == AttentionProblem(queries, 60, 2, **kinds)
    assert (cut.window_left, cut.pairs < whole.pairs) == (all_keys - 1, True)


def test_queries_that_see_no_key_take_no_steps():
    half, alike = (AttentionProblem(queries, 1024, 8, head_dim=128, causal=True) for queries in (2048, 1024))
    assert TileSteps.of(half, 64, 64) == replace(TileSteps.of(alike, 64, 64), empty=16 * 8)
    window = AttentionProblem(4096, 256, 2, head_dim=64, causal=True, window_left=128)
    steps = TileSteps.of(window, 64, 64)
    assert (steps.tiles, steps.empty) == (4 * 2, 60 * 2)
    assert steps.average == pytest.approx(3 * window.pairs / 256 / 128)


@pytest.mark.parametrize(
    "schedule",
    [
        FlashSchedule(),
        MmaSyncSchedule(),
        WgmmaSchedule(1),
        WgmmaSchedule(1, grid_blocks=132),
        WgmmaSchedule(1, grid_blocks=132, tickets=True),
    ],
)
def test_queries_that_see_no_key_take_time(schedule):
    few, many = (AttentionProblem(queries, 512, 32, head_dim=64, causal=True) for queries in (512, 8192))
    seconds = [modelled_seconds(OPERATOR, problem, schedule, LIMITS) for problem in (few, many)]
    memory = many.work.bytes / LIMITS.bandwidth
    assert seconds[1] > seconds[0] + memory


def test_tiles_of_keys_are_filled_as_far_as_there_are_keys():
    assert TileSteps.of(AttentionProblem(64, 24, 2), 64, 32).filled == 24 / 32
    assert TileSteps.of(AttentionProblem(64, 100, 2), 64, 32, splits=2).filled == 100 / 128
    assert TileSteps.of(AttentionProblem(64, 24, 2, causal=True), 64, 32).filled == 24 / 32
    assert TileSteps.of(VarlenAttentionProblem(64, 64, 2, 8, spread=Spread.EVEN), 64, 32).filled == 8 / 32
    assert TileSteps.of(VarlenAttentionProblem(6400, 6400, 2, 8, spread=Spread.EVEN), 64, 32).filled == 1
    random = VarlenAttentionProblem(420, 420, 1, 40)
    lengths = np.diff(random.offsets(0)["offsets"])
    assert TileSteps.of(random, 64, 128).filled == pytest.approx((lengths**2).sum() / 420 / 128, rel=0.3)


def test_keys_that_all_queries_see_take_the_most_steps():
    problem = AttentionProblem(1024, 2048, 8, head_dim=128, causal=True)
    steps = TileSteps.of_keys(problem, 128, 64, together=8)
    assert steps.longest == 16
    assert steps.average == (1024 * 2048 - 1024 * 1023 / 2) / 2048 / 64 + (128 + 64) / 2 / 64
    assert TileSteps.of_keys(AttentionProblem(100, 64, 2), 128, 64).average == 2
    window = AttentionProblem(1024, 1024, 8, head_dim=128, causal=True, window_left=128)
    assert TileSteps.of_keys(window, 128, 64).average == (window.pairs / 1024 + (128 + 64) / 2) / 64


def test_rows_of_packed_heads_are_fewer_queries():
    problem = AttentionProblem(1024, 1024, 64, heads_kv=8, head_dim=128, causal=True)
    steps = TileSteps.of(problem, 128, 64, packed=8)
    assert steps.average == (512.5 + (16 + 64) / 2) / 64
    assert steps.tiles == 64 * 8


def test_heads_that_come_last_begin_with_their_longest_tile():
    problem = AttentionProblem(1024, 1024, 16, head_dim=128, causal=True)
    shared = TileSteps.of(problem, 64, 64, together=16).of_busiest(32)
    assert shared == 8 * (512.5 + 32 + 32) / 64
    assert TileSteps.of(problem, 64, 64, together=2).of_busiest(32) == shared * 7 / 8 + 16
    assert TileSteps.of(problem, 64, 64).of_busiest(256) == 16


def test_more_tiles_than_blocks_make_some_block_take_two_of_the_longest():
    steps = TileSteps(average=24, longest=32, tiles=176, fall=16)
    assert steps.of_busiest(132) == 2 * (32 - 16 * 132 / 176)
    assert TileSteps(average=8, longest=8, tiles=176).of_busiest(132) == 16


@pytest.mark.parametrize("spread", [Spread.RANDOM, Spread.EVEN])
@pytest.mark.parametrize("bounds", [{}, {"causal": True}, {"causal": True, "window_left": 150}])
@pytest.mark.parametrize("tokens", [60, 800, 6000, 20000])
def test_tiles_of_packed_sequences_are_about_as_many_as_those_of_inputs(tokens, bounds, spread):
    """And go through about as many tiles of keys."""
    problem = VarlenAttentionProblem(tokens, tokens, 1, 40, spread=spread, **bounds)
    rows, keys, steps = 64, 80, []
    for length in np.diff(problem.offsets(0)["offsets"]):
        for begin in range(0, length, rows):
            end = min(begin + rows, length)
            seen = np.flatnonzero(problem.band.seen(np.arange(begin, end), length, length).any(axis=0))
            steps.append(math.ceil((seen[-1] + 1 - seen[0]) / keys))
    of = TileSteps.of(problem, rows, keys)
    assert of.tiles == pytest.approx(len(steps), rel=0.2)
    assert of.average == pytest.approx(np.mean(steps), rel=0.25)
    assert of.longest == pytest.approx(max(steps), rel=0.4)


def test_tiles_of_packed_sequences_that_there_may_be_are_not_all():
    long = VarlenAttentionProblem(20000, 20000, 2, 40, spread=Spread.LONG)
    assert TileSteps.of(long, 64, 80).longest == 125
    assert TileSteps.of(long, 64, 80).average > 125 / 2
    problem = VarlenAttentionProblem(256, 256, 2, 4, spread=Spread.EVEN)
    assert TileSteps.of(problem, 64, 64) == TileSteps(average=1, longest=1, tiles=8, last=1 / 2)
    assert TileSteps.of(problem, 64, 32, splits=2).average == 1
    assert problem.row_tiles(64) == 16


def test_a_tile_of_packed_sequences_is_found_by_loads_one_after_the_other():
    assert finding_rounds(AttentionProblem(2048, 2048, 8), 64) == 0
    assert finding_rounds(VarlenAttentionProblem(2048, 2048, 8, 96), 64) == 2
    assert finding_rounds(VarlenAttentionProblem(2048, 2048, 8, 24, causal=True), 64) == 3
    assert finding_rounds(VarlenAttentionProblem(1024, 1024, 8, 24, causal=True), 64) == 2


def test_blocks_that_stay_take_as_long_as_they_look_for_tiles():
    problem = VarlenAttentionProblem(431, 431, 64, 256, head_dim=64)
    drawn = WgmmaSchedule(1, 64, grid_blocks=396, tickets=True, min_blocks_per_sm=3)
    looks, rounds = drawn.tiles(problem) / 396, finding_rounds(problem, 64)
    seconds = [modelled_seconds(PACKED, problem, replace(drawn, tickets=tickets), LIMITS) for tickets in (False, True)]
    assert seconds[1] > looks * (rounds + 1) * PackedCosts.of(LIMITS).find_clocks / LIMITS.clock_hz
    assert seconds[1] > seconds[0]
    assert looking_clocks(AttentionProblem(64, 64, 2), 64, 2.0, LIMITS, tickets=True) == 0


def test_elements_that_are_stored_one_by_one_count_as_twelve():
    whole = stored_bytes(AttentionProblem(64, 64, 2, head_dim=72), 64, 1)
    assert whole == 64 * 72 * 2
    assert stored_bytes(AttentionProblem(64, 64, 2, head_dim=72, stride_o_h=73), 64, 1) == 12 * whole


def test_tiles_of_keys_count_whole_if_queries_see_all():
    assert seen_keys(AttentionProblem(64, 197, 2), rows=64, keys=160) == 320
    assert seen_keys(AttentionProblem(64, 64, 2, causal=True), rows=64, keys=16) == 32.5 + 8 + 32


@pytest.mark.parametrize("schedule", [WgmmaSchedule(1, 32), MmaSyncSchedule(64, tile_keys=16), FlashSchedule(64)])
def test_scores_that_rise_by_200_and_sinks_that_take_all_or_nothing(schedule):
    problem = AttentionProblem(40, 130, 3, head_dim=16, causal=True, lse=True, sinks=True)
    tensors = {tensor.name: tensor for tensor in problem.tensors}
    buffers = dict(problem.inputs(0))
    q, k = (tensors[name].view(buffers[name]) for name in "qk")
    q[...], k[...] = 1, 0
    k[..., 0] = np.linspace(-400, 400, 130)[None, :, None]
    buffers["sinks"] = np.array([-np.inf, 50, 101], np.float32)
    expected = problem.reference(buffers, problem.scalars)
    for name in ("o", "lse"):
        buffers[name] = np.zeros(tensors[name].size, tensors[name].dtype.numpy)
    run(OPERATOR.program(problem, schedule, LIMITS), problem.tensors, buffers, problem.scalars)
    error = np.abs(buffers["o"].astype(float) - expected["o"])
    assert (error <= tensors["o"].judged.relative * expected["o_scale"] + tensors["o"].judged.absolute).all()
    np.testing.assert_allclose(buffers["lse"], expected["lse"], rtol=2**-14)


@pytest.mark.parametrize(("heads", "heads_kv"), [(7, 1), (200, 1), (4, 0)])
def test_tiles_have_whole_queries_of_a_group(heads, heads_kv):
    problem = AttentionProblem(64, 64, heads, heads_kv=heads_kv, head_dim=64)
    complaints = OPERATOR.violations(problem, WgmmaSchedule(pack_group=True), LIMITS)
    expected = f"expected no mask, and heads that share keys, as many as divide 128 rows; not {problem.group}"
    assert complaints == [f"pack_group: {expected}"]


def test_rows_of_a_group_see_fewer_keys_outside_of_a_window():
    problem = AttentionProblem(8192, 8192, 64, heads_kv=8, window_left=128, causal=True)
    steps = [TileSteps.of(problem, 64, 48, packed=packed).of_block(1, LIMITS) for packed in (1, 8)]
    window = problem.pairs / 8192 / 128
    assert steps == [4 * window, 3 * window]


def test_a_schedule_for_groups_is_proven_with_groups():
    problem = AttentionProblem(300, 300, 8, heads_kv=2, head_dim=64)
    checked = OPERATOR.kernel("wgmma").checks(problem, WgmmaSchedule(pack_group=True))
    assert [(one.group, schedule.pack_group) for one, schedule in checked] == [(1, False), (2, True)]
