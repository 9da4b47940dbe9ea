"""Tuned kernels against what users would call instead, measured in turns."""

from .baselines import BASELINES, Baseline
from .contest import Contest, hold

__all__ = ["BASELINES", "Baseline", "Contest", "hold"]
