"""What the time model makes of decoding: near what was measured, and which schedules it tells apart."""

from dataclasses import replace

import pytest

from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.indices import Spread
from autotune.search_spaces.attention.attention_decode import OPERATOR
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import resident_blocks

H200 = named_device("h200")


def problem(batch, heads, heads_kv, keys, page=16, **fields):
    fields = {"queries": 1, "head_dim": 128, "causal": True, "spread": Spread.EVEN} | fields
    return AttentionDecodeProblem(batch=batch, heads=heads, heads_kv=heads_kv, keys=keys, page=page, **fields)


FEW, MANY = problem(1, 32, 8, 4096), problem(64, 32, 8, 4096)


def microseconds(wanted, schedule):
    return 1e6 * OPERATOR.forecast(wanted, schedule, H200).seconds


@pytest.mark.parametrize(
    ("wanted", "measured"),
    [
        (FEW, 13.5),
        (problem(1, 32, 8, 131072), 138.0),
        (MANY, 249.5),
        (problem(64, 32, 8, 4096, page=1), 265.7),
        (problem(128, 8, 1, 8192), 139.5),
        (problem(32, 28, 4, 4096), 77.2),
        (problem(32, 32, 8, 8192, queries=4), 256.7),
        (problem(64, 64, 8, 8192, head_dim=64, window_left=128, sinks=True), 11.8),
        (problem(1, 16, 16, 512, page=128), 9.6),
        (problem(32, 32, 32, 2048, page=128), 241.0),
    ],
    ids=lambda one: getattr(one, "key", ""),
)
def test_a_default_is_near_what_was_measured_and_its_kernel_faster_than_the_other(wanted, measured):
    """On an H200, by the fastest of a few schedules: see docs/decoding.md."""
    default = OPERATOR.default(wanted, H200)
    modelled = microseconds(wanted, default)
    assert measured / 1.45 < modelled < 1.45 * measured
    times = {True: [], False: []}
    for one in OPERATOR.seeds(wanted, H200):
        times[one.kernel == default.kernel].append(microseconds(wanted, one))
    assert min(times[True]) < min(times[False])


def test_blocks_are_clusters_where_each_sm_has_one():
    assert any(one.cluster for one in OPERATOR.seeds(FEW, H200))
    others = (MANY, H200), (FEW, named_device("a100")), (replace(FEW, keys=16384, batch_invariant=True), H200)
    assert not any(one.cluster for wanted, spec in others for one in OPERATOR.seeds(wanted, spec))
    clustered = MmaSyncSchedule(vector_width=8, splits=16, cluster=True)
    assert OPERATOR.violations(replace(FEW, queries=8), clustered, H200) == [
        "splits 16 with cluster: expected 2, 4 or 8, without grid_blocks",
        "32 rows with cluster: expected the 16 of a block at most",
    ]


def test_heads_that_share_keys_are_much_slower_by_multiply_adds():
    by_fma = min(microseconds(MANY, one) for one in OPERATOR.seeds(MANY, H200) if isinstance(one, FmaSchedule))
    assert 1.4 < by_fma / microseconds(MANY, OPERATOR.default(MANY, H200)) < 2.5


def test_parts_pay_until_every_sm_has_some():
    def parts(wanted, splits):
        return microseconds(wanted, MmaSyncSchedule(vector_width=8, stages=3, splits=splits))

    assert parts(FEW, 1) > 1.5 * parts(FEW, 4) > 1.5 * parts(FEW, 16)
    assert parts(MANY, 1) < parts(MANY, 2) < parts(MANY, 64)  # they cost the sums of states


def test_a_long_request_keeps_few_sms_busy_unless_it_is_cut():
    long = replace(MANY, keys=28112, spread=Spread.LONG)
    alone, cut = (MmaSyncSchedule(vector_width=8, stages=3, splits=splits) for splits in (1, 8))
    (whole,) = OPERATOR.workload(long, alone, H200)
    assert whole.blocks < H200.sm_count < OPERATOR.workload(MANY, alone, H200)[0].blocks
    assert microseconds(long, alone) > 2 * microseconds(long, cut)


@pytest.mark.parametrize("many", [replace(MANY, keys=28112), problem(128, 8, 1, 8192), problem(64, 32, 32, 16384)])
def test_defaults_share_keys_where_requests_may_differ_in_length(many):
    def gain(spread, of_defaults_for):
        default = OPERATOR.default(replace(many, spread=of_defaults_for), H200)
        own = replace(many, spread=spread)
        return microseconds(own, replace(default, splits=1, grid_blocks=0)) / microseconds(own, default)

    assert gain(Spread.LONG, Spread.LONG) > 1.5 < gain(Spread.LONG, Spread.RANDOM)
    assert gain(Spread.EVEN, Spread.EVEN) > 0.96
    assert gain(Spread.EVEN, Spread.RANDOM) > 0.9
    random = replace(many, spread=Spread.RANDOM)
    assert (
        OPERATOR.default(random, H200).grid_blocks
        and not OPERATOR.default(replace(random, full=True), H200).grid_blocks
    )
    window = replace(many, window_left=256, spread=Spread.LONG)
    assert OPERATOR.default(window, H200).splits <= 2
    assert all(one.grid_blocks or one.splits > 1 for one in OPERATOR.seeds(random, H200))


