"""What a map computes: a function of each element, and what is fused with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import EXACT, Judgement, Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from .arrays import NARROW, MapArrays
from .convert import converted

# FP32 and special operations of each function, about.
_OPERATIONS = {Activation.RELU: (1, 0), Activation.RELU2: (2, 0), Activation.IDENTITY: (0, 0), Activation.GELU: (20, 1)}
_USUAL_OPERATIONS = (6, 2)


@dataclass(frozen=True)
class MapProblem(MapArrays):
    """y = (f(x + bias)·u + r)·scale for each element, computed in FP32 and rounded once; or its gradients.

    The factors u of gated pairs are an array, the second halves of the rows of x, or every second element of x. With
    `backward`, y is f'(x + bias)·u·g, and for gated pairs also f(x + bias)·g: in the layout of x, or of a separate u
    behind the rows of the first. In NumPy's words, x and y have `rows` rows of `columns` results. The fields are those
    of `MapArrays`.
    """

    @cached_property
    def collapsed(self) -> MapProblem:
        """The same problem with as few rows as there are gaps for: most are one row."""
        whole = all(getattr(self, f"ld{operand}") == max(1, columns) for operand, (_, columns) in self.stored.items())
        if self.rows < 2 or self.bias or self.gate is Gate.HALVES or not whole:
            return self
        dense: dict[str, Any] = {f"ld{operand}": 0 for operand in self.stored}
        return replace(self, rows=1, columns=self.rows * self.columns, **dense)

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
        if self.function is Activation.EXP and not fused:
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
                self._make_special(self.gate.separated(view)[0] if self.gate.packed else view, random)
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
        z, u = self.gate.separated(x) if self.gate.packed else (x, arrays.get("u"))
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
            parts = self.gate.separated(view) if self.gate.packed else (view[: self.rows], view[self.rows :])
            for part, one in zip(parts, rounded, strict=True):
                part[...] = one
        return {"y": flat}

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
