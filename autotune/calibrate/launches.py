"""What a launch costs, however little it computes."""

from __future__ import annotations

from autotune.codegen.calibration import programs
from autotune.search_spaces.machine.calibration import Figure

from .experiment import Found
from .instrument import Instrument

_MANY = 1000


def launches(instrument: Instrument) -> Found:
    """An empty kernel between two events, and many of them in a row."""
    alone = instrument.seconds(programs.nothing(), {"passes": 0})
    in_a_row = instrument.seconds(programs.nothing(), {"passes": 0}, cold=False, launches=_MANY)
    return Found({Figure.LAUNCH: alone, Figure.LAUNCH_INTERVAL: in_a_row})
