"""Bugs planted in a program's sources."""

from collections.abc import Callable
from dataclasses import replace

from autotune.codegen.model.program import Program


def edited(old: str, new: str) -> Callable[[Program], Program]:
    """What puts a text in the place of another, which each source has once at most."""

    def edit(program: Program) -> Program:
        assert {module.source.count(old) for module in program.modules} in ({1}, {0, 1})
        first, *others = (replace(module, source=module.source.replace(old, new)) for module in program.modules)
        return replace(program, source=first.source, others=tuple(others))

    return edit
