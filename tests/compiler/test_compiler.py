"""Compiling without a GPU, and the disk cache of what was compiled."""

import gc
import subprocess
import sys

import pytest

from autotune import compiler
from autotune.base.cache import SEAL_BYTES
from autotune.base.nvrtc import installed_nvrtc
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.compiler import (
    CompiledKernel,
    CompileError,
    CompilerMissingError,
    Resources,
    cached_kernel,
    compile_kernel,
    parsed_resources,
    worst,
)


def launched(entry):
    return (Launch(entry, (1, 1, 1), (32, 1, 1)),)


def source(body, entry="probe"):
    text = f'extern "C" __global__ void {entry}(float* x) {{\n{body}\n}}\n'
    return Program(text, (), launched(entry))


SIMPLE = source("x[threadIdx.x] = 1.0f;")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    return tmp_path


def entries(cache):
    return [path for path in (cache / "cubins" / "entries").rglob("*") if path.is_file()]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_compiles_for_an_architecture_that_is_not_here(arch):
    kernel = compile_kernel(SIMPLE, arch)
    assert kernel.cubin.startswith(b"\x7fELF")
    assert kernel.arch == arch
    assert kernel.compiler.startswith("NVRTC ")
    assert 0 < kernel.resources.registers < 32
    assert kernel.resources.spill_store_bytes == kernel.resources.stack_bytes == 0


def test_static_shared_memory_and_spills_are_reported():
    shared = source("__shared__ float s[48]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[0] = s[7];")
    assert compile_kernel(shared, "sm_90").resources.shared_bytes == 48 * 4

    text = """extern "C" __global__ void __launch_bounds__(1024, 2) probe(float* x) {
      float r[64];
      #pragma unroll
      for (int i = 0; i < 64; ++i) r[i] = x[i * 32 + threadIdx.x];
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < 64; ++i) x[(63 - i) * 32 + threadIdx.x] = r[i] * r[(i * 7) % 64];
    }"""
    spilled = compile_kernel(Program(text, (), launched("probe")), "sm_90").resources
    assert spilled.registers == 32
    assert spilled.spill_store_bytes > 0
    assert spilled.spill_load_bytes > 0
    assert spilled.stack_bytes > 0


def test_resources_are_those_of_the_entry():
    text = (
        SIMPLE.source
        + source("__shared__ float s[8]; s[threadIdx.x] = *x; __syncthreads(); *x = s[7];", "other").source
    )
    kernels = [compile_kernel(Program(text, (), launched(entry)), "sm_90") for entry in ("probe", "other", "probe")]
    assert [kernel.resources.shared_bytes for kernel in kernels] == [0, 32, 0]


def test_each_figure_is_read_by_its_name():
    log = (
        "ptxas info    : Function properties for probe\n"
        "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 24 bytes smem\n"
    )
    read = Resources(registers=32, shared_bytes=24, stack_bytes=8, spill_store_bytes=4, spill_load_bytes=12)
    assert parsed_resources(log, "probe") == read


def test_a_program_uses_the_most_of_its_entries():
    used, most = (Resources(32, 24, 8, 4, 12), Resources(64, 0, 8, 8, 0)), Resources(64, 24, 8, 8, 12)
    assert worst(used) == most
    assert compiler._joined([CompiledKernel(b"", one, "sm_90", "NVRTC") for one in used]).resources == most


def test_a_refused_source_names_its_first_error_and_line_and_keeps_the_log():
    with pytest.raises(CompileError) as caught:
        compile_kernel(source("#warning look\nx[0] = y;\nx[1] = z;"), "sm_90")
    assert str(caught.value) == 'probe.cu(3): error: identifier "y" is undefined'
    assert '"z" is undefined' in caught.value.log


def test_an_error_that_is_kept_keeps_no_program():
    from cuda.core import Program as CudaProgram

    with pytest.raises(CompileError) as caught:
        compile_kernel(source("x[0] = y;"), "sm_90")
    assert caught.value.log
    assert not [thing for thing in gc.get_objects() if isinstance(thing, CudaProgram)]


@pytest.mark.parametrize(
    ("wrong", "arch", "message"),
    [
        (source("__shared__ float s[20000]; s[threadIdx.x] = *x; __syncthreads(); *x = s[7];"), "sm_90", "shared data"),
        (SIMPLE, "sm_10", "does not compile for this architecture"),
        (Program(SIMPLE.source, (), launched("absent")), "sm_90", "the source has no kernel 'absent'"),
    ],
)
def test_other_refusals_take_one_line(wrong, arch, message):
    with pytest.raises(CompileError, match=message) as caught:
        compile_kernel(wrong, arch)
    assert "\n" not in str(caught.value)
    assert "\0" not in str(caught.value)


def test_numerics_are_those_of_ieee():
    """Fast math would make the division one instruction; FMA contraction stays on."""
    divide = compile_kernel(source("x[0] = x[1] / x[2];"), "sm_90")
    from cuda.core import Program as CudaProgram
    from cuda.core import ProgramOptions

    options = ProgramOptions(arch="sm_90", std="c++17", use_fast_math=True)
    fast = CudaProgram(source("x[0] = x[1] / x[2];").source, "c++", options).compile("cubin")
    assert len(divide.cubin) > len(fast.code)


