"""Random legal schedules, each with an odd problem that fits it; the same ones in every run."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from autotune.codegen.sgemm.problem import SgemmProblem
from autotune.codegen.sgemm.schedule import SgemmSchedule
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.sgemm import space, violations

LIMITS = named_device("h200")
# The emulator walks through every multiplication: more of them take long and add nothing.
_BLOCK_WORDS, _BLOCK_THREADS, _MOST_WORK = 32768, 512, 3 << 20

Case = tuple[SgemmProblem, SgemmSchedule]


def drawn_cases(count: int, seed: int = 0) -> list[Case]:
    """`count` legal cases that are not too much work, the four layouts in turn."""
    random = Random(seed)
    cases: list[Case] = []
    while len(cases) < count:
        case = _case(random, bool(len(cases) & 1), bool(len(cases) & 2))
        if _work(*case) <= _MOST_WORK:
            cases.append(case)
    return cases


def _work(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    """Multiplications of all blocks, those beyond the edges too."""
    blocks = -(-problem.m // schedule.block_m) * -(-problem.n // schedule.block_n) * problem.batch
    return blocks * schedule.block_m * schedule.block_n * problem.k


def template(transpose_a: bool, transpose_b: bool, align: int = 16) -> SgemmProblem:
    """A problem whose space has every value: small along m and n and long along k, for the sake of split_k."""
    aligns = {f"align_{operand}": align for operand in "abc"}
    return replace(SgemmProblem(64, 64, 8192, transpose_a, transpose_b), **aligns)  # type: ignore[arg-type]


def _case(random: Random, transpose_a: bool, transpose_b: bool) -> Case:
    schedule = _schedule(random, template(transpose_a, transpose_b, random.choice((4, 8, 16, 16, 16))))
    problem = _problem(random, schedule, transpose_a, transpose_b)
    assert not violations(problem, schedule, LIMITS)
    return problem, schedule


def _schedule(random: Random, problem: SgemmProblem) -> SgemmSchedule:
    drawn = space(problem, LIMITS)
    for draw in islice(drawn.random_draws(random.randrange(2**32)), 1000):
        schedule = drawn.build(draw)
        small = schedule.block_m * schedule.block_n <= _BLOCK_WORDS and schedule.threads <= _BLOCK_THREADS
        if small and not violations(problem, schedule, LIMITS):
            return schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: SgemmSchedule, transpose_a: bool, transpose_b: bool) -> SgemmProblem:
    m, n = _extent(random, schedule.block_m), _extent(random, schedule.block_n)
    k = _depth(random, schedule)
    fields: dict[str, Any] = {"batch": random.choice((1, 1, 1, 2, 3)), "read_c": random.random() < 0.5}
    stored = {"a": (k, m) if transpose_a else (m, k), "b": (n, k) if transpose_b else (k, n), "c": (m, n)}
    for operand, (rows, columns) in stored.items():
        vector: int = getattr(schedule, f"vector_{operand}")
        leading = _up(columns, vector) + vector * random.choice((0, 0, 1, 5))
        fields[f"ld{operand}"] = leading
        fields[f"align_{operand}"] = random.choice([align for align in (4, 8, 16) if align >= 4 * vector])
        fields[f"stride_{operand}"] = _up(rows, 1) * leading + vector * random.choice((0, 3))
    if fields["batch"] > 1 and random.random() < 0.3:
        fields[random.choice(("stride_a", "stride_b"))] = 0
    return SgemmProblem(m, n, k, transpose_a, transpose_b, **fields)


def _extent(random: Random, block: int) -> int:
    """Rarely nothing; one, primes, whole blocks, and one more or less."""
    if random.random() < 0.01:
        return 0
    return random.choice((1, 17, 67, block, block, block, 2 * block, block - 1, block + 1))


def _depth(random: Random, schedule: SgemmSchedule) -> int:
    """No tile along k, few tiles, more tiles than stages, with tails; one for each slice at least."""
    least = (schedule.split_k - 1) * schedule.block_k
    tiles = schedule.block_k * random.choice((1, 2, schedule.stages, schedule.stages + 2))
    if schedule.split_k == 1 and random.random() < 0.2:
        return 0
    return least + max(1, tiles + random.choice((0, 0, 0, 1, -1, 3)))


def _up(value: int, unit: int) -> int:
    return -(-max(1, value) // unit) * unit
