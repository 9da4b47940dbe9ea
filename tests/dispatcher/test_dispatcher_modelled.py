"""Which of the schedules to try first the time model prefers, and when it is not asked at all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import H200, SGEMM, problem, schedule, trial

from autotune.codegen.schedule import Specialize
from autotune.dispatcher import choose, modelled
from autotune.dispatcher.choose import Rule, choices, in_order, without_records
from autotune.dispatcher.modelled import TIE, least_seconds, modelled_seconds, preferred
from autotune.dispatcher.records import records

WANTED = problem(512)


@pytest.fixture
def prefer(monkeypatch):
    """The number of the seed that is preferred, of seeds with these times; those in `special` are for one shape."""

    def number(*times, special=()):
        seeds = [schedule(number, WANTED) for number in range(len(times))]
        for one in special:
            seeds[one] = replace(seeds[one], specialize=Specialize.SHAPE)
        asked = []

        def seconds(operator, wanted, one, limits):
            asked.append(one)
            return times[one.group_m - 100]

        monkeypatch.setattr(modelled, "modelled_seconds", seconds)
        found, time = preferred(replace(SGEMM, seeds=lambda wanted, limits: seeds), WANTED, H200)
        assert sorted(asked, key=str) == sorted((seed.for_any_size for seed in seeds), key=str)  # each once
        assert found.specialize is Specialize.NONE
        assert time == times[found.group_m - 100]
        return found.group_m - 100

    return number


def test_of_times_that_are_alike_the_first_guess_is_preferred(prefer):
    assert prefer(2.0, 1.0 + (TIE - 1) / 2, 1.0) == 1
    assert prefer(1.0, 1.0, 1.0) == 0
    assert prefer(1.0 + (TIE - 1) * 2, 1.0 + (TIE - 1) * 2, 1.0) == 2


def test_what_was_found_for_any_size_is_preferred_to_what_was_found_for_one_shape(prefer):
    assert prefer(1.0, 1.0, 1.0, special=[0]) == 1
    assert prefer(1.0, 1.0, 1.0, special=[0, 1, 2]) == 0
    assert prefer(1.0, 2.0, 2.0, special=[0]) == 0


def test_a_block_waits_for_each_tile_along_k_unless_more_stages_are_in_flight():
    def seconds(k, stages):
        small = problem(64, 64, k)
        return modelled_seconds(SGEMM, small, replace(SGEMM.default(small, H200), grid_blocks=0, stages=stages), H200)

    assert seconds(4096, 2) > seconds(4096, 3) > seconds(4096, 4)
    large = [
        modelled_seconds(SGEMM, problem(8192, 8192), replace(SGEMM.default(problem(8192, 8192), H200), stages=n), H200)
        for n in (2, 3)
    ]
    assert large[0] == pytest.approx(large[1], rel=1e-3)


sizes = st.floats(0, 13).map(lambda exponent: int(2**exponent))


@given(sizes, sizes, sizes)
def test_no_modelled_time_is_below_the_least(m, n, k):
    wanted = problem(m, n, k)
    for one in (SGEMM.default(wanted, H200), *SGEMM.seeds(wanted, H200)[:3]):
        assert modelled_seconds(SGEMM, wanted, one, H200) >= least_seconds(wanted, H200)


def test_the_model_is_not_asked_where_a_record_is_nearer_than_it_can_be(database, monkeypatch):
    known, wanted = problem(4096, 4096, 4096), problem(4096, 4096, 4032)
    database.record(trial(known, schedule(0, known), seconds=known.flops / 60e12))
    recorded = choose.from_records(SGEMM, wanted, H200, records(SGEMM, H200))
    expected = in_order(recorded, without_records(SGEMM, wanted, H200))
    assert list(choices(SGEMM, wanted, H200, records(SGEMM, H200))) == expected
    monkeypatch.setattr(choose, "preferred", lambda *_: pytest.fail("the model was asked"))
    assert next(choices(SGEMM, wanted, H200, records(SGEMM, H200))).rule is Rule.NEAREST
