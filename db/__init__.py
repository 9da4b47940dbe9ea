"""The tuning database: models, migrations, queries, pretuned records."""

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    # Importing SQLAlchemy takes longer than most commands run: whoever needs only the states does not pay for it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import database

    return getattr(database, name)
