"""Which kernel a depthwise convolution of planes gets without records."""

import pytest

from autotune.codegen.convolution.conv2d_planes.direct.schedule import DirectSchedule
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device


@pytest.mark.parametrize(("side", "direct"), [(3, True), (7, False)])
def test_few_taps_read_planes_where_they_are(side, direct):
    problem = Conv2dPlanesProblem(96, 96, 56, 56, 64, side, side, padding_h=side // 2, padding_w=side // 2, groups=96)
    default = operator("conv2d_planes").default(problem, named_device("h200"))
    assert isinstance(default, DirectSchedule) is direct
