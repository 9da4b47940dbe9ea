"""The kernel for latent keys by wgmma, as attention_decode knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.latent.emit import emit
from autotune.codegen.attention.attention_decode.latent.schedule import LatentSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(LatentSchedule, emit, constraints, space, candidates, checks, workload, applies)