def test_a_second_time_comes_from_the_cache(monkeypatch):
    assert cached_kernel(SIMPLE, "sm_90") is None
    first = compile_kernel(SIMPLE, "sm_90")
    assert cached_kernel(SIMPLE, "sm_90") == first
    monkeypatch.setattr(compiler, "_built", lambda *_: pytest.fail("compiled again"))
    assert compile_kernel(SIMPLE, "sm_90") == first


@pytest.mark.parametrize("change", ["text", "entry", "arch", "compiler", "schema"])
def test_whatever_makes_another_kernel_misses_the_cache(change, monkeypatch):
    text = SIMPLE.source + source("", "other").source
    compile_kernel(Program(text, (), launched("probe")), "sm_90")
    changed, arch = Program(text + ("//" if change == "text" else ""), (), launched("probe")), "sm_90"
    if change == "entry":
        changed = Program(text, (), launched("other"))
    if change == "arch":
        arch = "sm_80"
    if change == "compiler":
        from cuda.core.utils._program_cache import _keys

        monkeypatch.setattr(_keys, "_nvrtc_version", lambda: (99, 0))
    if change == "schema":
        monkeypatch.setattr(compiler, "_SCHEMA", b"another")
    compiled = []
    build = compiler._built
    monkeypatch.setattr(compiler, "_built", lambda *given: compiled.append(1) or build(*given))
    compile_kernel(changed, arch)
    assert compiled


@pytest.mark.parametrize(
    "damage", ["empty", "truncated", "a bit of the digest", "a bit of the resources", "a bit of the cubin"]
)
def test_a_damaged_entry_is_compiled_again_and_never_loaded(damage, cache):
    good = compile_kernel(SIMPLE, "sm_90")
    (path,) = entries(cache)
    content = bytearray(path.read_bytes())
    if damage == "empty":
        content.clear()
    elif damage == "truncated":
        del content[-1]
    else:
        place = {"a bit of the digest": 3, "a bit of the resources": 48, "a bit of the cubin": len(content) - 9}[damage]
        content[place] ^= 1
    path.write_bytes(content)
    assert compile_kernel(SIMPLE, "sm_90") == good
    assert entries(cache) == [path]
    assert path.read_bytes() != content


def test_an_entry_in_the_place_of_another_is_never_loaded(cache):
    good = compile_kernel(SIMPLE, "sm_90")
    (path,) = entries(cache)
    compile_kernel(SIMPLE, "sm_100")
    (other,) = set(entries(cache)) - {path}
    path.write_bytes(other.read_bytes())
    assert compile_kernel(SIMPLE, "sm_90") == good


def test_an_entry_that_somebody_else_sealed_is_never_loaded(cache):
    good = compile_kernel(SIMPLE, "sm_90")
    (path,) = entries(cache)
    content = path.read_bytes()
    (cache / "secret").write_bytes(bytes(SEAL_BYTES))
    compile_kernel(SIMPLE, "sm_90")
    assert path.read_bytes() != content
    (cache / "secret").unlink()
    assert cached_kernel(SIMPLE, "sm_90") is None
    assert compile_kernel(SIMPLE, "sm_90") == good


def test_what_is_in_the_way_of_an_entry_goes(cache):
    compile_kernel(SIMPLE, "sm_90")
    (path,) = entries(cache)
    path.unlink()
    (path / "full").mkdir(parents=True)
    assert cached_kernel(SIMPLE, "sm_90") is None
    compile_kernel(SIMPLE, "sm_90")
    assert cached_kernel(SIMPLE, "sm_90") is not None


def test_a_cache_that_cannot_be_written_costs_only_time(monkeypatch):
    class Full(dict[bytes, bytes]):
        def __setitem__(self, key, value):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiler, "_opened", lambda _: Full())
    assert isinstance(compile_kernel(SIMPLE, "sm_90"), CompiledKernel)


def test_a_missing_compiler_names_the_remedy(monkeypatch):
    from cuda.bindings import nvrtc
    from cuda.pathfinder import DynamicLibNotFoundError

    def absent():
        raise DynamicLibNotFoundError('Failure finding "libnvrtc.so"\nlong\nstory')

    monkeypatch.setattr(nvrtc, "nvrtcVersion", absent)
    installed_nvrtc.cache_clear()
    with pytest.raises(CompilerMissingError, match=r"^NVRTC was not found; run: pip install .*cuda-toolkit\[nvrtc\]"):
        compile_kernel(SIMPLE, "sm_90")
    installed_nvrtc.cache_clear()


def test_importing_loads_neither_cuda_nor_a_driver():
    modules = "autotune.compiler, autotune.compile_pool, autotune.devices.cuda"
    check = f"import sys, {modules}; print([name for name in sys.modules if name.split('.')[0] == 'cuda'])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
