"""The arguments of a loaded kernel: packed once, filled in with what a call brings."""

from __future__ import annotations

import ctypes
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import fabs, inf
from reprlib import repr as short
from types import MappingProxyType
from typing import Any

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.lists import element, is_element, list_of, member
from autotune.codegen.model.packing import tensor_maps
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.dispatcher.targets.base import Kernel
from autotune.search_spaces.contract.call import Call

Names = tuple[str, ...]
Values = tuple[float, ...]
Launch = Callable[[int], None]
Encoder = Callable[[TensorMap, int], Callable[[int], None]]

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
_ALIGNMENT = 64  # bytes of tensor maps


class Arguments:
    """A kernel's arguments, which one thread uses at a time.

    Attributes:
        packed: as the driver takes them.
        maps: what encodes each tensor map of `packed` whose tensor a call brings, for that tensor's address.
        values: those of a call that they hold; empty before the first.
        launch: launches with them.
    """

    __slots__ = ("launch", "maps", "packed", "values")

    def __init__(self, packed: ctypes.Structure, maps: Sequence[Callable[[int], None]], launch: Launch) -> None:
        self.packed = packed
        self.maps = maps
        self.values: Values = ()
        self.launch = launch


Filler = Callable[[Arguments, Values], None]


class Template:
    """The arguments of a program for one problem, without what a call brings.

    Args:
        program: whose arguments they are.
        kernel: what launches with them.
        encoder: see `Target.encoder`.
        defaults: of scalars that a call may lack.
    """

    __slots__ = ("_brought", "_defaults", "_encoder", "_kernel", "_packed", "_program")

    def __init__(
        self, program: Program, kernel: Kernel, encoder: Encoder, defaults: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._program, self._kernel, self._encoder, self._defaults = program, kernel, encoder, defaults
        mapped = (one for block in program.blocks for one in block if one.tensor_map)
        self._brought = tuple(one for one in (*mapped, *program.brought) if one.brought != WORKSPACE)
        pointers = dict.fromkeys([*program.tensor_names, WORKSPACE], 0)
        scalars = {one.brought: defaults.get(one.brought, 0) for one in program.brought}
        self._packed = program.pack(pointers, scalars, _empty_map)

    def arguments(self) -> Arguments:
        """New ones, not filled in."""
        packed = _aligned_copy(self._packed)
        found = tensor_maps(self._program.blocks, packed)
        maps = [self._encoder(one, address) for one, address in found if one.tensor != WORKSPACE]
        return Arguments(packed, maps, self._kernel.bound(packed))

    def filler(self, names: Names) -> Filler:
        """What sets the arguments from values.

        Args:
            names: for each value, the pointer, the tensor or the scalar that gets it; empty for none. Other scalars
                stay at their defaults, and what the kernel takes for further elements of a list at 0.

        Raises:
            ValueError: an argument is not among the names.
        """
        left_out = [argument for argument in self._brought if argument.brought not in names]
        for argument in left_out:
            further = is_element(argument.brought) and element(list_of(argument.brought), 0) in names
            if not further and argument.brought not in self._defaults:
                raise ValueError(f"{self._program.name} takes {argument.name}, which the call does not provide")
        return filler(names, tuple(argument for argument in self._brought if argument not in left_out))


@lru_cache(256)
def filler(names: Names, brought: tuple[Argument, ...]) -> Filler:
    """What sets the members of packed arguments from values, in the order of `names`; those not `brought` are dropped.

    It is written out as source, as a dataclass's ``__init__`` is: a loop over the names takes 0.43 µs for the arguments
    of an sgemm instead of 0.17. Integers are checked, since ctypes drops the bits that do not fit.
    """
    scope: dict[str, Any] = {}
    targets, converted, maps = dict.fromkeys(range(len(names)), "_"), list[str](), list[str]()
    for argument in brought:
        index, name = names.index(argument.brought), member(argument.brought)
        if argument.tensor_map:
            maps.append(f"    arguments.maps[{len(maps)}](values[{index}] + {argument.tensor_map.offset})\n")
            continue
        if argument.cuda_type in _INTEGERS:
            scope[f"to_{name}"] = partial(_integer, argument.brought, *_INTEGERS[argument.cuda_type])
        elif argument.positive:
            scope[f"to_{name}"] = partial(_positive, argument.brought)
        elif argument.probability:
            scope[f"to_{name}"] = partial(_probability, argument.brought)
        else:
            targets[index] = f"packed.{name}"
            continue
        converted.append(f"        packed.{name} = to_{name}(values[{index}])\n")
    plain = "".join(f"{target}, " for target in targets.values())
    scope["check_scalars"] = partial(check_scalars, names)
    exec(
        "def fill(arguments, values):\n    packed = arguments.packed\n    try:\n"
        f"{''.join(converted)}        {plain}= values\n"
        "    except (OverflowError, TypeError):\n        check_scalars(values)\n        raise\n"
        f"{''.join(maps)}",
        scope,
    )
    fill: Filler = scope["fill"]
    return fill


def check_scalars(names: Names, values: Values, nonnegative: Names = ()) -> None:
    """``TypeError`` or ``ValueError`` with the first value that is no number, or none that a double can hold.

    Those of some names have to be finite, and 0 at least.
    """
    for name, value in zip(names, values, strict=True):
        try:
            fabs(value)  # which converts as ctypes does
        except TypeError:
            raise TypeError(f"{name} is a {type(value).__name__}: expected a number") from None
        except OverflowError:
            raise ValueError(f"{name}={short(value)}: expected a number that a double can hold") from None
        if name in nonnegative and not is_nonnegative(value):
            raise ValueError(f"{name}={value}: expected a finite number of at least 0")


def check_options(call: Call, case: tuple[Any, ...]) -> None:
    """``TypeError`` with the first option of a kind that no call has, such as an array or a function.

    What is of a kind that calls have, the operator checks itself.
    """
    for name, value in zip(call.options, case, strict=False):
        text = call.texts.get(name)
        if text is not None and (not _is_option(value) or (isinstance(value, str) and not text)):
            expected = inspect.signature(call.declaration).parameters[name].annotation
            raise TypeError(f"{name} is a {type(value).__name__}: expected {expected}")


def _is_option(value: Any) -> bool:
    return all(map(_is_option, value)) if isinstance(value, tuple) else isinstance(value, str | int | float | None)


def is_nonnegative(value: Any) -> bool:
    """Whether it is a finite number of at least 0."""
    try:
        return bool(0 <= value < inf)
    except TypeError:
        return False


def sequence(out: Any) -> Sequence[Any]:
    """Several outputs; ``TypeError`` for one array, whose rows would be taken for them."""
    if isinstance(out, tuple | list):
        return out
    raise TypeError


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


def _aligned_copy(packed: ctypes.Structure) -> ctypes.Structure:
    """At a multiple of what tensor maps are aligned to."""
    size = ctypes.sizeof(packed)
    memory = (ctypes.c_char * (size + _ALIGNMENT - 1))()
    copy = type(packed).from_buffer(memory, -ctypes.addressof(memory) % _ALIGNMENT)
    ctypes.pointer(copy)[0] = packed
    return copy


def _empty_map(tensor_map: TensorMap, address: int) -> bytes:
    return bytes(TENSOR_MAP_BYTES)