def test_all_shares_have_room_at_once():
    """Of this one, ptxas takes 114 registers: an SM has room for eight blocks of 64 threads, not ten."""
    seeds = OPERATOR.seeds(problem(32, 32, 32, 2048, spread=Spread.RANDOM), H200)
    shares = next(one for one in seeds if one.kernel == "fma" and one.grid_blocks)
    assert (shares.threads, shares.rows, shares.keys_in_flight) == (64, 1, 4)
    assert shares.grid_blocks == 8 * H200.sm_count
    rows = problem(64, 43, 1, 2891, queries=3, spread=Spread.RANDOM)  # 129 of a head, in nine tiles of 16
    for one in (one for one in OPERATOR.seeds(rows, H200) if one.kernel == "mma_sync" and one.grid_blocks):
        resident = resident_blocks(one.footprint(rows), H200) * H200.sm_count
        assert resident - 9 < one.blocks(rows) <= resident


def test_batch_invariant_defaults_leave_requests_of_some_thousand_keys_whole():
    default = OPERATOR.default(replace(MANY, batch_invariant=True), H200)
    assert default.part_tiles * default.tile_keys == 4096 and not default.grid_blocks
    assert OPERATOR.default(replace(MANY, keys=32768, batch_invariant=True), H200).splits == 8


@pytest.mark.parametrize(
    ("batch", "queries", "keys", "measured"), [(1, 2048, 16384, 776), (1, 512, 16384, 238), (4, 512, 4096, 247)]
)
def test_chunks_are_gathered(batch, queries, keys, measured):
    """On an H200, as above."""
    chunk = problem(batch, 32, 8, keys, queries=queries)
    default = OPERATOR.default(chunk, H200)
    assert default.kernel == "gathered"
    assert measured / 1.3 < microseconds(chunk, default) < 1.3 * measured
    assert microseconds(chunk, OPERATOR.first("mma_sync", chunk, H200)) > 2 * measured


def test_latent_keys_are_read_once():
    latent = problem(32, 16, 1, 8192, page=64, head_dim=576, value_dim=512, latent=True)
    default = OPERATOR.default(latent, H200)
    assert default.kernel == "latent"
    assert 148 / 1.2 < microseconds(replace(latent, batch=64), replace(default, splits=2)) < 1.2 * 148
    by_warps = MmaSyncSchedule(vector_width=8, splits=8, stages=3, share_keys=True)
    assert by_warps.values_in_keys(latent)
    assert 103 / 1.2 < microseconds(latent, by_warps) < 1.2 * 103
    assert (
        OPERATOR.first("mma_sync", replace(latent, batch=1), H200).splits <= 32
    )  # each leaves sums of 16 rows of 512 columns


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("batch", [1, 3, 16, 100])
def test_usual_lengths_are_about_those_that_are_drawn(spread, batch):
    wanted = problem(batch, 32, 8, 4096, spread=spread)
    usual = [length for count, length in wanted.usual_lengths for _ in range(count)]
    drawn = wanted.inputs(0)["lengths"] if batch < 16 else []
    assert len(usual) == batch
    assert usual == pytest.approx(drawn, abs=2) or batch >= 16
    assert wanted.usual_work.bytes == pytest.approx(wanted.work.bytes, rel=0.1)


def test_nothing_to_read_takes_a_launch():
    for empty in (replace(FEW, batch=0), replace(FEW, keys=0), replace(FEW, queries=0)):
        for schedule in (FmaSchedule(), MmaSyncSchedule()):
            assert microseconds(empty, schedule) < 15


def test_latent_keys_by_wgmma_have_pages_that_tiles_divide_or_that_divide_tiles():
    latent = problem(2, 128, 1, 8192, head_dim=576, value_dim=512, latent=True)
    schedule = replace(OPERATOR.first("latent", latent, H200), multicast=True)
    assert schedule.row_tiles(latent) == 2
    for page in (0, 8, 16, 64, 128):
        assert not OPERATOR.violations(replace(latent, page=page), schedule, H200)
    for page in (1, 4, 24, 96):
        expected = f"pages of {page}: expected 8 to 64 by powers of two, or multiples of 64"
        assert OPERATOR.violations(replace(latent, page=page), schedule, H200) == [expected]
    few = replace(latent, heads=64)
    assert OPERATOR.violations(few, schedule, H200) == [
        "multicast: expected an even number of tiles of rows, not 1, that see the same keys"
    ]
    assert OPERATOR.violations(replace(latent, window_left=9), schedule, H200) == [
        "keys: expected latent ones, without a window on the left"
    ]
    assert OPERATOR.violations(replace(latent, value_dim=64), schedule, H200) == [
        "heads of 576 and 64 elements: expected multiples of 16 and 128, 512 values at most"
    ]
