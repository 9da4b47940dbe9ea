"""tune: what it hands to the tuner, what it shows, and its exit codes. The tuner itself is a stand-in."""

import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from factories import calibration, recording
from postgres_server import PASSWORD

from autotune import tuner
from autotune.base.confidence import Interval
from autotune.cli import tune_problems
from autotune.cli.rendering import winner as tuned
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.devices import select
from autotune.devices.base import DeviceError
from autotune.devices.select import device
from autotune.dispatcher.choice import called
from autotune.dispatcher.choice.called import note
from autotune.search_spaces.contract.registry import operator as operator_of
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import Progress, Runoff, TuneOptions, TuneResult

SGEMM = operator_of("sgemm")
TRANSPOSE = ("tune", "transpose", "--device", "h200")


class Search:
    """Stands in for `tuner.tune`: notes its arguments and ends as told, by default with a winner of 1 ms."""

    def __init__(self):
        self.problems = []
        self.following = []  # operator and key
        self.options = None
        self.wins = lambda problem: True
        self.interrupted_at = 0
        self.error = None
        self.ratio = None
        self.lost_at = None

    def __call__(self, operator, problem, device, db, options, show, pool, run, following):
        if self.lost_at == (device.selector, problem.m):
            raise DeviceError("it fell off the bus")
        self.problems.append(problem)
        self.following.append(following and (following[0].name, following[1].key))
        self.options = options
        trial = self._trial(operator, problem, device, self.wins(problem))
        best = trial if trial.status is Status.OK else None
        show(Progress(trial, 1, options.trials, 0.5, best))
        if self.error:
            raise self.error
        interrupted = len(self.problems) == self.interrupted_at
        runoff = Runoff(trial, trial, self.ratio) if self.ratio else None
        return TuneResult(
            best, 1, 2, {trial.status: 1}, 3, 0.5, False, interrupted, runoff, "" if best else "element 3 is 0.0"
        )

    @staticmethod
    def _trial(operator, problem, device, wins):
        schedule = operator.default(problem, device.spec)
        return Trial(
            device=DeviceRecord(device.spec.name, device.spec.compute_capability, {}),
            problem=ProblemRecord(operator.name, problem.key, problem.to_dict()),
            schedule=schedule.to_dict(),
            schedule_digest=schedule.digest,
            status=Status.OK if wins else Status.WRONG,
            time_source=TimeSource.MODELLED,
            samples=(1e-3,) if wins else (),
        )


def gpu(selector):
    """An offline device that says it is the GPU of this number."""
    stand_in = select.device("h200")
    stand_in.selector = selector
    return stand_in


@pytest.fixture
def search(monkeypatch):
    stand_in = Search()
    monkeypatch.setattr(tuner, "tune", stand_in)
    monkeypatch.setattr(select, "worker_device", lambda selector, **_: nullcontext(select.device(selector)))
    return stand_in


def test_options_reach_the_tuner(autotune, search):
    sizes = ("--m", "64", "--n", "32", "--element-bytes", "8")
    budget = ("--trials", "5", "--seconds", "2.5", "--sampler", "random", "--seed", "7")
    assert autotune(*TRANSPOSE, *sizes, *budget).code == 0
    assert search.problems == [operator_of("transpose").problem_type(64, 32, 8)]
    assert search.options == TuneOptions(trials=5, seconds=2.5, sampler="random", seed=7)


def test_the_winner_is_shown_with_its_source(autotune, search, environment):
    outcome = autotune(*TRANSPOSE, "--m", "1000", "--n", "1000")
    assert "1 ms modelled" in outcome.stdout
    assert "8 GB/s" in outcome.stdout
    assert str(environment) in outcome.stdout
    with TuningDB() as db:
        (run,) = db.runs()
    assert outcome.stdout.endswith(f"next      autotune runs show {run.id}\npictures  autotune report {run.id}\n")
    (line,) = (line for line in outcome.stdout.splitlines() if line.split()[:1] == ["source"])
    assert 'extern "C" __global__' in Path(line.split()[1]).read_text()
    assert "1/200" in outcome.stderr


def test_a_source_that_does_not_fit_on_its_disk_costs_no_result(autotune, search, tmp_path, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device", str(path))

    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 8}, {"m": 16}]')
    monkeypatch.setattr(tuned, "write_text", full)
    with pytest.warns(RuntimeWarning, match="No space left on device; the winner's source is not written"):
        outcome = autotune(*TRANSPOSE, "--suite", str(suite), "--json")
    assert outcome.code == 0
    assert [(run["best"]["seconds"], run["source"]) for run in outcome.json["results"]] == [(1e-3, None)] * 2


