"""Tuned kernels against what users would call instead, measured in turns."""

from .baseline import Baseline
from .baselines import BASELINES
from .comparison import OWN, Comparison, compare
from .own_schedule import OwnSchedule, find_own_schedule
from .run import Run, Setting

__all__ = [
    "BASELINES",
    "OWN",
    "Baseline",
    "Comparison",
    "OwnSchedule",
    "Run",
    "Setting",
    "compare",
    "find_own_schedule",
]
