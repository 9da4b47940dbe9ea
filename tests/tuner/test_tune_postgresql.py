"""Several processes tune the same problem and share a PostgreSQL database; some of them are killed."""

import signal

from postgres_processes import PROCESS, started, told

from autotune.db import TuningDB


def test_of_four_tuners_two_are_killed_and_nothing_is_lost(postgres):
    url, barrier = postgres.new_database(), PROCESS.Barrier(4)
    tuners = [started(url, barrier, seed, *of) for seed, of in enumerate([(4, 0), (4, 0), (100, 0), (100, 3)])]
    first = tuners[2][1].recv()
    tuners[2][0].kill()  # at any moment after its first trial; the last tuner dies with the lock, its third one written
    heard = [told(*tuner) for tuner in tuners]
    heard[2].append(first)
    assert [process.exitcode for process, _ in tuners] == [0, 0, -signal.SIGKILL, -signal.SIGKILL]
    assert [len(trials) for trials in heard[:2]] == [4, 4]
    assert len(heard[3]) == 2

    with TuningDB(url) as db:
        stored = {trial.schedule_digest: trial for trial in db.trials("transpose")}
        assert len(stored) == len(db.trials("transpose"))
    sent = [trial for trials in heard for trial in trials]
    assert {trial.schedule_digest for trial in sent} <= stored.keys()
    unheard = [trial for trial in stored.values() if trial not in sent]
    assert len(unheard) <= 1  # of the one that was killed after it had stored it, before it said so
