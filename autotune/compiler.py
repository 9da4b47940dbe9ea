"""KernelSource → cubin and resources, by NVRTC, for any architecture, with or without a GPU."""

from __future__ import annotations

from dataclasses import dataclass


class CompileError(RuntimeError):
    """The compiler refused a source; the message is its first error line."""


@dataclass(frozen=True)
class Resources:
    """What ptxas says that one kernel uses.

    Attributes:
        registers: 32-bit registers of a thread.
        shared_bytes: static shared memory of a block.
        stack_bytes: local memory of a thread.
        spill_store_bytes, spill_load_bytes: local-memory traffic of registers that did not fit.
    """

    registers: int
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0


@dataclass(frozen=True)
class CompiledKernel:
    """A cubin and what it uses.

    Attributes:
        cubin: the machine code.
        resources: from ptxas.
        arch: such as ``sm_90``.
        compiler: name and version, such as ``NVRTC 13.0``.
    """

    cubin: bytes
    resources: Resources
    arch: str
    compiler: str
