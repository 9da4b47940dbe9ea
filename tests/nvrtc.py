"""NVRTC without optimisation and without ptxas: whether a kernel compiles, in a twentieth of the time."""

from __future__ import annotations

from cuda.bindings import nvrtc

from autotune.codegen.program import Program


def compile_unoptimised(program: Program, arch: str) -> None:
    """Compile to PTX for an architecture such as ``sm_90``; `AssertionError` has the log."""
    options = [b"-std=c++17", b"-G", f"-arch={arch.replace('sm_', 'compute_')}".encode()]
    (status, built) = nvrtc.nvrtcCreateProgram(program.source.encode(), b"kernel.cu", 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    (status,) = nvrtc.nvrtcCompileProgram(built, len(options), options)
    # NVRTC writes into this object; Python shares those of one byte with everybody else.
    log = bytes(2 + nvrtc.nvrtcGetProgramLogSize(built)[1])
    nvrtc.nvrtcGetProgramLog(built, log)
    nvrtc.nvrtcDestroyProgram(built)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
