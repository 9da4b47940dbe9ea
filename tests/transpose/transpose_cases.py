"""Random legal schedules, each with an odd problem that fits it; the same ones in every run."""

from __future__ import annotations

from itertools import islice
from random import Random

from autotune.codegen.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.transpose.schedule import TransposeSchedule
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.transpose import space, violations

LIMITS = named_device("h200")
# The emulator walks through every element: larger tiles take long and add nothing.
_TILE_ELEMENTS = 32768

Case = tuple[TransposeProblem, TransposeSchedule]


def drawn_cases(count: int, seed: int = 0) -> list[Case]:
    """`count` legal cases, element sizes in turn."""
    random = Random(seed)
    return [_case(random, ELEMENT_BYTES[index % len(ELEMENT_BYTES)]) for index in range(count)]


def _case(random: Random, size: int) -> Case:
    aligned = [bytes_ for bytes_ in ELEMENT_BYTES if bytes_ >= size]
    align_a, align_b = random.choice(aligned), random.choice(aligned)
    schedule = _schedule(random, TransposeProblem(16, 16, size, align_a=align_a, align_b=align_b))
    problem = _problem(random, schedule, size, align_a, align_b)
    assert not violations(problem, schedule, LIMITS)
    return problem, schedule


def _schedule(random: Random, problem: TransposeProblem) -> TransposeSchedule:
    drawn = space(problem, LIMITS)
    for draw in islice(drawn.random_draws(random.randrange(2**32)), 1000):
        schedule = drawn.build(draw)
        if schedule.tile_m * schedule.tile_n <= _TILE_ELEMENTS and not violations(problem, schedule, LIMITS):
            return schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: TransposeSchedule, size: int, align_a: int, align_b: int) -> TransposeProblem:
    m, n = _extent(random, schedule.tile_m), _extent(random, schedule.tile_n)
    lda, ldb = _leading(random, n, schedule.vector_load), _leading(random, m, schedule.vector_store)
    batch = random.choice((1, 1, 2, 3))
    gap_a, gap_b = (random.choice((0, 16)) for _ in range(2))
    stride_b = n * ldb + gap_b
    if random.random() < 0.25:  # row by row of all matrices
        stride_b = _up(m, schedule.vector_store)
        ldb = batch * stride_b
    return TransposeProblem(m, n, size, batch, lda, ldb, m * lda + gap_a, stride_b, align_a, align_b)


def _extent(random: Random, tile: int) -> int:
    """Nothing, one, primes, whole tiles, and one more or less."""
    return random.choice((0, 1, 31, 97, tile, tile, 2 * tile, 2 * tile, 2 * tile, tile - 1, tile + 1, 2 * tile + 3))


def _leading(random: Random, row: int, vector: int) -> int:
    return _up(row, vector) + vector * random.choice((0, 0, 1, 5))


def _up(value: int, unit: int) -> int:
    return -(-max(1, value) // unit) * unit
