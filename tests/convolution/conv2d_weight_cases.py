"""conv2d_weight's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from itertools import islice
from random import Random

from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.convolution.conv2d_weight.wgmma_im2col.schedule import WgmmaWeightSchedule
from autotune.codegen.model.dtype import DType
from autotune.contract.pair_coverage import covering
from autotune.search_spaces.convolution.conv2d_weight import OPERATOR
from autotune.search_spaces.convolution.conv2d_weight.checks import box, vectors
from autotune.search_spaces.convolution.small_grid import on_small_grid
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
FP16, BF16, FP32 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32
# The emulator walks through every product, and keeps a stack for every thread.
_PRODUCTS, _THREADS, _OF_WGMMA = 2**18, 2**10, 4
_DRAWN, _MOST = 160, 20

PROBLEMS = {
    "c64-k64-h56-w56-n32-r3s3-ph1-pw1-float32": Conv2dWeightProblem(64, 64, 56, 56, 32, padding_h=1, padding_w=1),
    "c256-k256-h14-w14-n32-r3s3-ph1-pw1-bfloat16": Conv2dWeightProblem(
        256, 256, 14, 14, 32, padding_h=1, padding_w=1, dtype=BF16
    ),
    "c3-k64-h224-w224-n256-r7s7-sh2-sw2-ph3-pw3-float16": Conv2dWeightProblem(
        3, 64, 224, 224, 256, 7, 7, 2, 2, 3, 3, dtype=FP16
    ),
    "c512-k1024-h28-w28-n32-r1s1-sh2-sw2-float32-tf32": Conv2dWeightProblem(
        512, 1024, 28, 28, 32, 1, 1, 2, 2, tf32=True
    ),
    "c128-k128-h56-w56-n32-r3s3-ph1-pw1-g32-bfloat16": Conv2dWeightProblem(
        128, 128, 56, 56, 32, padding_h=1, padding_w=1, groups=32, dtype=BF16
    ),
    "c96-k96-h56-w56-n64-r7s7-ph3-pw3-g96-bfloat16": Conv2dWeightProblem(
        96, 96, 56, 56, 64, 7, 7, padding_h=3, padding_w=3, groups=96, dtype=BF16
    ),
    "c3-k5-h6-w7-n2-r5s3-sh3-sw2-ph5-pw1-dh2-float16-aligngrad2-sxn300-sxh30-sxw4-alignx2": Conv2dWeightProblem(
        3, 5, 6, 7, 2, 5, 3, 3, 2, 5, 1, 2, dtype=FP16, stride_x_n=300, stride_x_h=30, stride_x_w=4, align_x=2,
        align_grad=2,
    ),
    "c192-k384-h28-w28-n64-r3s3-ph1-pw1-g192-float16": Conv2dWeightProblem(
        192, 384, 28, 28, 64, padding_h=1, padding_w=1, groups=192, dtype=FP16
    ),
    "c256-k512-h56-w56-n32-r3s3-ph1-pw1-g32-bfloat16": Conv2dWeightProblem(
        256, 512, 56, 56, 32, padding_h=1, padding_w=1, groups=32, dtype=BF16
    ),
    "c8-k8-h5-w5-n0-r3s3-bfloat16": Conv2dWeightProblem(8, 8, 5, 5, 0, dtype=BF16),
}  # fmt: skip
SMALL_PROBLEMS = (
    Conv2dWeightProblem(16, 64, 10, 10, 1),
    # Rows that are not multiples of anything; padding as large as the filter, gaps, groups.
    Conv2dWeightProblem(
        6, 10, 6, 7, 2, 3, 3, 2, 1, 3, 4, 1, 2, groups=2, stride_x_w=8, stride_x_h=57, align_x=4, align_grad=4
    ),
    Conv2dWeightProblem(16, 24, 5, 7, 2, padding_h=1, padding_w=1, groups=2, dtype=BF16),
    Conv2dWeightProblem(3, 5, 6, 7, 2, 5, 3, padding_h=2, dtype=FP16),
    Conv2dWeightProblem(8, 20, 4, 5, 2, 1, 1, tf32=True),
    Conv2dWeightProblem(12, 12, 6, 7, 2, 3, 2, padding_h=1, padding_w=3, groups=12, dtype=FP16),
    Conv2dWeightProblem(9, 6, 6, 7, 2, 3, 2, padding_h=1, padding_w=3, groups=3),
)
_KINDS = ({}, {"dtype": FP16}, {"dtype": BF16}, {"tf32": True})


def drawn_cases(count, spec=SPEC):
    """`count` cases that are legal on a device; always the same ones."""
    random = Random(391)
    return [_case(random, spec, index) for index in range(count)]


def _case(random, spec, index):
    if index % 8 == 3:
        return _of_channels(random, spec, _KINDS[index // 8 % 3])
    if index % 8 == 2:
        return _of_groups(random, spec, "grouped", _KINDS[index // 8 % 3])
    if index % 8 == 4:
        return _of_groups(random, spec, "grouped_mma", _KINDS[1 + index // 8 % 2])
    wgmma = spec.arch == SPEC.arch and index % 4 == 1
    kinds = _KINDS[1 + index // 4 % 2] if wgmma else _KINDS[index % 3 if index % 8 < 6 else 3]
    kernel = OPERATOR.kernel("wgmma_im2col") if wgmma else OPERATOR
    while True:
        align = 16 if wgmma else random.choice((4, 8, 16))
        template = Conv2dWeightProblem(
            64, 64, 28, 28, 8, padding_h=random.choice((0, 1)), align_x=align, align_grad=align, **kinds
        )
        drawn = kernel.space(template, spec)
        for draw in islice(drawn.random_draws(random.randrange(2**32)), 20):
            schedule = drawn.build(draw)
            if schedule.threads > _THREADS // 2 or schedule.block_m * schedule.block_n > 2**13:
                continue
            problem = _problem(random, template, schedule, kinds)
            schedule = on_small_grid(problem, schedule)
            products = problem.pixels * problem.out_channels * problem.terms
            scale = _OF_WGMMA if isinstance(schedule, WgmmaWeightSchedule) else 1
            small = products <= scale * _PRODUCTS and schedule.blocks(problem) * schedule.threads <= scale * _THREADS
            if small and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


def _of_channels(random, spec, kinds):
    """Channels that end within a block, and pixels that end within a tile."""
    while True:
        template = Conv2dWeightProblem(64, 64, 28, 28, 8, groups=64, **kinds)
        drawn = OPERATOR.kernel("depthwise").space(template, spec)
        schedule = drawn.build(next(drawn.random_draws(random.randrange(2**32))))
        schedule = schedule.replace(splits=min(schedule.splits, random.choice((1, 2, 3))))
        channels = schedule.vector * random.choice((1, schedule.channel_threads, schedule.channel_threads + 1))
        align = schedule.vector * template.dtype.bytes
        fields = {"in_channels": channels, "out_channels": channels, "groups": channels, "batch": 2}
        problem = _with_images(random, fields | kinds | {"align_x": align, "align_grad": align}, schedule.vector)
        products = problem.pixels * problem.out_channels * problem.terms
        small = products <= _PRODUCTS and schedule.blocks(problem) * schedule.threads <= _THREADS
        if small and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule


def _of_groups(random, spec, kernel, kinds):
    """Groups that end within a block, and pixels that end within a tile."""
    while True:
        groups = 2 ** random.randrange(5)
        filters, channels = (groups * random.choice((1, 2, 3, 4, 6, 8, 16)) for _ in range(2))
        align = random.choice((4, 8, 16))
        fields = {"in_channels": channels, "out_channels": filters, "groups": groups, "batch": 2}
        problem = _with_images(random, fields | kinds | {"align_x": align, "align_grad": align}, 2)
        if not OPERATOR.kernel(kernel).applies(problem, spec):
            continue
        drawn = OPERATOR.kernel(kernel).space(problem, spec)
        schedule = drawn.build(next(drawn.random_draws(random.randrange(2**32))))
        schedule = schedule.replace(splits=min(schedule.splits, random.choice((1, 2, 3))))
        products = problem.pixels * problem.out_channels * problem.terms
        small = products <= _PRODUCTS and schedule.blocks(problem) * schedule.block_threads(problem) <= _THREADS
        if small and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule


def _problem(random, template, schedule, kinds):
    """Less than a tile, and more, of images whose edges filters cross."""
    aligned, wgmma = vectors(template, schedule), isinstance(schedule, WgmmaWeightSchedule)
    vector, groups = aligned["x"], 1 if wgmma else random.choice((1, 1, 1, 2))
    unit = box(template, schedule) if wgmma else max(vector, aligned["d"])
    filters = random.choice((schedule.block_m, schedule.block_m // 2 + 1, aligned["grad"]))
    fields = {
        "in_channels": unit * random.choice((1, 1, 2, 3)) * groups,
        "out_channels": -(-filters // aligned["grad"]) * aligned["grad"] * groups,
        "groups": groups,
        "batch": random.choice((1, 2)),
        **{f"align_{operand}": width * template.dtype.bytes for operand, width in aligned.items()},
    }
    return _with_images(random, fields | kinds, vector)


def _with_images(random, fields, vector):
    """A problem with small images, and with gaps that vectors allow, or none."""
    for side, extent in (("h", "height"), ("w", "width")):
        fields[extent] = random.choice((1, 5, 8, 11))
        fields |= {f"kernel_{side}": random.choice((1, 2, 3)), f"stride_{side}": random.choice((1, 1, 2))}
        fields |= {f"padding_{side}": random.choice((0, 1, 3)), f"dilation_{side}": random.choice((1, 1, 2))}
    problem = Conv2dWeightProblem(**Conv2dWeightProblem.fitted(fields))
    if random.random() < 0.5:
        return problem
    column = problem.in_channels + vector
    row = column * problem.width + vector
    gaps = {"stride_x_w": column, "stride_x_h": row, "stride_x_n": row * problem.height}
    return Conv2dWeightProblem(**problem.to_dict() | gaps)


def _choice(problem, schedule):
    """Of which each has a case."""
    if schedule.kernel == "depthwise":
        return schedule.kernel, schedule.vector
    if schedule.kernel.startswith("grouped"):
        return schedule.kernel, schedule.rows_apart, problem.filters > problem.channels
    if schedule.kernel == "fma":
        return schedule.kernel, schedule.grid_blocks > 0
    return schedule.kernel, problem.dtype, problem.groups > 1


# Ways of wgmma that few drawn schedules take: pixels that blocks share, tiles in turn, blocks that share a tile, narrow
# boxes, one or several.
_PECULIAR = (
    (
        Conv2dWeightProblem(64, 72, 9, 8, 2, padding_h=1, padding_w=2, dilation_w=2, dtype=BF16),
        "BM=64 BN=64 BK=64 stages=2 consumers=1 wait_depth=1 tensor_store=1 cluster_n=2",
    ),
    (
        Conv2dWeightProblem(64, 136, 12, 12, 2, padding_h=1, padding_w=1, stride_w=2, dtype=BF16),
        "BM=64 BN=128 BK=64 stages=3 tensor_store=1 pingpong=1 wait_depth=1 grid_blocks=2 whole_tiles=1",
    ),
    (
        Conv2dWeightProblem(128, 24, 9, 16, 2, padding_h=1, padding_w=1, dtype=FP16),
        "BM=64 BN=128 BK=64 stages=2 consumers=1 cluster_k=2 tensor_store=1",
    ),
    (
        Conv2dWeightProblem(32, 40, 9, 16, 2, 2, 3, 3, 1, 1, 1, dtype=FP16),
        "BM=64 BN=32 BK=64 stages=2 consumers=1 vector_d=2",
    ),
    (
        Conv2dWeightProblem(96, 40, 7, 9, 2, padding_h=1, padding_w=1, dtype=BF16),
        "BM=64 BN=96 BK=64 stages=2 consumers=1",
    ),
)  # fmt: skip
PECULIAR = [(problem, WgmmaWeightSchedule.parse(words.split())) for problem, words in _PECULIAR]
CASES = covering(drawn_cases(_DRAWN), _choice, most=_MOST)
