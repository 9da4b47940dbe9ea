"""A run whose candidates do harm: each gets its status, and the run goes on."""

from collections import Counter

import pytest
from devices.worker_fakes import FAULTY, Fault, FaultyProblem, FaultySchedule, faulty_device

from autotune.db import Status
from autotune.devices.worker_device import WorkerDevice
from autotune.tuner import TuneOptions, tune


@pytest.mark.usefixtures("pools")
def test_a_run_goes_on_after_crashes_and_kills_and_the_next_one_tries_again_what_was_killed(db):
    with WorkerDevice(faulty_device) as device:
        result = tune(FAULTY, FaultyProblem(), device, db, TuneOptions(trials=8, seed=7, compile_workers=1))
        tried = db.trials()
        again = tune(FAULTY, FaultyProblem(), device, db, TuneOptions(trials=1, seed=7, compile_workers=1))
    assert result.by_status == {Status.CRASHED: 2, Status.OK: 6}
    trials = {FaultySchedule.from_dict(trial.schedule).fault: trial for trial in tried}
    assert trials[Fault.SEGFAULT].error == "the process for measuring ended by SIGSEGV"
    assert trials[Fault.KILLED].error == "the process for measuring ended by SIGKILL, twice"
    assert Counter(trial.status for trial in tried) == result.by_status
    assert (again.known, again.by_status) == (7, {Status.CRASHED: 1})
    assert db.trials()[0].schedule == trials[Fault.KILLED].schedule
