"""The parts of a program's workspace, each of which is memory of its own in the emulator, with bounds of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.launch import Launch, Memset, Region
from autotune.codegen.model.program import Program


@dataclass(frozen=True)
class Parts:
    """What launches take of a workspace: parts, by the names that stand for them here, and the rest by ``workspace``.

    A workspace of which a tensor map describes a part, or a memset sets no part that a later launch takes, has none.
    """

    program: Program
    regions: dict[str, Region]

    @classmethod
    def of(cls, program: Program) -> Parts:
        """Those of a program."""
        values = (value for launch in program.launches for _, value in launch.arguments)
        taken = dict.fromkeys(value for value in values if isinstance(value, Region))
        found = cls(program, {f"{WORKSPACE} {number}": region for number, region in enumerate(taken)})
        maps = (one.tensor_map for block in program.blocks for one in block if one.tensor_map)
        memsets = (number for number, (step, _) in enumerate(program.numbered) if isinstance(step, Memset))
        whole = any(one.tensor == WORKSPACE for one in maps) or None in map(found.set_by, memsets)
        return cls(program, {}) if whole else found

    @property
    def own_bytes(self) -> int:
        """Bytes of the workspace ahead of all parts."""
        return min((region.offset for region in self.regions.values()), default=self.program.workspace_bytes)

    @property
    def blocks(self) -> tuple[tuple[Argument, ...], ...]:
        """`Program.blocks`, which take the parts by their names."""
        if not self.regions:
            return self.program.blocks
        pairs = zip(self.program.launches, self.program.blocks, strict=True)
        return tuple(tuple(self._taken(launch, block)) for launch, block in pairs)

    def set_by(self, number: int) -> tuple[str, int] | None:
        """The name of the part that a memset sets, or ``workspace``, and the offset in it; None if that is none.

        Parts that are never in use at the same time may share memory: it is that of the next launch that takes one.
        """
        step, _ = self.program.numbered[number]
        assert isinstance(step, Memset)
        end = step.offset + step.bytes
        if end <= self.own_bytes:
            return WORKSPACE, step.offset
        names = {region: name for name, region in self.regions.items()}
        for launch in (one for one, _ in self.program.numbered[number:] if isinstance(one, Launch)):
            for _, region in launch.arguments:
                if isinstance(region, Region) and region.offset <= step.offset and end <= region.offset + region.bytes:
                    return names[region], step.offset - region.offset
        return None

    def _taken(self, launch: Launch, block: tuple[Argument, ...]) -> Iterator[Argument]:
        own, names = dict(launch.arguments), {region: name for name, region in self.regions.items()}
        for one in block:
            region = own.get(one.name)
            yield replace(one, given=names[region], offset=0) if isinstance(region, Region) else one
