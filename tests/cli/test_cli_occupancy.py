"""occupancy: of what a block takes, and of an operator's schedule."""

import re

import pytest

from autotune.codegen.model.resources import Resources
from autotune.compiler import CompiledKernel
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

A100 = ("--device", "a100", "--threads", "256", "--registers", "64")


@pytest.mark.parametrize(
    ("arguments", "blocks", "limiters", "most"),
    [
        ((*A100, "--shared", "48K"), 3, ["shared memory"], {"threads": 512, "registers": 64, "shared_bytes": 40960}),
        ((*A100, "--shared", "32768"), 4, ["registers", "shared memory"],
         {"threads": 384, "registers": 48, "shared_bytes": 31 * 1024 + 768}),
        # The kernel of the worked example in "How to Optimize a CUDA Matmul Kernel", Simon Boehm, 2022.
        (("--device", "a6000", "--threads", "1024", "--registers", "37", "--shared", "9K"), 1, ["warps", "registers"],
         {"threads": 768, "registers": 32, "shared_bytes": 49 * 1024}),
    ],
)  # fmt: skip
def test_worked_examples(autotune, arguments, blocks, limiters, most):
    (found,) = autotune("occupancy", *arguments, "--json").json
    assert (found["blocks_per_sm"], found["limiters"]) == (blocks, limiters)
    for name, amount in most.items():
        assert found["resources"][name]["most_for_one_more"] == amount
    told = autotune("occupancy", *arguments).stdout
    assert f"{blocks} block{'s' * (blocks > 1)} per SM, " in told
    assert f"limited by {' and '.join(limiters)}\n" in told
    charts = [line for line in told.splitlines() if "█" in line]
    assert sum("←" in line for line in charts) == 3
    assert max(map(len, told.splitlines())) <= 80


def test_a_schedule_takes_what_ptxas_reports(autotune, monkeypatch):
    compiled = []

    def compile_kernel(program, arch):
        compiled.append(program)
        return CompiledKernel(b"", Resources(99, shared_bytes=160), arch, "NVRTC 1.0")

    monkeypatch.setattr("autotune.compiler.compile_kernel", compile_kernel)
    (found,) = autotune("occupancy", "sgemm", "BK=8", "--device", "h200", "--json").json
    sgemm, spec = operator("sgemm"), named_device("h200")
    problem = sgemm.problem_type(4096, 4096, 4096)
    schedule = sgemm.kernels[0].schedule_type.parse(["BK=8"], sgemm.default(problem, spec))
    assert compiled == [sgemm.program(problem, schedule, spec)]
    (launch,) = compiled[0].launches
    taken = {name: one["of_block"] for name, one in found["resources"].items()}
    assert taken == {"threads": launch.threads, "registers": 99, "shared_bytes": launch.shared_bytes + 160}
    assert found["entry"] == "sgemm"


def test_each_launch_of_several_is_named(autotune, monkeypatch):
    taken = iter(range(40, 60))
    kernel = lambda program, arch: CompiledKernel(b"", Resources(next(taken)), arch, "NVRTC 1.0")  # noqa: E731
    monkeypatch.setattr("autotune.compiler.compile_kernel", kernel)
    told = autotune("occupancy", "conv2d_planes", "--device", "h200").stdout
    assert [line for line in told.splitlines() if " on " in line] == [
        f"conv2d_planes: {entry} on NVIDIA H200" for entry in ("transpose", "transpose", "conv2d", "transpose")
    ]
    assert re.findall(r"registers of a thread +(\d+)", told) == ["40", "41", "42", "43"]


def test_a_block_that_never_fits(autotune):
    told = autotune("occupancy", "--threads", "1025", "--registers", "32", "--device", "h200").stdout
    assert "0 blocks per SM, 0 of 64 warps (0%), limited by warps\n" in told


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "expected --threads and --registers, or the name of an operator"),
        (("--threads", "32"), "expected --threads and --registers, or the name of an operator"),
        (("--threads", "32", "sgemm"), "sgemm has options of its own: write them after it"),
        ((*A100, "--shared", "48KB"), "--shared 48KB: expected bytes, or KiB such as 48K"),
        (("sgemm", "BM=129", "--device", "h200"), "block_m 129 is not a multiple of warp_m 32"),
    ],
)
def test_what_cannot_be(autotune, arguments, line):
    outcome = autotune("occupancy", *arguments)
    assert (outcome.code, outcome.stdout, outcome.stderr) == (2, "", f"autotune: {line}\n")
