"""What steps take, by name, and the same steps with something else in its place: how programs are joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from .argument import WORKSPACE, Argument
from .launch import Fixed, InTurn, Launch, Memset, Region, Repeat, Step, Value
from .module import Module
from .tensor_map import TensorMap
from .workspace import Lifetime

Change = Callable[[str], Fixed]  # what becomes of a name that is taken
Modules = tuple[Module, ...]


def changed(steps: Iterable[Step], modules: Modules, change: Change) -> tuple[Step, ...]:
    """The steps, which take something else in place of a name: another one, a constant or a part of the workspace.

    What lies in the workspace follows what becomes of ``workspace``.
    """
    return tuple(_changed(step, modules, change) for step in steps)


def renumbered(steps: Iterable[Step], ahead: int) -> tuple[Step, ...]:
    """The steps of a program that so many modules go ahead of."""
    return tuple(_renumbered(step, ahead) for step in steps)


def lifetimes(names: Collection[str], steps: Iterable[Step], modules: Modules) -> dict[str, Lifetime]:
    """The steps that take each of some names, from the first to the last; a repetition is one step.

    Raises:
        ValueError: no step takes a name.
    """
    used = [set(_names(step, modules)) for step in steps]
    found = {}
    for name in names:
        numbers = [number for number, taken in enumerate(used) if name in taken]
        if not numbers:
            raise ValueError(f"no step takes {name}: expected one of {', '.join(sorted(set().union(*used)))}")
        found[name] = Lifetime(numbers[0], numbers[-1])
    return found


def _renumbered(step: Step, ahead: int) -> Step:
    if isinstance(step, Repeat):
        return replace(step, steps=renumbered(step.steps, ahead))
    return replace(step, module=ahead + step.module) if isinstance(step, Launch) else step


def _names(step: Step, modules: Modules) -> Iterator[str]:
    """What a step takes, by name."""
    if isinstance(step, Repeat):
        for one in step.steps:
            yield from _names(one, modules)
    elif isinstance(step, Memset):
        yield step.region or WORKSPACE
    else:
        own = dict(step.arguments)
        for member in modules[step.module].arguments:
            value = own.get(member.name, _given(member))
            for taken in value.values if isinstance(value, InTurn) else (value,):
                if isinstance(taken, str):
                    yield taken
                elif isinstance(taken, TensorMap):
                    yield taken.tensor


def _changed(step: Step, modules: Modules, change: Change) -> Step:
    """The step, which takes something else under some names, or other parts of the workspace."""
    if isinstance(step, Repeat):
        return replace(step, steps=tuple(_changed(one, modules, change) for one in step.steps))
    if isinstance(step, Memset):
        found = change(step.region or WORKSPACE)
        if isinstance(found, Region):
            return replace(step, offset=found.offset + step.offset, region="")
        return replace(step, region=found) if step.region and isinstance(found, str) else step
    own, values = dict(step.arguments), dict[str, Value]()
    for member in modules[step.module].arguments:
        before = own.get(member.name, _given(member))
        after = _value(before, change)
        if after != before:
            values[member.name] = after
    return step.taking(**values) if values else step


def _given(member: Argument) -> Fixed:
    """What a member is if a launch does not say otherwise."""
    return member.tensor_map or member.brought or member.value


def _value(value: Value, change: Change) -> Value:
    if isinstance(value, InTurn):
        return InTurn(tuple(_fixed(one, change) for one in value.values))
    return _fixed(value, change)  # type: ignore[arg-type]


def _fixed(value: Fixed, change: Change) -> Fixed:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Region):
        found = change(WORKSPACE)
        return replace(value, offset=found.offset + value.offset) if isinstance(found, Region) else value
    if isinstance(value, TensorMap):
        found = change(value.tensor)
        if isinstance(found, Region):
            return replace(value, tensor=WORKSPACE, offset=found.offset + value.offset)
        return replace(value, tensor=found) if isinstance(found, str) else value
    return value
