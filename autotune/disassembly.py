"""What the compiler makes of a program, as text: PTX, and the instructions of a GPU."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from .base.errors import AutotuneError
from .codegen.model.program import Program
from .compiler import compile_kernel


class DisassemblerMissingError(AutotuneError, RuntimeError):
    """There is no nvdisasm, which comes with the CUDA toolkit."""


def ptx(program: Program, arch: str) -> str:
    """The PTX of each module, below a line that says what ptxas makes of all.

    Raises:
        CompileError, CompilerMissingError: as of `compile_kernel`.
    """
    return "\n".join([_taken(program, arch), *(_ptx(part, arch) for part in program.parts)])


def sass(program: Program, arch: str) -> str:
    """The instructions of each module as nvdisasm prints them, below the same line.

    Raises:
        CompileError, CompilerMissingError: as of `compile_kernel`.
        DisassemblerMissingError: there is no nvdisasm, or it fails; the message names the remedy.
    """
    tool = shutil.which("nvdisasm")
    if tool is None:
        raise DisassemblerMissingError("nvdisasm was not found; install the CUDA toolkit, and put its bin into PATH")
    texts = [_taken(program, arch)]
    with TemporaryDirectory() as folder:
        for number, cubin in enumerate(compile_kernel(program, arch).cubins):
            path = Path(folder) / f"{number}.cubin"
            path.write_bytes(cubin)
            done = subprocess.run([tool, "--print-code", path], capture_output=True, text=True, check=False)
            if done.returncode:
                raise DisassemblerMissingError(f"{tool} cannot read a cubin: {' '.join(done.stderr.split())}")
            texts.append(done.stdout)
    return "\n".join(texts)


def _ptx(program: Program, arch: str) -> str:
    """That of one module. Without a driver, cuda.core compiles to cubins only."""
    from cuda.bindings import nvrtc

    _, made = nvrtc.nvrtcCreateProgram(program.source.encode(), f"{program.name}.cu".encode(), 0, [], [])
    words = (f"--gpu-architecture={arch.replace('sm_', 'compute_')}{program.arch_suffix}", "--std=c++17")
    nvrtc.nvrtcCompileProgram(made, len(words), [word.encode() for word in words])  # it compiled to a cubin before
    _, size = nvrtc.nvrtcGetPTXSize(made)
    text = bytearray(size)
    nvrtc.nvrtcGetPTX(made, text)
    nvrtc.nvrtcDestroyProgram(made)
    return text.rstrip(b"\0").decode()


def _taken(program: Program, arch: str) -> str:
    kernel = compile_kernel(program, arch)
    used = kernel.resources
    spilled = f"{used.spill_store_bytes} B stored and {used.spill_load_bytes} B loaded as spills"
    return f"// {kernel.arch}, {kernel.compiler}: {used.registers} registers of a thread, {spilled}"
