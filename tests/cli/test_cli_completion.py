"""What a shell completes."""

from pathlib import Path

import pytest

from autotune.cli.app import run
from autotune.db import TuningDB
from autotune.devices.driver import cuda_device_count
from autotune.runs.run import begun
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_devices

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
def test_what_begins_so_is_offered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, completed: list[str]
) -> None:
    assert completions(capsys, monkeypatch, words) == completed


def test_runs_are_offered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTOTUNE_DB", str(tmp_path / "new.sqlite3"))
    assert completions(capsys, monkeypatch, "runs show ") == []
    with (
        TuningDB() as database,
        begun(database, "autotune tune", "transpose", [], {"sampler": "random", "seed": 0}) as made,
    ):
        pass
    assert completions(capsys, monkeypatch, f"runs show {made.id[:2]}") == [made.id]
    assert made.id in completions(capsys, monkeypatch, "report ")


def completions(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    line = f"autotune {words}"
    monkeypatch.setenv("_AUTOTUNE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit):
        run([])
    return capsys.readouterr().out.split()
