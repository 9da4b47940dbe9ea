"""Program → cubin and resources, by NVRTC, for any architecture, with or without a GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from .base.cache import SEAL_BYTES, cache_folder, seal
from .base.errors import AutotuneError
from .base.files import remove
from .base.log import logger
from .base.nvrtc import installed_nvrtc
from .codegen.model.program import Program
from .codegen.model.resources import Resources

# cuda.core takes a third of a second to import: only those who compile pay for it.
if TYPE_CHECKING:
    from cuda.core import ProgramOptions
    from cuda.core.utils import FileStreamProgramCache

_SCHEMA = b"2"  # the form of a cache entry; a new layout of `_encoded` or `Resources` takes a new number
CUDA_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<[^>\n]*>", re.MULTILINE)  # in sources of users alone
_CACHE_BYTES = 512 << 20  # about ten thousand kernels; the least recently used go first


class CompileError(AutotuneError, RuntimeError):
    """The compiler refused a source; the message is its first error line.

    Attributes:
        log: all that the compiler said.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class CompilerKilledError(CompileError):
    """The compiler was killed twice, as the system does when memory runs out: the source may not be to blame."""


class CompilerMissingError(AutotuneError, RuntimeError):
    """There is no compiler; the message names the remedy."""


@dataclass(frozen=True)
class CompiledKernel:
    """A cubin and what it uses.

    Attributes:
        cubin: the machine code.
        resources: from ptxas; of several modules, the most that any of them uses.
        arch: such as ``sm_90``.
        compiler: name and version, such as ``NVRTC 13.0``.
        others: the machine code of the modules that follow the first one.
    """

    cubin: bytes
    resources: Resources
    arch: str
    compiler: str
    others: tuple[bytes, ...] = ()

    @property
    def cubins(self) -> tuple[bytes, ...]:
        """The machine code of each of `Program.modules`."""
        return (self.cubin, *self.others)


def compile_kernel(program: Program, arch: str) -> CompiledKernel:
    """Compile a program for an architecture such as ``sm_90``, or take the result from the disk cache.

    Each module is compiled, and cached, by itself.

    Raises:
        CompileError: the compiler refused the source or the architecture.
        CompilerMissingError: NVRTC is not installed.
    """
    return _joined([_compile_module(part, arch) for part in program.parts])


def _compile_module(program: Program, arch: str) -> CompiledKernel:
    compiler, options = compiler_version(), _options(program, arch)
    key = _key(program, options)
    if kernel := _cached(key, arch, compiler):
        logger.info("%s of %s: from the cache", program.title, arch)
        return kernel
    start = monotonic()
    cubin, resources = _built(program, options, compiler)
    logger.info("%s of %s: compiled by %s in %.1f s", program.title, arch, compiler, monotonic() - start)
    _store(key, _encoded(key, cubin, resources))
    return CompiledKernel(cubin, resources, arch, compiler)


def cached_kernel(program: Program, arch: str) -> CompiledKernel | None:
    """What `compile_kernel` would take from the disk cache; None if it would compile.

    Raises:
        CompilerMissingError: NVRTC is not installed.
    """
    compiler = compiler_version()  # asked first, for a missing compiler has no options either
    found = [_cached(_key(part, _options(part, arch)), arch, compiler) for part in program.parts]
    kernels = [one for one in found if one]
    return _joined(kernels) if len(kernels) == len(found) else None


def _joined(kernels: Sequence[CompiledKernel]) -> CompiledKernel:
    first, *others = kernels
    if not others:
        return first
    resources = worst(one.resources for one in kernels)
    return replace(first, resources=resources, others=tuple(one.cubin for one in others))


def _store(key: bytes, entry: bytes) -> None:
    """Keep an entry. A cache that cannot be written, on a full disk for example, costs time and nothing else."""
    folder = cache_folder("cubins")
    with suppress(OSError):
        try:
            _opened(folder)[key] = entry
        except (IsADirectoryError, NotADirectoryError, FileExistsError):  # which no entry of ours leads to
            remove(folder / "entries")
            _opened.cache_clear()
            _opened(folder)[key] = entry


def _cached(key: bytes, arch: str, compiler: str) -> CompiledKernel | None:
    entry = None
    with suppress(OSError):
        entry = _opened(cache_folder("cubins")).get(key)
    found = _decoded(key, entry or b"")
    return found and CompiledKernel(*found, arch, compiler)


def _options(program: Program, arch: str) -> ProgramOptions:
    from cuda.core import ProgramOptions

    # Nothing here changes numerics: IEEE division and square roots, denormals, contraction to FMA as in nvcc.
    # NVRTC's own cache, which it has where there is a driver, gives a cubin without the log that names its resources.
    return ProgramOptions(
        name=f"{program.name}.cu",
        arch=arch + program.arch_suffix,
        std="c++17",
        ptxas_options=["-v"],
        no_cache=True,
        include_path=_cuda_headers() if CUDA_HEADER.search(program.source) else None,
    )


