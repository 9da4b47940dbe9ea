"""What a run asks of its caller, and what it says of the compiler."""

import errno
import hashlib
import mmap
import os
import shlex
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mutants.cache import cache_with_runtime

from autotune.base import cache
from autotune.base.cache import SEAL_BYTES
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.tensor import Role, Tensor
from autotune.compiler import CompileError, CompilerKilledError
from autotune.emulator import EmulatorError, EmulatorKilledError, HostCompilerMissingError, build, compiler_version, run

X = np.ones(64, np.float32)
COPY = "y[t] = x[t];"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return cache_with_runtime(tmp_path_factory.mktemp("cache") / "own")


@pytest.fixture
def own_cache(folder, monkeypatch):
    """A cache of this file's tests."""
    monkeypatch.setenv("AUTOTUNE_CACHE", str(folder))
    return folder / "emulator"


def test_an_empty_grid_runs_nothing(kernel, run):
    source = replace(kernel(COPY), steps=(Launch("kernel", (4, 0, 1), (64, 1, 1)),))
    assert np.isnan(run(source, X, 64)).all()


def test_the_cache_keeps_what_was_used_last(kernel, tmp_path, monkeypatch):
    def compiled(command, text=""):
        Path(command[command.index("-o") + 1]).write_text("")

    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "_compile", compiled)
    monkeypatch.setattr(build, "_MOST", 3)  # of which the runtime is one
    a, b, c, d = (kernel(f"y[t] = {number};") for number in range(4))
    paths = [build.command(source)[1] for source in (a, b)]
    for age, path in enumerate(paths):
        os.utime(path, (age, age))
    assert build.command(a)[1] == paths[0]
    build.command(c)
    assert [path.exists() for path in paths] == [True, False]
    build.command(d)
    assert len(list(paths[0].parent.iterdir())) == 3


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("damage", ["changed", "cut short", "another", "planted"])
def test_a_damaged_kernel_is_built_again_and_never_run(damage, kernel, run):
    copy = kernel(COPY)
    path, other = (build.command(program)[1] for program in (copy, kernel("y[t] = 5;")))
    good, code = path.read_bytes(), other.read_bytes()[:-SEAL_BYTES]
    damaged = {
        "changed": good[:-40] + b"?" + good[-39:],
        "cut short": b"",
        "another": other.read_bytes(),
        "planted": code + hashlib.sha256(path.name.encode() + code).digest(),
    }
    path.write_bytes(damaged[damage])
    assert (run(copy, X, 64) == X).all()
    assert path.read_bytes() == good


@pytest.mark.parametrize(
    ("launch", "error"),
    [
        (Launch("kernel", (1, 1, 1), (2048, 1, 1)), "block 2048 over 1024"),
        (Launch("kernel", (1, 1, 1), (64, 32, 1)), "threads in a block 2048 over 1024"),
        (Launch("kernel", (3, 1, 1), (64, 1, 1), cluster=(2, 1, 1)), r"grid \(3, 1, 1\) in clusters of \(2, 1, 1\)"),
        (Launch("kernel", (32, 1, 1), (64, 1, 1), cluster=(32, 1, 1)), "expected 16 blocks or fewer"),
        (Launch("kernel", (2, 2, 1), (64, 1, 1), cluster=(1, 2, 1)), "all along x"),
        (Launch("kernel", (1, 1, 1), (65, 1, 1)), r"has __launch_bounds__\(64\) and is launched with 65"),
        (Launch("kernel", (2, 1, 1), (64, 1, 1), cluster=(2, 1, 1)), r"__cluster_dims__\(1, 1, 1\) .* clusters \(2, 1"),
    ],
)
def test_a_launch_that_no_gpu_allows(launch, error, kernel, run):
    with pytest.raises(EmulatorError, match=error):
        run(replace(kernel(COPY), steps=(launch,)), X, 64)


@pytest.mark.parametrize("array", [np.ones(63, np.float32), np.ones(64), np.ones(128, np.float32)[::2]])
def test_an_array_must_fit_its_tensor(array, kernel):
    tensors = [Tensor.flat("x", DType.FLOAT32, 64, Role.INPUT, 4), Tensor.flat("y", DType.FLOAT32, 64, Role.OUTPUT, 4)]
    with pytest.raises(ValueError, match=r"^x is a float.* expected float32 of shape \(64,\)"):
        run(kernel(COPY), tensors, {"x": array, "y": X.copy()}, {"n": 64})


