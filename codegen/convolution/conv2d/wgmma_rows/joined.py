"""Images and filters whose pixels are no whole units of 16 bytes, as the pixels under a row of a filter are one."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up


@dataclass(frozen=True)
class Joined:
    """The copies of a problem's images, (batch, height, columns, pixel_channels), and of its filters, (out_channels,
    kernel_h, filter_row), one behind the other.

    Attributes:
        problem: whose.
    """

    problem: Conv2dProblem

    @property
    def pixel_channels(self) -> int:
        """Channels of a pixel, with zeros behind its own: as few as let the pixels of D begin at multiples of 16 bytes.
        More than 16 bytes of channels are whole units of them."""
        size = self.problem.dtype.bytes
        unit = WIDEST_ACCESS // size
        for channels in (1, 2, 4, 8, 16):
            if self.problem.channels <= channels < unit and channels * self.problem.stride_w % unit == 0:
                return channels
        return round_up(self.problem.channels, unit)

    @property
    def pixel_unit(self) -> int:
        """Pixels of which a row has a multiple."""
        return max(1, WIDEST_ACCESS // (self.pixel_channels * self.problem.dtype.bytes))

    @property
    def columns(self) -> int:
        """Pixels of a row: those that filters see, with what lies beside the image."""
        seen = (self.problem.out_width - 1) * self.problem.stride_w + self.problem.kernel_w
        return round_up(seen, self.pixel_unit)

    @property
    def channels(self) -> int:
        """Of a row of a filter: those of all its taps."""
        return self.problem.kernel_w * self.pixel_channels

    @property
    def filter_row(self) -> int:
        """Elements from a row of a filter to the next, a multiple of 16 bytes."""
        return round_up(self.channels, WIDEST_ACCESS // self.problem.dtype.bytes)

    @property
    def image_bytes(self) -> int:
        """Of all images, a multiple of 16."""
        pixels = self.problem.batch * self.problem.height * self.columns
        return pixels * self.pixel_channels * self.problem.dtype.bytes

    @property
    def bytes(self) -> int:
        """Of images and filters."""
        filters = self.problem.out_channels * self.problem.kernel_h * self.filter_row
        return self.image_bytes + filters * self.problem.dtype.bytes
