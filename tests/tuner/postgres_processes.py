"""Tuning runs on the offline device in processes of their own, one of which may be killed while it writes."""

import os
import signal

from sqlalchemy import Engine, event
from tuner_processes import GIVE_UP, PROCESS, be_patient

from autotune.compile_pool import CompilePool
from autotune.db import TuningDB
from autotune.db.engine import WRITE
from autotune.db.stored_study import StoredStudy
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune


def tune_offline(url, pipe, barrier, seed, trials, fatal_write):
    """Tune when all others are ready, and send each trial that is stored.

    Before trial number `fatal_write` is committed, the process is killed, when it has the lock and all is sent.
    """
    transpose, recorded = operator("transpose"), 0

    def count(connection):
        if recorded == fatal_write and connection.get_execution_options().get(WRITE, False) and in_record:
            os.kill(os.getpid(), signal.SIGKILL)

    def end(study, trial):
        nonlocal recorded, in_record
        recorded, in_record = recorded + 1, True
        number = stored_end(study, trial)
        in_record = False
        return number

    be_patient()
    in_record, stored_end = False, StoredStudy.end
    options = TuneOptions(trials=trials, sampler="random", seed=seed, compile_workers=1)
    with TuningDB(url) as db, worker_device("h200") as device, CompilePool(1) as pool:
        barrier.wait(GIVE_UP)
        event.listen(Engine, "commit", count)
        StoredStudy.end = end
        tune(transpose, transpose.problem_type(64, 64), device, db, options, lambda p: pipe.send(p.trial), pool=pool)


def started(url, barrier, seed, trials, fatal_write):
    """A process that runs `tune_offline`, and the pipe's other end."""
    receiver, sender = PROCESS.Pipe(duplex=False)
    process = PROCESS.Process(target=tune_offline, args=(url, sender, barrier, seed, trials, fatal_write))
    process.start()
    sender.close()
    return process, receiver


def told(process, receiver):
    """All trials that a process tells of until it ends."""
    trials = []
    try:
        while True:
            trials.append(receiver.recv())
    except EOFError:
        process.join()
    return trials