def test_the_arguments_must_be_as_the_struct_says(kernel, run):
    source = kernel(COPY)
    with pytest.raises(EmulatorError, match="struct Arguments has 40 bytes in CUDA and 32 as packed"):
        run(replace(source, source=source.source.replace("int n;", "int n; long long more;")), X, 64)


def test_what_does_not_compile_is_one_line(kernel, run):
    with pytest.raises(CompileError, match="error: 'forgotten' was not declared") as caught:
        run(kernel("y[t] = forgotten;"), X, 64)
    assert "\n" not in str(caught.value)


def test_no_compiler(monkeypatch, kernel, run):
    monkeypatch.setenv("CXX", "no-such-g++ -m64")
    for call in (compiler_version, lambda: run(kernel(COPY), X, 64)):
        with pytest.raises(
            HostCompilerMissingError, match=r"no C\+\+ compiler: no-such-g\+\+ not found; install g\+\+"
        ):
            call()


def test_a_compiler_that_always_fails_is_not_the_kernels_fault(monkeypatch, tmp_path, kernel, run):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", "/bin/false")
    with pytest.raises(HostCompilerMissingError, match=r"the C\+\+ compiler cannot build the emulator"):
        run(kernel(COPY), X, 64)


@pytest.mark.parametrize("said", ["as: No space left on device", "g++: File size limit exceeded signal terminated"])
def test_a_full_disk_is_not_the_compilers_fault(monkeypatch, tmp_path, kernel, run, said):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_given_up", True)  # there is no room elsewhere, either
    monkeypatch.setattr(cache, "temporary_root", lambda: tmp_path / "temporary")
    monkeypatch.setenv("CXX", f"sh -c {shlex.quote(f'echo {said} >&2; exit 1')}")
    with pytest.raises(OSError, match=r"No space left|File size limit") as caught:
        run(kernel(COPY), X, 64)
    assert caught.value.filename == f"{tmp_path}/temporary/emulator"


def test_a_cache_without_room_gives_way_to_a_temporary_one(monkeypatch, tmp_path, kernel):
    def compile_elsewhere(command, text=""):
        if tmp_path / "cache" in Path(command[-1]).parents:
            raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))
        Path(command[-1]).write_bytes(b"")

    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_given_up", False)
    monkeypatch.setattr(cache, "temporary_root", lambda: tmp_path / "temporary")
    monkeypatch.setattr(build, "_compile", compile_elsewhere)
    with pytest.warns(RuntimeWarning, match="No space left on device; a temporary cache serves"):
        assert {path.parent for path in build.command(kernel(COPY))} == {tmp_path / "temporary" / "emulator"}


def killed_at_first(times, call):
    """What somebody kills so often from outside."""
    left = iter(range(times))

    def run(command, *arguments, **options):
        if next(left, None) is not None:
            return subprocess.CompletedProcess(command, -signal.SIGKILL, "", "")
        return call(command, *arguments, **options)

    return run


def test_a_kernel_is_not_blamed_if_its_process_is_killed(own_cache, monkeypatch, kernel, run):
    processes, source = subprocess.run, kernel(COPY)
    expected = run(source, X, 64)
    monkeypatch.setattr(subprocess, "run", killed_at_first(1, processes))
    np.testing.assert_array_equal(run(source, X, 64), expected)
    monkeypatch.setattr(subprocess, "run", killed_at_first(2, processes))
    with pytest.raises(EmulatorKilledError, match="killed, twice"):
        run(source, X, 64)


def test_a_kernel_is_not_blamed_if_its_compiler_is_killed(monkeypatch, tmp_path):
    done = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(build, "_run", killed_at_first(1, lambda *_, **__: done))
    build._compile(["g++", "-o", str(tmp_path / "kernel")])
    monkeypatch.setattr(build, "_run", killed_at_first(2, lambda *_, **__: done))
    with pytest.raises(CompilerKilledError, match="killed, twice"):
        build._compile(["g++", "-o", str(tmp_path / "kernel")])


def test_a_killed_compiler_leaves_nothing(monkeypatch, tmp_path, kernel, run):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("CXX", "sh -c 'case $* in *\"-o \"*) touch $TMPDIR/ccXXXXXX.s; kill -KILL $$; esac'")
    with pytest.raises(CompileError, match="compiler was killed"):
        run(kernel(COPY), X, 64)
    assert list(tmp_path.rglob("*.s")) == []


def test_a_compiler_that_crashes_fails_one_kernel(monkeypatch, tmp_path, kernel, run):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", "sh -c 'kill -SEGV $$'")
    with pytest.raises(CompileError, match=r"the C\+\+ compiler crashed"):
        run(kernel(COPY), X, 64)


