"""Many threads and processes at once, forked ones, and an interpreter that shuts down."""

import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from mutants.cache import cache_with_runtime

from autotune import dispatcher
from autotune.base.cache import cache_folder
from autotune.dispatcher.calls import plan as plans
from autotune.emulator import build

SIZES = (5, 33, 41, 64)


def multiply(size):
    random = np.random.default_rng(size)
    a, b = random.uniform(-1, 1, (2, size, size)).astype(np.float32)
    np.testing.assert_allclose(dispatcher.sgemm(a, b), a @ b, rtol=0, atol=1e-4)
    return os.getpid()


of_parent = []  # plans


def multiply_by_plan(size):
    process, made = multiply(size), plans._plans.values()
    return process, bool(made) and not any(plan in of_parent for plan in made)


@pytest.fixture
def fresh_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(cache_with_runtime(tmp_path / "cache")))


@pytest.mark.usefixtures("defaults_only", "fresh_cache")
def test_32_callers_share_plans_and_compile_nothing_twice(monkeypatch):
    compiled = []
    compile_one = build._compile
    monkeypatch.setattr(build, "_compile", lambda *args: compiled.append(args[0][-1]) or compile_one(*args))
    together = threading.Barrier(32)

    def call(number):
        together.wait()
        for shift in range(len(SIZES)):
            multiply(SIZES[(number + shift) % len(SIZES)])

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(call, range(32)))
    assert len(plans._plans) == len(SIZES)
    kernels = {plan.loaded.template._kernel._program.digest for plan in plans._plans.values()}
    assert len(compiled) == len(kernels)


@pytest.mark.usefixtures("defaults_only")
def test_a_forked_process_makes_plans_of_its_own_even_while_one_is_being_made():
    multiply(5)
    of_parent[:] = plans._plans.values()
    with plans._creating, multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(multiply_by_plan, [5, 5, 33], chunksize=1).get(timeout=300)
    assert all(process != os.getpid() and planned for process, planned in found)
    multiply(33)


def test_a_spawned_process_calls_too():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(multiply, [5]) != [os.getpid()]


AT_EXIT = """
import atexit, threading
import numpy as np
from autotune import dispatcher

ones = np.ones((5, 5), np.float32)
dispatcher.sgemm(ones, ones)
step = dispatcher.plan("sgemm", ones, ones)

def call_for_ever():
    while True:
        dispatcher.sgemm(ones, ones)

atexit.register(lambda: print(dispatcher.sgemm(ones, ones).sum(), step().sum()))
threading.Thread(target=call_for_ever, daemon=True).start()
"""


def test_an_interpreter_that_shuts_down_while_threads_call_says_nothing():
    completed = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == "125.0 125.0\n"


@pytest.fixture
def no_home(tmp_path, monkeypatch):
    """No place for a database or a cache; the emulator's runtime, which takes seconds to build, is there."""
    known, file = build.runtime(build.host_compiler()), tmp_path / "file"
    monkeypatch.setattr(build, "runtime", lambda compiler: known)
    file.touch()
    monkeypatch.setenv("AUTOTUNE_DB", str(file / "tuning.sqlite3"))
    monkeypatch.setenv("AUTOTUNE_CACHE", str(file / "cache"))


@pytest.mark.usefixtures("no_home")
def test_the_default_serves_with_one_warning():
    with pytest.warns(RuntimeWarning) as caught:
        result = dispatcher.sgemm(np.ones((1, 5), np.float32), np.ones((5, 1), np.float32))
        np.testing.assert_array_equal(result, [[5]])
    assert len(caught) == 1


@pytest.mark.usefixtures("no_home")
def test_a_temporary_cache_is_the_process_own():
    folder = cache_folder("cubins")
    assert folder == cache_folder("cubins")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
