"""Bugs that are planted in the proof's kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autotune.codegen.model.program import Program


def edited(old: str, new: str) -> Callable[[Program], Program]:
    """What replaces a text that sources have once, or not at all but for one of them."""

    def edit(program: Program) -> Program:
        assert {module.source.count(old) for module in program.modules} <= {0, 1}
        assert old in "".join(module.source for module in program.modules)
        first, *others = (replace(module, source=module.source.replace(old, new)) for module in program.modules)
        return replace(program, source=first.source, others=tuple(others))

    return edit
