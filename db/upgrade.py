"""What follows a migration: the stored problems and schedules get the names that their fields have today.

Names change with the operators, and a migration must do the same for ever, so migrations import nothing of this. A
version that renames fields brings a migration, which may leave the tables as they are.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, select
from sqlalchemy.orm import Session

from autotune.search_spaces.contract.registry import OPERATORS

from .models import ClaimRow, ProblemRow, StudyRow, TrialRow
from .renaming import renamed
from .storing import better, store


def rename_stored(connection: Connection) -> None:
    """Rename all that a database of today's tables holds, as a part of the connection's transaction."""
    with Session(connection) as session:
        for problem in session.scalars(select(ProblemRow).where(ProblemRow.operator.in_(OPERATORS))).all():
            rows = session.scalars(select(TrialRow).where(TrialRow.problem_id == problem.id).order_by(TrialRow.id))
            stored = [row.plain for row in rows]
            today = renamed(stored)
            if today != stored:
                session.expunge_all()
                studies = select(StudyRow.id).where(StudyRow.problem_id == problem.id)  # nobody goes on with those
                session.execute(delete(TrialRow).where(TrialRow.problem_id == problem.id))
                session.execute(delete(ClaimRow).where(ClaimRow.study_id.in_(studies)))
                session.execute(delete(StudyRow).where(StudyRow.problem_id == problem.id))
                session.execute(delete(ProblemRow).where(ProblemRow.id == problem.id))
                store(today, session, better)
        session.commit()
