"""transpose's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from itertools import islice
from random import Random

from pair_coverage import covering

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.integers import round_up
from autotune.search_spaces.layout.transpose import OPERATOR, space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
# The emulator walks through every element: larger tiles take long and add nothing.
_TILE_ELEMENTS = 32768

Case = tuple[TransposeProblem, TransposeSchedule]

PROBLEMS = {
    **{f"m1024-n4096-e{size}": TransposeProblem(1024, 4096, size) for size in ELEMENT_BYTES},
    "m1023-n1025-e1-aligna1": TransposeProblem(1023, 1025, 1, align_a=1),
    "m1023-n1025-e2-aligna2": TransposeProblem(1023, 1025, 2, align_a=2),
    "m1023-n1025-e4-aligna4": TransposeProblem(1023, 1025, 4, align_a=4),
    "m1023-n1025-e8-aligna8": TransposeProblem(1023, 1025, 8, align_a=8),
    "m1023-n1025-e16": TransposeProblem(1023, 1025, 16),
    "m16384-n32768-e4": TransposeProblem(16384, 32768),
    "m3-n1000000000-e1": TransposeProblem(3, 10**9, 1),
    "m1-n70-e4-lda2147483648": TransposeProblem(1, 70, lda=2**31),
    "m1-n300-e4": TransposeProblem(1, 300),
    "m300-n1-e4": TransposeProblem(300, 1),
    "m1-n1-e4": TransposeProblem(1, 1),
    "m0-n5-e4": TransposeProblem(0, 5),
    "m5-n0-e4": TransposeProblem(5, 0),
    "m5-n7-e4-batch0": TransposeProblem(5, 7, batch=0),
}
SMALL_PROBLEMS = (
    TransposeProblem(128, 256),
    *(TransposeProblem(67, 131, size, batch=2) for size in ELEMENT_BYTES),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, element sizes in turn; always the same ones."""
    random = Random(0)
    return [_case(random, spec, ELEMENT_BYTES[index % len(ELEMENT_BYTES)]) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, size: int) -> Case:
    aligned = [bytes_ for bytes_ in ELEMENT_BYTES if bytes_ >= size]
    align_a, align_b = random.choice(aligned), random.choice(aligned)
    schedule = _schedule(random, spec, TransposeProblem(16, 16, size, align_a=align_a, align_b=align_b))
    problem = _problem(random, schedule, size, align_a, align_b)
    assert not OPERATOR.violations(problem, schedule, spec)
    return problem, schedule


def _schedule(random: Random, spec: DeviceSpec, problem: TransposeProblem) -> TransposeSchedule:
    drawn = space(problem, spec)
    for draw in islice(drawn.random_draws(random.randrange(2**32)), 1000):
        schedule = drawn.build(draw)
        if schedule.tile_m * schedule.tile_n <= _TILE_ELEMENTS and not OPERATOR.violations(problem, schedule, spec):
            return schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: TransposeSchedule, size: int, align_a: int, align_b: int) -> TransposeProblem:
    m, n = _extent(random, schedule.tile_m), _extent(random, schedule.tile_n)
    # Aligned accesses take rows that begin anywhere.
    load = 1 if schedule.align_loads else schedule.vector_load
    store = 1 if schedule.align_stores else schedule.vector_store
    lda, ldb = _leading(random, n, load), _leading(random, m, store)
    batch = random.choice((1, 1, 2, 3))
    gap_a, gap_b = (random.choice((0, 16)) for _ in range(2))
    stride_b = n * ldb + gap_b
    if random.random() < 0.25:  # row by row of all matrices
        stride_b = round_up(max(1, m), store)
        ldb = batch * stride_b
    return TransposeProblem(m, n, size, batch, lda, m * lda + gap_a, align_a, ldb, stride_b, align_b)


def _extent(random: Random, tile: int) -> int:
    """Nothing, one, primes, whole tiles, and one more or less."""
    return random.choice((0, 1, 31, 97, tile, tile, 2 * tile, 2 * tile, 2 * tile, tile - 1, tile + 1, 2 * tile + 3))


def _leading(random: Random, row: int, vector: int) -> int:
    return round_up(max(1, row), vector) + vector * random.choice((0, 0, 1, 5))


CASES = covering(drawn_cases(320))
