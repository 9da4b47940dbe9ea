"""sgemm's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.sgemm import OPERATOR, space

SPEC = named_device("h200")
# The emulator walks through every multiplication: more of them take long and add nothing.
_BLOCK_WORDS, _BLOCK_THREADS, _MOST_WORK = 32768, 512, 3 << 20

Case = tuple[SgemmProblem, SgemmSchedule]

PROBLEMS = {
    "m4096-n4096-k4096-nn": SgemmProblem(4096, 4096, 4096),
    "m1023-n1025-k1021-tn-alignb4": SgemmProblem(1023, 1025, 1021, transpose_a=True, align_b=4),
    "m1000-n1000-k1000-nt-lda1002-alignc8-beta": SgemmProblem(
        1000, 1000, 1000, transpose_b=True, lda=1002, align_c=8, beta_nonzero=True
    ),
    "m64-n64-k8192-nn": SgemmProblem(64, 64, 8192),
    "m16-n262144-k16-nn-batch3-sb4194304": SgemmProblem(16, 2**18, 16, batch=3, stride_b=2**22),
    "m3-n1000000000-k1-nn": SgemmProblem(3, 10**9, 1),
    "m1-n70-k1-nn-lda1073741824-ldb1073741824-ldc1073741824": SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30),
    "m1-n1-k1-nn": SgemmProblem(1, 1, 1),
    "m1-n300-k40-tt": SgemmProblem(1, 300, 40, transpose_a=True, transpose_b=True),
    "m300-n1-k40-nt-ldc3": SgemmProblem(300, 1, 40, transpose_b=True, ldc=3),
    "m5-n7-k0-nn-beta": SgemmProblem(5, 7, 0, beta_nonzero=True),
    "m0-n5-k7-nn": SgemmProblem(0, 5, 7),
    "m5-n7-k3-nn-batch0": SgemmProblem(5, 7, 3, batch=0),
}
SMALL_PROBLEMS = (
    SgemmProblem(128, 256, 64),
    SgemmProblem(67, 131, 45, transpose_a=True, transpose_b=True, batch=2, beta_nonzero=True),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases, legal on a device and not too much work, the four layouts in turn; always the same ones."""
    random = Random(0)
    cases: list[Case] = []
    while len(cases) < count:
        case = _case(random, spec, bool(len(cases) & 1), bool(len(cases) & 2))
        if _work(*case) <= _MOST_WORK:
            cases.append(case)
    return cases


def _work(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    """Multiplications of all blocks, those beyond the edges too."""
    blocks = ceil_div(problem.m, schedule.block_m) * ceil_div(problem.n, schedule.block_n) * problem.batch
    return blocks * schedule.block_m * schedule.block_n * problem.k


def template(transpose_a: bool, transpose_b: bool, align: int = 16) -> SgemmProblem:
    """A problem whose space has every value: small along m and n and long along k, so that blocks share tiles."""
    aligns = {f"align_{operand}": align for operand in "abc"}
    return replace(SgemmProblem(64, 64, 8192, transpose_a, transpose_b), **aligns)  # type: ignore[arg-type]


def _case(random: Random, spec: DeviceSpec, transpose_a: bool, transpose_b: bool) -> Case:
    schedule = _schedule(random, spec, template(transpose_a, transpose_b, random.choice((4, 8, 16, 16, 16))))
    problem = _problem(random, schedule, transpose_a, transpose_b)
    assert not OPERATOR.violations(problem, schedule, spec)
    return problem, schedule


def _schedule(random: Random, spec: DeviceSpec, problem: SgemmProblem) -> SgemmSchedule:
    drawn = space(problem, spec)
    for draw in islice(drawn.random_draws(random.randrange(2**32)), 1000):
        schedule = drawn.build(draw)
        small = schedule.block_m * schedule.block_n <= _BLOCK_WORDS and schedule.threads <= _BLOCK_THREADS
        if small and not OPERATOR.violations(problem, schedule, spec):
            most_blocks = random.choice((1, 2, 3, 5, 18)) * schedule.cluster_k
            return replace(schedule, grid_blocks=min(schedule.grid_blocks, most_blocks))
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: SgemmSchedule, transpose_a: bool, transpose_b: bool) -> SgemmProblem:
    m, n = _extent(random, schedule.block_m), _extent(random, schedule.block_n)
    k = _depth(random, schedule)
    fields: dict[str, Any] = {"batch": random.choice((1, 1, 1, 2, 3)), "beta_nonzero": random.random() < 0.5}
    stored = {"a": (k, m) if transpose_a else (m, k), "b": (n, k) if transpose_b else (k, n), "c": (m, n)}
    for operand, (rows, columns) in stored.items():
        vector: int = getattr(schedule, f"vector_{operand}")
        leading = round_up(max(1, columns), vector) + vector * random.choice((0, 0, 1, 5))
        fields[f"ld{operand}"] = leading
        fields[f"align_{operand}"] = random.choice([align for align in (4, 8, 16) if align >= 4 * vector])
        fields[f"stride_{operand}"] = max(1, rows) * leading + vector * random.choice((0, 3))
    if fields["batch"] > 1 and random.random() < 0.3:
        fields[random.choice(("stride_a", "stride_b"))] = 0
    if random.random() < 0.2:  # row by row of all matrices
        fields["stride_c"] = round_up(max(1, n), schedule.vector_c)
        fields["ldc"] = fields["batch"] * fields["stride_c"]
    return SgemmProblem(m, n, k, transpose_a, transpose_b, **fields)


def _extent(random: Random, block: int) -> int:
    """Rarely nothing; one, primes, whole blocks, and one more or less."""
    if random.random() < 0.01:
        return 0
    return random.choice((1, 17, 67, block, block, block, 2 * block, block - 1, block + 1))


def _depth(random: Random, schedule: SgemmSchedule) -> int:
    """No tile along k, few tiles, more tiles than stages, with tails; one for each slice at least."""
    least = (schedule.grid_clusters - 1) * schedule.block_k if schedule.grid_clusters else 0
    tiles = schedule.block_k * random.choice((1, 2, schedule.stages, schedule.stages + 2))
    if schedule.grid_blocks == 0 and random.random() < 0.2:
        return 0
    return least + max(1, tiles + random.choice((0, 0, 0, 1, -1, 3)))


def _whole(problem: SgemmProblem, schedule: SgemmSchedule) -> tuple[bool, ...]:
    """Along which sides tiles are whole."""
    tiles = ((problem.m, schedule.block_m), (problem.n, schedule.block_n), (problem.k, schedule.block_k))
    return tuple(extent % block == 0 for extent, block in tiles)


CASES = covering(drawn_cases(320), _whole)
