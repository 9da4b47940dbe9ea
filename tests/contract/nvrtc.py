"""NVRTC without ptxas, which compiles at a small part of the cost, and parts of the toolkit beside it."""

from functools import cache

from cuda.bindings import nvrtc
from cuda.pathfinder import find_nvidia_binary_utility, locate_nvidia_header_directory

from autotune.base.worker import Worker


def compile_unoptimised(program, arch):
    """Compile to PTX for an architecture such as ``sm_90``; `AssertionError` has the log.

    With as little optimisation as there is: for sgemm a ninth of the cost, where -G takes a fifth. NVRTC 13.5 does not
    forget that option: whatever a process compiles afterwards gets slower code, so another process does this.
    """
    _unoptimised().call("compile", program, arch)


@cache
def _unoptimised():
    return Worker(_Unoptimised)


class _Unoptimised:
    """What that process hosts."""

    def compile(self, program, arch):
        for module in program.modules:
            compiled_ptx(module.source, arch, "--Ofast-compile=max")


def compiled_ptx(source, arch, *options):
    """The PTX of a source for an architecture; `AssertionError` has the log."""
    words = [word.encode() for word in ("-std=c++17", f"-arch={arch.replace('sm_', 'compute_')}", *options)]
    (status, built) = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    (status,) = nvrtc.nvrtcCompileProgram(built, len(words), words)
    # NVRTC writes into these objects; Python shares those of one byte with everybody else.
    log = bytes(2 + nvrtc.nvrtcGetProgramLogSize(built)[1])
    nvrtc.nvrtcGetProgramLog(built, log)
    ptx = bytes(2 + nvrtc.nvrtcGetPTXSize(built)[1])
    nvrtc.nvrtcGetPTX(built, ptx)
    nvrtc.nvrtcDestroyProgram(built)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    return ptx.rstrip(b"\0").decode()


NVCC = find_nvidia_binary_utility("nvcc")
_HEADERS = locate_nvidia_header_directory("cudart")

assert _HEADERS, "the dependency cuda-toolkit[cudart] has cuda.h"

INCLUDE = f"-I{_HEADERS.abs_path}"
UNOPTIMISED = ("--Ofast-compile=max",)  # of nvcc: half the time, where the kernel does not matter
