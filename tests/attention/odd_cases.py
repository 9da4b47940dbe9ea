"""Random legal schedules of attention and of its gradients, each with an odd problem that fits it."""

from dataclasses import replace
from itertools import islice
from random import Random

from autotune.codegen.attention.problem import DTYPES

DIMS = ((64, 0), (40, 0), (72, 0), (128, 64), (24, 8), (7, 0), (96, 32))


def odd_cases(operator, kinds, operations, count, spec):
    """`count` cases that are legal on a device, kinds of problems in turn; always the same ones.

    Args:
        operator: whose cases.
        kinds: fields of problems.
        operations: of a problem at most: the emulator multiplies every pair of elements, and larger ones add nothing.
        count: of cases.
        spec: the device.
    """
    random = Random(5)
    return [_case(random, operator, kinds, operations, spec, index) for index in range(count)]


def _case(random, operator, kinds, operations, spec, index):
    head_dim, value_dim = DIMS[index % len(DIMS)]
    fields = kinds[index % len(kinds)] | {"dtype": DTYPES[index % 3 // 2]}
    like = operator.problem_type(256, 256, 4, 2, 2, head_dim=head_dim, value_dim=value_dim, **fields)
    space = operator.space(like, spec)
    for draw in islice(space.random_draws(random.randrange(2**32)), 1000):
        schedule = space.build(draw)
        problem = _problem(random, like)
        few = sum(problem.work.operations.values()) <= operations
        if few and not operator.violations(problem, schedule, spec):
            return problem, schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random, like):
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
