"""rope's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from dataclasses import replace
from itertools import islice
from random import Random

from autotune.codegen.model.integers import round_up
from autotune.codegen.streaming.rope.problem import DTYPES, Angles, Positions, RopeProblem
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.streaming.rope import OPERATOR

SPEC = named_device("h200")
# The emulator walks through every element: larger problems take long and add nothing.
_ELEMENTS = 1 << 13
FLOAT32, BFLOAT16, FLOAT16 = DTYPES
TABLE = Angles.TABLE
OFFSET, INT32, INT64 = Positions
WITH_TABLE = {"angles": TABLE, "table_rows": 50}
KINDS = (
    {},
    {"interleaved": True, **WITH_TABLE, "positions": INT32},
    {"conj": True, "positions": INT64},
    {**WITH_TABLE, "positions": INT64, "conj": True},
    {"interleaved": True, "positions": INT32},
)

PROBLEMS = {
    "batch4096-q32-k8-d128-bfloat16-computed-offset": RopeProblem(4096, 32, 8, 128, dtype=BFLOAT16),
    "batch32768-q64-k8-d128-table131072-float16-table-int64": RopeProblem(
        32768, 64, 8, 128, table_rows=131072, dtype=FLOAT16, angles=TABLE, positions=INT64
    ),
    "batch524289-q64-k0-d64-rotary32-sequence4096-float32-interleaved-conj-computed-int32": RopeProblem(
        2**19 + 1, 64, 0, 64, 32, 4096, dtype=FLOAT32, interleaved=True, conj=True, positions=INT32
    ),
    "batch300-q3-k1-d10-bfloat16-computed-offset-ldq16-alignq4-sk32": RopeProblem(
        300, 3, 1, 10, dtype=BFLOAT16, ldq=16, align_q=4, stride_k=32
    ),
    "batch1-q1-k1-d2-float32-interleaved-computed-offset": RopeProblem(1, 1, 1, 2, dtype=FLOAT32, interleaved=True),
    "batch0-q4-k2-d64-float32-computed-offset": RopeProblem(0, 4, 2, 64),
    "batch5-q0-k0-d1-float32-computed-offset": RopeProblem(5, 0, 0, 1),
}
SMALL_PROBLEMS = (
    RopeProblem(3, 4, 2, 64, dtype=BFLOAT16),
    RopeProblem(5, 3, 1, 32, 16, dtype=FLOAT32, interleaved=True, **WITH_TABLE, positions=INT32),
    RopeProblem(6, 2, 1, 9, sequence=3, dtype=FLOAT16, conj=True),
    RopeProblem(4, 3, 2, 16, 8, dtype=FLOAT16, positions=INT64, ldq=24, stride_q=128, ldr=16, stride_s=40, align_k=4),
)


def drawn_cases(count, spec=SPEC):
    """`count` cases that are legal on a device, kinds of problems in turn; always the same ones."""
    random = Random(11)
    return [_case(random, spec, index) for index in range(count)]


def _case(random, spec, index):
    dtype = DTYPES[(index + index // 3) % 3]
    like = RopeProblem(256, 8, 4, 64, rotary_dim=32 * (index % 2), dtype=dtype, **KINDS[index % len(KINDS)])
    space = OPERATOR.space(like, spec)
    for draw in islice(space.random_draws(random.randrange(2**32)), 1000):
        schedule = space.build(draw)
        problem = _problem(random, schedule, like)
        elements = problem.batch * problem.heads * problem.head_dim
        if elements <= _ELEMENTS and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random, schedule, like):
    """A few tokens whose heads are rotated in whole or in part, with gaps or without."""
    width = schedule.vector_width
    head_dim = random.choice((2 * width, 6 * width, 8 * width, 32))
    rotary_dim = random.choice((0, 2 * width))
    heads_q = random.choice((2, 3, 8))
    leading = [round_up(head_dim, width) + width * random.choice((0, 0, 1)) for _ in range(4)]
    places = dict(zip(("ldq", "ldk", "ldr", "lds"), leading, strict=True))
    return replace(
        like,
        batch=random.choice((1, 4, 7)),
        heads_q=heads_q,
        heads_k=random.choice((1, 2, 3)),
        head_dim=head_dim,
        rotary_dim=rotary_dim,
        sequence=random.choice((0, 3)),
        **places,
        **{f"stride_{operand}": 0 for operand in "qkrs"},
    )


CASES = drawn_cases(20)
