"""Which calls are counted, which of them as untuned, and what becomes of the counts."""

import multiprocessing

import pytest
from dispatcher.records import H200, problem, schedule, trial
from fake_gpu import A, B, C, FakeTensor

from autotune import dispatcher
from autotune.dispatcher.calls import function
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice import called as module
from autotune.dispatcher.choice.called import called_problems, untuned_calls

NOTED = module._noted  # those of the process


def call(m, times=1):
    for _ in range(times):
        dispatcher.sgemm(FakeTensor(A, (m, 512)), FakeTensor(B, (512, 512)), out=FakeTensor(C, (m, 512)))


def counts(device=H200.name):
    return [(call.problem["m"], call.calls) for call in untuned_calls("sgemm", device)]


def test_calls_without_a_record_of_their_own_count(gpu, database):
    database.record(trial(problem(512), schedule(0, problem(512))))
    call(512, times=5)
    call(520, times=2)
    call(8, times=3)
    step = dispatcher.plan("sgemm", FakeTensor(A, (8, 512)), FakeTensor(B, (512, 512)), out=FakeTensor(C, (8, 512)))
    step(), step()
    module._save()
    assert counts() == [(8, 5), (520, 2)]
    assert {(call.problem["m"], call.calls) for call in called_problems(H200.name)} == {(512, 5), (8, 5), (520, 2)}
    assert counts("NVIDIA H100") == untuned_calls("transpose", H200.name) == []


def test_a_new_miss_is_told_at_once_and_counts_add_up_over_processes(gpu, database):
    call(8)
    call(16)
    assert dict(counts()) == {8: 1, 16: 0}
    module._save()
    for remembered in (module._noted, plans._plans, function):  # as in another process
        remembered.clear()
    database.record(trial(problem(8), schedule(0, problem(8))))
    call(8, times=4)
    module._save()
    assert counts() == [(8, 5), (16, 1)]


def test_only_the_most_called_are_kept(gpu, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 2)
    for m, times in ((8, 3), (16, 1), (24, 2)):
        call(m, times)
    module._save()
    assert counts() == [(8, 3), (24, 2)]


def test_what_the_emulator_computes_is_called_but_not_untuned():
    import numpy as np

    dispatcher.sgemm(np.ones((1, 2), np.float32), np.ones((2, 1), np.float32))
    assert called_problems(H200.name) == []  # it is written when the process ends
    module._save()
    assert [(call.operator, call.untuned) for call in called_problems(H200.name)] == [("sgemm", False)]


def test_tuned_problems_leave_the_untuned_their_place(gpu, database, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 1)
    database.record(trial(problem(512), schedule(0, problem(512))))
    call(512, times=5)
    call(8)
    module._save()
    assert [call.problem["m"] for call in called_problems(H200.name)] == [512, 8]


DAMAGED = '{"called": [{"operator": "sgemm", "device": "a GPU", "problem": {}, "untuned": true, "calls": "5"}]}'


@pytest.mark.parametrize("text", ["", "{}", '{"called": [{"operator": 1}]}', "[]", DAMAGED])
def test_a_damaged_file_is_begun_anew(gpu, text):
    module._file().write_text(text)
    call(8)
    module._save()
    assert counts() == [(8, 1)]


def test_a_call_outlives_a_folder_that_cannot_be_written(gpu, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "_file", lambda: tmp_path / "file" / "called.json")
    call(8)
    assert len(gpu.launched) == 1


def _save_some(number):
    module._noted.append(module._Noted("sgemm", "GPU", _Called(number), True))
    module._save()


class _Called:
    calls = 1

    def __init__(self, number):
        self.problem = problem(8 + number % 2)


def _left_to_save():
    return len(NOTED)


def test_a_forked_process_leaves_what_its_parent_counted_to_that():
    NOTED.append("a plan of the parent")
    try:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply(_left_to_save) == 0
    finally:
        NOTED.clear()


def test_many_processes_lose_no_count():
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(_save_some, range(8), chunksize=1)
    assert sum(call.calls for call in untuned_calls("sgemm", "GPU")) == 8
