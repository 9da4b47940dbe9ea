"""Finding the fastest schedule: a sampler proposes, a device evaluates, the database remembers."""

from .final import Final
from .loop import tune
from .options import Progress, TuneOptions, TuneResult
from .samplers import SAMPLERS

__all__ = ["SAMPLERS", "Final", "Progress", "TuneOptions", "TuneResult", "tune"]
