"""What the time model makes of decoding: near what was measured, and which schedules it tells apart."""

from dataclasses import replace

import pytest

from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.indices import Spread
from autotune.search_spaces.attention.attention_decode import OPERATOR
from autotune.search_spaces.machine.devices import named_device

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
        (FEW, 15.9),
        (problem(1, 32, 8, 131072), 138.0),
        (MANY, 254.5),
        (problem(64, 32, 8, 4096, page=1), 265.7),
        (problem(128, 8, 1, 8192), 139.5),
        (problem(32, 28, 4, 4096), 77.2),
        (problem(32, 32, 8, 8192, queries=4), 256.7),
        (problem(64, 64, 8, 8192, head_dim=64, window_left=128, sinks=True), 14.0),
        (problem(1, 16, 16, 512, page=128), 9.0),
        (problem(32, 32, 32, 2048, page=128), 241.0),
    ],
    ids=lambda one: getattr(one, "key", ""),
)
def test_a_default_is_near_what_was_measured_and_as_fast_as_any_by_the_other_kernel(wanted, measured):
    """On an H200, by the fastest of a few schedules: see docs/decoding.md."""
    default = OPERATOR.default(wanted, H200)
    modelled = microseconds(wanted, default)
    assert measured / 1.3 < modelled < 1.3 * measured
    others = [one for one in OPERATOR.seeds(wanted, H200) if one.kernel != default.kernel]
    assert modelled < min(microseconds(wanted, one) for one in others)


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
def test_defaults_cut_requests_as_suits_the_spread_of_their_lengths(many):
    def gain(spread, of_defaults_for):
        default = OPERATOR.default(replace(many, spread=of_defaults_for), H200)
        own = replace(many, spread=spread)
        return microseconds(own, replace(default, splits=1)) / microseconds(own, default)

    assert gain(Spread.LONG, Spread.LONG) > 1.5 < gain(Spread.LONG, Spread.RANDOM)
    assert gain(Spread.EVEN, Spread.EVEN) > 0.96
    assert gain(Spread.EVEN, Spread.RANDOM) > 0.9
    window = replace(many, window_left=256, spread=Spread.LONG)
    assert OPERATOR.default(window, H200).splits <= 2


def test_nothing_to_read_takes_a_launch():
    for empty in (replace(FEW, batch=0), replace(FEW, keys=0), replace(FEW, queries=0)):
        for schedule in (FmaSchedule(), MmaSyncSchedule()):
            assert microseconds(empty, schedule) < 15
