"""``autotune profile``: what ncu is asked, what its table says, and the page that shows it; ncu is a script."""

import sys

import pytest

from autotune.cli.app import run
from autotune.devices import tools
from autotune.devices.base import DeviceError
from autotune.devices.profiler import Counted, counted
from autotune.report.profiles import read_profile

TIME, HITS = "gpu__time_duration.sum", "lts__t_sector_hit_rate.pct"
TABLE = f"""==PROF== Connected to process 7
"ID","Kernel Name","Block Size","{TIME}","{HITS}"
"","","","nsecond","%"
"0","sgemm","(256, 1, 1)","2,513,792","n/a"
"1","add, then scale","(32, 1, 1)","4096","62.5"
"""
FORBIDDEN = "==ERROR== ERR_NVGPUCTRPERM - The user has no permission to access counters\n"


@pytest.fixture
def ncu(tmp_path, monkeypatch):
    """Install a script as ncu that writes this to its log; the file that has its arguments."""

    def install(written):
        script, asked = tmp_path / "ncu", tmp_path / "asked"
        (tmp_path / "written").write_text(written)
        script.write_text(
            f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\n"
            f"Path({str(asked)!r}).write_text(' '.join(sys.argv))\n"
            f"log = sys.argv[sys.argv.index('--log-file') + 1]\n"
            f"Path(log).write_text(Path({str(tmp_path / 'written')!r}).read_text())\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        return asked

    return install


def test_each_launch_has_the_counters_that_the_gpu_has(ncu):
    asked = ncu(TABLE)
    assert counted(["-m", "program"]) == [
        Counted("sgemm", {TIME: 2513792.0}),
        Counted("add, then scale", {TIME: 4096.0, HITS: 62.5}),
    ]
    assert "--clock-control none" in asked.read_text()
    assert asked.read_text().endswith(f"{sys.executable} -m program")


def test_why_nothing_is_counted_is_one_line(ncu):
    ncu(FORBIDDEN)
    with pytest.raises(DeviceError, match=r"^ncu counted nothing: ERR_NVGPUCTRPERM - The user has"):
        counted(["-m", "program"])


def test_a_command_counts_the_kernel_that_serves_and_a_report_reads_it(ncu, gpu, tmp_path, capsys):
    asked = ncu(TABLE)
    assert run(["profile", "transpose", "--m", "64", "--n", "64", "-o", str(tmp_path / "c.json")]) == 0
    assert "2,513,792" in capsys.readouterr().out
    assert f'-m autotune.bench.profiled_launch {gpu.selector} transpose {{"m": 64, "n": 64' in asked.read_text()
    page = read_profile(tmp_path / "c.json")
    assert page["kernels"] == ["sgemm", "add, then scale"]
    assert [row for row in page["rows"] if any(row[1:])] == [
        ["time (ns)", 2513792.0, 4096.0],
        ["sectors found in L2 (%)", None, 62.5],
    ]
    (tmp_path / "c.json").write_text('{"operator": "transpose"}')
    with pytest.raises(ValueError, match="is not a result of autotune profile: expected an object with a member"):
        read_profile(tmp_path / "c.json")


def test_without_ncu_one_line_says_so(gpu, monkeypatch, capsys):
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    monkeypatch.setattr("cuda.pathfinder.find_nvidia_binary_utility", lambda name: None)
    assert run(["profile", "transpose"]) == 1
    assert (
        capsys.readouterr().err == "autotune: ncu was not found; install Nsight Compute, and put its folder into PATH\n"
    )
