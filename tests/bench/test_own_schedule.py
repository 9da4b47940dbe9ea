"""A measured record that is legal goes before the default schedule, and nothing else does."""

import pytest
from bench_fakes import LIMITS

from autotune.bench import OwnSchedule, find_own_schedule
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.db import TimeSource, TuningDB
from autotune.search_spaces.registry import operator

TRANSPOSE = operator("transpose")
PROBLEM = TransposeProblem(48, 80)
DEFAULT = TRANSPOSE.default(PROBLEM, LIMITS)
SEED = next(seed for seed in TRANSPOSE.seeds(PROBLEM, LIMITS) if seed != DEFAULT)


def chosen():
    with TuningDB() as database:
        return find_own_schedule(TRANSPOSE, PROBLEM, LIMITS, database)


def test_the_record(record):
    record(PROBLEM, SEED.to_dict())
    found = chosen()
    assert (found.schedule, found.source, found.record.schedule) == (SEED, "record", SEED.to_dict())


@pytest.mark.parametrize("changes", [{"no_such_field": 1}, {"tile_m": 3}])
def test_a_record_that_does_not_fit_is_none(record, changes):
    record(PROBLEM, SEED.to_dict() | changes)
    assert chosen() == OwnSchedule(DEFAULT)


def test_neither_a_modelled_record_nor_one_of_another_problem(record):
    record(PROBLEM, SEED.to_dict(), TimeSource.MODELLED)
    record(TransposeProblem(80, 48), SEED.to_dict())
    assert chosen() == OwnSchedule(DEFAULT)
