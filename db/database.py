"""The query API of the tuning database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from autotune.base.nvrtc import installed_nvrtc
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import kin_of

from .best import best_of, leading, serving, winners
from .errors import DatabaseError
from .exchange import MergeCounts, from_document, to_document, write_document
from .frame import dataframe
from .models import DeviceRow, ProblemRow, StudyRow, TrialRow
from .queries import matching, ranked
from .run_record import RunRecord
from .states import Objective, Status, TimeSource
from .stored_calibrations import StoredCalibrations
from .stored_study import StoredStudy
from .stored_trials import StoredTrials
from .storing import better, newest
from .trial_list import Trials
from .trials import DeviceRecord, ProblemRecord, Trial, Tried
from .upkeep import Upkeep

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["DatabaseError", "DeviceRecord", "MergeCounts", "ProblemRecord", "RunRecord", "Trial", "TuningDB"]

_AT_ONCE = 500  # rows
_TRIED = [getattr(TrialRow, field.name, func.coalesce(StudyRow.name, "")) for field in fields(Tried)]


class TuningDB(StoredCalibrations, StoredTrials, Upkeep):
    """Every trial ever made, and which ones are best.

    Opening creates the database and its folder where there is none, and migrates an older one. The trials that ship
    with the package are added when their operator and device model are first asked for. Any number of threads and
    processes may use one database at once.

    One trial is kept per device, problem, schedule, time source, program and compiler: `record` replaces it, since the
    newest measurement tells most, and `merge` keeps the better one.

    Args:
        url: the path of a SQLite file, or SQLAlchemy's URL of SQLite or PostgreSQL; by default the environment variable
            AUTOTUNE_DB, else a file in the user's data folder.
        create: whether to create a SQLite file where there is none; the one in the user's data folder always is.

    Attributes:
        url: where the database is; its text holds the password, if there is one.
        location: the same as people read it: a path, or a URL without its password.

    Raises:
        DatabaseError: one line that names the remedy, here and in every method. A database that is corrupt, newer
            than this version or another program's is never changed.
        TypeError: a `url` that is neither text nor a path.
    """

    def record(self, trial: Trial) -> None:
        """Store a trial in one transaction, in place of an earlier one of the same key.

        A device and a problem that are known already stay as they are.

        Raises:
            TypeError: not a trial.
        """
        if not isinstance(trial, Trial):
            raise TypeError(f"record takes a Trial, not a {type(trial).__name__}")
        self._take_in(trial.problem.operator, trial.device.model)
        self._store([trial], newest)

    @contextmanager
    def study(
        self,
        name: str,
        device: DeviceRecord,
        problem: ProblemRecord,
        run: str,
        objective: Objective = Objective.TIME,
    ) -> Iterator[StoredStudy]:
        """A tuner's part in a study, which is made if it is new; at its end others may have what it has not tried.

        Args:
            name: tells the studies of a device model and a problem apart.
            device, problem: as in a trial; those that are known already stay as they are.
            run: the id of the run that the tuner works for, which is `running`.
            objective: what is minimised.
        """
        self._take_in(problem.operator, device.model)
        self._store([], newest, operators={problem.operator})
        study = StoredStudy(self, name, device, problem, run, objective)
        try:
            yield study
        finally:
            with suppress(DatabaseError):  # the claims of who cannot give them back end by themselves
                study.give_back()

    def merge(self, document: Any) -> MergeCounts:
        """Add the trials of an exported document in one transaction, keeping the better one of the same key.

        An ok trial is better than a failed one, and of two ok trials the faster, or the newer of two as fast; else the
        stored one stays. So a second merge of the same document changes nothing.

        Raises:
            ValueError: one line that says where the document is wrong, or claims what cannot be true; nothing was
                written.
        """
        trials = from_document(document)
        self._check(trials)
        return self._store(trials, better)

    def best(self, operator: str, key: str, device: str, compiler: str | None = None) -> Trial | None:
        """The best trial of one problem on one device model; None if there is none.

        The verdict on a schedule is its newest measured trial, or without one its newest modelled trial. Best is the
        ok verdict with the shortest median, any measured one before all modelled ones, and among either those of
        `compiler`, by default the installed one, before all others. One that another schedule was preferred to
        (`Trial.lost_to`) comes behind all others, as long as that schedule is ok.

        If that one is unconfirmed, since its schedule emits another program today, the first confirmed one of the next
        few of its time source is best instead. Without one of them, the unconfirmed one is.
        """
        self._take_in(operator, device)
        with self._read() as session:
            return next(iter(best_of(session, matching(operator, key, device), compiler or installed_nvrtc())), None)

    def ranked(
        self,
        operator: str,
        key: str,
        device: str,
        compiler: str,
        time_source: TimeSource,
        most: int | None = None,
    ) -> list[Trial]:
        """The ok verdicts of one problem, device model and kind of time in the order of `best`, fresh or not."""
        self._take_in(operator, device)
        query = ranked(matching(operator, key, device, time_source), compiler, most)
        with self._read() as session:
            return [row.plain for row in session.scalars(query)]

    def tried(self, operator: str, key: str, device: str, compiler: str, time_source: TimeSource) -> Iterator[Tried]:
        """What became of the trials of one problem, device model, compiler and kind of time, oldest first.

        They are read as they are taken: a long run has left many.
        """
        self._take_in(operator, device)
        query = select(*_TRIED).outerjoin(StudyRow, StudyRow.id == TrialRow.study_id)
        query = query.where(*matching(operator, key, device, time_source), TrialRow.compiler == compiler)
        with self._read() as session:
            rows = session.execute(
                query.order_by(TrialRow.created_at, TrialRow.id).execution_options(yield_per=_AT_ONCE)
            )
            yield from (Tried(*row) for row in rows)

    def bests(
        self,
        operator: str | None = None,
        device: str | None = None,
        compiler: str | None = None,
        run: str | None = None,
        key: str | None = None,
    ) -> list[Trial]:
        """`best` for each device model and problem, or that of a key, that has one; of a run, among its own trials."""
        self._take_in(operator, device)
        with self._read() as session:
            return Trials(best_of(session, matching(operator, key, device), compiler or installed_nvrtc(), run))

    def winners(
        self, operator: str, device: str, compiler: str | None = None
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The fields of each problem, and of the schedule that `ranked` puts first, fresh or not.

        That takes a tenth of the time of `bests`: whoever tries these schedules again need not know more of them.
        """
        self._take_in(operator, device)
        with self._read() as session:
            return winners(session, matching(operator, device=device), compiler or installed_nvrtc())

    def leading(self, device: str) -> list[Trial]:
        """What `ranked` puts first for each problem on a device model, fresh or not: no program is emitted to tell."""
        self._take_in(None, device)
        with self._read() as session:
            return Trials(leading(session, matching(device=device), installed_nvrtc()))

    def serving(
        self, operator: str | None = None, device: str | None = None, compiler: str | None = None
    ) -> list[Trial]:
        """What the dispatcher looks at: `bests`, and the unconfirmed trials that rank before them.

        If all of these kernels are for their problem's shape alone, the best of those for any size, too.
        """
        self._take_in(operator, device)
        with self._read() as session:
            return serving(session, matching(operator, device=device), compiler or installed_nvrtc())

    def shippable(self, operator: str | None = None, device: str | None = None) -> list[Trial]:
        """The measured trials of `serving` for each compiler that any trial is of, those of that compiler alone."""
        self._take_in(operator, device)
        conditions = matching(operator, device=device, time_source=TimeSource.MEASURED)
        with self._read() as session:
            compilers = session.scalars(select(TrialRow.compiler).where(*conditions).distinct()).all()
            return [
                trial
                for compiler in sorted(compilers)
                for trial in serving(session, [*conditions, TrialRow.compiler == compiler], compiler)
            ]

    def trials(
        self,
        operator: str | None = None,
        key: str | None = None,
        device: str | None = None,
        status: Status | None = None,
        limit: int | None = None,
        run: str | None = None,
    ) -> list[Trial]:
        """Trials, newest first: at most `limit`, of an operator, a problem's key, a device model, a status, a run."""
        self._take_in(operator, device)
        query = select(TrialRow).where(*matching(operator, key, device, run=run))
        if status is not None:
            query = query.where(TrialRow.status == status)
        query = query.order_by(TrialRow.created_at.desc(), TrialRow.id.desc()).limit(limit)
        with self._read() as session:
            return Trials(row.plain for row in session.scalars(query))

    def dataframe(self, operator: str) -> DataFrame:
        """All trials of an operator, one a row, with the columns of the view ``trials_<operator>``.

        The fields of problem and schedule are columns; one that an old trial lacks is missing there.

        Raises:
            DatabaseError: pandas is not installed.
            ValueError: there is no such operator.
        """
        name = registered(operator).name
        self._take_in(name)
        with self._read() as session:
            return dataframe(session, name)

    def problems(self, operator: str | None = None) -> list[ProblemRecord]:
        """Problems by operator and key."""
        self._take_in(operator)
        query = select(ProblemRow).order_by(ProblemRow.operator, ProblemRow.key)
        if operator is not None:
            query = query.where(ProblemRow.operator == operator)
        with self._read() as session:
            return [row.plain for row in session.scalars(query)]

    def devices(self) -> list[DeviceRecord]:
        """Device models by name."""
        self._take_in()
        with self._read() as session:
            return [row.plain for row in session.scalars(select(DeviceRow).order_by(DeviceRow.model))]

    def kin(self, operator: str, spec: DeviceSpec) -> list[DeviceRecord]:
        """The other device models of a device's architecture that may have trials of an operator, by name."""
        for model in kin_of(spec):
            self._take_in(operator, model)
        major, minor = spec.compute_capability
        same = (DeviceRow.compute_capability_major == major, DeviceRow.compute_capability_minor == minor)
        query = select(DeviceRow).where(*same, DeviceRow.model != spec.name).order_by(DeviceRow.model)
        with self._read() as session:
            return [row.plain for row in session.scalars(query)]

    def export(
        self,
        operator: str | None = None,
        device: str | None = None,
        best_only: bool = False,
        compiler: str | None = None,
    ) -> dict[str, Any]:
        """A JSON document for `merge`: all trials of an operator and a device model, or what `serving` says of them."""
        trials = self.serving(operator, device, compiler) if best_only else self.trials(operator, device=device)
        return to_document(trials)

    def write_export(self, path: Path, *arguments: Any, **named: Any) -> None:
        """Write `export` of these arguments to a file, which is replaced as a whole.

        Raises:
            OSError: the file cannot be written; what was there is still there.
        """
        write_document(path, self.export(*arguments, **named))
