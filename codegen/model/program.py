"""A program: one self-contained CUDA source, and what is launched of it, in which order, with which arguments."""

from __future__ import annotations

import ctypes
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

from .argument import Argument
from .launch import Launch, Step
from .packing import Encode, packed

SOURCE_DIGITS = 32  # of a program's digest
_COMMENT = re.compile(r"[ \t]*//.*$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """One self-contained .cu file and its steps, for one problem and one schedule.

    Each entry is ``extern "C" __global__ void <entry>(const Arguments arguments)``: one struct by value, so the same
    packed bytes serve the driver's launch call and the emulator.

    Attributes:
        source: the whole file; equal sources may serve many problems.
        arguments: the members of ``struct Arguments``, in order; tensor maps come first.
        steps: launches, and memsets of the workspace between them, in stream order.
        workspace_bytes: scratch that the pointer argument ``workspace`` refers to; zeroed once when allocated,
            and left fit for the next launch by the program.
        scratch: whether a launch expects nothing in the workspace, neither zeros nor what an earlier one left there, so
            that programs may share it.
        arch_suffix: ``a`` where the source needs architecture-specific instructions, such as those of ``sm_90a``.
    """

    source: str
    arguments: tuple[Argument, ...]
    steps: tuple[Step, ...]
    workspace_bytes: int = 0
    scratch: bool = field(default=False, kw_only=True)
    arch_suffix: str = field(default="", kw_only=True)

    @property
    def title(self) -> str:
        """The kernel in messages: ``sgemm 0123abcd``, with digits of `digest`."""
        return f"{self.name} {self.digest[:8]}"

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that launch, in order."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names of the entries that are launched, each once."""
        return tuple(dict.fromkeys(launch.entry for launch in self.launches))

    @property
    def launch(self) -> Launch:
        """The launch of a program that has no other step.

        Raises:
            ValueError: it has several.
        """
        (launch,) = self.launches
        return launch

    @property
    def name(self) -> str:
        """What people call it: its first entry."""
        return self.entries[0]

    @property
    def tensor_names(self) -> set[str]:
        """The tensors whose addresses it takes."""
        mapped = {a.tensor_map.tensor for a in self.arguments if a.tensor_map}
        return (mapped | {a.name for a in self.arguments if a.pointer}) - {"workspace"}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to launch."""
        return all(launch.blocks == 0 for launch in self.launches)

    @cached_property
    def code(self) -> str:
        """What is compiled: the source without comments and blank lines."""
        return "\n".join(line for line in _COMMENT.sub("", self.source).splitlines() if line)

    @cached_property
    def source_digest(self) -> str:
        """32 hexadecimal digits over what is compiled: the code, the suffix."""
        return hashlib.sha256(f"{self.arch_suffix}\n{self.code}".encode()).hexdigest()[:SOURCE_DIGITS]

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits over all that decides what runs: `source_digest`, then 32 digits over the steps."""
        steps = json.dumps([asdict(step) for step in self.steps])
        return self.source_digest + hashlib.sha256(steps.encode()).hexdigest()[:SOURCE_DIGITS]

    def pack(
        self, pointers: Mapping[str, int], scalars: Mapping[str, float], encode: Encode | None = None
    ) -> ctypes.Structure:
        """The argument struct: the problem's constants, the device `pointers` and the caller's `scalars`.

        Args:
            pointers: the address of each tensor by name, and of ``workspace``.
            scalars: by name.
            encode: for programs with tensor maps.

        Raises:
            ValueError: a pointer or a scalar of the struct was not given.
        """

        return packed(self.name, self.arguments, pointers, scalars, encode)
