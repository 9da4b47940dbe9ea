"""show, devices and doctor: what they list, for people and for scripts."""

import re
from pathlib import Path

import pytest

from autotune.cli.app import run
from autotune.cli.commands import doctor
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db import TuningDB
from autotune.db.exchange import to_document, write_document
from autotune.devices.driver import cuda_device_count
from autotune.runs.run import begun
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.contract.sizes import space_size
from autotune.search_spaces.machine.devices import named_device, named_devices


@pytest.mark.parametrize("name", OPERATORS)
def test_show_lists_every_field_and_parameter(autotune, name, monkeypatch):
    monkeypatch.setattr(space_size, "__defaults__", (100, 0))  # draws, which take most of the time
    outcome = autotune("show", name, "--device", "t4")
    document = autotune("show", name, "--device", "t4", "--json").json
    shown = operator(name)
    problem = shown.problem_type.from_dict({field["name"]: field["value"] for field in document["problem"]})
    default = shown.default(problem, named_device("t4"))
    values = {field["name"]: field["value"] for field in document["schedule"]}
    assert ({"kernel": document["kernel"]} if default.kernel else {}) | values == default.to_dict()
    for field in (*document["problem"], *document["schedule"]):
        assert field["name"] in outcome.stdout
    short = {field["short"]: field["name"] for field in document["schedule"] if field["short"]}
    assert short == default.short_names()
    space = shown.space(problem, named_device("t4"))
    assert list(document["space"]) == [parameter.name for parameter in space.parameters]
    assert document["size"]["raw"] == space.size
    assert 0 < document["size"]["legal"] <= space.size
    assert document["presets"] == list(shown.presets)


def test_devices_lists_every_offline_device(autotune):
    outcome = autotune("devices")
    offline = {entry["device"]: entry for entry in autotune("devices", "--json").json if entry["offline"]}
    assert list(offline) == list(named_devices())
    assert offline["h200"]["shared_per_block"] == named_device("h200").shared_per_block
    assert all(entry["name"] in outcome.stdout for entry in offline.values())


def test_the_devices_fit_80_columns_each_on_a_line(autotune, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in autotune("devices").stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    for name in named_devices():
        assert any({name, *named_device(name).name.split()} <= set(line.split()) for line in lines)


def test_doctor_tries_every_part(autotune):
    outcome = autotune("doctor", "--json")
    checks = {check["name"]: check for check in outcome.json}
    assert list(checks) == ["Python", "packages", "NVRTC", "C++ compiler", "GPU", "database", "cache folder"]
    assert outcome.code == 0
    assert all(check["ok"] for check in checks.values() if check["essential"])
    assert not checks["GPU"]["essential"]


def test_doctor_makes_no_database_and_looks_into_one_that_is_there(autotune, tmp_path):
    def database():
        (found,) = (
            check for check in autotune("doctor", "--db", str(path), "--json").json if check["name"] == "database"
        )
        assert found["ok"]
        return str(found["detail"])

    path = tmp_path / "new" / "tuning.sqlite3"
    assert database() == f"{path}: does not exist yet, created at first use"
    assert not path.parent.exists()
    TuningDB(str(path)).close()
    assert database() == f"{path}, 0 problems"


def test_doctor_names_the_remedy(autotune, monkeypatch):
    monkeypatch.setenv("CXX", "/no/such/compiler")
    outcome = autotune("doctor", "--db", "/dev/null/tuning.sqlite3")
    assert outcome.code == 1
    assert "install g++" in outcome.stdout
    assert "/dev/null is not a writable folder" in " ".join(outcome.stdout.split())
    assert outcome.stderr == "autotune: not working, but needed: C++ compiler, database\n"


def full(**_options):
    return Path("/dev/full").open("wb", buffering=0)


def test_doctor_writes_to_the_cache_that_is_used(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OSError, match="Not a directory"):
        doctor._cache()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    assert doctor._cache() == str(tmp_path / "cache")
    monkeypatch.setattr(doctor, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left on device: free some, or set AUTOTUNE_CACHE"):
        doctor._cache()


PROBLEM = ("--device", "h200", "--m", "520", "--n", "512", "--k", "512")


def test_it_prints_what_a_call_gets(autotune, tmp_path):
    from dispatcher.records import schedule, trial

    known = SgemmProblem(512, 512, 512)
    write_document(tmp_path / "known.json", to_document([trial(known, schedule(7, known), seconds=1e-5)]))
    assert autotune("db", "import", str(tmp_path / "known.json")).code == 0
    document = autotune("explain", "sgemm", *PROBLEM, "--json").json
    assert document["chosen"] == document["considered"][0]
    assert document["chosen"]["rule"] == "nearest"
    assert document["chosen"]["record"] == known.key
    assert document["chosen"]["schedule"]["raster_group"] == 107
    assert [choice["rule"] for choice in document["considered"]] == ["nearest", "model", "default"]
    chosen, considered = autotune("explain", "sgemm", *PROBLEM).stdout.split("Considered")
    for word in ("nearest: the record of a similar problem", known.key, "10 µs predicted", "raster_group=107"):
        assert word in chosen
    assert [line.split()[0] for line in considered.splitlines()[3:6]] == ["nearest", "model", "default"]
    exact = autotune("explain", "sgemm", "--device", "h200", "--m", "512", "--n", "512", "--k", "512").stdout
    assert "10 µs measured" in exact
    modelled = autotune("explain", "transpose", "--device", "h200", "--m", "520")
    assert "model: " in modelled.stdout
    assert all("distance" not in one.split("Considered")[0] for one in (exact, modelled.stdout))
    assert "examples  n=4096\n" in modelled.stdout


FIRST_DEVICES = ["auto", *map(str, range(cuda_device_count()))]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("em", ["emit"]),
        ("emit ", [*OPERATORS]),
        ("emit sgemm BK", ["BK="]),
        ("emit sgemm block_", ["block_m=", "block_n=", "block_k="]),
        ("emit sgemm lane", ["lane_map=row_major", "lane_map=z_order"]),
        ("emit sgemm --transpose", ["--transpose-a", "--transpose-b"]),
        ("emit sgemm --device ", [*FIRST_DEVICES, *named_devices()]),
        ("tune sgemm --device h200,t", ["h200,t4"]),
        ("occupancy --device t", ["t4"]),
    ],
)
def test_what_begins_so_is_offered(capsys, monkeypatch, words, completed):
    assert completions(capsys, monkeypatch, words) == completed


def test_runs_are_offered(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_DB", str(tmp_path / "new.sqlite3"))
    assert completions(capsys, monkeypatch, "runs show ") == []
    with (
        TuningDB() as database,
        begun(database, "autotune tune", "transpose", [], {"sampler": "random", "seed": 0}) as made,
    ):
        pass
    assert completions(capsys, monkeypatch, f"runs show {made.id[:2]}") == [made.id]
    assert made.id in completions(capsys, monkeypatch, "report ")


def completions(capsys, monkeypatch, words):
    line = f"autotune {words}"
    monkeypatch.setenv("_AUTOTUNE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit):
        run([])
    return capsys.readouterr().out.split()
