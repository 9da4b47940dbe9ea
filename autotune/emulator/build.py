"""Program → a command that runs it, compiled by g++ and cached on disk."""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

from autotune.base.cache import SEAL_BYTES, cache_folder, give_up_cache, keep_newest, own_content, own_place, seal
from autotune.base.errors import AutotuneError
from autotune.base.files import atomic_write
from autotune.base.log import logger
from autotune.codegen.model.program import Program
from autotune.compiler import CUDA_HEADER, CompileError, CompilerKilledError

_MOST = 10_000  # kernels, of 30 KB
_FOLDER = Path(__file__).parent / "cpp"
_HEADER = _FOLDER / "emulator.hpp"
_SWIZZLE = Path(__file__).parents[1] / "codegen" / "cuda" / "swizzle.cuh"  # which kernels and the emulator share
_LANGUAGE = ("-std=c++17", "-U_FORTIFY_SOURCE")
# Sanitizers instrument; their libraries are not used. Without scalar replacement of aggregates a load of a float4
# stays one load, whose alignment can be checked. What is left out of -O1 takes a seventh of the time to compile
# kernels, most of it after they are instrumented, so that the checks are the same; tables for exceptions take 6 %.
_KERNEL_FLAGS = (
    *_LANGUAGE, "-O1", "-g0", "-fno-guess-branch-probability", "-fno-reorder-blocks", "-fno-thread-jumps",
    "-fira-region=one", "-fno-forward-propagate", "-fno-cprop-registers", "-fno-compare-elim", "-fno-if-conversion",
    "-fno-if-conversion2", "-fno-move-loop-invariants", "-fno-split-wide-types", "-fno-shrink-wrap",
    "-fno-combine-stack-adjustments", "-fno-exceptions", "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables", "-fsanitize=thread,signed-integer-overflow",
    "-fno-sanitize-recover=signed-integer-overflow",
    "-fno-tree-sra", "-fno-strict-aliasing", "-ffp-contract=off",
    "-Wno-unknown-pragmas", "-include", str(_HEADER), "-fPIC", "-fvisibility=hidden", "-shared", "-nostdlib", "-s",
)  # fmt: skip
_TRAP = "-fsanitize-undefined-trap-on-error"  # a call instead of an illegal instruction takes a tenth longer to compile
FILL = "-ftrivial-auto-var-init=pattern"  # of variables that are not initialised; g++ has it from version 12 on
_NO_ROOM = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "File size limit exceeded": errno.EFBIG,  # the signal that ends a compiler
    "File too large": errno.EFBIG,
}
NEWEST = (9, 0)  # the compute capability whose instructions kernels may all use
RUNTIME = "runtime-"  # a file, before the digest of all that it is built of
_RUNTIME_FLAGS = (*_LANGUAGE, "-O2", "-s", "-rdynamic")


class HostCompilerMissingError(AutotuneError, RuntimeError):
    """There is no C++ compiler that works here, whatever the kernel; the message is one line that names the remedy."""


def command(
    program: Program,
    *,
    compute_capability: tuple[int, int] = NEWEST,
    explains: bool = False,
    checks_block_numbers: bool = False,
) -> list[Path]:
    """The command that runs a program: the runtime and its modules, from the cache if they were built before.

    A module is a shared library, which the runtime loads: to link it takes a tenth of what an executable takes.

    Args:
        program: what is run.
        compute_capability: of the device whose branches of the source are taken.
        explains: whether an overflow is reported with its line and values; else it ends the run by a signal.
        checks_block_numbers: whether sums and products of numbers of blocks in 32 bits are errors if they wrap.

    Raises:
        CompileError: the compiler refused the source.
        HostCompilerMissingError: there is no compiler, or it fails at anything.
        OSError: there is no room for what it writes, nor in a temporary cache.
    """
    try:
        return _command(program, compute_capability, explains, checks_block_numbers)
    except OSError as error:
        if error.errno in _NO_ROOM.values() and give_up_cache(error):
            return _command(program, compute_capability, explains, checks_block_numbers)
        raise


def _command(
    program: Program, compute_capability: tuple[int, int], explains: bool, checks_block_numbers: bool
) -> list[Path]:
    compiler, (major, minor) = host_compiler(), compute_capability
    flags = (*kernel_flags(compiler), f"-D__CUDA_ARCH__={major}{minor}0", *(() if explains else (_TRAP,)))
    flags += ("-DAUTOTUNE_BLOCK_NUMBERS",) if checks_block_numbers else ()
    return [runtime(compiler), *(_library(part, compiler, flags) for part in program.parts)]


def _library(program: Program, compiler: tuple[str, ...], flags: tuple[str, ...]) -> Path:
    """A program of one module as a shared library, from the cache or built."""
    if header := CUDA_HEADER.search(program.source):
        raise CompileError(f"{header[0].strip()}: the emulator has no headers of CUDA; a GPU runs it, as by --device 0")
    path = cache_folder("emulator") / _digest(program.source, *program.entries, _toolchain(compiler), *flags)
    kept = _kept(path)
    logger.info("%s for the emulator: %s", program.title, "from the cache" if kept else f"compiled by {compiler[0]}")
    if not kept:
        with atomic_write(own_place(path)) as built:
            _compile([*compiler, *flags, "-x", "c++", "-", "-o", str(built)], _with_call(program))
            _add_seal(built)
        keep_newest(path.parent, _MOST)
    return path


