"""A source of a program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .argument import Argument


@dataclass(frozen=True)
class Module:
    """One self-contained .cu file, which is compiled, cached and loaded on its own.

    Attributes:
        source: the whole file; equal sources may serve many problems.
        arguments: the members of ``struct Arguments``, in order; tensor maps come first.
        arch_suffix: ``a`` where the source needs architecture-specific instructions, such as those of ``sm_90a``.
    """

    source: str
    arguments: tuple[Argument, ...]
    arch_suffix: str = ""

    @cached_property
    def code(self) -> str:
        """What is compiled: the source without comments and blank lines."""
        code = (line.partition("//")[0].rstrip(" \t") if "//" in line else line for line in self.source.splitlines())
        return "\n".join(filter(None, code))
