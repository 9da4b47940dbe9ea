"""conv2d: what it computes, what it refuses, and bugs that the emulator finds in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught
from refusals import illegal, refused

from autotune import dispatcher
from autotune.codegen.convolution.conv2d import emit
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType
from autotune.emulator import verify
from autotune.search_spaces.convolution.conv2d import OPERATOR
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
X, WEIGHT = np.ones((2, 5, 6, 4), np.float32), np.ones((8, 3, 3, 4), np.float32)
CODES, FILTER_CODES = X.astype(np.int8), WEIGHT.astype(np.int8)
TILES = "kernel=fma BM=32 BN=32 WM=32 WN=32 TM=8 TN=4"
FMA = f"{TILES} BK=8 stages=2"
MMA = "kernel=mma_offsets BM=32 BN=32 BK=32 WM=16 WN=16 stages=2"
WGMMA = "kernel=wgmma_im2col BM=64 BN=64 BK=64 stages=2 consumers=1"
ROLLING = "kernel=depthwise_rolling CT=4 V=4 R=4 C=2"
ROWS = "kernel=wgmma_rows BM=64 BN=32 BK=32 stages=2 consumers=1 vector_d=2"
ALONE = "kernel=depthwise_mma threads=64 R=4 C=4"
STAGES = "kernel=depthwise_stages threads=64 CT=8 R=7 C=4 stages=2 keep_filters=0"
WINOGRAD = "kernel=winograd BM=32 BN=32 WM=32 WN=32 TM=8 TN=4 BK=8 stages=2"
GROUPED = "kernel=grouped GT=4 G=2 C=4"
DEPTHWISE = "kernel=depthwise CT=4 V=4 R=2 C=2"
# Padding on each side, images that end within a tile, groups with a bias of their own, taps that part a vector's steps.
GROUPS = Conv2dProblem(
    24, 64, 5, 7, 2, padding_h=1, padding_w=2, dilation_w=2, groups=2, bias=Bias.ROW, align_x=16, align_d=16
)
STRIDED = Conv2dProblem(8, 33, 9, 8, 2, 2, 3, 3, 2, 1, 1, dilation_h=2, stride_x_w=12, stride_x_h=100, stride_x_n=912)

CHANNELS = Conv2dProblem(24, 24, 7, 8, 2, 3, 2, padding_h=1, padding_w=3, groups=24, bias=Bias.ROW, align_x=16)
SMALL_GROUPS = replace(CHANNELS, groups=12)
MULTIPLIED = Conv2dProblem(
    18, 36, 7, 8, 2, 3, 2, stride_w=2, padding_h=1, padding_w=1, groups=6, bias=Bias.ROW, align_x=8
)
HALVES = Conv2dProblem(40, 40, 7, 8, 2, padding_h=1, padding_w=2, stride_w=2, groups=40, dtype=DType.BFLOAT16)
TRANSFORMED = Conv2dProblem(8, 12, 5, 6, 2, padding_h=1, padding_w=1, winograd=2)
ONE_TAP = Conv2dProblem(8, 33, 5, 7, 2, 1, 1)
FEW = Conv2dProblem(3, 24, 9, 7, 2, 3, 5, 2, 2, 1, 3, dtype=DType.FLOAT16, align_x=2)
MANY = Conv2dProblem(13, 24, 6, 7, 2, 3, 2, padding_h=1, dtype=DType.FLOAT16)
# More channels than a stage has, and taps beyond each side of an image.
IMAGES = Conv2dProblem(
    72, 64, 5, 7, 2, stride_h=2, padding_h=1, padding_w=2, dilation_w=2, dtype=DType.BFLOAT16, bias=Bias.ROW
)


def direct(x, weight, stride, padding, dilation):
    """Each element by its definition: a sum over the taps that are inside of the image."""
    batch, height, width, _ = x.shape
    filters, rows, columns, _ = weight.shape
    shape = [
        (size + 2 * p - d * (taps - 1) - 1) // s + 1
        for size, taps, s, p, d in zip((height, width), (rows, columns), stride, padding, dilation, strict=True)
    ]
    out = np.zeros((batch, *shape, filters))
    for n, p, q, k, r, s in np.ndindex(*out.shape, rows, columns):
        h, w = p * stride[0] - padding[0] + r * dilation[0], q * stride[1] - padding[1] + s * dilation[1]
        if 0 <= h < height and 0 <= w < width:
            out[n, p, q, k] += x[n, h, w] @ weight[k, r, s]
    return out


@pytest.mark.parametrize(
    ("stride", "padding", "dilation"), [((1, 1), (0, 0), (1, 1)), ((2, 3), (1, 4), (2, 1)), ((5, 1), (3, 0), (1, 2))]
)
def test_the_reference_is_the_definition(stride, padding, dilation):
    random = np.random.default_rng(0)
    x, weight = random.standard_normal((2, 6, 5, 3)), random.standard_normal((4, 3, 2, 3))
    pairs = {"stride": stride, "padding": padding, "dilation": dilation}
    fields = {f"{name}_{side}": pair[i] for name, pair in pairs.items() for i, side in enumerate("hw")}
    problem = Conv2dProblem(3, 4, 6, 5, 2, 3, 2, **fields)
    inputs = {"x": x.reshape(-1), "weight": weight.reshape(-1)}
    found = problem.reference(inputs, {"alpha": 1.0, "beta": 0.0})["d"]
    np.testing.assert_allclose(found, direct(x, weight, stride, padding, dilation).reshape(-1), atol=1e-12)


@pytest.mark.parametrize(
    "problem",
    [
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, stride_h=2),
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, padding_w=1),
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, groups=2),
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, stride_x_h=48),
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, stride_x_n=128),
        Conv2dProblem(8, 16, 3, 5, 2, 3, 5, stride_x_w=9),
        Conv2dProblem(8, 16, 3, 5, 2, 3, 3),
        Conv2dProblem(8, 16, 3, 5, 2, 1, 1, bias=Bias.ROW),  # which sgemm has not
    ],
    ids=lambda problem: problem.key,
)
def test_others_are_no_products(problem):
    assert OPERATOR.restated(problem) is None


def test_one_number_is_for_rows_and_columns():
    assert dispatcher.conv2d(X, WEIGHT, stride=2, padding=1).shape == (2, 3, 3, 8)
    np.testing.assert_array_equal(
        dispatcher.conv2d(X, WEIGHT, stride=2, padding=(1, 0)),
        dispatcher.conv2d(X, WEIGHT, stride=(2, 2), padding=(1, 0)),
    )


def test_a_part_of_the_channels_is_read_and_written_where_it_is():
    wide, all_channels = np.ones((2, 5, 6, 12), np.float32), np.zeros((2, 3, 4, 24), np.float32)
    wide[..., :4] = wide[..., 8:] = np.nan
    dispatcher.conv2d(wide[..., 4:8], WEIGHT, out=all_channels[..., 8:16])
    np.testing.assert_array_equal(all_channels[..., 8:16], 36)
    assert not all_channels[..., :8].any() and not all_channels[..., 16:].any()


test_other_arrays_are_refused = refused(
    dispatcher.conv2d,
    [
        ({"x": X[0], "weight": WEIGHT}, "x has shape (5, 6, 4): expected 4 axes"),
        ({"x": X, "weight": WEIGHT[..., :3].copy()}, "weight (8, 3, 3, 3): expected channels and"),
        ({"x": X, "weight": WEIGHT, "groups": 0}, "groups=0: expected 1 or more"),
        ({"x": X, "weight": WEIGHT[:, :, :, :1].copy(), "groups": 3}, "groups=3, which divides both"),
        ({"x": X, "weight": WEIGHT, "stride": 0}, "stride=0: expected one number or two, 1 or more"),
        ({"x": X, "weight": WEIGHT, "padding": (1, 2, 3)}, "padding=(1, 2, 3): expected one number or two"),
        ({"x": X, "weight": WEIGHT, "padding": 1.5}, "padding=1.5: expected one number or two"),
        ({"x": X, "weight": WEIGHT, "padding": ((1, 1), (1, 1))}, "expected one number or two"),
        ({"x": X, "weight": np.ones((8, 7, 3, 4), np.float32)}, "height=5: expected at least the 7"),
        ({"x": X, "weight": WEIGHT, "bias": np.ones(4, np.float32)}, "bias has dtype float32 and shape (4,)"),
        ({"x": X, "weight": WEIGHT, "activation": "tanh"}, "activation='tanh': expected one of"),
        ({"x": X.astype(np.float16), "weight": WEIGHT.astype(np.float16), "allow_tf32": True}, "x of float32"),
        (
            {"x": X.astype(np.float16), "weight": WEIGHT.astype(np.float16), "allow_winograd": 2},
            "without allow_tf32",
        ),
        ({"x": X, "weight": WEIGHT, "allow_winograd": 3}, "allow_winograd=3: expected 0, 2, 4"),
        ({"x": X.astype(np.int32), "weight": WEIGHT}, "TypeError: x has dtype int32"),
        ({"x": X, "weight": WEIGHT, "scale": np.ones(8, np.float32)}, "TypeError: scale is given for x of float32"),
        ({"x": X, "weight": WEIGHT, "dtype": "float16"}, "TypeError: dtype=float16 for x of float32: expected"),
        ({"x": CODES, "weight": FILTER_CODES, "activation": "relu"}, "a result of int32 has plain sums"),
        (
            {"x": CODES, "weight": FILTER_CODES, "dtype": "int8", "bias": np.ones(8, np.int8)},
            "expected float32 of shape (8,)",
        ),
        ({"x": X.transpose(0, 3, 1, 2), "weight": np.ones((8, 3, 3, 6), np.float32)}, "contiguous"),
    ],
)
test_other_problems_are_refused = refused(
    Conv2dProblem,
    [
        ({"in_channels": 6, "out_channels": 8, "height": 5, "width": 5, "groups": 4}, "a divisor of in_channels=6"),
        ({"in_channels": 4, "out_channels": 4, "height": 2, "width": 5, "kernel_h": 5, "padding_h": 1}, "height=2"),
        ({"in_channels": 4, "out_channels": 4, "height": 5, "width": 5, "ldd": 3}, "ldd=3: expected at least the 4"),
        ({"in_channels": 1, "out_channels": 1, "height": 2**16, "width": 2**16}, "expected at most 1073741824 pixels"),
        ({"in_channels": 2**30, "out_channels": 1, "height": 3, "width": 3}, "terms of a sum"),
        (
            {"in_channels": 2**14, "out_channels": 1, "height": 3, "width": 3, "dtype": DType.INT8},
            "at most 131071 terms",
        ),
        ({"in_channels": 1, "out_channels": 1, "height": 3, "width": 3, "scaled": True}, "expected int8 with scaled"),
        ({"in_channels": 1, "out_channels": 1, "height": 3, "width": 3, "dtype": DType.FLOAT16, "tf32": True}, "tf32"),
        (
            {"in_channels": 1, "out_channels": 1, "height": 3, "width": 3, "tf32": True, "winograd": 2},
            "without tf32",
        ),
    ],
)
test_schedules_are_illegal = illegal(
    OPERATOR,
    {
        GROUPS: {
            "kernel=depthwise": "groups=2 of 24 and 64 channels: expected 1, 2, 4, 8 channels in each, and as many",
            f"{FMA} copy_a=direct vector_a=1 pad_a=0": "copy_a direct: expected registers or async_copy",
            f"{TILES} BK=64 vector_a=1": "32 threads under the 64 vectors of A",
            MMA: "expected tf32=True",
            f"{MMA} prepare_b=copy": "prepare_b copy: expected none",
            WGMMA: "expected tf32=True",
        },
        IMAGES: {
            f"{WGMMA} cluster_n=2": "cluster_n 2: expected 1",
            f"{WGMMA} swap=1": "swap True: expected False",
            f"{WGMMA} prepare_a=copy": "prepare_a copy: expected none",
        },
        replace(IMAGES, groups=8): {WGMMA: "groups=8: stages with some channels of a tap reach into other groups"},
        replace(IMAGES, stride_h=9): {WGMMA: "steps (9, 1): expected 1 … 8"},
        replace(IMAGES, width=600, kernel_w=1, kernel_h=2, dilation_h=256, padding_h=200): {
            WGMMA: "expected -128 … 127"
        },
        replace(FEW, dilation_w=2): {ROWS: "dilation_w=2: expected 1"},
        replace(FEW, batch=1, height=2**13, width=2**13, in_channels=9): {ROWS: "bytes over 1073741824"},
        CHANNELS: {
            "kernel=depthwise vector=8": "vector 8 over the 4 channels",
            "kernel=depthwise channel_threads=256": "threads 128 is not a multiple of channel_threads 256",
            "kernel=depthwise rows=32 columns=16": "products of a thread over the 2048 that are written out",
            "kernel=depthwise vector=1 rows=32 columns=32": "a window of 1122 places over the 512",
            "kernel=depthwise rows=1 columns=512": "4096 products of a thread over the 2048",
        },
        MULTIPLIED: {
            "kernel=grouped groups=4": "groups 4 of a thread: expected a divisor of the problem's 6",
            "kernel=grouped group_threads=256": "threads 128 is not a multiple of group_threads 256",
            "kernel=grouped columns=64": "4608 products of a thread over the 2048 that are written out",
        },
        Conv2dProblem(102, 6, 5, 5, groups=6): {GROUPED: "expected at most 16 channels, and as many filters, in each"},
        SMALL_GROUPS: {"kernel=depthwise vector=1": "vector 1: expected whole groups of 2 channels"},
        replace(TRANSFORMED, stride_w=2): {"kernel=winograd": "expected 2 or 4, 3×3"},
        replace(TRANSFORMED, height=2**12, width=2**12): {"kernel=winograd": "bytes over 2147483648"},
        replace(CHANNELS, dilation_h=2): {"kernel=depthwise_rolling vector=4": "dilation_h=2: expected 1"},
        replace(CHANNELS, dilation_h=3): {"kernel=depthwise_mma vector=4": "dtype float32: expected one of 16 bits"},
        HALVES: {
            "kernel=depthwise_mma columns=3": "columns 3 is not even",
            "kernel=depthwise_mma channel_threads=8": "channel_threads 8: expected the 4",
            "kernel=depthwise_stages channel_threads=16": "threads 96: expected warps for channel_threads 16",
            "kernel=depthwise_stages threads=256 columns=6": "a row of (1, 1, 769, 32) elements: expected 256 at most",
        },
        replace(HALVES, kernel_h=4): {"kernel=depthwise_mma keep_filters=0": "filters of 4×3 for single channels"},
        replace(HALVES, stride_x_w=44): {"kernel=depthwise_stages vector=4": "an alignment of 16 bytes: expected 16"},
    },
)


def _program(problem, words):
    kernel = OPERATOR.kernel(words.split()[0].partition("=")[2])
    return OPERATOR.program(problem, kernel.schedule_type.parse(words.split()), SPEC)


test_bugs_are_found = caught(
    _program,
    [
        # What lies beside an image is that of the next row.
        (GROUPS, FMA, "x < static_cast<unsigned>(problem.width)", "true"),
        # The residue of the taps is lost where a vector goes on to the next row of a filter.
        (GROUPS, FMA, "row += (column + taps) / Problem::kernel_w;", "row += taps / Problem::kernel_w;"),
        (GROUPS, FMA, "tile.batch * problem.channels", "0"),
        (GROUPS, FMA, "const int first_filter = tile.batch * problem.n;", "const int first_filter = 0;"),
        (STRIDED, f"{FMA} vector_c=1", "image * problem.stride_x_n", "image * problem.height * problem.stride_x_h"),
        (CHANNELS, DEPTHWISE, "static_cast<unsigned>(column + j) < static_cast<unsigned>(problem.width)", "true"),
        (CHANNELS, DEPTHWISE, "i % terms * block_channels", "(i + 1) % terms * block_channels"),
        (SMALL_GROUPS, DEPTHWISE, "l / group_channels * group_channels + i", "l / group_channels + i"),
        (
            SMALL_GROUPS,
            ROLLING,
            "Problem::kernel_w + s) * group_channels + channel",
            "Problem::kernel_w + s) + channel",
        ),
        (CHANNELS, "kernel=depthwise CT=4 V=4 R=1 C=2", "r * Problem::dilation_h, {r}", "r * Problem::dilation_h, {0}"),
        (CHANNELS, DEPTHWISE, "tile.q + column >= problem.out_width", "false"),
        (MULTIPLIED, GROUPED, "static_cast<unsigned>(column + j) < static_cast<unsigned>(problem.width)", "true"),
        (MULTIPLIED, GROUPED, "l / group_filters * group_channels + i", "l / group_filters + i"),
        (MULTIPLIED, GROUPED, "if (tile.q + column < problem.out_width)", ""),
        (MULTIPLIED, GROUPED, "group < problem.batch && ", ""),
        (MULTIPLIED, GROUPED, "i < left ?", "i < left - 1 ?"),
        (CHANNELS, ROLLING, "[column][l] : 0.0f", "[column][l] : 1.0f"),
        (CHANNELS, ROLLING, "s == 0 && channel == 0", "channel == 0"),
        (CHANNELS, ROLLING, "if (row >= problem.out_height) return;", ""),
        (replace(CHANNELS, stride_h=2), ROLLING, "row * Problem::stride_h + i", "row * Problem::stride_h"),
        (HALVES, ALONE, ": own % 2;", ": 0;"),
        (HALVES, ALONE, "fmaf(sums[l], 0.0f, probe)", "fmaf(0.0f, 0.0f, probe)"),  # NaN of another channel
        (HALVES, f"{ALONE} keep_filters=0", ": problem.height;", ": 0;"),
        (HALVES, STAGES, "stage > 0 ? parity : parity ^ 1", "parity ^ 1"),
        (HALVES, STAGES, "(2 * place + own % 2) * 4 + place", "(2 * place + own % 2) * 4"),
        (replace(HALVES, groups=10), f"{ALONE} keep_filters=0", "pair / group_pairs * group_pairs + slot", "slot"),
        (TRANSFORMED, WINOGRAD, "const int y = tile.p - Problem::padding_h", "const int y = tile.p"),
        (TRANSFORMED, WINOGRAD, "static_cast<unsigned>(x + j) < static_cast<unsigned>(problem.width)", "true"),
        (TRANSFORMED, WINOGRAD, "{0.5f, -0.5f, 0.5f}", "{0.5f, 0.5f, 0.5f}"),
        (replace(TRANSFORMED, winograd=4), WINOGRAD, "-4.25f, 0.0f, 1.0f}", "4.25f, 0.0f, 1.0f}"),
        (ONE_TAP, f"{TILES} BK=32 vector_c=1", "tap.row < Problem::kernel_h && ", ""),
        (STRIDED, f"{FMA} vector_c=1", "number < problem.m ? row", "true ? row"),
        (
            FEW,
            ROWS,
            "column = i / units - line * columns - Problem::image_padding_w",
            "column = i / units - line * columns",
        ),
        (MANY, ROWS, "first + channel < Problem::image_channels", "true"),
        (MANY, ROWS, "i % units * channels", "0"),
        (FEW, ROWS, "tap < taps && channel < Problem::image_channels", "tap < taps"),
        (IMAGES, WGMMA, "if (channel < tap_channels(problem)) return;", "return;"),
        (IMAGES, WGMMA, "column = 0, ++row;", "column = 0;"),
        (IMAGES, WGMMA, "* Problem::stride_h - Problem::padding_h", "* Problem::stride_h"),
        (IMAGES, WGMMA, "step.row * Problem::kernel_w + step.column", "step.column"),
    ],
)


def test_rows_of_pixels_are_stored_a_part_at_a_time(monkeypatch):
    monkeypatch.setattr(emit, "_COLUMN_BYTES", 2**13)
    program = emit.emit_im2col(GROUPS)
    assert len(program.launches) > 2
    verify(GROUPS, program)
