"""Which pixels the taps of a convolution's filters meet, as tensor maps know it."""

from __future__ import annotations

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.model.im2col import Im2col


def base_pixels(problem: ConvolutionProblem) -> Im2col:
    """Those under the first tap of a filter, one for each pixel of D."""
    padding = problem.padding_h, problem.padding_w
    reaches = (problem.kernel_h - 1) * problem.dilation_h, (problem.kernel_w - 1) * problem.dilation_w
    return Im2col(
        lower=tuple(-added for added in padding),
        upper=tuple(added - reach for added, reach in zip(padding, reaches, strict=True)),
        steps=(problem.stride_h, problem.stride_w),
    )
