"""Maps by the names that they have in ``torch.nn.functional`` and elsewhere, each as the arguments of `map`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.model.dtype import DType

Arguments = Mapping[str, Any]


def gelu(input: Any, approximate: str = "none", *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.nn.functional.gelu``, by ``map``.

    Args:
        input: see ``map``.
        approximate: ``none`` for the error function, or ``tanh``.
        out: see ``map``.
    """
    return {"input": input, "function": _gelu(approximate), "out": out, "stream": stream}


def silu(input: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.nn.functional.silu``, by ``map``.

    Args:
        input, out: see ``map``.
    """
    return {"input": input, "function": "silu", "out": out, "stream": stream}


def relu(input: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.nn.functional.relu``, by ``map``.

    Args:
        input, out: see ``map``.
    """
    return {"input": input, "function": "relu", "out": out, "stream": stream}


def sigmoid(input: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.sigmoid``, by ``map``.

    Args:
        input, out: see ``map``.
    """
    return {"input": input, "function": "sigmoid", "out": out, "stream": stream}


def tanh(input: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.tanh``, by ``map``.

    Args:
        input, out: see ``map``.
    """
    return {"input": input, "function": "tanh", "out": out, "stream": stream}


def exp(input: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """``torch.exp``, by ``map``.

    Args:
        input, out: see ``map``.
    """
    return {"input": input, "function": "exp", "out": out, "stream": stream}


def swiglu(gate: Any, up: Any = None, *, packed: str = "halves", out: Any = None, stream: Any = None) -> Arguments:
    """silu(gate)·up, by ``map``.

    Args:
        gate: the gates, or without `up` rows of gates and factors.
        up: the factors.
        packed: without `up`, how rows hold both: ``halves`` or ``interleaved``.
        out: see ``map``.
    """
    return _gated(gate, up, "silu", packed) | {"out": out, "stream": stream}


def geglu(
    gate: Any, up: Any = None, approximate: str = "none", *, packed: str = "halves", out: Any = None, stream: Any = None
) -> Arguments:
    """gelu(gate)·up, by ``map``.

    Args:
        gate, up, packed: see ``swiglu``.
        approximate: see ``gelu``.
        out: see ``map``.
    """
    return _gated(gate, up, _gelu(approximate), packed) | {"out": out, "stream": stream}


def residual_add(input: Any, residual: Any, *, out: Any = None, stream: Any = None) -> Arguments:
    """input + residual, by ``map``.

    Args:
        input, residual: of the same shape and dtype.
        out: see ``map``; it may be `input` or `residual`.
    """
    first, second = (residual, input) if out is residual else (input, residual)
    return {"input": first, "residual": second, "out": out, "stream": stream}


def cast(
    input: Any, dtype: DType, *, scale: Any = None, saturate: bool = False, out: Any = None, stream: Any = None
) -> Arguments:
    """``input.to(dtype)``, or ``(input.float() * scale).to(dtype)``, by ``map``.

    Args:
        input, dtype, scale, saturate, out: see ``map``.
    """
    return {"input": input, "dtype": dtype, "scale": scale, "saturate": saturate, "out": out, "stream": stream}


def _gelu(approximate: str) -> str:
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate={approximate!r}: expected none or tanh")
    return "gelu" if approximate == "none" else "gelu_tanh"


def _gated(gate: Any, up: Any, function: str, packed: str) -> dict[str, Any]:
    return {"input": gate, "function": function, "factors": up, "packed": packed if up is None else None}


FUNCTIONS: tuple[Callable[..., Arguments], ...] = (
    gelu,
    silu,
    relu,
    sigmoid,
    tanh,
    exp,
    swiglu,
    geglu,
    residual_add,
    cast,
)
