"""Tuned kernels against what users would call instead, measured in turns."""

from .baseline import Baseline
from .baselines import BASELINES
from .choice import Choice, choose
from .contest import OWN, Contest, hold
from .run import Run, Setting

__all__ = ["BASELINES", "OWN", "Baseline", "Choice", "Contest", "Run", "Setting", "choose", "hold"]
