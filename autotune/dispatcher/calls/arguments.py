"""The arguments of a loaded kernel: packed once, filled in with what a call brings."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from math import fabs
from reprlib import repr as short
from typing import Any

from ...codegen.program import Argument, Program
from ...codegen.tensor_map import TENSOR_MAP_BYTES, TensorMap
from ..targets.base import Kernel

Names = tuple[str, ...]
Values = tuple[float, ...]
Launch = Callable[[int], None]
Filler = Callable[[ctypes.Structure, Values], None]
Encoder = Callable[[TensorMap, int], bytes]

_INTEGERS: Mapping[str, tuple[int, int]] = {
    "signed char": (-(2**7), 2**7 - 1),
    "unsigned char": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "unsigned short": (0, 2**16 - 1),
    "int": (-(2**31), 2**31 - 1),
    "unsigned": (0, 2**32 - 1),
    "long long": (-(2**63), 2**63 - 1),
    "unsigned long long": (0, 2**64 - 1),
}
_MAPS_KEPT = 64  # addresses of a tensor whose encoded maps are kept


class Arguments:
    """A kernel's arguments, which one thread uses at a time.

    Attributes:
        packed: as the driver takes them.
        values: those of a call that they hold; empty before the first.
        launch: launches with them.
    """

    __slots__ = ("launch", "packed", "values")

    def __init__(self, packed: ctypes.Structure, launch: Launch) -> None:
        self.packed = packed
        self.values: Values = ()
        self.launch = launch


class Template:
    """The arguments of a program for one problem, without what a call brings.

    Args:
        program: whose arguments they are.
        kernel: what launches with them.
        encode: makes the tensor maps of the device.
    """

    __slots__ = ("_encode", "_kernel", "_packed", "_program")

    def __init__(self, program: Program, kernel: Kernel, encode: Encoder) -> None:
        names = [argument.name for argument in program.arguments]
        tensors = [argument.tensor_map.tensor for argument in program.arguments if argument.tensor_map]
        self._program, self._kernel, self._encode = program, kernel, encode
        self._packed = program.pack(dict.fromkeys([*names, *tensors], 0), dict.fromkeys(names, 0), _empty_map)

    def arguments(self) -> Arguments:
        """New ones, not filled in."""
        packed = type(self._packed).from_buffer_copy(self._packed)
        return Arguments(packed, self._kernel.bound(packed))

    def filler(self, names: Names) -> Filler:
        """What sets the arguments from values.

        Args:
            names: for each value, the pointer, the tensor or the scalar that gets it; empty for none.

        Raises:
            ValueError: an argument is not among the names.
        """
        brought = tuple(a for a in self._program.arguments if a.value is None and a.name != "workspace")
        for argument in brought:
            if _brought_as(argument) not in names:
                raise ValueError(f"{self._program.name} takes {argument.name}, which the call does not provide")
        return filler(names, brought, self._encode)


def _brought_as(argument: Argument) -> str:
    return argument.tensor_map.tensor if argument.tensor_map else argument.name


@lru_cache(256)
def filler(names: Names, brought: tuple[Argument, ...], encode: Encoder) -> Filler:
    """What sets the members of a packed struct from values, in the order of `names`; those not `brought` are dropped.

    It is written out as source, as a dataclass's ``__init__`` is: a loop over the names takes 0.43 µs for the arguments
    of an sgemm instead of 0.17. Integers are checked, since ctypes drops the bits that do not fit. Tensor maps are
    encoded anew when an address is another one.
    """
    scope: dict[str, Any] = {}
    targets, converted = dict.fromkeys(range(len(names)), "_"), []
    for argument in brought:
        index = names.index(_brought_as(argument))
        if argument.tensor_map:
            scope[f"to_{argument.name}"] = lru_cache(_MAPS_KEPT)(partial(_encoded, argument.tensor_map, encode))
        elif argument.cuda_type in _INTEGERS:
            scope[f"to_{argument.name}"] = partial(_integer, argument.name, *_INTEGERS[argument.cuda_type])
        elif argument.positive:
            scope[f"to_{argument.name}"] = partial(_positive, argument.name)
        elif argument.probability:
            scope[f"to_{argument.name}"] = partial(_probability, argument.name)
        else:
            targets[index] = f"packed.{argument.name}"
            continue
        converted.append(f"        packed.{argument.name} = to_{argument.name}(values[{index}])\n")
    plain = "".join(f"{target}, " for target in targets.values())
    scope["check_scalars"] = partial(check_scalars, names)
    exec(
        f"def fill(packed, values):\n    try:\n{''.join(converted)}        {plain}= values\n"
        "    except (OverflowError, TypeError):\n        check_scalars(values)\n        raise",
        scope,
    )
    fill: Filler = scope["fill"]
    return fill


def check_scalars(names: Names, values: Values) -> None:
    """``TypeError`` or ``ValueError`` with the first value that is no number, or none that a double can hold."""
    for name, value in zip(names, values, strict=True):
        try:
            fabs(value)  # which converts as ctypes does
        except TypeError:
            raise TypeError(f"{name} is a {type(value).__name__}: expected a number") from None
        except OverflowError:
            raise ValueError(f"{name}={short(value)}: expected a number that a double can hold") from None


def _integer(name: str, low: int, high: int, value: Any) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected an integer") from None
    if not low <= whole <= high:
        raise ValueError(f"{name}={whole}: expected {low} … {high}")
    return whole


def _positive(name: str, value: float) -> float:
    if not value > 0:
        raise ValueError(f"{name}={value}: expected more than 0")
    return value


def _probability(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value}: expected 0 … 1")
    return value


def _encoded(tensor_map: TensorMap, encode: Encoder, address: int) -> Any:
    return (ctypes.c_uint64 * (TENSOR_MAP_BYTES // 8)).from_buffer_copy(encode(tensor_map, address))


def _empty_map(tensor_map: TensorMap, address: int) -> bytes:
    return bytes(TENSOR_MAP_BYTES)
