"""What is said where no schedules ship for a GPU, or none for the compiler."""

import re
import sys
from types import SimpleNamespace

import pytest
from factories import schedules, trials

from autotune.cli import early_warnings
from autotune.cli.app import run
from autotune.compiler import compiler_version
from autotune.db import pretuned, verdicts
from autotune.db.exchange import to_document, write_document
from autotune.dispatcher.choice import records
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
ADVICE = (
    "no schedules of sgemm ship for NVIDIA H200, so those of its kin or a model serve: autotune tune sgemm --untuned "
    "--seconds 60 finds good ones for what programs called, in a minute a problem"
)


def test_the_compilers_of_shipped_records_are_read(monkeypatch):
    monkeypatch.setenv("AUTOTUNE_PRETUNED", "")
    found = pretuned.shipped_compilers()
    assert found
    assert all(re.fullmatch(r"NVRTC \d+\.\d+", name) for name in found)


def test_records_ship_for_the_compiler_that_pip_installs(monkeypatch):
    monkeypatch.setenv("AUTOTUNE_PRETUNED", "")
    own = compiler_version()
    assert own in pretuned.shipped_compilers(), (
        f"no records ship for {own}, which pip installs now: renew them as CONTRIBUTING.md says"
    )


def test_db_doctor_says_if_no_shipped_record_is_of_this_compiler(autotune, monkeypatch):
    line = f"shipped records are of NVRTC 1.0, none of {compiler_version()}, which compiles here\n"
    for shipped, told in (["NVRTC 1.0"], True), (["NVRTC 1.0", compiler_version()], False), ([], False):
        monkeypatch.setattr(pretuned, "shipped_compilers", lambda names=shipped: names)
        assert (line in autotune("db", "doctor").stderr) is told


def test_what_ships_is_read_where_no_database_can_be_made(autotune, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.delenv("AUTOTUNE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="a temporary database with what ships serves until this process ends"):
        assert autotune("db", "best").code == 0


def test_tune_says_once_how_to_get_schedules_on_a_new_gpu(capsys, monkeypatch):
    def told(selectors, known):
        devices = [SimpleNamespace(selector=one, spec=H200) for one in selectors.split(",")]
        database = SimpleNamespace(winners=lambda *_: known)
        early_warnings.warn_of_new_models("sgemm", devices, database)
        return capsys.readouterr().err

    assert told("0,1", []) == f"autotune: {ADVICE}\n"
    assert told("h200", []) == told("0", ["a trial"]) == ""
    monkeypatch.setenv("AUTOTUNE_PRETUNED", "")
    assert told("0", []) == ""


def test_the_dispatcher_says_so_once(environment, monkeypatch):
    records._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match=re.escape(ADVICE)) as caught:
        for _ in range(2):
            records.warn_without_records(operator("sgemm"), H200)
    assert len(caught) == 1


def test_a_terminal_is_told_of_what_takes_long_once(environment, tmp_path, monkeypatch, capsys):
    shipped = tmp_path / "ships"
    shipped.mkdir()
    write_document(shipped / "h200.json", to_document(trials(schedules(60))))
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(shipped))
    monkeypatch.setattr(verdicts, "_SOME", 0)
    monkeypatch.setattr(verdicts, "_new", {})
    verdicts._known.cache_clear()
    said = []
    for _ in range(2):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        assert run(["db", "best"]) == 0
        said.append(capsys.readouterr().err.splitlines())
    storing, emitting = "storing the trials that ship, 1 file, once …", "emitting the programs of records, once, to see"
    assert said[0][0] == storing
    assert said[0][1].startswith(emitting)
    assert said[1] == []
