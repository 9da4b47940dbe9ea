"""What a shell completes."""

from __future__ import annotations

import pytest

from autotune.cli.app import run
from autotune.devices.driver import cuda_device_count
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
    line = f"autotune {words}"
    monkeypatch.setenv("_AUTOTUNE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit):
        run([])
    assert capsys.readouterr().out.split() == completed
