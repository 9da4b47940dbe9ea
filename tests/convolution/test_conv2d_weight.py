"""conv2d_weight: what it refuses, and bugs that the emulator finds in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught
from refusals import illegal, refused

from autotune import dispatcher
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.convolution.conv2d_weight import OPERATOR
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
X, GRAD = np.ones((2, 5, 6, 4), np.float32), np.ones((2, 5, 6, 8), np.float32)
DEPTHWISE = "kernel=depthwise CT=4 V=2 C=4 splits=2 threads=32"
# Images that end within a tile, two blocks along the channels, padding beyond the filter.
CHANNELS = Conv2dWeightProblem(10, 10, 5, 7, 2, 3, 2, padding_h=1, padding_w=2, dilation_h=2, groups=10)
GROUPED = "kernel=grouped GT=2 TT=2 G=2 F=2 rows_apart=1 C=4 splits=2"
GROUPED_MMA = "kernel=grouped_mma GW=2 TW=2 G=2 rows_apart=1 C=4 splits=2"
# The same of six groups of 3 channels and 4 filters, of which a thread has some.
GROUPS = replace(CHANNELS, in_channels=18, out_channels=24, groups=6, stride_w=2)
PAIRS = replace(GROUPS, dtype=DType.BFLOAT16)


def _program(problem, words):
    kernel = OPERATOR.kernel(words.split()[0].partition("=")[2])
    return OPERATOR.program(problem, kernel.schedule_type.parse(words.split()), SPEC)


test_other_arrays_are_refused = refused(
    dispatcher.conv2d_weight,
    [
        ({"x": X, "grad": GRAD[:, :4].copy(), "kernel_size": 3, "padding": 1}, "grad has dtype float32 and shape"),
        ({"x": X, "grad": GRAD, "kernel_size": 3, "padding": 1, "groups": 3}, "that groups=3 divides"),
        ({"x": X, "grad": GRAD, "kernel_size": 0}, "kernel_size=0: expected one number or two, 1 or more"),
    ],
)
test_schedules_are_illegal = illegal(
    OPERATOR,
    {
        replace(CHANNELS, groups=5): {"kernel=depthwise": "groups=5 of 10 and 10 channels: expected a group with one"},
        CHANNELS: {
            "kernel=depthwise vector=4": "vector 4 over the 2 channels that X and the gradient are aligned for",
            "kernel=depthwise V=2 channel_threads=256": "threads 128 is not a multiple of channel_threads 256",
            "kernel=depthwise V=2 columns=256": "3072 products of a thread over the 2048",
            f"kernel=depthwise V=2 splits={2**21}": "partial sums of 503316480 bytes over 268435456",
        },
    },
)
test_bugs_are_found = caught(
    _program,
    [
        # Pixels behind the last one see what is not finite.
        (replace(CHANNELS, width=2, padding_w=0), DEPTHWISE, "if (column >= pixels) continue;", ""),
        (CHANNELS, DEPTHWISE, "row * Problem::kernel_w + s", "s"),
        (CHANNELS, DEPTHWISE, "y + row * Problem::dilation_h", "y + row"),
        (CHANNELS, DEPTHWISE, "other < tile_threads", "other < tile_threads - 1"),
        (CHANNELS, DEPTHWISE, "split < Schedule::splits", "split < 1"),
        (CHANNELS, DEPTHWISE, "filter * Problem::filter_terms + term", "term * problem.filters + filter"),
        (replace(GROUPS, width=2, padding_w=0, stride_w=1), GROUPED, "if (column >= pixels) continue;", ""),
        (GROUPS, GROUPED, "l / Schedule::filters * group_filters", "l / Schedule::filters * Schedule::filters"),
        (GROUPS, GROUPED, "part.row * row_terms", "0"),
        (GROUPS, GROUPED, "if (own < half)", "if (own < half - 1)"),
        (replace(PAIRS, width=2, padding_w=0, stride_w=1), GROUPED_MMA, "column + 1 < loaded.pixels", "true"),
        (PAIRS, GROUPED_MMA, "filter / group_filters == channel / group_channels", "true"),
        (PAIRS, GROUPED_MMA, "part.pair * 2 < channels &&", ""),
        (PAIRS, GROUPED_MMA.replace("TW=2", "TW=1"), "Schedule::ahead ? step : 0", "0"),
        (PAIRS, GROUPED_MMA, "0x5410 : 0x7632", "0x7632 : 0x5410"),
    ],
)


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16])
def test_channels_with_filters_of_their_own_take_no_product(dtype):
    problem = replace(CHANNELS, dtype=dtype)
    assert {kernel.name for kernel in OPERATOR.kernels if kernel.applies(problem, SPEC)} == {"depthwise"}
    assert "depthwise" not in {
        kernel.name for kernel in OPERATOR.kernels if kernel.applies(replace(problem, groups=5), SPEC)
    }


@pytest.mark.parametrize(("filters", "dtype"), [(4, DType.FLOAT32), (1, DType.FLOAT16)])
def test_groups_of_few_channels_have_kernels_of_their_own(filters, dtype):
    problem = Conv2dWeightProblem(96, 96 // 4 * filters, 28, 28, 64, padding_h=1, padding_w=1, groups=24, dtype=dtype)
    chosen = fastest_first(OPERATOR, problem, OPERATOR.candidates(problem, SPEC), SPEC)[0]
    assert chosen.kernel.startswith("grouped")


@pytest.mark.parametrize("kernel", OPERATOR.kernels, ids=lambda kernel: kernel.name)
def test_threads_of_a_schedule_are_a_number_or_follow_from_the_problem(kernel):
    """The dispatcher multiplies those of a record by its registers."""
    assert isinstance(getattr(kernel.schedule_type(), "threads", 0), int)


def test_filters_that_no_16_bytes_divide_are_tried_as_they_are():
    problem = Conv2dWeightProblem(128, 5, 28, 28, 8, dtype=DType.BFLOAT16)
    assert {one.kernel for one in OPERATOR.candidates(problem, SPEC)} == {"mma_offsets"}


def test_blocks_share_the_pixels_of_a_single_tile():
    problem = Conv2dWeightProblem(3, 1, 128, 128, 64, 1, 1, dtype=DType.BFLOAT16)
    product = OPERATOR.kernel("mma_offsets")
    assert max(one.grid_blocks for one in product.candidates(problem, SPEC)) >= SPEC.sm_count
