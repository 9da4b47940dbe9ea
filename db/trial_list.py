"""Lists of trials as queries give them."""

from __future__ import annotations

from autotune.base.markup import Bar, table
from autotune.search_spaces.machine.rates import duration

from .trials import Trial

_SHOWN = 50  # rows in a notebook


class Trials(list[Trial]):
    """A list that notebooks show as a table, its first rows if it is long."""

    def _repr_html_(self) -> str:
        rows = [
            (
                trial.problem.operator,
                trial.problem.key,
                trial.device.model,
                trial.seconds and f"{duration(trial.seconds)} {trial.time_source}",
                Bar(share, f"{share:.1%}") if (share := trial.peak_share) else trial.status,
                trial.summary,
            )
            for trial in self[:_SHOWN]
        ]
        title = f"Trials, the first {_SHOWN} of {len(self)}" if len(self) > _SHOWN else "Trials"
        return table(title, ("operator", "problem", "device", "time", "share of peak", "schedule"), rows)
