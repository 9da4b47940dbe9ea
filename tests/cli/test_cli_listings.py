"""show, devices and doctor: what they list, for people and for scripts."""

import re
from pathlib import Path
from typing import Any

import pytest
from cli_command import Command

from autotune.cli.commands import doctor
from autotune.db import TuningDB
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device, named_devices


@pytest.mark.parametrize("name", OPERATORS)
def test_show_lists_every_field_and_parameter(autotune: Command, name: str) -> None:
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


def test_devices_lists_every_offline_device(autotune: Command) -> None:
    outcome = autotune("devices")
    offline = {entry["device"]: entry for entry in autotune("devices", "--json").json if entry["offline"]}
    assert list(offline) == list(named_devices())
    assert offline["h200"]["shared_per_block"] == named_device("h200").shared_per_block
    assert all(entry["name"] in outcome.stdout for entry in offline.values())


def test_the_devices_fit_80_columns_each_on_a_line(autotune: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in autotune("devices").stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    for name in named_devices():
        assert any({name, *named_device(name).name.split()} <= set(line.split()) for line in lines)


def test_doctor_tries_every_part(autotune: Command) -> None:
    outcome = autotune("doctor", "--json")
    checks = {check["name"]: check for check in outcome.json}
    assert list(checks) == ["Python", "packages", "NVRTC", "C++ compiler", "GPU", "database", "cache folder"]
    assert outcome.code == 0
    assert all(check["ok"] for check in checks.values() if check["essential"])
    assert not checks["GPU"]["essential"]


def test_doctor_makes_no_database_and_looks_into_one_that_is_there(autotune: Command, tmp_path: Path) -> None:
    def database() -> str:
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


def test_doctor_names_the_remedy(autotune: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    outcome = autotune("doctor", "--db", "/dev/null/tuning.sqlite3")
    assert outcome.code == 1
    assert "install g++" in outcome.stdout
    assert "/dev/null is not a writable folder" in " ".join(outcome.stdout.split())
    assert outcome.stderr == "autotune: not working, but needed: C++ compiler, database\n"


def full(**_options: Any) -> Any:
    return Path("/dev/full").open("wb", buffering=0)


def test_doctor_writes_to_the_cache_that_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OSError, match="Not a directory"):
        doctor._cache()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    assert doctor._cache() == str(tmp_path / "cache")
    monkeypatch.setattr(doctor, "TemporaryFile", full)
    with pytest.raises(OSError, match="No space left on device: free some, or set AUTOTUNE_CACHE"):
        doctor._cache()
