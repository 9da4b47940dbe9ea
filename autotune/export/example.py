"""``example.cpp`` and its data: small problems whose results an export is shown to compute."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.lists import grouped, is_element
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Checked, Role, Tensor, Within
from autotune.codegen.source.arguments import cuda_members
from autotune.verification import scale_name

from .interface import call, scalars_of
from .kernels import Kernels

_CASES, _TRIED = 8, 300
_MOST_BYTES = 1 << 20  # bytes of a problem's tensors
_TEMPLATE = Path(__file__).parent / "example.cpp.in"


def example(exported: Kernels) -> str:
    """The program."""
    name, problems = exported.bundle.operator.name, cases(exported)
    tensors = problems[0].tensors
    replaced = {
        "OPERATOR": name,
        "SIZES": ", ".join(exported.bundle.most),
        "ELEMENT_BYTES": ", ".join(str(one.dtype.bytes) for one in tensors),
        "CASES": ",\n".join(f"    {{{', '.join(map(str, exported.bundle.sizes(one).values()))}}}" for one in problems),
        "SIZE_COUNT": str(len(exported.bundle.most)),
        "MEMBERS": cuda_members(list(scalars_of(exported))),
        "SCALARS": ",\n".join(f"    {_scalars(exported, problem)}" for problem in problems),
        "CALL": call(exported, {one.name: f"tensors[{place}]" for place, one in enumerate(tensors)}.__getitem__),
    }
    text = _TEMPLATE.read_text(encoding="utf-8")
    for word, value in replaced.items():
        text = text.replace(f"@{word}@", value)
    return text


def write_data(exported: Kernels, folder: Path) -> None:
    """What the tensors of each case hold before a call, and between which bounds they lie after it.

    Elements of outputs with several right answers, and those behind a count, may be anything.
    """
    for number, problem in enumerate(cases(exported)):
        inputs = problem.inputs(number)
        outputs = problem.reference(inputs, problem.scalars)
        for place, tensor in enumerate(problem.tensors):
            before = _any(tensor)[0] if tensor.role is Role.OUTPUT else inputs[tensor.name]
            low, high = before, before
            if tensor.role is not Role.INPUT:
                low, high = _bounds(tensor, outputs[tensor.name], outputs.get(scale_name(tensor)))
            if tensor.extent:
                counted = tensor.counted(outputs[tensor.extent.count])
                low, high = (np.where(counted, *pair) for pair in zip((low, high), _any(tensor), strict=True))
            for what, content in (("before", before), ("low", low), ("high", high)):
                content.tofile(folder / f"{number}.{place}.{what}")


def cases(exported: Kernels) -> list[Problem]:
    """Small problems with as many kernels as a few of them take."""
    bundle, draw = exported.bundle, random.Random(0)
    found: dict[str, Problem] = {}
    for _ in range(_TRIED):
        sizes = bundle.fitted({name: min(most, int(2 ** draw.uniform(0, 10))) for name, most in bundle.most.items()})
        if sizes and (serving := exported.serving(sizes)):
            problem = bundle.problem(sizes)
            if sum(tensor.bytes for tensor in problem.tensors) <= _MOST_BYTES:
                found.setdefault(exported.programs[serving[1]].source_digest, problem)
        if len(found) == _CASES:
            break
    return list(found.values())


def _bounds(tensor: Tensor, expected: Array, scale: Array | None) -> tuple[Array, Array]:
    """The least and the greatest value that counts as right, of the output's type; a NaN may have any bits."""
    lowest, highest = _any(tensor)
    if isinstance(tensor.judged, Checked):
        return lowest, highest
    low, high = expected, expected
    if isinstance(tensor.judged, Within):
        dtype: np.dtype[Any] = tensor.dtype.numpy
        tolerance = tensor.judged.absolute + tensor.judged.relative * (np.abs(expected) if scale is None else scale)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = (expected - tolerance).astype(dtype), (expected + tolerance).astype(dtype)
        low[low == 0], high[high == 0] = -0.0, 0.0  # either sign
    unordered = np.isnan(low)
    return np.where(unordered, lowest, low), np.where(unordered, highest, high)


def _any(tensor: Tensor) -> tuple[Array, Array]:
    """The first and the last element of a type as the example orders them, by their bits."""
    bits = np.full((tensor.size, tensor.dtype.bytes), 0xFF, np.uint8)
    low, high = bits, bits.copy()
    high[:, -1] = 0x7F
    return low.reshape(-1).view(tensor.dtype.numpy), high.reshape(-1).view(tensor.dtype.numpy)


def _scalars(exported: Kernels, problem: Problem) -> str:
    """What a problem is verified with, as the members of a struct."""
    kinds = {one.name: one.cuda_type for one in scalars_of(exported)}
    words = []
    for names in grouped(kinds).values():
        values = ", ".join(_literal(kinds[name], problem.scalars[name]) for name in names)
        words.append(f"{{{values}}}" if is_element(names[0]) else values)
    return f"{{{', '.join(words)}}}"


def _literal(kind: str, value: float) -> str:
    suffix = {"unsigned long long": "ULL", "long long": "LL", "float": "f"}.get(kind, "")
    return f"{float(value) if kind in ('float', 'double') else int(value)}{suffix}"
