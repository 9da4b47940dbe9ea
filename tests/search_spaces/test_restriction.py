"""Narrowed, sampled and restricted spaces, on the transpose's."""

from itertools import count

import pytest

from autotune.search_spaces.contract.asked import asked_for
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import restrict_schedules, restrict_values, sample
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
TRANSPOSE = operator("transpose")
PROBLEM = TRANSPOSE.problem_type(4096, 4096)
SPACE = TRANSPOSE.space(PROBLEM, SPEC)
WORDS = [
    "threads=128,256",
    "lanes_n=8",
    "micro_tiles=1,2",
    "vector_load=4",
    "raster_group=8,1",
    "min_blocks_per_sm=1",
    "streaming=1",
]


def legal(space):
    built = (space.build(draw) for draw in space.all_draws())
    return {schedule for schedule in built if not TRANSPOSE.violations(PROBLEM, schedule, SPEC)}


def test_words_leave_values_to_parameters():
    values = {parameter.name: parameter.values for parameter in restrict_values(SPACE, WORDS).parameters}
    assert values["threads"] == (128, 256)
    assert values["raster_group"] == (8, 1)
    assert values["streaming"] == (True,)
    assert values["specialize"] == ("none", "shape")


def test_values_with_spaces_or_signs_can_be_typed():
    sgemm = operator("sgemm")
    space = sgemm.space(sgemm.problem_type(512, 512, 512), SPEC)
    values = {
        p.name: p.values
        for p in restrict_values(space, ["thread_tile=16x8,8x16", "load_b=async_copy-4", "grid=SMs.2"]).parameters
    }
    assert values["thread_tile"] == ("16×8", "8×16")
    assert values["load_b"] == ("async_copy 4",)
    assert values["grid"] == ("SMs·2",)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("threads", "'threads' is not PARAMETER=VALUE,… with a PARAMETER of threads, lanes_n"),
        ("tile_m=3", "'tile_m=3' is not PARAMETER=VALUE,… with a PARAMETER of threads, lanes_n"),
        ("threads=128,100", "threads=100: expected some of 64, 128, 256, 512"),
        ("threads=128 threads=256", "'threads=256': threads is given more than once"),
    ],
)
def test_unknown_and_repeated_parameters_and_unknown_values_are_refused(words, message):
    with pytest.raises(ValueError) as error:
        restrict_values(SPACE, words.split())
    assert str(error.value).startswith(message)


def test_a_small_space_is_sampled_whole():
    space = restrict_values(SPACE, WORDS)
    schedules = sample(TRANSPOSE, PROBLEM, SPEC, space, 10_000, seed=0)
    assert len(schedules) == len(set(schedules))
    assert set(schedules) == legal(space)


@pytest.mark.parametrize("words", [WORDS, []])
def test_a_sample_is_legal_distinct_and_the_beginning_of_a_larger_one(words):
    space = restrict_values(SPACE, words)
    large = sample(TRANSPOSE, PROBLEM, SPEC, space, 40, seed=1)
    assert len(set(large)) == 40
    assert not any(TRANSPOSE.violations(PROBLEM, schedule, SPEC) for schedule in large)
    assert sample(TRANSPOSE, PROBLEM, SPEC, space, 25, seed=1) == large[:25]
    assert sample(TRANSPOSE, PROBLEM, SPEC, space, 40, seed=2) != large
    seeds = [seed for seed in TRANSPOSE.seeds(PROBLEM, SPEC) if seed in space]
    assert large[: len(seeds)] == seeds


def test_sampling_a_large_space_without_a_legal_draw_ends():
    drawn = count()

    def refused(*_):
        assert next(drawn) < 5_000, "it would not end"
        return ["illegal"]

    none = TRANSPOSE.with_kernels(constraints=refused)
    assert SPACE.size > 100_000
    assert sample(none, PROBLEM, SPEC, SPACE, 5, seed=0) == []


def test_a_restricted_operator_knows_listed_schedules_only():
    listed = sample(TRANSPOSE, PROBLEM, SPEC, SPACE, 30, seed=0)
    other = next(s for s in sample(TRANSPOSE, PROBLEM, SPEC, SPACE, 60, seed=5) if s not in listed)
    few = restrict_schedules(TRANSPOSE, listed, "a list")
    space = few.space(PROBLEM, SPEC)
    assert space.size == 30
    assert [space.build(draw) for draw in space.all_draws()] == listed
    assert all(schedule in space for schedule in listed)
    assert other not in space
    assert not any(few.violations(PROBLEM, schedule, SPEC) for schedule in listed)
    assert few.violations(PROBLEM, other, SPEC) == ["not one of the 30 schedules in a list"]
    assert set(few.seeds(PROBLEM, SPEC)) <= set(listed)
    drawn = [space.build(draw) for draw, _ in zip(space.random_draws(0), range(300), strict=False)]
    assert set(drawn) == set(listed)


def test_a_draw_that_is_not_listed_builds_the_most_similar_schedule():
    space = restrict_values(SPACE, ["threads=64,256", "raster_group=1,64"])
    listed = sample(TRANSPOSE, PROBLEM, SPEC, space, 200, seed=2)
    first = listed[0]
    restricted_space = restrict_schedules(TRANSPOSE, [first, *listed[100:]], "a list").space(PROBLEM, SPEC)
    draw = dict(restricted_space.draw_of(first))
    others = [other for other in restricted_space.all_draws() if sum(other[n] != draw[n] for n in draw) <= 2]
    assert others == [draw], "the example needs a schedule without neighbours"
    draw["raster_group"] = 64 if draw["raster_group"] == 1 else 1
    assert restricted_space.build(draw) == first


def test_fields_have_the_values_that_are_asked_for():
    gemm, spec = operator("gemm"), named_device("h200")
    problem = gemm.problem_type(256, 256, 256, transpose_b=True)

    def kept(*only, exclude=()):
        return asked_for(gemm, only, exclude).seeds(problem, spec)

    every = gemm.seeds(problem, spec)
    assert kept() == every
    assert kept("stages=4,3") == [one for one in every if one.stages in (3, 4)] != every
    assert kept("BM=64", "kernel=mma_sync") == [one for one in every if (one.block_m, one.kernel) == (64, "mma_sync")]
    assert kept(exclude=["kernel=wgmma"]) == [one for one in every if one.kernel == "mma_sync"]
    assert kept(exclude=["stages"]) == [one for one in every if one.stages == type(one)().stages] != every
    for word, said in (
        ("stage=2", "'stage' is no field of gemm; did you mean stages"),
        ("stages=x", "stages=x: expected a whole number"),
        ("kernel=wmma", "kernel=wmma: expected one of wgmma, mma_sync"),
        ("stages", "'stages': expected FIELD=VALUE"),
    ):
        with pytest.raises(ValueError, match=said):
            kept(word)
