"""``example.cpp`` and its data: small problems whose results an export is shown to compute."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Checked, Role, Tensor, Within
from autotune.verification import scale_name

from .interface import call, parameters
from .kernels import Kernels

_CASES, _TRIED = 8, 300
_MOST_BYTES = 1 << 19  # bytes of a problem's tensors
_SUFFIXES = {"unsigned long long": "ULL", "long long": "LL", "float": "f"}
_TEMPLATE = Path(__file__).parent / "example.cpp.in"
_CASE = """
  passed &= compute(
      folder + "/data/{number}", autotune_{name}_schedule({sizes}), autotune_{name}_workspace_bytes({sizes}),
      [](const CUdeviceptr* tensors, CUdeviceptr workspace) {{ return {call}; }});"""


def example(exported: Kernels) -> str:
    """The program."""
    tensors = exported.bundle.problems[0].tensors
    text = _TEMPLATE.read_text(encoding="utf-8").replace("@OPERATOR@", exported.bundle.operator.name)
    text = text.replace("@ELEMENT_BYTES@", ", ".join(str(one.dtype.bytes) for one in tensors))
    return text.replace("@CASES@", "".join(_case(exported, *one) for one in enumerate(cases(exported)))[1:])


def write_data(exported: Kernels, folder: Path) -> None:
    """What the tensors of each case hold before a call, and between which bounds they lie after it."""
    for number, sizes in enumerate(cases(exported)):
        problem = exported.bundle.problem(sizes)
        inputs = problem.inputs(number)
        outputs = problem.reference(inputs, problem.scalars)
        for place, tensor in enumerate(problem.tensors):
            before = _any(tensor)[0] if tensor.role is Role.OUTPUT else inputs[tensor.name]
            bounds = (before, before) if tensor.role is Role.INPUT else _bounds(tensor, outputs)
            for what, content in zip(("before", "low", "high"), (before, *bounds), strict=True):
                content.tofile(folder / f"{number}.{place}.{what}")


def cases(exported: Kernels) -> list[dict[str, int]]:
    """Sizes of small problems with as many kernels as a few of them take.

    A problem may state others, which calls do not: 0 for a window that is as long as the keys.
    """
    bundle, draw = exported.bundle, random.Random(0)
    found: dict[str, dict[str, int]] = {}
    for _ in range(_TRIED):
        sizes = bundle.fitted({name: min(most, int(2 ** draw.uniform(0, 10))) for name, most in bundle.most.items()})
        serving = sizes and exported.serving(sizes)
        if sizes and serving and sum(one.bytes for one in bundle.problem(sizes).tensors) <= _MOST_BYTES:
            found.setdefault(exported.programs[serving[1]].source_digest, sizes)
    return list(found.values())[:_CASES]


def _case(exported: Kernels, number: int, sizes: Mapping[str, int]) -> str:
    """The call for some sizes, with the scalars that their problem is verified with."""
    name, problem = exported.bundle.operator.name, exported.bundle.problem(sizes)
    numbers = {one: str(size) for one, size in sizes.items()}
    tensors = {one.name: f"tensors[{place}]" for place, one in enumerate(problem.tensors)}
    scalars = {
        one: _literal(kind, problem.scalars[one])
        for one, kind in parameters(exported).items()
        if one in problem.scalars
    }
    values = tensors | numbers | scalars | {"workspace": "workspace", "stream": "nullptr"}
    return _CASE.format(number=number, name=name, sizes=", ".join(numbers.values()), call=call(exported, values))


def _literal(kind: str, value: float) -> str:
    return f"{float(value) if kind in ('float', 'double') else int(value)}{_SUFFIXES.get(kind, '')}"


def _bounds(tensor: Tensor, outputs: Mapping[str, Array]) -> tuple[Array, Array]:
    """The least and the greatest value that counts as right, of the output's type; a NaN may have any bits.

    Elements of outputs with several right answers, and those behind a count, may be anything.
    """
    low = high = expected = outputs[tensor.name]
    if isinstance(tensor.judged, Within):
        dtype: np.dtype[Any] = tensor.dtype.numpy
        scale = outputs.get(scale_name(tensor), np.abs(expected))
        tolerance = tensor.judged.absolute + tensor.judged.relative * scale
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = (expected - tolerance).astype(dtype), (expected + tolerance).astype(dtype)
        low[low == 0], high[high == 0] = -0.0, 0.0  # either sign
    unbound = np.isnan(low) | isinstance(tensor.judged, Checked)
    if tensor.extent:
        unbound |= ~tensor.counted(outputs[tensor.extent.count])
    lowest, highest = _any(tensor)
    return np.where(unbound, lowest, low), np.where(unbound, highest, high)


def _any(tensor: Tensor) -> tuple[Array, Array]:
    """The first and the last element of a type as the example orders them, by their bits."""
    bits = np.full((tensor.size, tensor.dtype.bytes), 0xFF, np.uint8)
    low, high = bits, bits.copy()
    high[:, -1] = 0x7F
    return low.reshape(-1).view(tensor.dtype.numpy), high.reshape(-1).view(tensor.dtype.numpy)
