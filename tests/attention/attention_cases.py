"""attention's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.attention.attention.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention.problem import DTYPES, AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.attention.attention import OPERATOR
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device

LIMITS = named_device("h200")
# The emulator multiplies every pair of elements: larger problems take long and add nothing.
_OPERATIONS = 1 << 21

BFLOAT16, FLOAT16 = DTYPES
Case = tuple[AttentionProblem, Schedule]

PROBLEMS = {
    "q8192-k8192-h16-b2-d128-bfloat16-causal": AttentionProblem(8192, 8192, 16, 2, head_dim=128, causal=True),
    "q2048-k16384-h32-g8-d128-bfloat16-causal-lse": AttentionProblem(
        2048, 16384, 32, 1, 8, head_dim=128, causal=True, lse=True
    ),
    "q8192-k8192-h64-g8-left128-d64-bfloat16-causal-sinks": AttentionProblem(
        8192, 8192, 64, 1, 8, 128, head_dim=64, causal=True, sinks=True
    ),
    "q729-k729-h16-b8-d72-float16": AttentionProblem(729, 729, 16, 8, head_dim=72, dtype=FLOAT16),
    "q4096-k4096-h16-d192-e128-bfloat16-causal": AttentionProblem(
        4096, 4096, 16, head_dim=192, value_dim=128, causal=True
    ),
    "q300-k33-h3-b2-left9-right4-d7-float16-topleft-softcap-alignq4-skt30": AttentionProblem(
        300,
        33,
        3,
        2,
        window_left=9,
        window_right=4,
        head_dim=7,
        dtype=FLOAT16,
        top_left=True,
        softcap=True,
        stride_k_t=30,
        align_q=4,
    ),
    "q1-k1-h1-d1-bfloat16": AttentionProblem(1, 1, 1, head_dim=1),
    "q5-k0-h2-d64-bfloat16-lse": AttentionProblem(5, 0, 2, head_dim=64, lse=True),
    "q0-k9-h2-d64-bfloat16": AttentionProblem(0, 9, 2, head_dim=64),
}
_GAPS = {"stride_q_h": 24, "stride_k_g": 40, "stride_v_t": 96, "stride_o_h": 24}
SMALL_PROBLEMS = (
    AttentionProblem(16, 64, 1, head_dim=32, causal=True),
    AttentionProblem(19, 37, 2, 1, 1, head_dim=16, value_dim=24, lse=True, sinks=True, dtype=FLOAT16),
    AttentionProblem(9, 21, 1, head_dim=5, window_left=3, window_right=2, lse=True, softcap=True),
    AttentionProblem(13, 35, 4, 2, 2, head_dim=16, causal=True, window_left=7, **_GAPS),
)
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"causal": True, "window_left": 20, "lse": True},
    {"window_left": 9, "window_right": 40, "sinks": True, "top_left": True},
    {"softcap": True, "lse": True, "sinks": True, "causal": True},
)
DIMS = ((64, 0), (40, 0), (72, 0), (128, 64), (24, 8), (7, 0), (96, 32))


def drawn_cases(count: int, spec: DeviceSpec = LIMITS) -> list[Case]:
    """`count` cases that are legal on a device, kinds of problems in turn; always the same ones."""
    random = Random(5)
    return [_case(random, spec, index) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, index: int) -> Case:
    head_dim, value_dim = DIMS[index % len(DIMS)]
    kinds = KINDS[index % len(KINDS)] | {"dtype": DTYPES[index % 3 // 2]}
    like = AttentionProblem(256, 256, 4, 2, 2, head_dim=head_dim, value_dim=value_dim, **kinds)
    space = OPERATOR.space(like, spec)
    for draw in islice(space.random_draws(random.randrange(2**32)), 1000):
        schedule = space.build(draw)
        problem = _problem(random, like)
        few = sum(problem.work.operations.values()) <= _OPERATIONS
        if few and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, like: AttentionProblem) -> AttentionProblem:
    """A few heads, more keys or more queries than there are of the others, with gaps or without."""
    heads, heads_kv = random.choice(((1, 0), (2, 1), (3, 1), (4, 2), (2, 0)))
    problem = replace(
        like,
        queries=random.choice((1, 16, 65, 100, 130)),
        keys=random.choice((1, 17, 64, 129, 200)),
        heads=heads,
        heads_kv=heads_kv,
        batch=random.choice((1, 2)),
        **{field: 0 for stated in like.layouts.values() for field in stated.fields},
    )
    for stated in problem.layouts.values():
        apart = 8 * random.choice((0, 0, 1))
        problem = replace(problem, **stated.spread(len(stated.fields) - 1, stated.shape[-1] + apart))
    return problem


_LAST_KEY_UNSEEN = AttentionProblem(64, 31, 1, head_dim=64), WgmmaSchedule(consumers=1, tile_keys=32)
# More tiles than stages, so that sums are rescaled and stages filled again; blocks that take tile after tile, the last
# one without a key; tiles that are narrower than a window, of padded heads.
_MANY_TILES = (
    (
        AttentionProblem(64, 190, 1, head_dim=64, causal=True, window_left=40),
        WgmmaSchedule(consumers=1, tile_keys=32, stages=1),
    ),
    (
        AttentionProblem(130, 66, 2, head_dim=16, causal=True, lse=True),
        WgmmaSchedule(consumers=1, tile_keys=32, stages=2, grid_blocks=2, tickets=True, rescale_late=True),
    ),
    (
        AttentionProblem(40, 100, 1, head_dim=24, causal=True, window_left=20, lse=True),
        MmaSyncSchedule(64, tile_keys=16, stages=2),
    ),
)
CASES = [*covering(drawn_cases(200), most=12), _LAST_KEY_UNSEEN, *_MANY_TILES]