@pytest.mark.usefixtures("search")
def test_the_newest_sources_of_winners_stay(autotune, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(tuned, "_MOST_SOURCES", 2)
    sources = [
        Path(autotune(*TRANSPOSE, "--element-bytes", size, "--json").json["results"][0]["source"]) for size in "248"
    ]
    assert sorted(sources[0].parent.iterdir()) == sorted(sources[1:])


def test_the_final_is_told_with_its_ratio(autotune, search):
    search.ratio = Interval(0.9951, 1.0004, 1.0062)
    told = autotune(*TRANSPOSE).stdout
    assert "the incumbent stays: the challenger takes 1.000 (0.995 to 1.006) of its time" in told
    (run,) = autotune(*TRANSPOSE, "--json").json["results"]
    assert run["runoff"] == {"won_by": "incumbent", "ratio": {"low": 0.9951, "middle": 1.0004, "high": 1.0062}}


def test_json_is_all_that_stdout_gets(autotune, search, environment):
    document = autotune(*TRANSPOSE, "--m", "1000", "--n", "1000", "--json").json
    with TuningDB() as db:
        assert [document["run"]] == [one.id for one in db.runs()]
    assert document["database"] == str(environment)
    (run,) = document["results"]
    assert list(run) == [
        "operator", "problem", "fields", "device", "selector", "best", "bytes_per_second", "operations_per_second",
        "peak_share", "source", "evaluated", "known", "by_status", "illegal", "seconds", "exhausted", "interrupted",
        "runoff",
    ]  # fmt: skip
    assert run["best"]["seconds"] == 1e-3
    assert run["bytes_per_second"] == 8e9
    assert run["peak_share"] == pytest.approx(8e9 / 4.8e12)


def test_peak_is_what_bounds_the_problem(autotune, search):
    document = autotune("tune", "sgemm", "--device", "h200", "--json").json
    assert document["results"][0]["operations_per_second"] == {"fp32": 2 * 4096**3 / 1e-3}
    assert document["results"][0]["peak_share"] == pytest.approx(2 * 4096**3 / 1e-3 / 66.9e12, rel=1e-2)


def test_a_share_is_that_of_the_measured_peak(autotune, search):
    with TuningDB() as db:
        db.record_calibration(calibration("NVIDIA H200"), named_device("h200"))
    outcome = autotune(*TRANSPOSE, "--m", "1000", "--n", "1000", "--json")
    assert outcome.json["results"][0]["peak_share"] == pytest.approx(8e9 / 4.4e12)
    (told,) = re.findall(r"(\S+)% of the roofline", outcome.stderr)
    assert told == "0"


def test_a_suite_is_tuned_problem_by_problem(autotune, search, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"group": "small", "m": 8, "n": 4}, {"m": 16}]')
    search.wins = lambda problem: problem.m == 8  # type: ignore[attr-defined]
    outcome = autotune(*TRANSPOSE, "--n", "2", "--suite", str(suite), "--json")
    transpose = operator_of("transpose").problem_type
    assert search.problems == [transpose(8, 4), transpose(16, 2)]
    assert search.following == [("transpose", "m16-n2-e4"), None]
    assert [bool(run["best"]) for run in outcome.json["results"]] == [True, False]
    assert outcome.code == 1
    assert "m16-n2-e4: 1 wrong (element 3 is 0.0); autotune db trials transpose" in outcome.stderr
    assert outcome.stderr.endswith(" lists the errors\n")


def test_a_thread_that_measures_waits_for_no_turn_of_python(autotune, search, monkeypatch):
    turns = []
    monkeypatch.setattr("sys.setswitchinterval", turns.append)
    assert autotune(*TRANSPOSE, "--m", "8").code == 0
    assert turns == [0.0005]


def test_the_shipped_suite_is_known_by_its_name(autotune, search):
    assert autotune("tune", "sgemm", "--device", "h200", "--suite", "gemm").code == 0
    assert sum(isinstance(problem, SGEMM.problem_type) for problem in search.problems) == 66


