"""Tuned kernels against what users would call instead, measured in turns."""

from .baseline import Baseline
from .baselines import COPY_NAME, baselines_of
from .comparison import OWN, Comparison, compare
from .own_schedule import OwnSchedule, find_own_schedule
from .run import Run, Setting

__all__ = [
    "COPY_NAME",
    "OWN",
    "Baseline",
    "Comparison",
    "OwnSchedule",
    "Run",
    "Setting",
    "baselines_of",
    "compare",
    "find_own_schedule",
]
