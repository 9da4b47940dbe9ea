"""One problem after another, each with a contest or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..codegen.problem import Problem
from ..compiler import CompileError
from ..cuda_core import CUDAError
from ..devices.base import DeviceError
from ..devices.cuda import CudaDevice
from ..search_spaces.operator import Operator
from .baseline import Baseline
from .choice import Choice
from .contest import OWN, Contest, hold


@dataclass(frozen=True)
class Run:
    """What came of one problem.

    Attributes:
        problem, choice: what was measured.
        group: a label for people.
        contest: None if it failed.
        error: one line that says why.
    """

    problem: Problem
    choice: Choice
    group: str
    contest: Contest | None
    error: str = ""


@dataclass(frozen=True)
class Setting:
    """What all contests have in common.

    Attributes:
        operator, device: what is measured, and where.
        baselines: the opponents by name.
        rounds: samples of each contender.
        ladder: whether the operator's presets take part.
    """

    operator: Operator[Any, Any]
    device: CudaDevice
    baselines: Mapping[str, Baseline]
    rounds: int
    ladder: bool = False

    def run(self, problem: Problem, choice: Choice, group: str = "") -> Run:
        """Hold a contest; one that fails leaves its reason, and the device to the next one."""
        presets = self.operator.presets if self.ladder else {}
        kernels = {name: preset(problem) for name, preset in presets.items()}
        kernels[OWN] = self.operator.program(problem, choice.schedule, self.device.limits)
        try:
            with self.device.session(self.operator, problem, seed=0) as session:
                contest = hold(session, kernels, self.baselines, self.rounds)
        except (CompileError, CUDAError, DeviceError) as error:
            # Contests on a lost context must end with that word, not with what each library makes of it.
            self.device.check_context()
            return Run(problem, choice, group, None, " ".join(str(error).split()))
        return Run(problem, choice, group, contest)