def test_a_product_of_few_rows_is_tuned_as_a_gemv_too(autotune, search):
    few = ("tune", "sgemm", "--device", "h200", "--m", "4")
    outcome = autotune(*few, "--json")
    assert [one["operator"] for one in outcome.json["results"]] == ["sgemm", "gemv"]
    restated = SGEMM.restated(search.problems[0])
    assert search.problems[1] == restated.problem
    assert search.following == [("gemv", restated.problem.key), None]
    assert len(autotune(*few, "--dry-run", "--json").json) == 2
    search.interrupted_at = 3
    assert autotune(*few).code == 130
    assert len(search.problems) == 3


def test_an_interrupted_run_says_how_to_go_on(autotune, search, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 8}, {"m": 16}, {"m": 24}]')
    search.interrupted_at = 2
    outcome = autotune(*TRANSPOSE, "--suite", str(suite), "--json")
    assert outcome.code == 130
    assert len(search.problems) == len(outcome.json["results"]) == 2
    assert "the same command continues" in outcome.stderr


def test_stale_records_are_renewed(autotune, search, environment):
    h200, transpose = select.device("h200"), operator_of("transpose")
    old, new = (transpose.problem_type(n, n) for n in (8, 16))
    with TuningDB() as db:
        for problem, changes in ((old, {"program_digest": "0" * 64}), (new, {})):
            trial = search._trial(transpose, problem, h200, wins=True)
            db.record(replace(trial, **changes))
    assert len(autotune(*TRANSPOSE, "--stale", "--json").json["results"]) == 1
    assert search.problems == [old]
    assert autotune(*TRANSPOSE, "--stale", "--suite", "suite.json").code == 2
    environment.unlink()
    outcome = autotune(*TRANSPOSE, "--stale")
    assert (outcome.code, len(search.problems)) == (0, 1)
    assert outcome.stderr == "nothing to tune: no record of transpose on NVIDIA H200 is stale\n"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "autotune: interrupted"),
        (KeyError("m"), 1, "autotune: KeyError: 'm' (AUTOTUNE_DEBUG=1 shows where)"),
        (OSError(28, "No space left on device", "/cache"), 1, "autotune: /cache: No space left on device"),
    ],
)
def test_what_goes_wrong_is_one_line(autotune, search, error, code, line):
    search.error = error
    outcome = autotune(*TRANSPOSE, "--json")
    assert (outcome.code, outcome.stdout) == (code, "")
    assert outcome.stderr.splitlines()[-1] == line
    assert "Traceback" not in outcome.stderr


def test_devices_of_different_models_tune_every_problem(autotune, search, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 8}, {"m": 16}]')
    outcome = autotune(*TRANSPOSE, "--device", "h200,t4", "--suite", str(suite), "--json")
    assert outcome.code == 0
    runs = outcome.json["results"]
    assert sorted((run["selector"], run["fields"]["m"]) for run in runs) == [
        ("h200", 8), ("h200", 16), ("t4", 8), ("t4", 16),
    ]  # fmt: skip
    assert {run["selector"]: run["device"] for run in runs} == {"h200": "NVIDIA H200", "t4": "Tesla T4"}
    assert {line.partition("1/200")[0] for line in outcome.stderr.splitlines() if "1/200" in line} == {"h200: ", "t4: "}


def test_one_problem_is_tuned_by_one_device_of_a_model(autotune, search, monkeypatch):
    monkeypatch.setattr(select, "cuda_device_count", lambda: 3)
    monkeypatch.setattr(select, "worker_device", lambda selector, **_: nullcontext(gpu(selector)))
    outcome = autotune("tune", "transpose", "--device", "all", "--json")
    assert (outcome.code, len(outcome.json["results"])) == (0, 1)
    assert outcome.stderr.splitlines()[0] == (
        "3 devices are NVIDIA H200, and each problem is tuned by one of them: 2 will be idle"
    )


def test_a_lost_device_is_named_and_what_was_done_is_told(autotune, search, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 8}, {"m": 16}, {"m": 24}]')
    search.lost_at = ("t4", 16)
    outcome = autotune(*TRANSPOSE, "--device", "h200,t4", "--n", "4", "--suite", str(suite), "--json")
    assert outcome.code == 1
    assert sorted(run["selector"] for run in outcome.json["results"]) == ["h200", "h200", "h200", "t4"]
    assert outcome.stderr.splitlines()[-1] == (
        "autotune: device t4 at m16-n4-e4: it fell off the bus; not tuned: m24-n4-e4 on Tesla T4"
    )


