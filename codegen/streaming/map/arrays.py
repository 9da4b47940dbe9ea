"""The arrays of a map: which there are, of which types, and how rows and vectors lie in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import FieldSpec, kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.matrices import MatrixProblem

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
NARROW = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8)


@dataclass(frozen=True)
class MapArrays(MatrixProblem):
    """The fields of `MapProblem`, and what follows from them for its arrays.

    Attributes:
        rows, columns: of the results; a packed x has rows twice as long.
        function: the function f of one number.
        dtype: of x, bias, u and r, and of gradients of x; of 8 bits for casts only.
        out_dtype: of the results, and so of the gradient g, if it is another one.
        saturate: whether results are the nearest number of their type, also for what is beyond its largest; whole
            numbers are rounded to even. Without it they are what PyTorch's casts give.
        gate: where the factors u are: ``none``, ``separate``, ``halves`` or ``interleaved``.
        bias: whether a row is added to each row of x.
        residual: whether r is added.
        scaled: whether results are multiplied by a number in device memory.
        backward: whether gradients are computed.
        ldx, ldu, ldr, ldg, ldy: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_u, align_r, align_g, align_y: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("y")

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=None)
    function: Activation = kind(Activation.GELU)
    dtype: DType = kind(DType.FLOAT32, allowed=(*DTYPES, *NARROW))
    out_dtype: OutDType = kind(OutDType.SAME, allowed=tuple(one for one in OutDType if one is not OutDType.INT32))
    saturate: bool = kind(False, codes=("", "saturate"))
    gate: Gate = kind(Gate.NONE)
    bias: bool = kind(False, codes=("", "bias"))
    residual: bool = kind(False, codes=("", "residual"))
    scaled: bool = kind(False, codes=("", "scaled"))
    backward: bool = kind(False, codes=("", "backward"))
    ldx: int = layout()
    align_x: int = layout(16)
    ldu: int = layout()
    align_u: int = layout(16)
    ldr: int = layout()
    align_r: int = layout(16)
    ldg: int = layout()
    align_g: int = layout(16)
    ldy: int = layout()
    align_y: int = layout(16)

    def __post_init__(self) -> None:
        object.__setattr__(self, "out_dtype", self.out_dtype.beside(self.dtype))
        self._check_kinds()
        super().__post_init__()
        for operand in set("urg") - self.stored.keys():
            for name in (f"ld{operand}", f"align_{operand}"):
                if getattr(self, name) != self.usual(name):
                    raise ValueError(
                        f"{name}={getattr(self, name)}: expected {self.usual(name)}, there is no such array"
                    )

    def _check_kinds(self) -> None:
        """``ValueError`` for combinations that no kernel computes."""
        casts = self.function is Activation.IDENTITY and self.gate is Gate.NONE and not (self.bias or self.residual)
        if self.dtype in NARROW and not casts:
            raise ValueError(
                f"dtype={self.dtype}: expected one of {', '.join(DTYPES)} where more than a cast is computed"
            )
        if self.result is DType.INT8 and not casts:
            raise ValueError(
                f"out_dtype={self.out_dtype}: expected floating-point numbers where more than a cast is computed"
            )
        if self.saturate and self.result is DType.FLOAT32:
            raise ValueError("saturate: expected results of fewer than 32 bits")
        if self.backward and (self.residual or self.scaled or self.saturate or {self.dtype, self.result} & set(NARROW)):
            raise ValueError("backward: expected no residual, no scale, no saturation and no types of 8 bits")

    @property
    def result(self) -> DType:
        """The type of the forward pass's results."""
        return self.out_dtype.of(self.dtype)

    @cached_property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of the arrays that there are, but for a bias and a scale."""
        plain, pairs = (self.rows, self.columns), (self.rows, 2 * self.columns)
        x = pairs if self.gate.packed else plain
        two = self.backward and self.gate is Gate.SEPARATE
        there = {"x": True, "u": self.gate is Gate.SEPARATE, "r": self.residual, "g": self.backward}
        arrays = {"x": x, "u": plain, "r": plain, "g": plain}
        y = (2 * self.rows, self.columns) if two else x if self.backward else plain
        return {name: shape for name, shape in arrays.items() if there[name]} | {"y": y}

    def dtype_of(self, operand: str) -> DType:
        """The type of an array's elements."""
        return self.result if (operand == "g" or (operand == "y" and not self.backward)) else self.dtype

    def element_bytes_of(self, operand: str) -> int:
        """Bytes of an element of an array."""
        return self.dtype_of(operand).bytes

    def usual(self, name: str) -> int:
        """See `Problem.usual`."""
        if name[-1] in self.stored:
            return super().usual(name)
        return 0 if name.startswith("ld") else WIDEST_ACCESS

    def _key_word(self, name: str, spec: FieldSpec) -> str:
        """No word for what is as usual."""
        usual = (name, getattr(self, name)) in (("gate", Gate.NONE), ("out_dtype", OutDType.SAME))
        return "" if usual else super()._key_word(name, spec)

    def pairs(self, operand: str) -> int:
        """Elements of an array for each result, next to each other."""
        return 2 if self.gate is Gate.INTERLEAVED and self.stored[operand][1] == 2 * self.columns else 1

    def aligned(self, width: int) -> bool:
        """Whether accesses to so many results at a time are aligned in every row of every array."""
        return all(self._access(operand, width) <= self._widest(operand) for operand in self.stored)

    def apart(self, width: int) -> list[str]:
        """The arrays, each once for each of its parts, that are not aligned where vectors of so many results are.

        Those begin where the first part of y is aligned.
        """
        parts = {operand: [0] for operand in self.stored}
        if self.gate is Gate.HALVES:
            parts |= {
                operand: [0, self.columns] for operand, (_, columns) in self.stored.items() if columns > self.columns
            }
        if self.backward and self.gate is Gate.SEPARATE:
            parts["y"].append(self.rows * self.layout_of("y")[0])
        return [one for one in parts for begin in parts[one] if not self._alike(one, begin, width)]

    def _alike(self, operand: str, begin: int, width: int) -> bool:
        """Whether a part of an array that begins there is aligned in all rows where the first part of y is."""
        (leading, _, align), (of_y, _, _) = self.layout_of(operand), self.layout_of("y")
        access, pairs, of_result = self._access(operand, width), self.pairs(operand), self.pairs("y")
        skew = 0 if self.rows < 2 else (of_result * leading - pairs * of_y) % (of_result * access)
        aligned = align >= access * self.element_bytes_of(operand)
        return access == 1 or (aligned and skew == 0 and begin % access == 0)

    def _access(self, operand: str, width: int) -> int:
        """Elements of an access, of 16 bytes at most."""
        return min(width * self.pairs(operand), WIDEST_ACCESS // self.element_bytes_of(operand))

    def _widest(self, operand: str) -> int:
        """Elements of the widest access that all parts of all rows are aligned for."""
        rows, columns = self.stored[operand]
        leading, _, align = self.layout_of(operand)
        halves = self.gate is Gate.HALVES and columns == 2 * self.columns
        most = align // self.element_bytes_of(operand)
        return widest_divisor(most, leading if rows > 1 else 0, self.columns if halves else 0)
