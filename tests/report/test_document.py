"""What a report knows."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from factories import PROBLEM, SPEC, TRANSPOSE, calibration
from pages import group_of, made, measured, report_of

from autotune.db import Status, TimeSource, TuningDB
from autotune.db.trials import DeviceRecord, ProblemRecord
from autotune.report import page as page_module
from autotune.report.benches import compared_records, read_bench
from autotune.report.calibration import calibration_document
from autotune.report.document import document
from autotune.report.failures import failures
from autotune.report.importance import importances
from autotune.report.kernels import kernels
from autotune.report.machine import Machine
from autotune.report.page import AssetError, page
from autotune.report.subject import groups_of
from autotune.report.trial_table import trial_table
from autotune.report.winner import winner
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.calibration import Curve, Figure

MACHINE = Machine(SPEC)
RUN = {"problem": "p", "group": "", "ratios": {}}
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "h200"


def test_the_front_has_what_no_other_trial_beats_in_time_and_energy():
    figures = [(1, 9), (2, 5), (2, 6), (3, 5), (4, 1), (1, "lots"), (1, -1.0)]
    listed = [
        replace(trial, samples=(float(seconds),), conditions={"joules": joules})
        for trial, (seconds, joules) in zip([one for one in made(20) if one.ok], figures, strict=False)
    ]
    energy = trial_table(group_of([*listed, *made(5)[4:]]), 10)["energy"]
    assert energy == {"millijoules": [9000, 5000, 6000, 5000, 1000, None, None, None], "front": [0, 1, 4]}


def test_groups_are_by_problem_device_and_kind_of_time(tmp_path):
    listed = made(10)
    with TuningDB(tmp_path / "tuning.sqlite3") as db:
        for trial in listed:
            db.record(trial)
        modelled = replace(listed[0], time_source=TimeSource.MODELLED, samples=(1e-9,))
        db.record(modelled)
        db.record(replace(listed[0], problem=ProblemRecord("transpose", "strange", {"size": 1})))
        db.record(replace(listed[0], schedule={"tile_m": 2**62}, schedule_digest="0", samples=(1e-9,)))
        found, skipped = groups_of(db, "transpose", "NVRTC 13.0")
    assert list(skipped.values()) == [
        "tile_m=4611686018427387904 of the schedule: expected 2147483647 or less",
        "unknown field 'size' of TransposeProblem; known: " + ", ".join(PROBLEM.to_dict()),
    ]
    assert [(len(group.trials), group.time_source) for group in found] == [(10, "measured"), (1, "modelled")]
    measured, other = found
    assert [trial.created_at for trial in measured.trials] == [trial.created_at for trial in listed]
    assert measured.best and measured.best.seconds == min(trial.seconds or 1 for trial in listed)
    assert other.best and other.best.seconds == 1e-9


def test_a_table_has_the_fastest_of_many_trials_and_others_evenly():
    listed = made(400)
    table = trial_table(group_of(listed), 100)
    assert len(table["number"]) == 100
    assert table["number"] == sorted(table["number"])
    times = sorted(trial.seconds for trial in listed if trial.seconds)
    assert sorted(micros for micros in table["micros"] if micros)[:50] == [
        pytest.approx(seconds * 1e6, rel=1e-4) for seconds in times[:50]
    ]
    slowest = times[50] * 1e6
    others = [
        number
        for number, micros in zip(table["number"], table["micros"], strict=True)
        if not micros or micros >= slowest
    ]
    assert len(others) == 50
    assert max(others) > 380 and min(others) < 20
    assert "wrong" in table["status"]["values"]


def test_fields_are_coded_and_metrics_follow_from_what_was_compiled():
    listed = made(10)
    table = trial_table(group_of([*listed, replace(listed[0], schedule={"other": 1}, schedule_digest="x")]), 100)
    for field in table["fields"]:
        values = [field["values"][code] for code in field["codes"][:10]]
        assert values == [trial.schedule[field["name"]] for trial in listed]
        assert field["codes"][10] == -1  # another version's
    metrics = {metric["name"]: metric["numbers"] for metric in table["metrics"]}
    assert metrics["registers"][:5] == [32, 40, 48, 56, 40]
    assert metrics["registers"][10] is None
    # 256 threads with 32 registers each fill an SM of 2048 threads.
    assert (metrics["blocks"][0], metrics["occupancy"][0]) == (8, 100.0)


def test_importances_name_what_the_times_depend_on():
    def trial(number):
        schedule = TRANSPOSE.kernels[0].schedule_type(tile_m=(32, 64)[number % 2], pad=(0, 1)[number // 2 % 2])
        seconds = 1e-3 * (1 + number % 2) + 1e-7 * number
        one = replace(made(1)[0], schedule=schedule.to_dict(), schedule_digest=schedule.digest, samples=(seconds,))
        return replace(one, created_at=made(number + 1)[-1].created_at)

    found = importances(trial_table(group_of([trial(number) for number in range(100)]), 100))
    assert [one["name"] for one in found] == ["PED-ANOVA", "fANOVA"]
    for one in found:
        assert set(one["shares"]) == {"tile_m", "pad"}
        assert one["shares"]["tile_m"] > 0.9
        assert sum(one["shares"].values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("count", [1, 10])
def test_few_trials_say_nothing_of_importances(count):
    assert importances(trial_table(group_of(made(count)), 100)) == []


def test_failures_are_counted_by_cause():
    one = replace(made(1)[0], status=Status.CRASHED, samples=())
    errors = ["512 B at 0x7f00", "1024 B at 0xff10", "no such symbol", "", ""]
    found = failures([*made(3), *(replace(one, error=error) for error in errors), replace(one, status=Status.TIMEOUT)])
    told = [(cause["status"], cause["count"], cause["error"]) for cause in found]
    assert told == [
        ("crashed", 2, "1024 B at 0xff10"),
        ("crashed", 2, "no error text"),
        ("crashed", 1, "no such symbol"),
        ("timeout", 1, "no error text"),
    ]
    assert failures(made(3)) == []


def test_the_winner_has_its_source_and_what_limits_it():
    group = group_of(made(10))
    found = winner(group, with_source=True)
    assert found and group.best
    schedule = TRANSPOSE.schedule(group.best.schedule)
    program = TRANSPOSE.program(PROBLEM, schedule, SPEC)
    assert found["source"] == program.source
    assert found["command"] == f"autotune emit transpose --m 4096 --n 4096 {schedule}"
    assert found["grid"] == [program.launches[0].blocks]
    (kernel,) = found["occupancy"]
    assert kernel["resources"]["registers"]["of_block"] == group.best.resources["registers"]
    assert found["ratios"] == {"torch": 2.0}
    short = winner(group, with_source=False)
    assert short and short["source"] == ""


def test_options_that_are_not_usual_are_in_the_command():
    sgemm = operator("sgemm")
    problem = sgemm.problem_type(64, 32, 16, transpose_b=True, batch=2)
    schedule = sgemm.default(problem, SPEC)
    record = ProblemRecord("sgemm", problem.key, problem.to_dict())
    trial = replace(made(1)[0], problem=record, schedule=schedule.to_dict(), schedule_digest=schedule.digest)
    found = winner(group_of([trial]), with_source=False)
    assert found
    assert found["command"] == f"autotune emit sgemm --m 64 --n 32 --k 16 --transpose-b --batch 2 {schedule}"


def test_the_winner_of_another_version_is_told_without_its_source():
    trial = replace(made(1)[0], schedule={"other": 1})
    found = winner(group_of([trial]), with_source=True)
    assert found
    assert (found["words"], found["source"], found["occupancy"]) == ("other=1", "", [])
    assert found["stale"] == "" or "emits" in found["stale"]


def test_a_kernel_has_its_place_below_the_roofline():
    trial = replace(made(1)[0], samples=(1e-4,))
    (found,) = kernels([trial], MACHINE)
    moved = 2 * 4 * PROBLEM.m * PROBLEM.n
    assert (found["bytes"], found["bound"], found["intensity"]) == (moved, "", None)
    assert found["share"] == pytest.approx(moved / SPEC.bandwidth / 1e-4)
    assert found["bytes_per_second"] == pytest.approx(moved / 1e-4)
    # Little's law for the loads, which are half of the bytes: rate times latency.
    assert found["needed"] == pytest.approx(SPEC.bandwidth / 2 * 0.64e-6 / SPEC.sm_count)
    tile = TRANSPOSE.kernels[0].schedule_type()
    assert found["in_flight"] == 8 * 4 * tile.tile_m * tile.tile_n  # of eight resident blocks
    strange, failed = replace(trial, resources={"registers": "many"}), replace(trial, status=Status.WRONG, samples=())
    assert [one["needed"] for one in kernels([strange, failed], MACHINE)] == [None]


def test_a_calibration_is_what_the_roofline_refers_to():
    figures = {Figure.COPY: 4.2e12, Figure.READ: 4.4e12, Figure.MEMORY_LATENCY: 8e-7}
    machine = Machine(SPEC, calibration(SPEC.name, figures=figures))
    (datasheet,), (found,) = kernels([made(1)[0]], MACHINE), kernels([made(1)[0]], machine)
    assert found["share"] / datasheet["share"] == pytest.approx(SPEC.bandwidth / 4.4e12)
    assert found["needed"] == pytest.approx(4.4e12 / 2 * 8e-7 / SPEC.sm_count)
    assert (machine.document()["bandwidth"], machine.document()["latency"]) == (4.4e12, 8e-7)


def test_a_device_of_another_version_is_left_out():
    device = DeviceRecord("GPU", (9, 0), {"name": "GPU"})
    assert kernels([replace(made(1)[0], device=device)], MACHINE) == []


def test_results_of_bench_are_read():
    found = read_bench(RESULTS / "suite-gemm.json")
    assert found["title"] == "sgemm on NVIDIA H200, 2026-11-22"
    stored = json.loads((RESULTS / "suite-gemm.json").read_text())
    assert found["means"] == pytest.approx(stored["geometric_means"]["all"])
    assert len(found["rows"]) == len(stored["runs"])
    assert found["rows"][0]["ratios"] == stored["runs"][0]["ratios"]
    assert not any(row["energy"] for row in found["rows"])
    (row, *_) = read_bench(RESULTS / "energy-sgemm.json")["rows"]
    assert row["energy"]["autotune"] == pytest.approx([1.783, 564.5], rel=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"runs": 1}, "member runs, a list"),
        ({"operator": None}, "member operator, a str"),
        ({"runs": [RUN | {"ratios": {"x": -1}}]}, "the ratio to 'x' is -1"),
        ({"runs": [RUN | {"ratios": {"x": True}}]}, "the ratio to 'x' is True"),
        ({"runs": [3]}, "member ratios, a dict"),
        ({"runs": [RUN | {"contenders": {"x": {"energy": 3}}}]}, "member energy, a dict"),
        ({"runs": [RUN | {"contenders": {"x": {"energy": {"joules": 1}}}}]}, "the energy of 'x' is {'joules': 1}"),
    ],
)
def test_other_files_are_refused(change, said, tmp_path):
    document = {"operator": "sgemm", "device": "GPU", "taken_at": "2026", "baselines": {}, "runs": []} | change
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=f"bench.json is not a result of autotune bench: .*{said}"):
        read_bench(path)


def test_comparisons_in_records_are_results_of_bench_too():
    best = group_of(made(10)).best
    assert best
    (found,) = compared_records([best, made(1)[0]])
    assert found["title"] == "transpose on NVIDIA H200, as stored in the records"
    assert found["means"] == {"torch": pytest.approx(2.0)}
    assert [row["problem"] for row in found["rows"]] == [PROBLEM.key]


def test_a_report_has_all_of_it_in_a_checkout_that_is_not_installed(monkeypatch):
    def version(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("autotune.base.version.version", version)
    found = report_of(10)
    assert found["made"].endswith("by autotune unknown")
    first, second = found["groups"]
    assert (first["counts"], len(second["trials"]["number"])) == ({"ok": 8, "wrong": 2}, 2)
    assert first["roofline"]["unit"] == "GB/s"
    assert first["roofline"]["rate"] == pytest.approx(4200)  # as calibrated
    assert len(found["devices"]["NVIDIA H200"]["kernels"]) == 2
    assert found["benches"][0]["means"] == {"torch": pytest.approx(2.0)}


def test_a_calibration_has_littles_law_where_bytes_are_in_flight():
    found = calibration_document(measured(), SPEC.sm_count)
    assert found["taken"] == "2026-11-21 12:00 UTC, driver 580.159, compiler NVRTC 13.0"
    laws = {one["title"]: one["law"] for one in found["curves"]}
    assert laws.pop("Bandwidth by bytes in flight on an SM") == pytest.approx(132 / 6.4e-7)
    assert set(laws.values()) == {None}
    assert {"label": "read", "value": 4.2e12, "quantity": "B/s"} in found["figures"]
    without = calibration_document(calibration(curves={Curve.IN_FLIGHT: ((512, 1e9),)}), 132)
    assert [one["law"] for one in without["curves"]] == [None]


def test_a_device_that_was_not_calibrated_has_no_calibration():
    group = group_of(made(10))
    assert document("", [], [group], [])["devices"][SPEC.name]["calibration"] is None


def test_the_page_needs_nothing_else(ten):
    assert len(ten.encode()) < 2e6
    ours = ten.replace(page_module._echarts(), "")
    assert re.findall(r"https?:|src=|href=|@import|url\(", ours) == []


def test_the_document_is_in_the_page():
    document = report_of(10)
    found = re.search(r'<script id="data" type="application/gzip">\n(.*?)\n</script>', page(document))
    assert found
    assert json.loads(gzip.decompress(b64decode(found[1]))) == json.loads(json.dumps(document))


def test_the_title_is_text(ten):
    assert "<title>transpose &lt;10&gt;</title>" in ten


def test_all_scripts_are_in_the_page():
    present = {path.stem for path in page_module._ASSETS.glob("*.js")}
    assert present == set(page_module._SCRIPTS)


def test_a_changed_library_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "echarts.min.js"
    monkeypatch.setattr(page_module, "_ECHARTS", path)
    for content in (None, "alert(1)"):
        if content:
            path.write_text(content)
        with pytest.raises(AssetError, match=r"echarts.min.js is missing or was changed: install autotune again"):
            page(report_of(10))


def test_licences_are_beside_the_library():
    names = {path.name for path in page_module._ECHARTS.parent.iterdir()}
    assert names == {"echarts.min.js", "LICENSE.txt", "LICENSE-d3.txt", "LICENSE-zrender.txt", "NOTICE.txt"}
