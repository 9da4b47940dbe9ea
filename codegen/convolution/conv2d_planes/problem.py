"""What a conv2d_planes computes: a conv2d whose arrays have channels ahead of rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import DTYPES
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Tensor, row_major

_LAYOUTS = ("stride_x_n", "stride_x_h", "stride_x_w", "ldd")
_PLANES = (0, 3, 1, 2)  # axes of arrays whose channels are last


@dataclass(frozen=True)
class Conv2dPlanesProblem(Conv2dProblem):
    """D = activation(alpha·X∗W + bias) + beta·C of images whose channels are planes (NCHW), without gaps.

    X is (batch, in_channels, height, width), the weight (out_channels, in_channels / groups, kernel_h, kernel_w), and C
    and D are (batch, out_channels, out_height, out_width).

    The other attributes are those of `Conv2dProblem`, which this is between transposes.

    Attributes:
        dtype, out_dtype, scaled: of floats, without scales.
        stride_x_n, stride_x_h, stride_x_w, ldd: 0, as planes have no gaps.
    """

    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    out_dtype: OutDType = kind(OutDType.SAME, allowed=(OutDType.SAME,), implied=OutDType.SAME)
    scaled: bool = kind(False, allowed=(False,))

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in _LAYOUTS}
        super().__post_init__()
        for name, value in given.items():
            if value not in (0, self.usual(name)):
                raise ValueError(f"{name}={value}: expected 0, as planes have no gaps")

    @cached_property
    def channels_last(self) -> Conv2dProblem:
        """The same of arrays in the workspace whose channels are last."""
        names = {one.name for one in fields(Conv2dProblem)} - {*_LAYOUTS}
        aligned = dict.fromkeys(("align_x", "align_weight", "align_d"), WIDEST_ACCESS)
        return Conv2dProblem(**{name: getattr(self, name) for name in names} | aligned)

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`: none has gaps."""
        return {}

    @property
    def vector(self) -> int:
        """That of the arrays in the workspace."""
        return self.channels_last.vector

    @property
    def vector_channels(self) -> int:
        """That of the arrays in the workspace."""
        return self.channels_last.vector_channels

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Those of conv2d, with channels as the second axis."""
        return tuple(one if len(one.shape) == 1 else _planes(one) for one in super().tensors)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `Conv2dProblem.exact_inputs`."""
        inputs = self.channels_last.exact_inputs(seed)
        return None if inputs is None else self._in_planes(inputs)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """That of conv2d."""
        last = {
            name: view.transpose(0, 2, 3, 1) if view.ndim == 4 else view for name, view in self.views(inputs).items()
        }
        own = self.channels_last
        return self._in_planes(own.reference({name: np.ravel(array) for name, array in last.items()}, scalars))

    def _in_planes(self, flat: Mapping[str, Array]) -> dict[str, Array]:
        views = self.channels_last.views(flat)
        return {name: np.ravel(view.transpose(_PLANES) if view.ndim == 4 else view) for name, view in views.items()}


def _planes(tensor: Tensor) -> Tensor:
    shape = tuple(tensor.shape[axis] for axis in _PLANES)
    return replace(tensor, shape=shape, strides=row_major(shape))
