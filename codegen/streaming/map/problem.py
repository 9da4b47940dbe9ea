"""What a map computes: a function of each element, what is fused with it, types and layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dtype import DType
from ...fields import FieldSpec, kind, layout, size
from ...integers import widest_divisor
from ...matrices import WIDEST_ACCESS, MatrixProblem
from ...problem import Array
from ...repeated import repeated
from ...tensor import EXACT, Judgement, Role, Tensor, Within
from ...work import Unit, Work
from .convert import converted
from .function import Function

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
NARROW = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8)
# FP32 and special operations of each function, about.
_OPERATIONS = {Function.RELU: (1, 0), Function.RELU2: (2, 0), Function.IDENTITY: (0, 0), Function.GELU: (20, 1)}
_USUAL_OPERATIONS = (6, 2)
_Floats = npt.NDArray[np.float64]


class Gate(StrEnum):
    """Where the factors of gated pairs are."""

    NONE = "none"
    SEPARATE = "separate"  # in an array of their own
    HALVES = "halves"  # behind the gates in each row
    INTERLEAVED = "interleaved"  # behind each gate


class OutDType(StrEnum):
    """The type of the results, which is mostly that of x."""

    SAME = "same"
    FLOAT32 = DType.FLOAT32.value
    FLOAT16 = DType.FLOAT16.value
    BFLOAT16 = DType.BFLOAT16.value
    FLOAT8_E4M3 = DType.FLOAT8_E4M3.value
    FLOAT8_E5M2 = DType.FLOAT8_E5M2.value
    INT8 = DType.INT8.value


@dataclass(frozen=True)
class MapProblem(MatrixProblem):
    """y = (f(x + bias)·u + r)·scale for each element, computed in FP32 and rounded once; or its gradients.

    The factors u of gated pairs are an array, the second halves of the rows of x, or every second element of x. With
    `backward`, y is f'(x + bias)·u·g, and for gated pairs also f(x + bias)·g: in the layout of x, or of a separate u
    behind the rows of the first. In NumPy's words, x and y have `rows` rows of `columns` results.

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
    function: Function = kind(Function.GELU)
    dtype: DType = kind(DType.FLOAT32, allowed=(*DTYPES, *NARROW))
    out_dtype: OutDType = kind(OutDType.SAME)
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
        if self.result is self.dtype:
            object.__setattr__(self, "out_dtype", OutDType.SAME)
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
        casts = self.function is Function.IDENTITY and self.gate is Gate.NONE and not (self.bias or self.residual)
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
        return self.dtype if self.out_dtype is OutDType.SAME else DType(self.out_dtype)

    @property
    def packed_rows(self) -> bool:
        """Whether the rows of x hold gates and factors."""
        return self.gate in (Gate.HALVES, Gate.INTERLEAVED)

    @cached_property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of the arrays that there are, but for a bias and a scale."""
        plain, pairs = (self.rows, self.columns), (self.rows, 2 * self.columns)
        x = pairs if self.packed_rows else plain
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

    @property
    def collapsed(self) -> MapProblem:
        """The same problem with as few rows as there are gaps for: most are one row."""
        whole = all(getattr(self, f"ld{operand}") == max(1, columns) for operand, (_, columns) in self.stored.items())
        if self.rows < 2 or self.bias or self.gate is Gate.HALVES or not whole:
            return self
        dense: dict[str, Any] = {f"ld{operand}": 0 for operand in self.stored}
        return replace(self, rows=1, columns=self.rows * self.columns, **dense)

    def pairs(self, operand: str) -> int:
        """Elements of an array for each result, next to each other."""
        return 2 if self.gate is Gate.INTERLEAVED and self.stored[operand][1] == 2 * self.columns else 1

    def aligned(self, width: int) -> bool:
        """Whether accesses to so many results at a time are aligned in every row of every array."""
        return all(self._access(operand, width) <= self._widest(operand) for operand in self.stored)

    @property
    def copies_in_bulk(self) -> bool:
        """Whether it is one row, and all that is read of it begins at multiples of 16 bytes."""
        widest = (self._widest(operand) * self.element_bytes_of(operand) for operand in self.stored if operand != "y")
        return self.rows == 1 and not self.bias and all(size >= WIDEST_ACCESS for size in widest)

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

    @property
    def work(self) -> Work:
        """Each array is read or written once."""
        elements = self.rows * self.columns
        if not elements:
            return Work(0)
        moved = sum(rows * columns * self.element_bytes_of(operand) for operand, (rows, columns) in self.stored.items())
        moved += self.columns * self.dtype.bytes * self.bias + DType.FLOAT32.bytes * self.scaled
        fp32, special = _OPERATIONS.get(self.function, _USUAL_OPERATIONS)
        more = self.bias + self.residual + self.scaled + (self.gate is not Gate.NONE) * (1 + self.backward)
        both = 2 if self.backward else 1
        return Work(moved, {Unit.FP32: elements * (both * fp32 + more), Unit.SPECIAL: elements * both * special})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``u``, ``r``, ``g``, ``bias`` and ``scale`` if there are such, and ``y``, which may be ``x``."""
        read = [self.tensor(name, self.dtype_of(name), Role.INPUT) for name in self.stored if name != "y"]
        if self.bias:
            read.append(Tensor.flat("bias", self.dtype, self.columns, Role.INPUT, self.dtype.bytes))
        if self.scaled:
            read.append(Tensor.flat("scale", DType.FLOAT32, 1, Role.INPUT, DType.FLOAT32.bytes))
        y = self.tensor("y", self.dtype_of("y"), Role.OUTPUT, self._judged)
        alike = self.layout_of("x") == self.layout_of("y") and self.stored["x"] == self.stored["y"]
        in_place = alike and self.dtype_of("y") is self.dtype
        return (*read, replace(y, in_place="x") if in_place else y)

    @property
    def exact(self) -> bool:
        """Whether each step is rounded as FP32 arithmetic does, in whatever way a compiler joins the steps."""
        return self.function.exact and not (self.residual and self.gate is not Gate.NONE)

    @property
    def _judged(self) -> Judgement:
        """Functions err by 2^-22, or by 2^-20 of their result; each other operand is at most 5 in `inputs`."""
        if self.exact:
            return EXACT
        fused = self.residual or self.backward or self.gate is not Gate.NONE
        if self.function is Function.EXP and not fused:
            return Within.rounded(self.dtype_of("y"), absolute=2.0**-126, relative=2.0**-21)
        absolute = 2.0 ** (-16 if self.backward and self.gate is not Gate.NONE else -18 if fused else -22)
        return Within.rounded(self.dtype_of("y"), absolute=absolute, relative=2.0**-20)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, and in x what is special: zeros, subnormals, what overflows inside of a function, NaN."""
        random = np.random.default_rng(seed)

        def drawn(tensor: Tensor, spread: float) -> Array:
            def draw(count: int) -> Array:
                numbers = spread * random.standard_normal(count, np.float32)
                return converted(np.clip(numbers, -5 * spread, 5 * spread), tensor.dtype, saturate=True)

            return repeated(draw, tensor.size)

        found = {}
        for tensor in self.tensors[:-1]:
            if tensor.name == "scale":
                found["scale"] = random.uniform(0.25, 1, 1).astype(np.float32)
            elif tensor.name != "x":
                found[tensor.name] = drawn(tensor, 1)
            else:
                found["x"] = drawn(tensor, 40 if self.dtype is DType.INT8 else 1 if self.result in NARROW else 3)
                view = tensor.view(found["x"])
                self._make_special(self._parts(view)[0] if self.packed_rows else view, random)
        return found

    def _make_special(self, z: Array, random: np.random.Generator) -> None:
        """Special numbers here and there, at most in every fourth place."""
        if self.dtype is DType.INT8 or (self.result in NARROW and not self.exact):
            return
        numbers = [0.0, -0.0, 1e-40, -1e-7, 30.0, -30.0, 250.0, 470.0, -np.nan, np.nan]
        if not self.backward:
            numbers += [1e4, -1e4, 65504.0, -65504.0, 3e38, np.inf, -np.inf]
        count = min(z.size // 4, len(numbers))
        places = random.choice(min(z.size, 2**20), count, replace=False)
        with np.errstate(over="ignore"):
            z[np.unravel_index(places, z.shape)] = random.permutation(np.array(numbers, np.float32))[:count]

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y, in its own type where each step is exact or rounded alike, else in float64."""
        y = self.tensors[-1]
        number = np.float32 if self.exact else np.float64
        arrays = {tensor.name: tensor.view(inputs[tensor.name]).astype(np.float32) for tensor in self.tensors[:-1]}
        x = arrays["x"]
        z, u = self._parts(x) if self.packed_rows else (x, arrays.get("u"))
        with np.errstate(all="ignore"):
            z = z + arrays["bias"] if self.bias else z
            if self.backward:
                results = self._gradients(z.astype(number), u, arrays["g"].astype(number))
            else:
                results = [self._forward(z.astype(number), u, arrays)]
            rounded = [one if y.judged is not EXACT else converted(one, y.dtype, self.saturate) for one in results]
        flat = np.zeros(y.size, rounded[0].dtype)
        view = y.view(flat)
        if len(rounded) == 1:
            view[...] = rounded[0]
        else:
            parts = self._parts(view) if self.packed_rows else (view[: self.rows], view[self.rows :])
            for part, one in zip(parts, rounded, strict=True):
                part[...] = one
        return {"y": flat}

    def _parts(self, rows: Array) -> tuple[Array, Array]:
        """Gates and factors in packed rows."""
        if self.gate is Gate.HALVES:
            return rows[:, : self.columns], rows[:, self.columns :]
        return rows[:, 0::2], rows[:, 1::2]

    def _forward(self, z: Array, u: Array | None, arrays: Mapping[str, Array]) -> Array:
        result: Array = self.function.apply(z)
        if u is not None:
            result = result * u
        if self.residual:
            result = result + arrays["r"]
        if self.scaled:
            result = result * arrays["scale"]
        if self.saturate and not self.exact:
            result = np.clip(result, -self.result.largest, self.result.largest)
        return result

    def _gradients(self, z: Array, u: Array | None, g: Array) -> list[Array]:
        if u is None:
            return [self.function.gradient(z, g)]
        return [self.function.gradient(z, g * u), self.function.apply(z) * g]