def test_a_kernel_is_compiled_once(own_cache, kernel, run):
    run(kernel(COPY), X, 64)
    built = {path: path.stat().st_ino for path in own_cache.iterdir()}
    run(kernel(COPY), X, 64, seed=1)
    assert built == {path: path.stat().st_ino for path in own_cache.iterdir()}
    run(kernel("y[t] = 2 * x[t];"), X, 64)
    assert len(list(own_cache.iterdir())) == len(built) + 1  # nothing temporary stays


def test_inputs_are_left_alone_and_in_outs_are_updated(kernel):
    tensors = [Tensor.flat("x", DType.FLOAT32, 64, Role.INPUT, 4), Tensor.flat("y", DType.FLOAT32, 64, Role.IN_OUT, 4)]
    arrays = {"x": X.copy(), "y": 2 * X}
    for runs in (1, 3):
        arrays["y"] = 2 * X
        run(kernel("y[t] += x[t];"), tensors, arrays, {"n": 64}, runs=runs)
        np.testing.assert_array_equal(arrays["y"], 3 * X)
        np.testing.assert_array_equal(arrays["x"], X)


def test_inputs_that_are_one_array_may_not_be_written(kernel):
    tensors = [Tensor.flat(name, DType.FLOAT32, 64, Role.INPUT, 4) for name in "xy"]
    with pytest.raises(EmulatorError, match="an input"):
        run(kernel(COPY), tensors, {"x": X, "y": X}, {"n": 64})


def test_each_run_begins_with_the_arrays_as_they_were_given(kernel, run):
    once = "int* w = static_cast<int*>(arguments.workspace); if (w[t] == 0) y[t] = x[t]; w[t] = 1;"
    source = kernel(once, workspace_bytes=256)
    np.testing.assert_array_equal(run(source, X, 64), X)
    assert np.isnan(run(source, X, 64, runs=2)).all()
    with pytest.raises(EmulatorError, match="before it was written"):
        run(kernel(f"{once} y[t] += 1;", workspace_bytes=256), X, 64, runs=2)


def shared(source, x, y):
    tensors = (
        Tensor.flat("x", DType.FLOAT32, x.size, Role.INPUT, 4),
        Tensor.flat("y", DType.FLOAT32, y.size, Role.OUTPUT, 16),
    )
    run(source, tensors, {"x": x, "y": y}, {"n": x.size})


def test_an_output_may_share_the_array_of_an_input(kernel):
    x = np.arange(64, dtype=np.float32)
    shared(kernel("y[t] = 2 * x[t];"), x, x)
    np.testing.assert_array_equal(x, 2 * np.arange(64))
    with pytest.raises(EmulatorError, match=r"race: \w+ byte .* of x, which"):
        shared(kernel("y[t] = 2 * x[63 - t];"), x, x)
    with pytest.raises(ValueError, match="y of 128 bytes begins where x of 256 bytes does: expected the same array"):
        shared(kernel(COPY), x, x[:32])


PITCH = 2**31 + 3  # elements from one row of 8 to the next
ROWS = "const long long place = t / 8 * 2147483651 + t % 8; y[place] = x[place];"


def rows(name, role):
    return Tensor(name, DType.FLOAT32, (2, 4, 8), (8 * PITCH, PITCH, 1), role, 4)


def copied(program):
    """The rows of x and y, after the first was copied to the second."""
    tensors = rows("x", Role.INPUT), rows("y", Role.OUTPUT)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
    flat = {t.name: np.frombuffer(mmap.mmap(-1, t.bytes, flags=flags), np.float32, t.size) for t in tensors}
    x, y = (tensor.view(flat[tensor.name]) for tensor in tensors)
    x[...] = np.arange(1, 65, dtype=np.float32).reshape(2, 4, 8)
    run(program, tensors, flat, {"n": 64})
    return x, y


def source(kernel, body):
    return kernel(body.replace("t / 8 *", "(t / 8 % 4 + t / 32 * 8) *"))


def test_rows_far_apart(kernel):
    x, y = copied(source(kernel, ROWS))
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("= x[place]", "= x[place + (t == 63)]", "reads bytes .* of x, which has"),
        ("= x[place]", "= x[place + (t == 7)]", "reads bytes 32 to 35 of x, which lie in a gap"),
        ("y[place]", "y[place - (t == 8)]", "writes bytes 8589934600 to 8589934603 of y, which lie in a gap"),
    ],
)
def test_an_access_to_a_gap_is_an_error(old, new, error, kernel):
    with pytest.raises(EmulatorError, match=error):
        copied(source(kernel, ROWS.replace(old, new)))
