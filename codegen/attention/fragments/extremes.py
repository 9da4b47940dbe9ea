"""The launch ahead of kernels whose masks read integers: of each so many entries, the least and the largest one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import Entry

from .ranges import EXTREMES_OF

EXTREMES = Argument("extremes", "int*")
_ENTRY = "attention_extremes"
_THREADS = 256  # of extremes.cuh
_PAIR_BYTES = 8


def extremes_entry(integers: int) -> Entry:
    """Of a table of so many integers."""
    return Entry(_ENTRY, f"{_ENTRY}_block", extremes_blocks(integers), extremes_footprint())


def extremes_blocks(integers: int) -> int:
    """Blocks of the launch, whose warps have some entries each."""
    return ceil_div(integers, EXTREMES_OF * _THREADS // WARP)


def extremes_footprint() -> Footprint:
    """Of each of these."""
    return Footprint(_THREADS)


def extremes_part(integers: int) -> Mapping[str, int]:
    """Bytes of the part of the workspace that has them, by its name."""
    return {EXTREMES.name: _PAIR_BYTES * ceil_div(integers, EXTREMES_OF)}


def extremes_first(program: Program) -> Program:
    """The program with the launch ahead of all other steps, if it is there."""
    ahead = [one for one in program.launches if one.entry == _ENTRY]
    return replace(program, steps=(*ahead, *(one for one in program.steps if one not in ahead)))
