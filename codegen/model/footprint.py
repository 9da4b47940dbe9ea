"""What a block of a schedule takes of an SM, said once for launch bounds, occupancy and legality."""

from __future__ import annotations

from dataclasses import dataclass

from .launch import Launch

_COLUMNS = 110  # of a line of a source


@dataclass(frozen=True)
class Footprint:
    """What a block takes.

    Attributes:
        threads: of a block.
        shared_bytes: dynamic shared memory of a block.
        registers: of a thread, with which nothing spills, estimated before the kernel is compiled.
        cluster: blocks of a cluster along x.
        min_blocks_per_sm: blocks that must fit an SM, which caps the registers of a thread.
        architecture: the only one that has the kernel's instructions, such as ``sm_90a``; empty if many have them.
        wanted_registers: of a thread, that ptxas takes if nothing caps them; None: as many.
    """

    threads: int
    shared_bytes: int = 0
    registers: int = 32
    cluster: int = 1
    min_blocks_per_sm: int = 1
    architecture: str = ""
    wanted_registers: int | None = None

    @property
    def uncapped_registers(self) -> int:
        """Registers of a thread that the kernel has if nothing caps them."""
        return self.registers if self.wanted_registers is None else self.wanted_registers

    @property
    def arch_suffix(self) -> str:
        """That of the program: ``a`` of ``sm_90a``."""
        return self.architecture.removeprefix("sm_").lstrip("0123456789")

    def launch(self, entry: str, blocks: int) -> Launch:
        """The launch of a grid of so many blocks."""
        return Launch(entry, (blocks, 1, 1), (self.threads, 1, 1), self.shared_bytes, (self.cluster, 1, 1))

    def entry(self, name: str, body: str, *, tensor_maps: bool = False) -> str:
        """An entry of the source, whose statements are `body`; hardware reads tensor maps where the arguments lie."""
        bounds = f"__launch_bounds__({self.threads}, {self.min_blocks_per_sm})"
        cluster = f" __cluster_dims__({self.cluster}, 1, 1)\n   " if self.cluster > 1 else ""
        kind = "const __grid_constant__ Arguments" if tensor_maps else "const Arguments"
        head, called = f'extern "C" __global__ void {bounds}{cluster}', f"{name}({kind} arguments) {{"
        apart = " " if len(head.rpartition("\n")[2]) + 1 + len(called) <= _COLUMNS else "\n    "
        return f"{head}{apart}{called}\n  {body}\n}}\n"
