"""Tuning runs in processes of their own that say what they do, and that may be killed."""

import multiprocessing
import os
import resource
import signal
import sys
import threading
from math import inf

from tuner_fakes import TOY, FakePool, ToyDevice, ToyProblem

from autotune.db import DatabaseError, TuningDB, engine
from autotune.search_spaces.contract.space import Parameter, Space
from autotune.tuner import TuneOptions, loop, tune

PROBLEM = ToyProblem(8)
GIVE_UP = 600  # seconds until a process that waits for others ends; a busy machine may take minutes to start them
# Like "spawn", processes that share nothing with this one, but the imports are made only once: those of functions, too.
PROCESS = multiprocessing.get_context("forkserver")
_IMPORTED = ("alembic.command", "autotune.tuner.problem_search", "tuner_processes")
PROCESS.set_forkserver_preload([*_IMPORTED, "sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg"])


def space(problem, spec):
    """More schedules than a test tries."""
    sizes = tuple(range(1, 17))
    words = (Parameter("order", ("row", "column")), Parameter("unrolled", (False, True)))
    parameters = (Parameter("width", sizes), Parameter("depth", sizes), *words)
    return Space(parameters, TOY.schedule)


LARGE_TOY = TOY.with_kernels(space=space)


class TellingDevice(ToyDevice):
    """Says what it evaluates."""

    def evaluate(self, schedule, source, kernel):
        self.tell(("evaluated", schedule.digest))
        return super().evaluate(schedule, source, kernel)


def be_patient():
    """However slow the machine is, nobody waits in vain."""
    engine.BUSY_SECONDS = 3600


def run(path, tell, trials, seed=0, study=None):
    """Tune, and say which trials were stored."""
    loop.CompilePool = FakePool
    be_patient()
    device = TellingDevice()
    device.tell = tell
    options = TuneOptions(trials=trials, sampler="random", seed=seed, compile_workers=1, study=study)
    with TuningDB(path) as db:
        tune(LARGE_TOY, PROBLEM, device, db, options, lambda p: tell(("stored", p.trial.schedule_digest)))


def run_until_killed(path, pipe, trials, calls, first="evaluated", barrier=None, others_dead=None, **options):
    """Tune, and be killed when all threads have made and ended so many calls of functions, Python's and C's.

    They are counted from the first evaluation on, or from the start. With the event `others_dead`, wait for it after
    ten trials: however slow those are that are to be killed, there are schedules left for them.
    """
    counting, stored = first == "start", 0

    def count(_frame, _event, _argument):
        nonlocal calls
        calls -= counting
        if calls <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def tell(message):
        nonlocal counting, stored
        pipe.send(message)
        counting = counting or message[0] == first
        stored += message[0] == "stored"
        if others_dead and stored == 10:
            others_dead.wait()

    if barrier:
        barrier.wait(GIVE_UP)
    if calls < inf:  # counting doubles what a run costs
        threading.setprofile(count)
        sys.setprofile(count)
    run(path, tell, trials, **options)


def run_on_a_full_disk(path, pipe, trials, size):
    """Tune where no file may become larger than `size`."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        run(path, pipe.send, trials)
    except DatabaseError as error:
        pipe.send(("error", str(error)))


def run_beside_others(path, pipe, barrier, trials, seed):
    """Tune when all others are ready."""
    barrier.wait(GIVE_UP)
    run(path, pipe.send, trials, seed)


def read_beside_others(path, pipe, barrier, done):
    """Ask for the best until the others are done; what is best may only get better."""
    last = float("inf")
    barrier.wait(GIVE_UP)
    with TuningDB(path) as db:
        while not done.is_set():
            best = db.best("toy", PROBLEM.key, ToyDevice.spec.name)
            assert best is None or best.seconds <= last
            last = best.seconds if best else last


def started(target, path, *arguments, **options):
    """A process that runs ``target(path, pipe, *arguments, **options)``, and the pipe's other end."""
    receiver, sender = PROCESS.Pipe(duplex=False)
    process = PROCESS.Process(target=target, args=(str(path), sender, *arguments), kwargs=options)
    process.start()
    sender.close()
    return process, receiver


def said(process, receiver):
    """All that a process says until it ends: a list of what followed each word."""
    words = {"evaluated": [], "stored": [], "error": []}
    try:
        while True:
            word, value = receiver.recv()
            words[word].append(value)
    except EOFError:
        process.join()
    return words
