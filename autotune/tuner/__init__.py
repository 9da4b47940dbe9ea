"""Finding the fastest schedule: a sampler proposes, a device evaluates, the database remembers."""

from .loop import tune
from .options import Progress, TuneOptions, TuneResult
from .runoff import Runoff
from .search.samplers import SAMPLERS

__all__ = ["SAMPLERS", "Progress", "Runoff", "TuneOptions", "TuneResult", "tune"]