@cache
def _cuda_headers() -> list[str]:
    """The folders of CUDA's headers that are installed: those of the runtime, which NVRTC comes with, and others."""
    from cuda.pathfinder import locate_nvidia_header_directory

    found = (locate_nvidia_header_directory(name) for name in ("cudart", "nvcc", "cccl"))
    return list(dict.fromkeys(one.abs_path for one in found if one and one.abs_path))


def _key(program: Program, options: ProgramOptions) -> bytes:
    """The key of a cache entry: covers the source, the options (and its name), the compiler's version, our schema."""
    from cuda.core.utils import make_program_cache_key

    key: bytes = make_program_cache_key(
        code=program.source, code_type="c++", options=options, target_type="cubin", extra_digest=_SCHEMA
    )
    return key


def compiler_version() -> str:
    """The compiler's name and version, such as ``NVRTC 13.0``.

    Raises:
        CompilerMissingError: NVRTC is not installed.
    """
    found = installed_nvrtc()
    if found is None:
        raise CompilerMissingError("NVRTC was not found; run: pip install 'cuda-toolkit[nvrtc]>=13.0'")
    return found


def _built(program: Program, options: ProgramOptions, compiler: str) -> tuple[bytes, Resources]:
    from cuda.core import Program as CudaProgram

    from .base.cuda_core import NVRTCError

    log = StringIO()
    try:
        # No variable holds the program: an error that is kept would keep it too, and cuda.core 1.2 complains on
        # standard error when the garbage collector finds a program in a cycle.
        cubin = bytes(CudaProgram(program.source, "c++", options).compile("cubin", logs=log).code)
    except NVRTCError as error:
        raise CompileError(first_error(str(error), compiler), str(error)) from None
    if lost := performance_loss(log.getvalue()):
        raise CompileError(lost, log.getvalue())
    return cubin, worst(parsed_resources(log.getvalue(), entry) for entry in program.entries)


def worst(resources: Iterable[Resources]) -> Resources:
    """The most that any of some entries uses, figure by figure."""
    return Resources(*(max(figures) for figures in zip(*map(astuple, resources), strict=True)))


def first_error(log: str, compiler: str) -> str:
    """The first line of a compiler's log that reports an error: ``sgemm.cu(12): error: …``."""
    if "invalid value for --gpu-architecture" in log:
        return f"{compiler} does not compile for this architecture: update it, or name one such as sm_90"
    found = re.search(r"^.*\b(?:error|fatal)\b[^:\n]*:.*$", log.replace("\0", ""), re.MULTILINE)
    return " ".join((found.group() if found else log.strip().partition("\n")[0]).split())


def performance_loss(log: str) -> str:
    """What ptxas says if it gave up what a kernel is written for; empty if it did not.

    It runs products of warpgroups one after another where it cannot tell which registers they use, and it ignores
    setmaxnreg where the threads of a block are not known.
    """
    found = re.search(r"\((C\d+)\) Potential Performance Loss: (.*\b(?:wgmma|setmaxnreg)\b.*)", log)
    return f"ptxas warns of lost performance ({found[1]}): {' '.join(found[2].split())}" if found else ""


def parsed_resources(log: str, entry: str) -> Resources:
    """What ``ptxas -v`` says about one entry.

    Raises:
        CompileError: the log has no such entry, because the source lacks it or has another name for it.
    """
    found = re.search(
        rf"Function properties for {re.escape(entry)}\n"
        r".*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads\n"
        r".*?Used (?P<registers>\d+) registers(?:.*?, (?P<shared>\d+) bytes smem)?",
        log,
    )
    if not found:
        raise CompileError(f'the source has no kernel {entry!r}: expected extern "C" __global__ void {entry}(…)', log)
    numbers = {name: int(text or 0) for name, text in found.groupdict().items()}
    return Resources(numbers["registers"], numbers["shared"], numbers["stack"], numbers["stores"], numbers["loads"])


@cache
def _opened(folder: Path) -> FileStreamProgramCache:
    from cuda.core.utils import FileStreamProgramCache

    return FileStreamProgramCache(folder, max_size_bytes=_CACHE_BYTES)


def _encoded(key: bytes, cubin: bytes, resources: Resources) -> bytes:
    """A cache entry: its seal, the resources as one line of JSON, the cubin."""
    rest = json.dumps(asdict(resources)).encode() + b"\n" + cubin
    return seal(key, rest) + rest


def _decoded(key: bytes, entry: bytes) -> tuple[bytes, Resources] | None:
    """The inverse of `_encoded`; None for an entry that is missing, cut short, damaged or another key's."""
    sealed, rest = entry[:SEAL_BYTES], entry[SEAL_BYTES:]
    if sealed != seal(key, rest):
        return None
    resources, _, cubin = rest.partition(b"\n")
    return cubin, Resources(**json.loads(resources))
