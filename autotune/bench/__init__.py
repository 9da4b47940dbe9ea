"""Tuned kernels against what users would call instead, measured in turns."""

from .baseline import Baseline
from .baselines import BASELINES
from .choice import Choice, choose
from .contest import OWN, Contest, hold

__all__ = ["BASELINES", "OWN", "Baseline", "Choice", "Contest", "choose", "hold"]
