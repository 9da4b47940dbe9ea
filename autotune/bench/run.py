"""Comparisons on one problem after another; each run has its comparison or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.problem import Problem
from autotune.compiler import CompileError
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.devices.energy import Meter
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.roofline import Peaks

from .baseline import Baseline
from .comparison import OWN, Comparison, compare
from .own_schedule import OwnSchedule


@dataclass(frozen=True)
class Run:
    """What came of one problem.

    Attributes:
        problem, own: what was measured.
        group: a label for people.
        comparison: None if there is none.
        error: one line that says why, or which baselines failed.
    """

    problem: Problem
    own: OwnSchedule
    group: str
    comparison: Comparison | None
    error: str = ""


@dataclass(frozen=True)
class Setting:
    """What all comparisons share.

    Attributes:
        operator, device: what is measured, and where.
        baselines: the opponents by name.
        rounds: samples of each contender.
        ladder: whether the operator's presets take part.
        peaks: what the device does at best, as far as it was measured.
        energy: whether the energy of launches is measured, too.
    """

    operator: Operator[Any, Any]
    device: CudaDevice
    baselines: Mapping[str, Baseline]
    rounds: int
    peaks: Peaks
    ladder: bool = False
    energy: bool = False

    def run(self, problem: Problem, own: OwnSchedule, group: str = "") -> Run:
        """Compare on one problem; if that fails, the run has the reason, and the device serves the next problem."""
        presets = self.operator.presets if self.ladder else {}
        kernels = {name: preset(problem) for name, preset in presets.items()}
        kernels[OWN] = own.program(self.operator, problem, self.device.spec)
        meter = Meter(self.device.conditions.joules) if self.energy else None
        try:
            with self.device.session(self.operator, problem, seed=0) as session:
                comparison = compare(session, kernels, self.baselines, self.rounds, meter)
        except (CompileError, CUDAError, DeviceError) as error:
            # Comparisons on a lost context must end with that error, not with what each library makes of it.
            self.device.check_context()
            return Run(problem, own, group, None, " ".join(str(error).split()))
        failed = "; ".join(f"{name}: {reason}" for name, reason in comparison.failed.items())
        return Run(problem, own, group, comparison, failed)
