"""attention_decode: the schedule to take without measuring."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import fma, gathered, latent, mma_sync
from .mma_sync.space import suits

KERNELS: tuple[Kernel[Any, Any], ...] = (mma_sync.KERNEL, fma.KERNEL, gathered.KERNEL, latent.KERNEL)


def default(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Schedule:
    """The first candidate: of chunks by gathered keys, of latent keys by wgmma, else by tensor cores if a group of
    heads has some rows.

    Loads must be aligned for them.
    """
    usual = mma_sync.KERNEL if suits(problem, spec) else fma.KERNEL
    chosen = next((one for one in (gathered.KERNEL, latent.KERNEL) if one.applies(problem, spec)), usual)
    first: Schedule = next(iter(chosen.candidates(problem, spec)))
    return first
