"""Compiling in processes that may die."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from autotune import compile_pool
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.compile_pool import CompilePool
from autotune.compiler import CompileError, compile_kernel

LAUNCH = Launch("probe", (1, 1, 1), (32, 1, 1))


def source(value):
    return Program(f'extern "C" __global__ void probe(float* x) {{ *x = {value}; }}', (), (LAUNCH,))


class Bomb(str):
    """A text that kills the process that unpickles it, as a crash in the compiler would."""

    def __reduce_ex__(self, protocol):
        return signal.raise_signal, (signal.SIGKILL,)


class BombOnce(str):
    """A source that kills the first process that unpickles it, as one from outside would."""

    def __new__(cls, exploded):
        text = super().__new__(cls, 'extern "C" __global__ void probe(float* x) { *x = 31.5f; }')
        text.exploded = exploded  # type: ignore[attr-defined]
        return text

    def __reduce_ex__(self, protocol):
        return _exploded, (str(self), self.exploded)  # type: ignore[attr-defined]


def _exploded(source, exploded):
    if not exploded.exists():
        exploded.touch()
        signal.raise_signal(signal.SIGKILL)
    return source


class Standstill(str):
    """A text at which the process that unpickles it stands still, as at a loop without end in the compiler."""

    def __reduce_ex__(self, protocol):
        return signal.pause, ()


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        with CompilePool(workers=2) as opened:
            yield opened


def test_many_jobs_each_get_their_own_kernel(pool):
    futures = [pool.submit(source(f"{i}.0f"), "sm_90") for i in range(6)]
    assert [future.result() for future in futures] == [compile_kernel(source(f"{i}.0f"), "sm_90") for i in range(6)]


def test_what_is_prepared_is_compiled_once(pool, monkeypatch):
    ends, asked = threading.Event(), []

    def compile_(program, arch):
        asked.append(program.source)
        ends.wait(60)
        return f"kernel for {arch}"

    monkeypatch.setattr(pool, "_compile", compile_)
    for _ in range(2):
        pool.prepare(source("9.5f"), "sm_90")
    mine, another = pool.submit(source("9.5f"), "sm_90"), pool.submit(source("9.5f"), "sm_80")
    ends.set()
    assert (mine.result(60), another.result(60)) == ("kernel for sm_90", "kernel for sm_80")
    assert asked == [source("9.5f").source] * 2


def test_what_was_compiled_waits_for_no_process(pool, monkeypatch):
    kernel = pool.submit(source("3.5f"), "sm_90").result()
    monkeypatch.setattr(pool, "_compile", lambda *_: pytest.fail("a process was asked"))
    again = pool.submit(source("3.5f"), "sm_90")
    assert again.done()
    assert again.result() == kernel


def test_what_fails_when_prepared_fails_for_whoever_asks_later(pool):
    pool.prepare(source("nothing"), "sm_90")
    pool.submit(source("1.0f"), "sm_90").result()
    with pytest.raises(CompileError, match="nothing"):
        pool.submit(source("nothing"), "sm_90").result()


def test_who_measures_goes_before_who_compiles(pool):
    pool.submit(source("1.0f"), "sm_90").result()
    expected = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    assert {os.getpriority(os.PRIO_PROCESS, worker._process.pid or 0) for worker in pool._workers} == {expected}


def test_a_compile_error_arrives_with_its_log(pool):
    with pytest.raises(CompileError, match=r"^probe.cu\(1\): error: .*nowhere") as caught:
        pool.submit(source("nowhere"), "sm_90").result()
    assert "1 error detected" in caught.value.log


def test_a_process_that_dies_fails_its_own_job_only(pool):
    before = [pool.submit(source(f"{i}.5f"), "sm_90") for i in range(2)]
    bombs = [pool.submit(Program(Bomb(), (), (LAUNCH,)), "sm_90") for _ in range(3)]
    after = [pool.submit(source(f"{i}.5f"), "sm_90") for i in range(2, 5)]
    for bomb in bombs:
        with pytest.raises(CompileError, match=r"^the compiler ended by SIGKILL on probe for sm_90, twice$"):
            bomb.result()
    assert all(future.result().cubin for future in [*before, *after])


def test_what_a_killed_process_compiled_is_tried_again(pool, tmp_path):
    once = Program(BombOnce(tmp_path / "exploded"), (), (LAUNCH,))
    assert pool.submit(once, "sm_90").result().cubin


def test_a_compiler_that_takes_too_long_is_ended_and_fails_its_own_job_only(monkeypatch):
    with CompilePool(workers=1) as pool:
        monkeypatch.setattr(compile_pool, "_SECONDS", 0.1)
        with pytest.raises(CompileError, match=r"^the compiler did not end within 0.1 s on probe for sm_90$"):
            pool.submit(Program(Standstill(), (), (LAUNCH,)), "sm_90").result(20)
        monkeypatch.undo()
        assert pool.submit(source("7.0f"), "sm_90").result().cubin


def test_leaving_gives_up_what_is_unfinished():
    with CompilePool(workers=1) as pool:
        futures = [pool.submit(source(f"{i}.25f"), "sm_90") for i in range(20)]
    assert all(future.done() for future in futures)
    assert futures[-1].cancelled()


def test_leaving_gives_up_a_compiler_that_hangs_and_starts_no_other():
    with CompilePool(workers=1) as pool:
        assert pool.submit(source("20.25f"), "sm_90").result().cubin
        hanging = pool.submit(Program(Standstill(), (), (LAUNCH,)), "sm_90")
        while not hanging.running():
            pass
    with pytest.raises(CompileError, match=r"^the compiler was given up on probe for sm_90$"):
        hanging.result()


SCRIPT = """
import os, signal
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.compile_pool import CompilePool

if __name__ == "__main__":
    text = 'extern "C" __global__ void probe(float* x) { *x = 3; }'
    with CompilePool(workers=2) as pool:
        job = pool.submit(Program(text, (), (Launch("probe", (1, 1, 1), (1, 1, 1)),)), "sm_90")
"""
INTERRUPTED = """
        while not pool._workers:
            pass
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        try:
            os.killpg(0, signal.SIGINT)
            while True:  # not in signal.pause, which never ends if another thread takes the signal
                pass
        except KeyboardInterrupt:
            print(len(job.result().cubin) > 0)
"""
KILLED = """
        job.result()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def run(script, folder):
    """Run a script and wait until it and all that hold its output, such as its workers, have ended."""
    path = folder / "script.py"
    path.write_text(script)
    environment = os.environ | {"AUTOTUNE_CACHE": str(folder)}
    command = [sys.executable, str(path)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, start_new_session=True, timeout=60)


def test_ctrl_c_is_the_parents_own_affair(tmp_path):
    """A terminal sends it to every process; a worker that took it would print a traceback and fail its job."""
    done = run(SCRIPT + INTERRUPTED, tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    done = run(SCRIPT + KILLED, tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", -signal.SIGKILL)
