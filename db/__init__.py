"""The tuning database: models, migrations, queries, pretuned records."""

from typing import TYPE_CHECKING

from ..lazy import lazy_names
from .states import Status, TimeSource

if TYPE_CHECKING:
    from .database import TuningDB
    from .errors import DatabaseError
    from .exchange import MergeCounts
    from .records import DeviceRecord, ProblemRecord, Trial

__all__ = [
    "DatabaseError",
    "DeviceRecord",
    "MergeCounts",
    "ProblemRecord",
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
        "DeviceRecord": ".records",
        "MergeCounts": ".exchange",
        "ProblemRecord": ".records",
        "Trial": ".records",
        "TuningDB": ".database",
    },
)
