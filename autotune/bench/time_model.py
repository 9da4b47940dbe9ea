"""How well the time model predicts what was recorded, calibrated on other recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from math import log
from random import Random

import numpy as np
import numpy.typing as npt

from ..codegen.program import Program
from ..compiler import Resources
from ..devices.model import Calibration, estimated_resources, predict_seconds
from ..devices.recording import Recording

FIRST = 10  # schedules that the model would try first
_RANGE = 8  # a constant may become so many times larger or smaller; recordings need not say anything about it
_GRID = 7  # values of each constant that a calibration begins with
_SAMPLE = 300  # schedules of a recording that a calibration looks at


@dataclass(frozen=True)
class Quality:
    """How far the model can be trusted to order schedules.

    Attributes:
        rank_correlation: Spearman's, of modelled and recorded times: 1 if their orders are the same.
        regret: how much slower than the recorded optimum the best of the `FIRST` fastest by the model is.
    """

    rank_correlation: float
    regret: float


class Modelled:
    """A recording's schedules that are ok, as the model sees them: before they were compiled.

    Attributes:
        seconds: as recorded.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.seconds = np.array(list(recording.seconds.values()))

    def predicted(self, calibration: Calibration, places: Sequence[int] | None = None) -> npt.NDArray[np.float64]:
        """Modelled seconds of all schedules, or of those at some places."""
        problem, limits = self._recording.problem, self._recording.limits
        kernels = self._kernels if places is None else [self._kernels[place] for place in places]
        return np.array([predict_seconds(problem, *kernel, limits, calibration) for kernel in kernels])

    def quality(self, calibration: Calibration) -> Quality:
        """How the model does on this recording."""
        from scipy.stats import spearmanr

        predicted = self.predicted(calibration)
        first = np.argsort(predicted, kind="stable")[:FIRST]
        return Quality(
            float(spearmanr(predicted, self.seconds).statistic),
            float(self.seconds[first].min() / self.seconds.min() - 1),
        )

    @cached_property
    def _kernels(self) -> list[tuple[Program, Resources]]:
        recording = self._recording
        programs = [recording.operator.emit(recording.problem, schedule) for schedule in recording.seconds]
        return [(s, estimated_resources(recording.problem, s, recording.limits)) for s in programs]

    @cached_property
    def sample(self) -> list[int]:
        """Places of some schedules, the same at each call."""
        return Random(0).sample(range(len(self.seconds)), min(_SAMPLE, len(self.seconds)))


def calibrated(recordings: Sequence[Modelled]) -> Calibration:
    """The calibration whose times are nearest to the recorded ones, but for a factor of each recording.

    The spread of the logarithms of modelled over recorded times is least, on a sample of each recording.
    """
    from scipy.optimize import minimize

    names = list(asdict(Calibration()))

    def spread(logarithms: npt.NDArray[np.float64]) -> float:
        calibration = Calibration(**dict(zip(names, np.exp(logarithms).tolist(), strict=True)))
        ratios = [np.log(one.predicted(calibration, one.sample) / one.seconds[one.sample]) for one in recordings]
        return float(np.mean([ratio.std() for ratio in ratios]))

    default = np.log(list(asdict(Calibration()).values()))
    bounds = [(value - log(_RANGE), value + log(_RANGE)) for value in default]
    # The model has corners, where another part becomes the slowest: a grid first, then a method without derivatives.
    start = min(product(*(np.linspace(*bound, _GRID) for bound in bounds)), key=lambda point: spread(np.array(point)))
    options = {"xatol": 0.01, "fatol": 1e-4, "maxiter": 200}
    found = minimize(spread, start, method="Nelder-Mead", bounds=bounds, options=options)
    return Calibration(**dict(zip(names, np.exp(found.x).tolist(), strict=True)))
