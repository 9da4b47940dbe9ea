"""A program: self-contained CUDA sources, and what is launched of them, in which order, with which arguments."""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from .argument import WORKSPACE, Argument, arguments_of
from .compose import changed, lifetimes, renumbered
from .integers import round_up
from .launch import Fixed, Launch, Memset, Region, SingleStep, Step, stated, unrolled
from .module import Module
from .packing import Encode, brought, frame, packed
from .workspace import ALIGNMENT, laid_out

SOURCE_DIGITS = 32  # digits of a program's digest


@dataclass(frozen=True, repr=False)
class Program:
    """One self-contained .cu file and its steps, for one problem and one schedule.

    Each entry is ``extern "C" __global__ void <entry>(const Arguments arguments)``: one struct by value, so the same
    packed bytes serve the driver's launch call and the emulator. Programs are joined by `then`: the joined program has
    a module for each source.

    Attributes:
        source, arguments, arch_suffix: see `Module`; those of the first one.
        steps: launches, memsets of the workspace between them, and repetitions, in stream order.
        workspace_bytes: scratch that the pointer argument ``workspace`` refers to; zeroed once when allocated,
            and left fit for the next launch by the program.
        scratch: whether a launch expects nothing in the workspace, neither zeros nor what an earlier one left there, so
            that programs may share it.
        others: the modules that follow the first one.
    """

    source: str
    arguments: tuple[Argument, ...]
    steps: tuple[Step, ...]
    workspace_bytes: int = 0
    scratch: bool = field(default=False, kw_only=True)
    arch_suffix: str = field(default="", kw_only=True)
    others: tuple[Module, ...] = field(default=(), kw_only=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title}>"

    @property
    def title(self) -> str:
        """The kernel in messages: ``sgemm 0123abcd``, with digits of `digest`."""
        return f"{self.name} {self.digest[:8]}"

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """Its sources, by the numbers that launches have."""
        return (Module(self.source, self.arguments, self.arch_suffix), *self.others)

    @cached_property
    def parts(self) -> tuple[Program, ...]:
        """A program of each module alone, with the launches of its entries; what is compiled, and cached by itself."""
        if not self.others:
            return (self,)
        bare = [replace(launch, arguments=(), module=0) for launch in self.launches]
        numbers = [launch.module for launch in self.launches]
        return tuple(
            Program(
                module.source,
                module.arguments,
                tuple(one for one, number in zip(bare, numbers, strict=True) if number == own),
                arch_suffix=module.arch_suffix,
            )
            for own, module in enumerate(self.modules)
        )

    @cached_property
    def unrolled(self) -> tuple[SingleStep, ...]:
        """What runs: the steps, repetitions as often as they run."""
        return tuple(unrolled(self.steps))

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that launch, in order, repetitions as often as they run."""
        return tuple(step for step in self.unrolled if isinstance(step, Launch))

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

    @cached_property
    def plain(self) -> bool:
        """Whether all launches take the same arguments, so that one struct serves all of them."""
        return not self.others and not any(launch.arguments for launch in self.launches)

    def members(self, launch: Launch) -> tuple[Argument, ...]:
        """The members of ``struct Arguments`` as a launch has them.

        Raises:
            ValueError: the launch takes an argument that its entry does not have, or a value that it cannot hold.
        """
        return arguments_of(launch.entry, self.modules[launch.module].arguments, launch.arguments)

    @cached_property
    def blocks(self) -> tuple[tuple[Argument, ...], ...]:
        """The arguments of its launches: one for all of them if it is `plain`, else one for each."""
        return (self.arguments,) if self.plain else tuple(map(self.members, self.launches))

    @property
    def block_names(self) -> tuple[str, ...]:
        """For each of `blocks`, the entry that gets it, or the first one that does."""
        return (self.name,) if self.plain else tuple(launch.entry for launch in self.launches)

    @cached_property
    def numbered(self) -> tuple[tuple[SingleStep, int], ...]:
        """What runs, without launches of empty grids: each step, and for a launch the number of its block."""
        numbers = iter(range(len(self.launches)))
        found = [(step, next(numbers) if isinstance(step, Launch) else 0) for step in self.unrolled]
        return tuple(
            (step, 0 if self.plain else number) for step, number in found if isinstance(step, Memset) or step.blocks
        )

    @cached_property
    def brought(self) -> tuple[Argument, ...]:
        """What a call brings: pointers and scalars; ``workspace`` is among them where it is used.

        Raises:
            ValueError: launches take scalars of one name and of different types.
        """
        return brought(self.blocks, workspace=self.workspace_bytes > 0 and not self.plain)

    @property
    def tensor_names(self) -> set[str]:
        """The tensors whose addresses it takes."""
        taken = {one.brought for block in self.blocks for one in block if not one.scalar}
        return taken - {WORKSPACE, ""}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to launch."""
        return all(launch.blocks == 0 for launch in self.launches)

    @property
    def code(self) -> str:
        """What is compiled: the sources without comments and blank lines."""
        return "\n".join(module.code for module in self.modules)

    @cached_property
    def source_digest(self) -> str:
        """32 hexadecimal digits over what is compiled: the code, the suffix."""
        code = "\n\n".join(f"{module.arch_suffix}\n{module.code}" for module in self.modules)
        return hashlib.sha256(code.encode()).hexdigest()[:SOURCE_DIGITS]

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits over all that decides what runs: `source_digest`, then 32 digits over the steps."""
        steps = json.dumps([stated(step) for step in self.unrolled])
        return self.source_digest + hashlib.sha256(steps.encode()).hexdigest()[:SOURCE_DIGITS]

    def then(self, second: Program) -> Program:
        """This program's steps, then those of another one.

        A tensor or a scalar that both take under one name is the same one. The workspaces share memory where both
        programs are `scratch`. What the second program gets from the first one is either a tensor of the call, or
        a part of the workspace, which `in_workspace` makes of a name that both take.
        """
        shared = self.scratch and second.scratch
        ahead = 0 if shared or not second.workspace_bytes else round_up(self.workspace_bytes, ALIGNMENT)
        own = Region(ahead, second.workspace_bytes, WORKSPACE)
        steps = changed(second.steps, second.modules, lambda name: own if ahead and name == WORKSPACE else name)
        return replace(
            self,
            steps=(*self.steps, *renumbered(steps, len(self.modules))),
            workspace_bytes=max(self.workspace_bytes, ahead + second.workspace_bytes),
            scratch=self._expects_nothing and second._expects_nothing,
            others=(*self.others, *second.modules),
        )

    def taking(self, **values: Fixed) -> Program:
        """The program in which what it takes under these names is something else; see `Launch.taking`."""
        return replace(self, steps=changed(self.steps, self.modules, lambda name: values.get(name, name)))

    def in_workspace(self, **sizes: int) -> Program:
        """The program in which what it takes under these names is a part of the workspace, of so many bytes.

        Parts share memory where no step from the first that takes one to the last is among those of the other. They
        begin at multiples of 256 bytes, and hold anything at first: a memset of the part sets it.

        Raises:
            ValueError: no step takes a name.
        """
        found = laid_out(sizes, lifetimes(sizes, self.steps, self.modules), self.workspace_bytes)
        return replace(
            self,
            steps=changed(self.steps, self.modules, lambda name: found.get(name, name)),
            workspace_bytes=max(self.workspace_bytes, *(one.offset + one.bytes for one in found.values())),
            scratch=self._expects_nothing,
        )

    def pack(
        self, pointers: Mapping[str, int], scalars: Mapping[str, float], encode: Encode | None = None
    ) -> ctypes.Structure:
        """The argument struct: the problem's constants, the device `pointers` and the caller's `scalars`.

        Launches with arguments of their own have a struct each. Then it is a frame: what a call brings, and these
        structs (`packing.refresher`).

        Args:
            pointers: the address of each tensor by name, and of ``workspace``.
            scalars: by name.
            encode: for programs with tensor maps.

        Raises:
            ValueError: a pointer or a scalar of the struct was not given.
        """
        if self.plain:
            return packed(self.name, self.arguments, pointers, scalars, encode)
        return frame(self.block_names, self.brought, self.blocks, pointers, scalars, encode)

    @property
    def _expects_nothing(self) -> bool:
        return self.scratch or not self.workspace_bytes