@pytest.mark.parametrize(
    ("devices", "line"),
    [
        (
            "h200,t4,h200",
            "autotune: --device h200,t4,h200 names h200 more than once; a device tunes one problem at a time",
        ),
        ("h200,t5", "autotune: unknown device 't5'; expected auto, "),
        ("all", "autotune: --device all: the NVIDIA driver sees no GPU; name offline devices, such as h200,t4"),
    ],
)
def test_devices_that_are_not_there(autotune, search, monkeypatch, devices, line):
    monkeypatch.setattr(select, "cuda_device_count", lambda: 0)
    outcome = autotune(*TRANSPOSE, "--device", devices)
    assert (outcome.code, search.problems) == (2, [])
    assert outcome.stderr.startswith(line)


def test_a_database_that_is_read_only_is_a_failure(autotune, environment):
    autotune("db", "path")
    read_only = f"sqlite:///file:{environment}?mode=ro&uri=true"
    outcome = autotune(*TRANSPOSE, "--m", "8", "--n", "8", "--trials", "1", "--db", read_only)
    assert outcome.code == 1
    assert "read-only" in outcome.stderr.splitlines()[-1]


def test_a_study_on_a_server_whose_password_is_not_printed(autotune, search, postgres):
    url = postgres.new_database()
    outcome = autotune(*TRANSPOSE, "--db", url, "--study", "night")
    assert outcome.code == 0
    assert search.options == TuneOptions(study="night")
    with TuningDB(url) as db:
        (run,) = db.runs()
    assert f"autotune runs show {run.id} --db 'postgresql+psycopg://autotune:***@/tuning_" in outcome.stdout
    assert run.options == {"trials": 200, "study": "night", "objective": "time"}
    assert run.command.startswith("autotune tune transpose --device h200 --db 'postgresql+psycopg://autotune:***@/")
    assert PASSWORD not in run.command
    assert PASSWORD not in outcome.stdout + outcome.stderr


def test_untuned_calls_are_tuned_most_called_first_unless_recorded(autotune, search, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(called, "_noted", [])
    model, transpose = named_device("h200").name, operator_of("transpose").problem_type
    calls = {transpose(8, 4): 2, transpose(16, 4): 3, transpose(32, 4): 9}
    for problem, count in calls.items():
        note("transpose", model, SimpleNamespace(problem=problem, calls=count), untuned=True, at_once=True)
    for problem, where, untuned in ((transpose(64, 4), "NVIDIA A100", True), (transpose(128, 4), model, False)):
        note("transpose", where, SimpleNamespace(problem=problem, calls=99), untuned=untuned, at_once=True)
    known = search._trial(operator_of("transpose"), transpose(32, 4), device("h200"), wins=True)
    with TuningDB() as database:
        database.record(known)
        gpu = SimpleNamespace(spec=named_device("h200"), time_source=TimeSource.MEASURED)
        assert transpose(32, 4) in tune_problems.untuned_of(operator_of("transpose"), gpu, database)
    assert autotune(*TRANSPOSE, "--untuned").code == 0
    assert search.problems == [transpose(16, 4), transpose(8, 4)]
    outcome = autotune("tune", "sgemm", "--device", "h200", "--untuned", "--json")
    assert (outcome.code, outcome.json["results"]) == (0, [])
    assert outcome.stderr == f"nothing to tune: there are no untuned calls of sgemm on {model}\n"


def test_untuned_and_a_suite_exclude_each_other(autotune, search):
    outcome = autotune(*TRANSPOSE, "--untuned", "--suite", "suite.json")
    assert (outcome.code, search.problems) == (2, [])
    assert outcome.stderr == "autotune: --suite and --untuned exclude each other: each selects the problems to tune\n"


def test_an_empty_problem_is_not_tuned(autotune, search, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 0}, {"m": 16}]')
    outcome = autotune(*TRANSPOSE, "--suite", str(suite), "--json")
    assert outcome.code == 0
    assert [run["problem"] for run in outcome.json["results"]] == ["m16-n4096-e4"]
    assert "nothing to tune: transpose m0-n4096-e4 has nothing to compute\n" in outcome.stderr


def test_a_problem_that_a_recording_lacks_is_bad_input(autotune, tmp_path):
    path = recording(tmp_path / "recording.jsonl.gz", 2)
    outcome = autotune("tune", "transpose", "--m", "64", "--device", f"replay:{path}")
    assert (outcome.code, outcome.stderr.count("\n")) == (2, 2)
    assert f"{path} records transpose m4096-n4096-e4, not transpose m64-n4096-e4\n" in outcome.stderr
