"""``autotune bench``: what it measures, what it prints, and its exit codes."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from bench_fakes import baseline
from factories import calibration

from autotune.bench import OWN
from autotune.bench import run as benchmark_run
from autotune.cli.app import run
from autotune.cli.commands import bench as cli_bench
from autotune.cli.rendering.bench_tables import tables
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.db import Status, TuningDB
from autotune.db.comparison import BaselineTimes
from autotune.devices import select
from autotune.devices.base import Evaluation
from autotune.devices.energy import Energy
from autotune.devices.offline import OfflineDevice
from autotune.search_spaces.contract.baselines import NotTakenError, Published
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device

TRANSPOSE = operator("transpose")
SIZES = ("--m", "1000", "--n", "1000")
PROBLEM = TransposeProblem(1000, 1000)
SUITE = [{"group": "small", "m": 1000}, {"group": "small", "m": 2000}, {"group": "large", "m": 4000}, {"m": 8000}]
MOVER = {1000: 2e-3, 2000: 8e-3, 4000: 1e-3, 8000: 0.5e-3}  # seconds by m, where autotune takes 1 ms


@pytest.fixture
def suite(tmp_path, gpu):
    gpu.prepare_session = lambda session: session.seconds.update(mover=MOVER[session.problem.m])
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(SUITE))
    return ("--suite", str(path), "--n", "1000", "--against", "mover")


def table(outcome):
    return [line.split() for line in outcome.stdout.splitlines()]


def test_a_problem_gets_a_row_for_each_contender(bench, gpu, record):
    record(PROBLEM)
    gpu.prepare_session = lambda session: session.seconds.update({OWN: 1e-3, "copy": 0.9e-3, "mover": 2e-3})
    outcome = bench(*SIZES)
    assert outcome.code == 0
    assert "cold operands" in outcome.stdout
    assert [line for line in table(outcome) if line[:1] in (["autotune"], ["copy"], ["mover"])] == [
        ["autotune", "1", "ms", "0.0%", "8", "GB/s", "1.000×"],
        ["mover", "2", "ms", "0.0%", "4", "GB/s", "2.000×"],
        ["copy", "900", "µs", "0.0%", "8.889", "GB/s", "0.900×"],
    ]
    assert outcome.stderr == "1/1  m1000-n1000-e4  1 ms  2.000× mover  0.900× copy\n"


def test_json_says_what_was_measured_and_with_what(bench, gpu, record, tmp_path):
    record(PROBLEM)
    gpu.prepare_session = lambda session: session.seconds.update({"mover": 3e-3})
    path = tmp_path / "result.json"
    outcome = bench(*SIZES, "--against", "mover", "--rounds", "5", "--json", "-o", str(path))
    result = outcome.json
    assert json.loads(path.read_text()) == result
    assert (result["operator"], result["device"], result["rounds"]) == ("transpose", "Test GPU", 5)
    assert result["environment"] == {"driver": "580", "libmover": "1.2"}
    assert result["operands"] == "cold"
    assert result["baselines"] == {"mover": "what mover does"}
    (run,) = result["runs"]
    assert run["fields"] == PROBLEM.to_dict()
    assert (run["schedule_from"], run["error"]) == ("record", "")
    assert run["roofline_seconds"] == pytest.approx(8e6 / 4.8e12)
    assert run["roofline_share"] == pytest.approx(8e6 / 4.8e12 / 1e-3)
    assert run["ratios"] == {"mover": pytest.approx(3)}
    assert run["contenders"]["mover"]["seconds"] == 3e-3
    assert run["contenders"][OWN]["bytes_per_second"] == pytest.approx(8e9)


def test_the_roofline_is_the_measured_one(bench, gpu, record):
    record(PROBLEM)
    with TuningDB() as database:
        database.record_calibration(calibration(gpu.spec.name), gpu.spec)
    result = bench(*SIZES, "--json").json
    assert result["peaks"] == {"bandwidth": 4.4e12, "fp32": 6.5e13}
    assert result["runs"][0]["roofline_seconds"] == pytest.approx(8e6 / 4.4e12)


@pytest.fixture
def metered(monkeypatch):
    """Launches of autotune take 0.5 J at 500 W, of the copy 0.1 J; of mover nobody tells."""
    told = {OWN: Energy(0.5, 500.0), "copy": Energy(0.1, 400.0)}
    meter = SimpleNamespace(measure=lambda launch, wait, seconds: told.get(launch.name))
    monkeypatch.setattr(benchmark_run, "Meter", lambda joules: meter)
    return told


def test_energy_is_two_columns_with_dashes_where_it_is_not_told(bench, record, metered):
    record(PROBLEM)
    outcome = bench(*SIZES, "--energy")
    rows = {line[0]: line[-4:] for line in table(outcome) if line[:1] in (["autotune"], ["copy"], ["mover"])}
    assert rows["autotune"] == ["500", "mJ", "500", "W"]
    assert rows["copy"] == ["100", "mJ", "400", "W"]
    assert rows["mover"][-2:] == ["–", "–"]
    contenders = bench(*SIZES, "--energy", "--json").json["runs"][0]["contenders"]
    assert {name: one["energy"] for name, one in contenders.items()} == {
        OWN: {"joules": 0.5, "watts": 500.0}, "copy": {"joules": 0.1, "watts": 400.0}, "mover": None
    }  # fmt: skip


def test_energy_of_a_suite_is_that_of_autotune(bench, suite, metered):
    lines = bench(*suite, "--energy", "--markdown").stdout.splitlines()
    assert lines[2] == (
        "| group | problem | schedule | median | spread | rate | of roofline | × mover | energy | power | error |"
    )
    assert lines[4].endswith("| 2.000 | 500 mJ | 500 W |  |")


def test_without_a_counter_one_line_says_so(bench, record):
    record(PROBLEM)
    outcome = bench(*SIZES, "--energy")
    assert outcome.code == 0
    assert outcome.stderr.splitlines()[1:] == ["energy: NVML does not tell it here"]


def test_energy_is_not_measured_unless_it_was_asked_for(bench, record, metered):
    record(PROBLEM)
    assert "energy" not in bench(*SIZES).stdout


def test_records_keep_how_they_compare(bench, record, suite):
    for m in (2000, 8000):
        record(TransposeProblem(m, 1000))
    with TuningDB() as database:
        before = database.bests("transpose")
    assert bench(*suite).code == 0
    with TuningDB() as database:
        assert database.bests("transpose") == before
    assert bench(*suite, "--record").code == 0
    with TuningDB() as database:
        after = {trial.problem.fields["m"]: trial for trial in database.bests("transpose")}
    assert {m: trial.faster_baselines for m, trial in after.items()} == {2000: set(), 8000: {"mover"}}
    assert [trial.samples for trial in after.values()] == [trial.samples for trial in before]
    assert after[8000].comparison == BaselineTimes(1e-3, {"mover": 0.5e-3}, {"libmover": "1.2"})


def test_without_a_record_it_measures_what_the_dispatcher_chooses_and_says_so(bench):
    outcome = bench(*SIZES, "--json")
    assert (outcome.code, outcome.json["runs"][0]["schedule_from"]) == (0, "model")
    assert outcome.stderr.startswith("1 of 1 problems of transpose have no measured record on Test GPU: what the ")


def test_only_a_gpu_measures(bench, monkeypatch):
    monkeypatch.setattr(select, "device", OfflineDevice)
    outcome = bench(*SIZES, "--device", "h200")
    assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
    assert "device h200 is not: expected a number such as 0" in outcome.stderr


def test_what_is_not_installed_is_skipped_by_name_unless_it_was_named(bench, baselines, record):
    record(PROBLEM)
    baselines["mover"] = baseline("mover", missing="the baseline mover needs Mover: pip install mover")
    outcome = bench(*SIZES, "--json")
    assert outcome.code == 0
    assert outcome.stderr.startswith("skipped: the baseline mover needs Mover: pip install mover\n")
    assert list(outcome.json["baselines"]) == ["copy"]
    assert list(outcome.json["skipped"]) == ["mover"]
    assert bench(*SIZES, "--against", "mover").refusal == "the baseline mover needs Mover: pip install mover"


WRONG = Evaluation(Status.WRONG, error="b: 3 of 9 elements")


def test_a_wrong_kernel_is_one_line(bench, gpu, record):
    record(PROBLEM)
    gpu.prepare_session = lambda session: session.verdicts[OWN].append(WRONG)
    outcome = bench(*SIZES)
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr.splitlines()[-1] == ("autotune: failed: m1000-n1000-e4: autotune: wrong, b: 3 of 9 elements")
    assert gpu.looked_after == 1


def test_a_baseline_without_such_a_problem_has_a_dash_and_a_reason(bench, baselines, record, tmp_path):
    record(PROBLEM)
    (tmp_path / "suite.json").write_text(json.dumps([{"m": 1000, "n": 1000}]))
    baselines["mover"] = baseline("mover", error=NotTakenError("mover moves squares\x1b alone"))
    outcome = bench("--suite", str(tmp_path / "suite.json"))
    assert outcome.code == 0
    assert outcome.stderr.splitlines()[-1] == "mover does not take 1 of 1 problems: mover moves squares\\u001b alone"
    assert "–" in outcome.stdout
    (run,) = bench(*SIZES, "--json").json["runs"]
    assert (run["error"], list(run["not_taken"]), run["ratios"]) == ("", ["mover"], {"copy": 1})


def test_a_wrong_baseline_is_one_line_beside_the_figures_of_the_others(bench, gpu, record, tmp_path):
    record(PROBLEM)
    gpu.prepare_session = lambda session: session.verdicts["mover"].append(WRONG)
    outcome = bench(*SIZES, "--ladder", "--record", "--json", "--plot", str(tmp_path / "ratios.svg"))
    assert outcome.code == 1
    assert outcome.stderr.splitlines() == [
        "1/1  m1000-n1000-e4  1 ms  1.000× copy  mover failed",
        "autotune: failed: m1000-n1000-e4: mover: wrong, b: 3 of 9 elements",
    ]
    (run,) = outcome.json["runs"]
    assert run["error"] == "mover: wrong, b: 3 of 9 elements"
    assert (run["contenders"][OWN]["seconds"], run["ratios"]) == (1e-3, {"copy": 1})
    assert outcome.json["geometric_means"]["all"] == {"copy": 1}
    with TuningDB() as database:
        assert database.bests("transpose")[0].comparison == BaselineTimes(1e-3, {}, {"libmover": "1.2"})
    rows = table(bench(*SIZES, "--ladder"))
    assert [row[-1] for row in rows if row and row[0] in (OWN, "copy")] == ["100.0%", "100.0%"]


def test_a_wrong_baseline_leaves_its_cell_of_the_suite_empty(bench, gpu, suite):
    measure = gpu.prepare_session

    def wrong_at_2000(session):
        measure(session)
        if session.problem.m == 2000:
            session.verdicts["mover"].append(WRONG)

    gpu.prepare_session = wrong_at_2000
    lines = bench(*suite, "--markdown").stdout.splitlines()
    assert (
        "| small | m2000-n1000-e4 | model | 1 ms | 0.0% | 16 GB/s | 0.3% |  | mover: wrong, b: 3 of 9 elements |"
    ) in lines
    assert {"| small | 2 | 2.000 |", "| large | 1 | 1.000 |", "| all | 4 | 1.000 |"} <= set(lines)
    assert "| small | 2.000 | 2.000 | 1 of 1 |  | 0 of 0 |" in lines


def test_a_suite_is_summed_up_by_group(bench, record, suite):
    record(TransposeProblem(2000, 1000))
    outcome = bench(*suite, "--json")
    assert outcome.code == 0
    runs = outcome.json["runs"]
    assert [run["group"] for run in runs] == ["small", "small", "large", ""]
    assert [run["schedule_from"] for run in runs] == ["nearest", "record", "nearest", "nearest"]
    assert [run["ratios"]["mover"] for run in runs] == pytest.approx([2, 8, 1, 0.5])
    means = outcome.json["geometric_means"]
    assert means["all"] == {"mover": pytest.approx(8**0.25)}
    assert means["groups"] == {"small": {"mover": pytest.approx(4)}, "large": {"mover": pytest.approx(1)}}
    assert outcome.stderr.splitlines()[2] == "2/4  m2000-n1000-e4  1 ms  8.000× mover"


def test_a_suite_is_a_table_of_problems_and_one_of_means(bench, suite):
    lines = table(bench(*suite))
    assert ["small", "m1000-n1000-e4", "model", "1", "ms", "0.0%", "8", "GB/s", "0.2%", "2.000"] in lines
    means = lines.index(["Geometric", "means"])
    assert [line for line in lines[means:] if len(line) == 3] == [
        ["small", "2", "4.000"],
        ["large", "1", "1.000"],
        ["all", "4", "1.682"],
    ]
    assert ["all", "1.682", "0.500", "3", "of", "4", "0", "of", "0"] in lines[means:]


def test_standings_tell_the_fastest_baseline_and_the_copy_of_many_bytes(bench, gpu, tmp_path):
    many = [{"m": 4096, "n": 8192}, {"m": 8192, "n": 8192}, {"m": 16384, "n": 8192}]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(many))
    copies = {4096: 5e-3, 8192: 0.94e-3, 16384: 0.96e-3}
    gpu.prepare_session = lambda session: session.seconds.update(mover=2e-3, copy=copies[session.problem.m])
    found = bench("--suite", str(path), "--against", "mover,copy", "--json").json["standings"]
    assert found["groups"] == {}
    assert found["all"] == {
        "against": 3,
        "mean": pytest.approx(2),
        "least": pytest.approx(2),
        "ahead": 3,
        "large": 3,
        "large_least": pytest.approx(0.94),
        "large_near": 2,
    }


def test_markdown(bench, suite):
    lines = bench(*suite, "--markdown").stdout.splitlines()
    assert lines[:4] == [
        "**transpose on Test GPU, cold operands**",
        "",
        "| group | problem | schedule | median | spread | rate | of roofline | × mover | error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    assert "| all | 4 | 1.682 |" in lines


@pytest.mark.parametrize(("name", "begin"), [("ratios.svg", b"<?xml"), ("ratios.png", b"\x89PNG")])
def test_a_picture(bench, suite, tmp_path, name, begin):
    path = tmp_path / name
    assert bench(*suite, "--plot", str(path)).code == 0
    assert path.read_bytes().startswith(begin)
    assert sorted(file.name for file in tmp_path.iterdir() if "ratios" in file.name) == [name]


def test_a_picture_of_a_ladder(bench, record, tmp_path):
    record(PROBLEM)
    path = tmp_path / "ladder.svg"
    assert bench(*SIZES, "--ladder", "--plot", str(path)).code == 0
    drawn = path.read_text()
    assert all(f">{name}<" in drawn for name in ("naive", "mover", OWN)) and ">1 ms<" in drawn


def test_a_picture_without_matplotlib(bench, suite, monkeypatch):
    monkeypatch.setattr(cli_bench, "find_spec", lambda name: None)
    assert bench(*suite, "--plot", "ratios.svg").refusal == "--plot needs Matplotlib: pip install matplotlib"


def test_a_picture_without_baselines(bench, baselines, record):
    record(PROBLEM)
    baselines["copy"] = baselines["mover"] = baseline("mover", missing="not here")
    outcome = bench(*SIZES, "--plot", "ratios.svg")
    assert (outcome.code, outcome.stderr.splitlines()[-1]) == (
        2,
        "autotune: --plot needs a baseline, and none is installed",
    )


def test_without_baselines_times_and_the_ladder_remain(bench, baselines, record):
    record(PROBLEM)
    baselines["copy"] = baselines["mover"] = baseline("mover", missing="not here")
    outcome = bench(*SIZES, "--ladder")
    assert outcome.code == 0
    assert [line[0] for line in table(outcome) if line and line[0] in (*TRANSPOSE.presets, OWN)] == [
        *TRANSPOSE.presets,
        OWN,
    ]


def test_a_problem_that_fails_does_not_stop_the_others(bench, gpu, suite):
    measure = gpu.prepare_session

    def fail_at_2000(session):
        measure(session)
        if session.problem.m == 2000:
            session.verdicts[OWN].append(Evaluation(Status.WRONG, error="b: 1 | 2"))

    gpu.prepare_session = fail_at_2000
    outcome = bench(*suite, "--json")
    assert outcome.code == 1
    assert [run["error"] for run in outcome.json["runs"]] == ["", "autotune: wrong, b: 1 | 2", "", ""]
    assert outcome.json["runs"][1]["contenders"] == {}
    assert outcome.json["geometric_means"]["groups"]["small"] == {"mover": pytest.approx(2)}
    assert outcome.stderr.splitlines()[2:] == [
        "2/4  m2000-n1000-e4  failed",
        "3/4  m4000-n1000-e4  1 ms  1.000× mover",
        "4/4  m8000-n1000-e4  1 ms  0.500× mover",
        "autotune: failed: m2000-n1000-e4: autotune: wrong, b: 1 | 2",
    ]
    assert r"| small | m2000-n1000-e4 | model |  |  |  |  |  | autotune: wrong, b: 1 \| 2 |" in (
        bench(*suite, "--markdown").stdout.splitlines()
    )


def test_ctrl_c_shows_what_was_measured(bench, gpu, suite):
    measure = gpu.prepare_session

    def stop_at_4000(session):
        if session.problem.m == 4000:
            raise KeyboardInterrupt
        measure(session)

    gpu.prepare_session = stop_at_4000
    outcome = bench(*suite, "--json")
    assert outcome.code == 130
    assert [run["fields"]["m"] for run in outcome.json["runs"]] == [1000, 2000]
    assert outcome.stderr.splitlines()[-1] == "autotune: interrupted; 2 of 4 problems were measured"


def test_the_ladder_has_the_presets_and_shares_of_the_first_baseline(bench, gpu, record, monkeypatch):
    published = Published("somebody, 2022", "Old GPU", {"naive": 0.25})
    monkeypatch.setitem(OPERATORS, "transpose", replace(TRANSPOSE, published=published))
    record(PROBLEM, TransposeSchedule(tile_m=16, tile_n=64).to_dict())
    gpu.ladder = True
    gpu.prepare_session = lambda session: session.seconds.update(naive=4e-3, shared=2e-3, mover=1.5e-3)
    arguments = (*SIZES, "--ladder", "--against", "mover,copy")
    lines = [line for line in table(bench(*arguments)) if line and line[0] in ("naive", "shared", OWN, "mover")]
    assert [line[-3:] for line in lines] == [
        ["4.000×", "37.5%", "25.0%"],
        ["GB/s", "2.000×", "75.0%"],
        ["GB/s", "1.000×", "150.0%"],
        ["GB/s", "1.500×", "100.0%"],
    ]
    result = bench(*arguments, "--json").json
    assert list(result["runs"][0]["contenders"]) == [*TRANSPOSE.presets, OWN, "mover", "copy"]
    assert result["published"] == {"naive": 0.25}


def test_a_copy_beside_a_product_has_the_rate_of_its_bytes():
    sgemm, spec = operator("sgemm"), named_device("h200")
    baselines = {"mover": baseline("mover"), "copy": baseline("copy", verified=False, replayed=False)}
    setting = benchmark_run.Setting(sgemm, SimpleNamespace(spec=spec), baselines, 2, spec)
    times = {OWN: (2e-3, 2e-3), "mover": (4e-3, 4e-3), "copy": (5e-5, 5e-5)}
    comparison = benchmark_run.Comparison(times)
    run = benchmark_run.Run(sgemm.problem_type(4096, 4096, 4096), None, "", comparison)
    (found,) = tables(setting, [run], suite=False)
    assert [row[3] for row in found.rows] == ["68.7 TFLOP/s", "34.4 TFLOP/s", "4027 GB/s"]


@pytest.mark.parametrize(
    ("name", "sizes", "rising"),
    [("sgemm", {"m": 1024, "n": 1024, "k": 1024}, ["naive", "tile_2d"]), ("transpose", {}, ["naive", "shared"])],
)
def test_a_ladder_without_a_gpu_is_modelled_and_says_so(tmp_path, capsys, name, sizes, rising):
    sizes = [word for size, value in sizes.items() for word in (f"--{size}", str(value))]
    ladder = ["bench", name, "--ladder", "--device", "h200", *sizes]
    assert run([*ladder, "-o", str(tmp_path / "ladder.json")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "modelled" in line]
    assert [name for name, *_ in rows] == [*operator(name).presets, OWN]
    document = json.loads((tmp_path / "ladder.json").read_text())
    assert document["time_source"] == "modelled"
    first, second, last = (document["contenders"][rung]["seconds"] for rung in [*rising, OWN])
    assert first > 2 * second > 3 * last
    for refused in ([*ladder, "--energy"], ["bench", "softmax", "--ladder", "--device", "h200"]):
        assert run(refused) == 2
        assert "GPU" in capsys.readouterr().err
