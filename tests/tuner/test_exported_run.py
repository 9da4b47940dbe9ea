"""What a run tried, as Optuna's own tools read it."""

import io
import json
import warnings
from dataclasses import asdict, replace
from math import inf

import matplotlib as mpl
import optuna
import pytest
from factories import PROBLEM, TRANSPOSE, schedules, trials
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna_dashboard import wsgi
from tuner_fakes import SEEDS, TOY, ToyDevice, ToyProblem, ToySchedule

from autotune.db import DatabaseError, RunRecord, Status, TuningDB
from autotune.devices.base import Evaluation
from autotune.runs.exported_run import _exported, export_run
from autotune.runs.run import begun
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.tuner import TuneOptions, tune

mpl.use("Agg")
WRONG = ToySchedule(width=16)
RESOURCES = {"registers": 32, "shared_bytes": 16}


@pytest.fixture(params=["file", "postgres"])
def db(request, tmp_path, pools, monkeypatch):
    """A database of either kind, with a run of two problems, and a later one."""
    monkeypatch.setitem(OPERATORS, "toy", TOY)
    url = tmp_path / "tuning.sqlite3" if request.param == "file" else request.getfixturevalue("postgres").new_database()
    with TuningDB(url) as database:
        for seed, sizes in enumerate(((8, 9), (9,))):
            options = TuneOptions(6, sampler="random", seed=seed, compile_workers=1)
            device = ToyDevice(outcome=lambda one: Evaluation(Status.WRONG, error="off") if one == WRONG else None)
            with begun(database, "autotune tune toy", TOY.name, [device], asdict(options)) as run:
                for size in sizes:
                    tune(TOY, ToyProblem(size), device, database, options, run=run)
        yield database


def exported(db, path):
    """The studies of the first run by name, as Optuna reads them, and the run."""
    run = db.runs()[1]
    assert export_run(db, run, path) == 12
    storage = JournalStorage(JournalFileBackend(str(path)))
    names = [study.study_name for study in storage.get_all_studies()]
    return {name: optuna.load_study(study_name=name, storage=storage) for name in names}, run


def test_a_run_is_exported_for_the_tools_of_optuna(db, tmp_path):
    path = tmp_path / "run.journal"
    path.write_text("what was there is replaced")
    studies, run = exported(db, path)
    assert [name.split(" on ")[0] for name in sorted(studies)] == ["toy n8", "toy n9"]
    assert {trial.user_attrs["run"] for study in studies.values() for trial in study.trials} == {run.id}
    assert run.counts.get("wrong", 0) == sum(one.value == inf for study in studies.values() for one in study.trials)
    (name, *_) = (name for name in studies if "n9" in name)
    first = studies[name]
    assert len(first.trials) == 6
    assert len([one for one in first.trials if "schedule" in one.user_attrs]) == 1, f"outside of the space: {SEEDS[1]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = optuna.visualization.matplotlib.plot_optimization_history(first)
        assert len(axes.collections[0].get_offsets()) == sum(one.state.name == "COMPLETE" for one in first.trials)
        optuna.visualization.matplotlib.plot_param_importances(first)
        optuna.visualization.matplotlib.plot_parallel_coordinate(first)
    dashboard = wsgi(JournalStorage(JournalFileBackend(str(path))))
    listed = asked(dashboard, "/api/studies")["study_summaries"]
    assert sorted(one["study_name"] for one in listed) == sorted(studies)
    details = asked(dashboard, f"/api/studies/{listed[0]['study_id']}")
    assert len(details["trials"]) == 6
    assert {one["name"] for one in details["union_search_space"]} == {"width", "depth", "order", "unrolled"}


def test_shared_memory_is_what_is_launched():
    found = trials(schedules(3))
    told = [one.user_attrs["shared_bytes"] for one in _exported([replace(one, resources=RESOURCES) for one in found])]
    assert told == [16 + TRANSPOSE.schedule(one.schedule).footprint(PROBLEM).shared_bytes for one in found]
    assert min(told) > 16
    assert all("shared_bytes" not in one.user_attrs for one in _exported(found))


def asked(dashboard, path):
    """What the dashboard answers."""
    said = []
    environment = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "wsgi.input": io.BytesIO(), "wsgi.errors": io.StringIO()}
    body = b"".join(dashboard(environment, lambda status, headers, *_: said.append(status)))
    assert said == ["200 OK"]
    return json.loads(body)


def test_a_run_without_trials_is_one_line(tmp_path):
    with TuningDB(tmp_path / "tuning.sqlite3") as db:
        run = RunRecord("", "toy", {}, "bayes", 0, [])
        with pytest.raises(
            DatabaseError, match=f"has no trial of run {run.id}: it stored none, or later runs tried them again"
        ):
            export_run(db, run, tmp_path / "run.journal")
    assert not (tmp_path / "run.journal").exists()