def _add_seal(path: Path) -> None:
    """Append a seal, which neither the linker nor the loader looks at, and let nobody else change the file."""
    path.chmod(0o700)
    with path.open("ab") as file:
        file.write(seal(path.name.encode(), path.read_bytes()))


def _kept(path: Path) -> bool:
    """Whether a file is in the cache as it was written there; it counts as new from now on."""
    with suppress(OSError):
        content = own_content(path)
        os.utime(path)
        return content[-SEAL_BYTES:] == seal(path.name.encode(), content[:-SEAL_BYTES])
    return False


def runtime(compiler: tuple[str, ...]) -> Path:
    """The executable, which holds all that does not depend on the kernel, from the cache or built."""
    path = cache_folder("emulator") / f"{RUNTIME}{_digest(_toolchain(compiler), *_RUNTIME_FLAGS)}"
    if not _kept(path):
        with atomic_write(own_place(path)) as built:
            _compile([*compiler, *_RUNTIME_FLAGS, "-x", "c++", "-", "-ldl", "-o", str(built)], _all_files())
            _add_seal(built)
    return path


def _all_files() -> str:
    """The runtime's files as one: most of the time goes to the system's headers, which are read once then.

    So the files share a name only for the same thing, in anonymous namespaces, too. The headers come first, since
    emulator.hpp defines macros whose names they use.
    """
    own = sorted(_FOLDER.glob("*.cpp"))
    lines = (line for path in own for line in path.read_text(encoding="utf-8").splitlines())
    headers = sorted({line for line in lines if line.startswith("#include <")})
    return "\n".join([*headers, *(f'#include "{path}"' for path in own)])


@cache
def kernel_flags(compiler: tuple[str, ...]) -> tuple[str, ...]:
    """The flags that kernels are compiled with, `FILL` among them if the compiler has it."""
    command = [*compiler, FILL, "-x", "c++", "-E", "-"]
    return (*_KERNEL_FLAGS, FILL) if _run(command).returncode == 0 else _KERNEL_FLAGS


def _with_call(program: Program) -> str:
    """The source, and what main.cpp finds in the library."""
    cases = "".join(
        f"    case {index}: return autotune_emulator::call({entry}, arguments);\n"
        for index, entry in enumerate(program.entries)
    )
    return f"""{program.source}
static void autotune_emulator_call(int entry, const void* arguments) {{
  switch (entry) {{
{cases}  }}
}}
AUTOTUNE_EMULATOR_KERNEL(autotune_emulator_call, {program.name})
"""


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def host_compiler() -> tuple[str, ...]:
    """The compiler's command: ``CXX`` if set, else g++."""
    stated = os.environ.get("CXX", "")
    try:
        words = shlex.split(stated) or ["g++"]
    except ValueError as error:
        raise HostCompilerMissingError(f"CXX={stated}: {error}; expected the command of a g++") from None
    if shutil.which(words[0]) is None:
        raise HostCompilerMissingError(
            f"no C++ compiler: {words[0]} not found; install g++ (Debian: apt-get install g++) or set CXX to a g++"
        )
    return tuple(words)


def compiler_version() -> str:
    """Name and version of the C++ compiler, such as ``g++ (Debian 12.2.0-14) 12.2.0``.

    Raises:
        HostCompilerMissingError: there is none.
    """
    return _version(host_compiler())


@cache
def _version(compiler: tuple[str, ...]) -> str:
    return _run([*compiler, "--version"]).stdout.partition("\n")[0]


@cache
def _toolchain(compiler: tuple[str, ...]) -> str:
    """All that a built file depends on beside the kernel and the flags: the compiler and the emulator's files."""
    files = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.hpp"), _SWIZZLE])
    return "\0".join([*compiler, _version(compiler), *(path.read_text(encoding="utf-8") for path in files)])


def _run(command: list[str], text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler, whose messages are to be English, on a text."""
    own = {**os.environ, "LC_ALL": "C", **environment}
    return subprocess.run(
        command, input=text, capture_output=True, encoding="utf-8", errors="replace", check=False, env=own
    )


def _compile(command: list[str], text: str = "") -> None:
    folder = Path(command[-1]).parent  # it goes even if this process, or the compiler, is killed
    for _ in range(2):  # it was killed from outside, or memory ran out
        completed = _run(command, text, TMPDIR=str(folder))
        killed = completed.returncode == -signal.SIGKILL or "Killed signal terminated program" in completed.stderr
        if not killed:
            break
    if completed.returncode != 0:
        lines = completed.stderr.splitlines()
        for words, code in _NO_ROOM.items():
            if words in completed.stderr:
                raise OSError(code, f"{words}, for the C++ compiler", str(folder.parent))
        refused = next((line for line in lines if line.startswith("<stdin>:") and "error" in line), None)
        if refused:
            raise CompileError(refused)
        if killed:
            raise CompilerKilledError("the C++ compiler was killed, twice: did memory run out?")
        if completed.returncode < 0 or "signal terminated program" in completed.stderr:
            raise CompileError("the C++ compiler crashed")
        said = next((line for line in lines if "rror" in line), "it failed without a message")
        raise HostCompilerMissingError(f"the C++ compiler cannot build the emulator: {' '.join(said.split())}")
