"""conv2d's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from itertools import islice
from random import Random

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.conv2d.wgmma_rows.schedule import WgmmaRowsSchedule
from autotune.codegen.convolution.problem import SMALL_GROUPS, TILES
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.sgemm.schedule import FfmaOrder, LaneMap
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.schedule import Specialize
from autotune.contract.pair_coverage import covering
from autotune.search_spaces.convolution.conv2d import OPERATOR
from autotune.search_spaces.convolution.conv2d.checks import vectors
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm.wgmma.checks import small_grid

SPEC = named_device("h200")
FP16, BF16, FP32, INT8 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.INT8
# The emulator walks through every product, and keeps a stack for every thread.
_PRODUCTS, _THREADS, _OF_WGMMA = 2**18, 2**10, 4
_DRAWN = 190

PROBLEMS = {
    "c64-k64-h56-w56-n32-r3s3-ph1-pw1-float32": Conv2dProblem(64, 64, 56, 56, 32, padding_h=1, padding_w=1),
    "c3-k64-h224-w224-n256-r7s7-sh2-sw2-ph3-pw3-bfloat16": Conv2dProblem(
        3, 64, 224, 224, 256, 7, 7, 2, 2, 3, 3, dtype=BF16
    ),
    "c512-k512-h256-w256-r3s3-ph1-pw1-float16-row-silu-residual": Conv2dProblem(
        512, 512, 256, 256, 1, padding_h=1, padding_w=1, dtype=FP16, bias=Bias.ROW, activation=Activation.SILU,
        residual=True,
    ),
    "c128-k128-h56-w56-n32-r3s3-ph1-pw1-g32-bfloat16": Conv2dProblem(
        128, 128, 56, 56, 32, padding_h=1, padding_w=1, groups=32, dtype=BF16
    ),
    "c512-k1024-h28-w28-n32-r1s1-sh2-sw2-float32-tf32": Conv2dProblem(
        512, 1024, 28, 28, 32, 1, 1, 2, 2, tf32=True
    ),
    "c1-k1-h1-w1-n1073741824-r1s1-float32": Conv2dProblem(1, 1, 1, 1, 2**30, 1, 1),
    "c12-k18-h7-w9-n2-r3s2-sh2-ph4-pw2-dw3-g3-float32-row": Conv2dProblem(
        12, 18, 7, 9, 2, 3, 2, 2, 1, 4, 2, 1, 3, groups=3, bias=Bias.ROW
    ),
    "c3-k5-h6-w7-n2-r5s3-sh3-sw2-ph5-pw1-dh2-float16-residual-ldd7-sxn300-sxh30-sxw4-alignx2": Conv2dProblem(
        3, 5, 6, 7, 2, 5, 3, 3, 2, 5, 1, 2, dtype=FP16, residual=True, stride_x_n=300, stride_x_h=30, stride_x_w=4,
        align_x=2, ldd=7,
    ),
    "c96-k96-h56-w56-n64-r7s7-ph3-pw3-g96-bfloat16": Conv2dProblem(
        96, 96, 56, 56, 64, 7, 7, padding_h=3, padding_w=3, groups=96, dtype=BF16
    ),
    "c8-k8-h5-w5-n0-r3s3-bfloat16": Conv2dProblem(8, 8, 5, 5, 0, dtype=BF16),
    "c128-k96-h28-w28-n32-r3s3-sh2-sw2-ph1-pw1-int8-bfloat16-scaled-row-relu": Conv2dProblem(
        128, 96, 28, 28, 32, 3, 3, 2, 2, 1, 1, dtype=INT8, out_dtype=OutDType.BFLOAT16, scaled=True, bias=Bias.ROW,
        activation=Activation.RELU,
    ),
    "c256-k256-h14-w14-n32-r3s3-ph1-pw1-float32-row-relu-residual-winograd2": Conv2dProblem(
        256, 256, 14, 14, 32, padding_h=1, padding_w=1, bias=Bias.ROW, activation=Activation.RELU, residual=True,
        winograd=2,
    ),
}  # fmt: skip
# Products of matrices, with and without an epilogue, and with gaps.
_RESTATED = (
    Conv2dProblem(8, 16, 3, 5, 2, 1, 1, dtype=BF16, bias=Bias.ROW, activation=Activation.RELU, residual=True),
    Conv2dProblem(8, 16, 3, 5, 2, 1, 1, dtype=FP16, stride_x_w=10, ldd=20),
    Conv2dProblem(8, 5, 3, 5, 1, 1, 1, tf32=True, bias=Bias.ROW),
    Conv2dProblem(8, 16, 3, 5, 2, 1, 1),
    Conv2dProblem(7, 5, 3, 4, 3, 3, 4),
    Conv2dProblem(8, 16, 3, 4, 3, 3, 4, dtype=BF16, stride_x_n=104),
    Conv2dProblem(8, 16, 1, 1, 9, 1, 1, ldd=17),
    Conv2dProblem(6, 16, 2, 3, 4, 2, 3, tf32=True, residual=True),
    Conv2dProblem(16, 8, 3, 5, 2, 1, 1, dtype=INT8, out_dtype=OutDType.INT32),
)
PROBLEMS |= {problem.key: problem for problem in _RESTATED}
SMALL_PROBLEMS = (
    Conv2dProblem(16, 64, 10, 10, 1),
    # Rows that are not multiples of anything; padding as large as the filter, gaps, groups.
    Conv2dProblem(
        6, 10, 6, 7, 2, 3, 3, 2, 1, 3, 4, 1, 2, groups=2, bias=Bias.ROW, activation=Activation.RELU, residual=True,
        stride_x_w=8, stride_x_h=57, align_x=4,
    ),
    Conv2dProblem(16, 24, 5, 7, 2, padding_h=1, padding_w=1, groups=2, dtype=BF16, bias=Bias.ROW, residual=True),
    Conv2dProblem(3, 5, 6, 7, 2, 5, 3, padding_h=2, dtype=FP16, activation=Activation.SILU, ldd=8),
    Conv2dProblem(8, 20, 4, 5, 2, 1, 1, tf32=True),
    Conv2dProblem(12, 12, 6, 7, 2, 3, 2, padding_h=1, padding_w=3, groups=12, dtype=FP16, bias=Bias.ROW),
    # Tiles that end outside of images, gaps, vectors of two, padding beyond a tile.
    Conv2dProblem(
        6, 10, 5, 8, 2, padding_h=3, padding_w=1, winograd=2, bias=Bias.ROW, activation=Activation.RELU,
        residual=True, stride_x_w=8, stride_x_h=66, align_x=8, ldd=12,
    ),
    Conv2dProblem(5, 7, 4, 3, 3, winograd=4),
    Conv2dProblem(
        6, 10, 6, 7, 2, 3, 3, 2, 1, 3, 4, 1, 2, groups=2, dtype=INT8, scaled=True, bias=Bias.ROW, residual=True,
    ),
    Conv2dProblem(16, 24, 5, 7, 2, 3, 2, padding_h=1, dtype=INT8, out_dtype=OutDType.INT32),
)  # fmt: skip
_MOST = 11


KINDS = ({}, {"dtype": FP16}, {}, {"dtype": BF16}, {"tf32": True})
_WGMMA_KINDS = ({"dtype": FP16}, {"dtype": BF16}, {"tf32": True})


def drawn_cases(count, spec=SPEC):
    """`count` cases that are legal on a device; always the same ones."""
    random = Random(51)
    return [_case(random, spec, index) for index in range(count)]


def _case(random, spec, index):
    kinds = (*KINDS, {"dtype": random.choice((FP16, FP32, BF16))})[index % 6]
    align = random.choice((4, 8, 16))
    wgmma = "" if spec.arch != SPEC.arch else {3: "wgmma_im2col", 7: "wgmma_rows"}.get(index % 8, "")
    if wgmma:  # whose tiles are seldom small
        kinds, align = _WGMMA_KINDS[index // 8 % 3], 16 if wgmma == "wgmma_im2col" else 4
    named = wgmma
    if index % 12 == 9:
        named, kinds = ("depthwise_mma", "depthwise_stages")[index // 12 % 2], _WGMMA_KINDS[index // 24 % 2]
        align = 16
    if index % 16 == 4:
        return _transformed_case(random, spec)
    while True:
        groups = 64 if named.startswith("depthwise") or (index % 6 == 5 and not wgmma) else 1
        channels = 3 if wgmma == "wgmma_rows" else 64
        template = Conv2dProblem(channels, 64, 28, 28, 8, align_x=align, groups=groups, **kinds)
        drawn = (OPERATOR.kernel(named) if named else OPERATOR).space(template, spec)
        for draw in islice(drawn.random_draws(random.randrange(2**32)), 20):
            schedule = drawn.build(draw)
            if schedule.kernel.startswith("depthwise") != template.depthwise:
                continue
            if template.depthwise:
                problem = _of_channels(random, schedule, kinds)
            elif schedule.threads > _THREADS // 2 or schedule.block_m * schedule.block_n > 2**13:
                continue
            else:
                problem = _problem(random, template, schedule, kinds)
                schedule = _on_small_grid(random, problem, schedule)
            products = problem.pixels * problem.out_channels * problem.terms
            scale = _OF_WGMMA if wgmma else 1
            small = products <= scale * _PRODUCTS and schedule.blocks(problem) * schedule.threads <= scale * _THREADS
            if small and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


def _transformed_case(random, spec):
    """Tiles of products, and of pixels, that end anywhere."""
    template = Conv2dProblem(64, 64, 28, 28, 8, winograd=2)
    kernel = OPERATOR.kernel("winograd")
    while True:
        schedule = kernel.space(template, spec).build(
            next(kernel.space(template, spec).random_draws(random.randrange(2**32)))
        )
        words = {"ffma_order": FfmaOrder.ROW, "lane_map": LaneMap.ROW_MAJOR, "specialize": Specialize.NONE}
        schedule = schedule.replace(grid_blocks=min(schedule.grid_blocks, 2 * schedule.cluster_k), **words)
        wide = max(schedule.vector_b, schedule.vector_c)
        fields = {
            "in_channels": schedule.vector_a * random.choice((1, 2, 5)),
            "out_channels": wide * random.choice((1, 3, 9)),
        }
        fields |= {side: random.choice((1, 4, 5, 8)) for side in ("height", "width")}
        fields |= {f"padding_{side}": random.choice((1, 2)) for side in "hw"}
        problem = Conv2dProblem(**fields, batch=2, residual=random.random() < 0.5, winograd=random.choice(TILES))
        small = problem.transformed.work.operations and schedule.blocks(problem) * schedule.threads <= 4 * _THREADS
        if small and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule


def _of_channels(random, schedule, kinds):
    """Channels that end within a block, and pixels that end within a tile."""
    channels = schedule.vector * random.choice((1, schedule.channel_threads, schedule.channel_threads + 1))
    size = random.choice([few for few in SMALL_GROUPS if few <= schedule.vector])
    fields = {"in_channels": channels, "out_channels": channels, "groups": channels // size}
    align = schedule.vector * kinds["dtype"].bytes
    return _with_images(random, fields | kinds | {"align_x": align, "align_d": align}, schedule.vector, schedule.vector)


def _problem(random, template, schedule, kinds):
    """Less than a tile, and more, of an image whose edges filters cross."""
    aligned, wgmma = vectors(template, schedule), schedule.kernel.startswith("wgmma")
    vector, vector_d = max(aligned["x"], aligned["weight"]), aligned["d"]
    groups = 1 if wgmma else random.choice((1, 1, 1, 2))
    stages = (
        (schedule.block_k // vector + 1,) if schedule.kernel == "wgmma_im2col" else ()
    )  # more channels than one has
    filters = random.choice((schedule.block_n, schedule.block_n // 2 + vector_d, vector_d))
    fields = {
        "in_channels": vector * random.choice((1, 1, 2, 3, *stages)) * groups,
        "out_channels": -(-filters // vector_d) * vector_d * groups,
        "groups": groups,
    }
    size = kinds.get("dtype", FP32).bytes
    fields |= {f"align_{operand}": width * size for operand, width in aligned.items()}
    return _with_images(random, fields | kinds, aligned["x"], vector_d)


def _with_images(random, fields, vector, vector_d):
    """A problem with small images, and with gaps that vectors allow, or none."""
    fields |= {
        "batch": random.choice((1, 2)),
        "bias": random.choice((Bias.NONE, Bias.ROW)),
        "residual": random.random() < 0.3,
        "activation": random.choice((*FUSED, *[Activation.IDENTITY] * 4)),
    }
    for side, extent in (("h", "height"), ("w", "width")):
        fields[extent] = random.choice((1, 5, 8, 11))
        fields |= {f"kernel_{side}": random.choice((1, 2, 3)), f"stride_{side}": random.choice((1, 1, 2))}
        fields |= {f"padding_{side}": random.choice((0, 1, 3)), f"dilation_{side}": random.choice((1, 1, 2))}
    problem = Conv2dProblem(**Conv2dProblem.fitted(fields))
    if random.random() < 0.5:
        return problem
    column = problem.in_channels + vector
    row = column * problem.width + vector
    gaps = {"stride_x_w": column, "stride_x_h": row, "stride_x_n": row * problem.height}
    return Conv2dProblem(**problem.to_dict() | gaps | {"ldd": problem.out_channels + vector_d})


def _on_small_grid(random, problem, schedule):
    if not schedule.grid_blocks:
        return schedule
    if schedule.kernel.startswith("wgmma"):
        return schedule.replace(grid_blocks=small_grid(schedule.product(problem), schedule))
    product = problem.product if schedule.kernel == "mma_offsets" else problem.sgemm
    steps = max(1, -(-product.k // schedule.block_k)) * schedule.tiles(product)
    cluster = schedule.cluster_k
    return schedule.replace(grid_blocks=min(random.choice((1, 2, 3)), steps) * cluster)


def _choice(problem, schedule):
    """Of which each has a case."""
    if schedule.kernel == "fma":
        return schedule.ffma_order, schedule.grid_blocks > 0
    if schedule.kernel in ("depthwise_mma", "depthwise_stages"):
        return schedule.kernel
    if schedule.kernel.startswith("depthwise"):
        return schedule.kernel, schedule.vector, schedule.specialize
    if schedule.kernel == "winograd":
        return schedule.kernel, problem.winograd
    if schedule.kernel.startswith("wgmma"):
        return schedule.kernel, schedule.pingpong, schedule.tensor_store
    return problem.dtype, problem.groups > 1


# Blocks that end within tiles, filters and channels, in two images with gaps.
_FUSED = (
    Conv2dProblem(
        9,
        36,
        5,
        7,
        2,
        padding_h=3,
        padding_w=1,
        winograd=2,
        bias=Bias.ROW,
        activation=Activation.RELU,
        residual=True,
        stride_x_w=10,
        stride_x_h=77,
        align_x=4,
        ldd=40,
    ),
    "kernel=winograd_fused BM=16 BN=32 BK=4 specialize=shape",
)
# Fewer filters of a group than channels, in vectors that divide neither.
_GROUPED = (
    Conv2dProblem(
        30, 20, 5, 11, 2, 2, 3, 2, 2, 1, 1, dilation_h=2, groups=10, bias=Bias.ROW, stride_x_w=31, stride_x_h=350,
        stride_x_n=1800, align_x=4, ldd=22, align_d=8,
    ),
    "kernel=grouped threads=64 GT=4 G=2 C=2 specialize=shape",
)  # fmt: skip
# Sums of int8 as they are. Scales of filters: of two groups; in pairs from registers, or 16 of a row, in stages of few
# channels; with a bias, held for all boxes.
_INT8 = (
    (
        Conv2dProblem(32, 24, 5, 7, 2, 3, 2, padding_h=1, dtype=INT8, out_dtype=OutDType.INT32),
        "kernel=wgmma_im2col BM=64 BN=32 BK=128 stages=2 consumers=1 vector_d=2",
    ),
    (
        Conv2dProblem(
            64, 80, 6, 7, 2, padding_h=1, padding_w=1, groups=2, dtype=INT8, out_dtype=OutDType.FLOAT16, scaled=True,
            bias=Bias.ROW, activation=Activation.RELU,
        ),
        "kernel=mma_offsets BM=32 BN=32 BK=64 WM=16 WN=16 stages=2 grid_blocks=4",
    ),
    (
        Conv2dProblem(32, 80, 9, 17, 2, padding_h=1, dtype=INT8, scaled=True, bias=Bias.ROW, residual=True),
        "kernel=wgmma_im2col BM=128 BN=64 BK=32 stages=4 wait_depth=1 vector_d=2 grid_blocks=2 whole_tiles=1",
    ),
    (
        Conv2dProblem(
            144, 40, 6, 7, 2, padding_h=1, padding_w=1, dtype=INT8, out_dtype=OutDType.BFLOAT16, scaled=True,
            bias=Bias.ROW,
        ),
        "kernel=wgmma_im2col BM=64 BN=32 BK=128 stages=2 consumers=1 tensor_store=1",
    ),
    (
        Conv2dProblem(3, 24, 9, 8, 2, 5, 5, 2, 2, 2, 2, dtype=INT8, out_dtype=OutDType.BFLOAT16, scaled=True),
        "kernel=wgmma_rows BM=64 BN=24 BK=128 stages=2 consumers=1 tensor_store=1",
    ),
)  # fmt: skip


def _parsed(words):
    kernel = OPERATOR.kernel(words.split()[0].partition("=")[2])
    return kernel.schedule_type.parse(words.split())


CASES = [
    *covering(drawn_cases(_DRAWN), _choice, most=_MOST),
    *((problem, _parsed(words)) for problem, words in (_FUSED, _GROUPED, *_INT8)),
]

# Ways of wgmma that few drawn schedules take: filters that blocks share, edges of channels, boxes of C, shared tiles.
_BY_WGMMA = (
    (
        Conv2dProblem(
            72, 24, 5, 7, 2, padding_h=1, padding_w=2, dilation_w=2, dtype=BF16, bias=Bias.ROW,
            activation=Activation.RELU,
        ),
        "BM=64 BN=16 BK=64 stages=3 consumers=1 wait_depth=1 tensor_store=1",
    ),
    (
        Conv2dProblem(
            24, 33, 9, 8, 2, 2, 3, 3, 2, 1, 1, dilation_h=2, dtype=FP16, stride_x_w=32, stride_x_h=264,
            stride_x_n=2400,
        ),
        "BM=64 BN=64 BK=32 stages=2 consumers=1 wait_depth=1 vector_d=1",
    ),
    (
        Conv2dProblem(64, 64, 8, 9, 3, padding_h=1, padding_w=1, dtype=BF16, residual=True),
        "BM=128 BN=64 BK=64 stages=2 tensor_store=1 cluster_m=2 grid_blocks=2 whole_tiles=1",
    ),
    (
        Conv2dProblem(136, 64, 8, 12, 2, padding_h=1, padding_w=1, dtype=BF16, residual=True),
        "BM=64 BN=64 BK=128 stages=2 tensor_store=1 pingpong=1 wait_depth=1 grid_blocks=2 whole_tiles=1",
    ),
    (
        Conv2dProblem(64, 64, 6, 12, 1, padding_h=1, padding_w=1, dtype=BF16),
        "BM=64 BN=64 BK=64 stages=2 consumers=1 tensor_store=1 grid_blocks=3",
    ),
)  # fmt: skip
_BY_ROWS = (
    (
        Conv2dProblem(3, 24, 15, 13, 2, 7, 7, 2, 2, 3, 3, dtype=BF16, bias=Bias.ROW),
        "BM=64 BN=32 BK=32 stages=3 tensor_store=1 consumers=1 wait_depth=1",
    ),
    (
        Conv2dProblem(
            3, 33, 9, 8, 2, 2, 3, 3, 1, 1, 1, dilation_h=2, dtype=FP16, stride_x_w=5, stride_x_h=44, stride_x_n=400,
            align_x=2,
        ),
        "BM=64 BN=64 BK=32 stages=2 consumers=1 vector_d=1 grid_blocks=2",
    ),
    # Pixels of several units of 16 bytes, the last of which is not full.
    (
        Conv2dProblem(37, 24, 7, 9, 2, 3, 5, 2, 2, 1, 2, dtype=FP16, stride_x_w=38, stride_x_h=345, align_x=2),
        "BM=64 BN=32 BK=64 stages=2 tensor_store=1 consumers=1",
    ),
    (
        Conv2dProblem(33, 24, 6, 7, 2, 3, 2, padding_h=1, dtype=INT8, out_dtype=OutDType.INT32),
        "BM=64 BN=32 BK=128 stages=2 consumers=1 vector_d=2",
    ),
)  # fmt: skip
# Codes in pairs from registers; several filters of single channels, in the widest vectors.
_OTHERS = (
    (
        Conv2dProblem(144, 40, 6, 7, 2, 3, 3, 2, 1, 1, 1, dtype=INT8, scaled=True, residual=True),
        "kernel=wgmma_im2col BM=64 BN=48 BK=128 stages=2 consumers=1 vector_d=2",
    ),
    (
        Conv2dProblem(
            12, 24, 7, 9, 2, 3, 2, padding_h=1, padding_w=3, groups=12, dtype=BF16, bias=Bias.ROW,
            activation=Activation.RELU, residual=True, stride_x_w=16, stride_x_h=160, stride_x_n=1200, ldd=40,
        ),
        "kernel=grouped threads=64 GT=2 G=4 C=4",
    ),
)  # fmt: skip
PECULIAR = [(problem, WgmmaIm2colSchedule.parse(words.split())) for problem, words in _BY_WGMMA]
PECULIAR += [(problem, WgmmaRowsSchedule.parse(words.split())) for problem, words in _BY_ROWS]
PECULIAR += [(problem, _parsed(words)) for problem, words in _OTHERS]
