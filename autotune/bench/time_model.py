"""How well the time model predicts what was recorded, before any schedule is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from autotune.devices.recording import Recording
from autotune.search_spaces.contract.modelled_time import modelled_seconds

FIRST = 10  # schedules that the model would try first


@dataclass(frozen=True)
class Quality:
    """How far the model can be trusted.

    Attributes:
        rank_correlation: Spearman's, of modelled and recorded times: 1 if their orders are the same.
        regret: how much slower than the recorded optimum the best of the `FIRST` fastest by the model is.
        level: the median ratio of modelled to recorded times.
        spread: the standard deviation of the logarithm of this ratio.
    """

    rank_correlation: float
    regret: float
    level: float
    spread: float


def quality(recording: Recording) -> Quality:
    """How the model does on a recording's schedules that are ok."""
    from scipy.stats import spearmanr

    operator, problem, spec = recording.operator, recording.problem, recording.spec
    recorded = np.array(list(recording.seconds.values()))
    modelled = np.array([modelled_seconds(operator, problem, schedule, spec) for schedule in recording.seconds])
    first = np.argsort(modelled, kind="stable")[:FIRST]
    ratios = modelled / recorded
    return Quality(
        rank_correlation=float(spearmanr(modelled, recorded).statistic),
        regret=float(recorded[first].min() / recorded.min() - 1),
        level=median(ratios.tolist()),
        spread=float(np.log(ratios).std()),
    )
