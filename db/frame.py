"""Trials as a pandas DataFrame, with the columns of the views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from .errors import DatabaseError
from .views import field_columns, select_trials

if TYPE_CHECKING:
    from pandas import DataFrame

_KINDS = {int: "Int64", bool: "boolean"}  # which allow that a value is missing


def dataframe(session: Session, operator: str) -> DataFrame:
    """`TuningDB.dataframe` of a registered operator."""
    try:
        import pandas
    except ImportError as error:
        raise DatabaseError("TuningDB.dataframe needs pandas: pip install 'autotune[pandas]'") from error
    connection = session.connection()
    # The statement of the view rather than the view: that may be of another version, or missing.
    found = connection.exec_driver_sql(select_trials(operator, connection.dialect.name))
    frame = pandas.DataFrame(found.all(), columns=list(found.keys()))
    frame["created_at"] = pandas.to_datetime(frame["created_at"], utc=True)
    kinds = {"seconds": "float64", "max_error": "float64"}
    kinds |= {column.name: _KINDS[column.kind] for column in field_columns(operator) if column.kind in _KINDS}
    return frame.astype(kinds)
