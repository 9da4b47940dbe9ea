"""The tuning database: models, migrations, queries, shipped trials."""

from typing import TYPE_CHECKING

from autotune.base.lazy import lazy_names

from .states import Outcome, Status, TimeSource

if TYPE_CHECKING:
    from .database import TuningDB
    from .errors import DatabaseError
    from .exchange import MergeCounts
    from .run_record import RunRecord
    from .trials import DeviceRecord, ProblemRecord, Trial

__all__ = [
    "DatabaseError",
    "DeviceRecord",
    "MergeCounts",
    "Outcome",
    "ProblemRecord",
    "RunRecord",
    "Status",
    "TimeSource",
    "Trial",
    "TuningDB",
]


# Importing SQLAlchemy takes longer than most commands run: whoever needs only the states does not pay for it.
__getattr__ = lazy_names(
    __name__,
    {
        "DatabaseError": ".errors",
        "DeviceRecord": ".trials",
        "MergeCounts": ".exchange",
        "ProblemRecord": ".trials",
        "RunRecord": ".run_record",
        "Trial": ".trials",
        "TuningDB": ".database",
    },
)
