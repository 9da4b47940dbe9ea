"""Where the machine code of a choice comes from: the folder beside a lock, the disk cache, or the compiler."""

from __future__ import annotations

import warnings

from autotune.codegen.model.program import Program
from autotune.compiler import CompiledKernel, cached_kernel, compile_kernel
from autotune.dispatcher.lock.document import Locked, LockError
from autotune.dispatcher.lock.lock import Lock, digests


class MachineCode:
    """Gets a program's machine code, and remembers what it was.

    Attributes:
        cubins: SHA-256 of each module's; empty as long as nobody asked for them, as the emulator never does.
        compiled: whether it had to be compiled.
    """

    def __init__(self) -> None:
        self.cubins: tuple[str, ...] = ()
        self.compiled = False

    def __call__(self, program: Program, arch: str) -> CompiledKernel:
        """The machine code for an architecture.

        Raises:
            CompileError: the compiler refused the source.
            CompilerMissingError: there is no compiler, and the code is nowhere else.
            LockError: see `LockedCode`.
        """
        kernel = self.found(program, arch)
        if kernel is None:
            kernel = compile_kernel(program, arch)
            self.compiled = True
        self.cubins = digests(kernel.cubins)
        self.check(program, kernel)
        return kernel

    def found(self, program: Program, arch: str) -> CompiledKernel | None:
        """What need not be compiled."""
        return cached_kernel(program, arch)

    def check(self, program: Program, kernel: CompiledKernel) -> None:
        """Nothing else is expected."""


class LockedCode(MachineCode):
    """The machine code that a lock names.

    Args:
        lock, locked: the lock, and what it says.
        strict: whether it is a `LockError`, and not a warning, that it must be compiled or is not what the lock names.
    """

    def __init__(self, lock: Lock, locked: Locked, strict: bool) -> None:
        super().__init__()
        self._lock, self._locked, self._strict = lock, locked, strict

    def found(self, program: Program, arch: str) -> CompiledKernel | None:
        """What need not be compiled, from the folder beside the lock first."""
        kernel = self._lock.travelled(self._locked, arch) or cached_kernel(program, arch)
        if kernel is None:
            remedy = f"run autotune warm --lock {self._lock.path}"
            self._tell(LockError(f"{self._locked.title} is not compiled: {remedy}"))
        return kernel

    def check(self, program: Program, kernel: CompiledKernel) -> None:
        """Tell if it is other machine code."""
        try:
            self._lock.check(self._locked, kernel)
        except LockError as error:
            self._tell(error)

    def _tell(self, error: LockError) -> None:
        if self._strict:
            raise error
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)
