"""Tuned kernels against what users would call instead, measured in turns."""

from typing import TYPE_CHECKING

from autotune.base.lazy import lazy_names

if TYPE_CHECKING:
    from .baseline import Baseline, BaselineRun
    from .baselines import COPY_NAME, baselines_of
    from .comparison import OWN, Comparison, compare
    from .own_schedule import OwnSchedule, find_own_schedule
    from .run import Run, Setting

__all__ = [
    "COPY_NAME",
    "OWN",
    "Baseline",
    "BaselineRun",
    "Comparison",
    "OwnSchedule",
    "Run",
    "Setting",
    "baselines_of",
    "compare",
    "find_own_schedule",
]

# A process that measures its own start runs a module of this package, so the package imports nothing.
__getattr__ = lazy_names(
    __name__,
    {
        "COPY_NAME": ".baselines",
        "OWN": ".comparison",
        "Baseline": ".baseline",
        "Comparison": ".comparison",
        "OwnSchedule": ".own_schedule",
        "BaselineRun": ".baseline",
        "Run": ".run",
        "Setting": ".run",
        "baselines_of": ".baselines",
        "compare": ".comparison",
        "find_own_schedule": ".own_schedule",
    },
)
