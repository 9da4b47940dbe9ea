"""How much work a problem is: the bytes that must move, and the operations by the unit that executes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Unit(StrEnum):
    """An arithmetic unit of a streaming multiprocessor, by the type of its operands.

    Tensor cores are counted without sparsity and with accumulation in FP32 (INT32 for ``tensor_int8``).
    """

    FP32 = "fp32"
    FP64 = "fp64"  # without tensor cores
    SPECIAL = "special"  # ex2, lg2, rcp, rsqrt, sin, cos, tanh
    TENSOR_FP16 = "tensor_fp16"
    TENSOR_BF16 = "tensor_bf16"
    TENSOR_TF32 = "tensor_tf32"
    TENSOR_FP8 = "tensor_fp8"
    TENSOR_INT8 = "tensor_int8"

    @property
    def label(self) -> str:
        """What people read: ``INT8 tensor cores``."""
        return _LABELS.get(self) or f"{self.removeprefix('tensor_').upper()} tensor cores"

    @property
    def operations(self) -> int:
        """Operations of one result: a fused multiply-add counts as two, a special function as one."""
        return 1 if self is Unit.SPECIAL else 2

    @property
    def symbol(self) -> str:
        """How people abbreviate its operations: ``FLOP``, or ``OP`` where they are not floating-point sums."""
        return "OP" if self in (Unit.SPECIAL, Unit.TENSOR_INT8) else "FLOP"


_LABELS = {Unit.FP32: "FP32", Unit.FP64: "FP64", Unit.SPECIAL: "special functions"}


@dataclass(frozen=True)
class Work:
    """What the definition of a problem asks for, whatever the kernel.

    Attributes:
        bytes: that must cross device memory: each input read once, each output written once.
        operations: by unit; a fused multiply-add counts as two. Units without operations may be left out.
    """

    bytes: int
    operations: Mapping[Unit, int] = field(default_factory=dict, hash=False)

    def count(self, unit: Unit) -> int:
        """The operations of one unit."""
        return self.operations.get(unit, 0)
