"""Spaces: restricted, sampled, of several kernels, and how large they are."""

from collections import Counter
from dataclasses import dataclass
from itertools import count, islice
from types import SimpleNamespace

import pytest

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.asked import asked_for
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import restrict_schedules, restrict_values, sample
from autotune.search_spaces.contract.sizes import space_size
from autotune.search_spaces.contract.space import Parameter, Space, field_parameters
from autotune.search_spaces.contract.union_space import union_of
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
    with pytest.raises(ValueError, match="'kernel' is no field of decode; autotune show lists them"):
        asked_for(operator("decode"), ["kernel=1"], [])


H200 = named_device("h200")


@dataclass(frozen=True)
class Tile(Schedule):
    rows: int = 1
    columns: int = 1


def tiles(side, largest_area):
    """An operator whose tiles have sides of 1 … `side`; areas over `largest_area` are not legal."""

    def build(draw):
        return Tile(int(draw["rows"]), int(draw["columns"]))

    def violations(problem, tile, spec):
        return [] if tile.rows * tile.columns <= largest_area else [f"{tile.rows} × {tile.columns} is too large"]

    sides = tuple(range(1, side + 1))
    space = Space((Parameter("rows", sides), Parameter("columns", sides)), build)
    return SimpleNamespace(space=lambda problem, spec: space, violations=violations)


def legal_tiles(side, largest_area):
    return sum(a * b <= largest_area for a in range(1, side + 1) for b in range(1, side + 1))


def test_a_small_space_is_counted():
    size = space_size(tiles(8, 20), None, H200, draws=64)
    assert (size.raw, size.legal, size.standard_error) == (64, legal_tiles(8, 20), 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_large_space_is_estimated_within_its_error(seed):
    size = space_size(tiles(200, 10_000), None, H200, draws=1000, seed=seed)
    assert size.raw == 40_000
    assert 0 < size.standard_error < 0.02 * size.raw
    assert abs(size.legal - legal_tiles(200, 10_000)) < 4 * size.standard_error


def test_an_estimate_is_reproducible():
    first, again, other = (space_size(tiles(100, 5000), None, H200, draws=500, seed=seed) for seed in (7, 7, 8))
    assert first == again != other


def test_a_sample_without_a_legal_draw_does_not_claim_certainty():
    size = space_size(tiles(100, 0), None, H200, draws=500)
    assert size.legal == 0
    assert size.standard_error > 0


@dataclass(frozen=True)
class Narrow(Schedule):
    kernel = "narrow"

    threads: int = tunable(64, values=(64, 128))
    width: int = tunable(1, values=(1, 2))


@dataclass(frozen=True)
class Wide(Schedule):
    kernel = "wide"

    threads: int = tunable(64, values=(64, 128))
    width: int = tunable(4, values=(4, 8))
    stages: int = tunable(2, values=(2, 3, 4))


UNION = union_of({kind.kernel: Space(field_parameters(kind), kind.from_dict) for kind in (Narrow, Wide)})


def test_equal_parameters_are_shared_and_others_told_apart():
    names = ["kernel", "threads", "narrow.width", "wide.width", "stages"]
    assert [parameter.name for parameter in UNION.parameters] == names
    assert UNION.size == 4 + 12 == len({UNION.build(draw) for draw in UNION.all_draws()})


def test_a_draw_counts_for_its_kernel_alone():
    draw = {"kernel": "narrow", "threads": 128, "narrow.width": 2, "wide.width": 8, "stages": 4}
    assert UNION.build(draw) == Narrow(128, 2)
    assert UNION.build(UNION.draw_of(Narrow(128, 2))) == Narrow(128, 2)
    drawn = Counter(UNION.build(draw).kernel for draw in islice(UNION.random_draws(0), 100))
    assert drawn["narrow"] > 30 < drawn["wide"]


def test_values_are_kept_by_their_names_here():
    kept = UNION.keeping({"threads": (128,), "wide.width": (8,), "stages": (2, 3)})
    assert {UNION.build(draw) for draw in kept.all_draws()} >= {Narrow(128, 1), Narrow(128, 2)}
    assert kept.size == 2 + 2 and Wide(128, 8, 3) in kept and Wide(128, 4, 3) not in kept
    assert Narrow() not in UNION.keeping({"kernel": ("wide",)})
    with pytest.raises(ValueError, match="not in the search space"):
        kept.draw_of(Wide(64, 8, 3))
