"""Runs emitted kernels on the CPU, adversarially: a missing barrier, a missing wait or a race is an error."""

from .build import HostCompilerMissingError, compiler_version
from .check import SEEDS, verify
from .launch import EmulatorError, EmulatorKilledError, run

__all__ = [
    "SEEDS",
    "EmulatorError",
    "EmulatorKilledError",
    "HostCompilerMissingError",
    "compiler_version",
    "run",
    "verify",
]
