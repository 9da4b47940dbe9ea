"""``struct Arguments`` as the driver and the emulator take it: packed bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from .argument import WORKSPACE, Argument, TensorMapBytes
from .integers import round_up
from .lists import member
from .tensor_map import TensorMap

_T = TypeVar("_T")
ALIGNMENT = 64  # bytes: a struct in a frame is aligned as tensor maps are
_Block = tuple[Argument, ...]


class Encode(Protocol):
    """Makes the `TENSOR_MAP_BYTES` bytes of a tensor map that begins at an address."""

    def __call__(self, tensor_map: TensorMap, address: int) -> bytes: ...  # noqa: D102


def packed(
    name: str,
    arguments: _Block,
    pointers: Mapping[str, int],
    scalars: Mapping[str, float],
    encode: Encode | None = None,
) -> ctypes.Structure:
    """An argument struct with the constants of its members, device addresses and scalars; see `Program.pack`.

    Raises:
        ValueError: a pointer or a scalar was not given; `name` is the kernel's in the message.
    """

    def given(values: Mapping[str, _T], wanted: str) -> _T:
        if wanted not in values:
            known = f"which is none of {', '.join(values)}" if values else "and none is given"
            raise ValueError(f"{name} takes {wanted}, {known}")
        return values[wanted]

    def value(argument: Argument) -> object:
        if argument.tensor_map is not None:
            assert encode is not None
            tensor_map = argument.tensor_map
            encoded = encode(tensor_map, given(pointers, tensor_map.tensor) + tensor_map.offset)
            return TensorMapBytes.from_buffer_copy(encoded)
        if argument.value is not None:
            return argument.value
        if argument.pointer:
            return given(pointers, argument.brought) + argument.offset
        return given(scalars, argument.brought)

    return _structure(_members(arguments))(*map(value, arguments))


def brought(blocks: Sequence[_Block], *, workspace: bool) -> tuple[Argument, ...]:
    """What a call brings for some structs: pointers and scalars, each once.

    Args:
        blocks: the structs.
        workspace: whether the workspace is used, perhaps beside them.

    Raises:
        ValueError: scalars of one name have different types.
    """
    found: dict[str, Argument] = {}
    for argument in (one for block in blocks for one in block if one.brought and one.tensor_map is None):
        name = argument.brought
        itself = replace(argument, name=name, given="", offset=0)
        if found.setdefault(name, itself).ctype is not argument.ctype:
            kinds = f"{found[name].cuda_type} and {argument.cuda_type}"
            raise ValueError(f"{name} is {kinds}: expected one type, or other names")
    if workspace:
        found.setdefault(WORKSPACE, Argument(WORKSPACE, "void*"))
    return tuple(found.values())


def frame(
    names: Sequence[str],
    brought: Sequence[Argument],
    blocks: Sequence[_Block],
    pointers: Mapping[str, int],
    scalars: Mapping[str, float],
    encode: Encode | None = None,
) -> ctypes.Structure:
    """A struct of several argument structs, which begin at multiples of 64 bytes, and of what a call brings for them.

    Raises:
        ValueError: as of `packed`; `names` has those of the kernels.
    """
    made = [packed(name, block, pointers, scalars, encode) for name, block in zip(names, blocks, strict=True)]
    filled = _frame(tuple(map(_members, blocks)), tuple((member(one.brought), _in_frame(one)) for one in brought))()
    for number, block in enumerate(made):
        setattr(filled, _block(number), block)
    for one in brought:
        setattr(filled, member(one.brought), (pointers if one.pointer else scalars)[one.brought])
    return filled


def laid_out(blocks: Sequence[_Block]) -> tuple[list[type[ctypes.Structure]], list[int]]:
    """The argument structs one after the other, each at a multiple of 64 bytes: where each begins, and the end."""
    kinds = [_structure(_members(block)) for block in blocks]
    padded = (round_up(ctypes.sizeof(kind), ALIGNMENT) for kind in kinds)
    return kinds, [0, *accumulate(padded)]


def structs_of(packed: Any) -> list[Any]:
    """The argument structs in what `Program.pack` made: it is the one, or a frame of several."""
    names = [name for name, kind in packed._fields_ if issubclass(kind, ctypes.Structure)]
    return [getattr(packed, name) for name in names] or [packed]


def tensor_maps(blocks: Sequence[_Block], packed: ctypes.Structure) -> list[tuple[TensorMap, int]]:
    """Each tensor map of what `Program.pack` made, and its address there."""
    return [
        (one.tensor_map, ctypes.addressof(struct) + getattr(type(struct), member(one.name)).offset)
        for struct, block in zip(structs_of(packed), blocks, strict=True)
        for one in block
        if one.tensor_map
    ]


def refresher(brought: Sequence[Argument], blocks: Sequence[_Block], frame: Any) -> Callable[[], None]:
    """What brings the structs of a frame up to date with what a call has put into the frame, but tensor maps.

    It is written out as source, as a dataclass's ``__init__`` is. Nothing is done where nothing has changed.
    """
    value_of = {one.brought: f"value_{number}" for number, one in enumerate(brought)}
    lines = [f"    {value} = frame.{member(name)}\n" for name, value in value_of.items()]
    for number, block in enumerate(blocks):
        for one in (one for one in block if one.brought and one.tensor_map is None):
            value = value_of[one.brought] + (f" + {one.offset}" if one.offset else "")
            lines.append(f"    {_block(number)}.{member(one.name)} = {value}\n")
    scope: dict[str, Any] = {_block(number): getattr(frame, _block(number)) for number in range(len(blocks))}
    scope["frame"] = frame
    exec(f"def refresh():\n{''.join(lines) or '    pass'}", scope)
    refresh: Callable[[], None] = scope["refresh"]
    begin = getattr(type(frame), member(brought[0].brought)).offset if brought else 0
    address, size = ctypes.addressof(frame) + begin, ctypes.sizeof(frame) - begin
    before = b""

    def refresh_if_changed() -> None:
        nonlocal before
        now = ctypes.string_at(address, size)
        if now != before:
            refresh()
            before = now

    return refresh_if_changed


def _members(arguments: _Block) -> tuple[tuple[str, type], ...]:
    return tuple((member(one.name), one.ctype) for one in arguments)


def _in_frame(argument: Argument) -> type:
    """Its type in a frame, where an address of 0 is a number and not None."""
    return ctypes.c_uint64 if argument.pointer else argument.ctype


def _block(number: int) -> str:
    return f"block_{number}"


@cache
def _structure(members: tuple[tuple[str, type], ...]) -> type[ctypes.Structure]:
    """The twin of ``struct Arguments``; with tensor maps, which come first, as long as their alignment makes that."""
    plain: type[ctypes.Structure] = type("Arguments", (ctypes.Structure,), {"_fields_": members})
    if not any(kind is TensorMapBytes for _, kind in members):
        return plain
    padding = -ctypes.sizeof(plain) % 64
    return type("Arguments", (ctypes.Structure,), {"_fields_": (*members, ("padding_", ctypes.c_uint8 * padding))})


@cache
def _frame(
    blocks: tuple[tuple[tuple[str, type], ...], ...], brought: tuple[tuple[str, type], ...]
) -> type[ctypes.Structure]:
    members: list[tuple[str, type]] = []
    for number, block in enumerate(map(_structure, blocks)):
        members.append((_block(number), block))
        members.append((f"padding_{number}", ctypes.c_uint8 * (-ctypes.sizeof(block) % ALIGNMENT)))
    return type("Frame", (ctypes.Structure,), {"_fields_": (*members, *brought)})
