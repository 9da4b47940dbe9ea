"""conv2d_input: what it refuses, and bugs that the emulator finds in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught
from refusals import illegal, refused

from autotune import dispatcher
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.convolution.conv2d_input import OPERATOR
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
GRAD, WEIGHT = np.ones((2, 3, 3, 8), np.float32), np.ones((8, 3, 3, 4), np.float32)
# Phases of one, two and four taps, whose last rows and columns are not there.
PHASES = Conv2dInputProblem(32, 40, 9, 7, 2, 3, 3, 2, 2, 1, 1, dtype=DType.BFLOAT16)
WGMMA = "kernel=wgmma_im2col BM=64 BN=32 BK=64 stages=2 consumers=1"
MMA = "kernel=mma_offsets BM=32 BN=32 BK=32 WM=16 WN=16 stages=2"


def _program(problem, words):
    kernel = OPERATOR.kernel(words.split()[0].partition("=")[2])
    return OPERATOR.program(problem, kernel.schedule_type.parse(words.split()), SPEC)


test_other_arrays_are_refused = refused(
    dispatcher.conv2d_input,
    [
        ({"grad": GRAD, "weight": WEIGHT, "input_size": 6, "stride": 2}, "expected (2, 2, 2, 8)"),
        ({"grad": GRAD, "weight": WEIGHT.astype(np.float16), "input_size": 5}, "weight dtype float16"),
        ({"grad": GRAD, "weight": WEIGHT, "input_size": 0}, "input_size=0: expected one number or two, 1 or more"),
    ],
)
test_schedules_are_illegal = illegal(
    OPERATOR,
    {
        PHASES: {
            f"{WGMMA} tensor_store=1": "tensor_store True: expected False of 4 phases",
            f"{WGMMA} grid_blocks=4": "whole_tiles False: expected True of 4 phases",
        },
        replace(PHASES, dtype=DType.FLOAT32, tf32=True): {WGMMA: "wgmma multiplies no float32 that lies across k"},
    },
)
test_bugs_are_found = caught(
    _program,
    [
        (PHASES, WGMMA, "y >= problem.height", "false"),
        (PHASES, WGMMA, "first + row * Problem::every_h", "first + row"),
        (PHASES, WGMMA, "h.nearest - step.row * Problem::apart_h", "h.nearest"),
        (PHASES, WGMMA, "transpose_words(words[half]);", ""),
        (replace(PHASES, kernel_w=1, padding_w=0), WGMMA, "phase.taps() > 0 ?", "true ?"),
        (PHASES, MMA, "static_cast<long long>(row) * Problem::apart_h", "0"),
    ],
)


@pytest.mark.parametrize("kernel", ["wgmma_im2col", "mma_offsets"])
def test_phases_without_taps_take_no_steps(kernel):
    """Of an image under filters of one tap with stride 2, one pixel of four has products."""

    def modelled(stride):
        problem = Conv2dInputProblem(1024, 2048, 64, 64, 64, 1, 1, stride, stride, dtype=DType.BFLOAT16)
        found = (one for one in OPERATOR.seeds(problem, SPEC) if one.kernel == kernel)
        return min(modelled_seconds(OPERATOR, problem, one, SPEC) for one in found)

    assert modelled(2) < 0.4 * modelled(1)
