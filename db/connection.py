"""An open database: its engine, its transactions, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self, TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from .engine import PROBLEM, WRITE, check_exists, database_url, engine_of, location
from .errors import one_line_errors, readable
from .schema import ensure_schema

R = TypeVar("R")


class DatabaseConnection:
    """What all queries of `TuningDB` stand on, which says what the arguments and the attributes are."""

    def __init__(self, url: str | Path | None = None, *, create: bool = True) -> None:
        self.url = database_url(url)
        self.location = location(self.url)
        if not create:
            check_exists(self.url)
        self._engine = engine_of(self.url)
        try:
            with one_line_errors(self.location), readable(self.location):
                ensure_schema(self._engine, self.location)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _read(self) -> AbstractContextManager[Session]:
        return self._session(self._engine)

    def _write(self, work: Callable[[Session], R], problem: int | None = None) -> R:
        """Run `work` in one transaction, which has the write lock from its start, or that of a problem only."""
        lock = {WRITE: True} if problem is None else {WRITE: True, PROBLEM: problem}
        with self._session(self._engine.execution_options(**lock)) as session, session.begin():
            return work(session)

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        with one_line_errors(self.location), readable(self.location), Session(engine) as session:
            yield session
