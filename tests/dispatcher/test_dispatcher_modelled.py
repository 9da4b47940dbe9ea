"""What the time model knows, and which of the schedules to try first it prefers."""

from dataclasses import replace

import pytest
from records import H200, SGEMM, problem, schedule

from autotune.codegen.model.schedule import Specialize
from autotune.dispatcher.choice import modelled
from autotune.dispatcher.choice.modelled import TIE, preferred
from autotune.search_spaces.contract.registry import operator

WANTED = problem(512)


@pytest.fixture
def prefer(monkeypatch):
    """The number of the seed that is preferred, of seeds with these times; those in `special` are for one shape."""

    def number(*times, special=()):
        seeds = [schedule(number, WANTED) for number in range(len(times))]
        for one in special:
            seeds[one] = replace(seeds[one], specialize=Specialize.SHAPE)
        asked = []

        def seconds(operator, wanted, one, spec):
            asked.append(one)
            return times[one.raster_group - 100]

        monkeypatch.setattr(modelled, "modelled_seconds", seconds)
        found, time = preferred(
            replace(SGEMM, default=lambda *_: seeds[0]).with_kernels(candidates=lambda *_: seeds), WANTED, H200
        )
        assert sorted(asked, key=str) == sorted((one.shape_generic for one in seeds), key=str)  # each once
        assert found.specialize is Specialize.NONE
        assert time == times[found.raster_group - 100]
        return found.raster_group - 100

    return number


def test_of_times_that_are_alike_the_first_guess_is_preferred(prefer):
    assert prefer(2.0, 1.0 + (TIE - 1) / 2, 1.0) == 1
    assert prefer(1.0, 1.0, 1.0) == 0
    assert prefer(1.0 + (TIE - 1) * 2, 1.0 + (TIE - 1) * 2, 1.0) == 2


def test_shape_generic_seeds_are_preferred_to_shape_specialized_ones(prefer):
    assert prefer(1.0, 1.0, 1.0, special=[0]) == 1
    assert prefer(1.0, 1.0, 1.0, special=[0, 1, 2]) == 0
    assert prefer(1.0, 2.0, 2.0, special=[0]) == 0


@pytest.mark.parametrize("size", [4096, 10000])
def test_of_transposes_whatever_moves_their_bytes_is_alike(size):
    transpose = operator("transpose")
    wanted = transpose.problem_type(size, size)
    assert preferred(transpose, wanted, H200)[0] == transpose.seeds(wanted, H200)[0].shape_generic
