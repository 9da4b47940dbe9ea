"""The ladder of conv2d_input kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit_naive
from .problem import Conv2dInputProblem

PRESETS: Mapping[str, Callable[[Conv2dInputProblem], Program]] = {"naive": emit_naive}
