"""What serves under a lock, what is an error, and what is told of choices."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial
from fake_gpu import A, B, C, FakeTensor

from autotune import dispatcher
from autotune.codegen.model.resources import Resources
from autotune.compiler import CompiledKernel
from autotune.dispatcher.calls import function, machine_code
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice import formulation
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.lock import document
from autotune.dispatcher.lock.document import Locked
from autotune.dispatcher.lock.lock import Lock, digests
from autotune.search_spaces.contract.registry import operator

OURS, OTHER = b"machine code", b"other machine code"
LOCKED = schedule(7, problem(8))
PROGRAM = SGEMM.program(problem(8), LOCKED, H200).digest


def kernel(cubin):
    return CompiledKernel(cubin, Resources(1), H200.arch, "NVRTC 1.0")


@pytest.fixture
def compiler(monkeypatch):
    """The disk cache and the compiler: `cached` and `compiled` are what they give."""
    found = SimpleNamespace(cached=kernel(OURS), compiled=kernel(OURS))
    monkeypatch.setattr(machine_code, "cached_kernel", lambda *_: found.cached)
    monkeypatch.setattr(machine_code, "compile_kernel", lambda *_: found.compiled)
    return found


@pytest.fixture
def lock(gpu, compiler, database, tmp_path):
    """A lock of one problem, whose record is another schedule, in force and strict."""
    database.record(trial(problem(8), schedule(0, problem(8))))
    gpu.needs_code = True
    path = tmp_path / "autotune.lock"
    document.write(path, "NVRTC 1.0", H200, [Locked(SGEMM, problem(8), LOCKED, PROGRAM, digests([OURS]))])
    dispatcher.configure(lock=path)
    return path


def call(m=8):
    dispatcher.sgemm(FakeTensor(A, (m, 512)), FakeTensor(B, (512, 512)), out=FakeTensor(C, (m, 512)))
    return plans.all_chosen()[-1]


def new_process():
    plans._plans.clear()
    function.clear()


def test_the_schedule_of_the_lock_serves_whatever_the_records_say(lock, monkeypatch):
    monkeypatch.setattr(formulation, "choices", None)  # nothing else is considered
    chosen = call()
    assert (chosen.choice.rule, chosen.choice.schedule, chosen.compiled) == (Rule.LOCK, LOCKED, False)
    assert (chosen.program, chosen.cubins) == (PROGRAM, digests([OURS]))


def test_the_environment_names_a_lock(lock, monkeypatch):
    dispatcher.configure()
    assert call().choice.rule is Rule.EXACT
    new_process()
    monkeypatch.setenv("AUTOTUNE_LOCK", str(lock))
    assert call().choice.rule is Rule.LOCK
    monkeypatch.setenv("AUTOTUNE_LOCK_STRICT", "0")
    with pytest.warns(RuntimeWarning, match="is not in"):
        assert call(16).choice.rule is Rule.MODEL


def test_a_problem_may_be_locked_as_another_operators(lock, monkeypatch):
    few = problem(1)
    restated = SGEMM.restated(few)
    by = operator(restated.operator)
    own = by.default(restated.problem, H200)
    program = by.program(restated.problem, own, H200).digest
    document.write(lock, "NVRTC 1.0", H200, [Locked(by, restated.problem, own, program, digests([OURS]))])
    dispatcher.configure(lock=lock.rename(lock.with_name("few.lock")))
    assert call(1).operator == "gemv"
    assert dispatcher.explain("sgemm", device="h200", **few.to_dict()).served_by.operator == "gemv"


FORBIDDEN = {  # what is other in the lock, on the GPU, or in the call
    "another problem": ({}, H200, 16, "sgemm m16-n512-k512-nn is not in .*: run autotune lock again"),
    "another device": ({}, replace(H200, name="GPU"), 8, "is for NVIDIA H200, and this is GPU: make one for it"),
    "another program": ({"program": "0" * 64}, H200, 8, "this version has another program: run autotune lock again"),
    "illegal": ({"schedule": replace(LOCKED, block_k=64, stages=6).to_dict()}, H200, 8, "is not legal here"),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.filterwarnings("ignore:no schedules of sgemm ship")
def test_another_choice_is_an_error_or_a_message(lock, gpu, name, strict):
    members, gpu.spec, m, message = FORBIDDEN[name]
    values = json.loads(lock.read_text())
    values["choices"][0] |= members
    lock = lock.with_name("other.lock")
    lock.write_text(json.dumps(values))
    dispatcher.configure(lock=lock, strict=strict)
    with pytest.raises(dispatcher.LockError, match=message) if strict else pytest.warns(RuntimeWarning, match=message):
        assert call(m).choice.rule is not Rule.LOCK
    assert len(gpu.launched) == (not strict)


def test_to_compile_is_an_error_or_a_message(lock, compiler):
    compiler.cached = None
    with pytest.raises(dispatcher.LockError, match="is not compiled: run autotune warm --lock /"):
        call()
    dispatcher.configure(lock=lock, strict=False)
    with pytest.warns(RuntimeWarning, match="is not compiled"):
        assert call().compiled


def test_other_machine_code_is_an_error_or_a_message(lock, compiler):
    compiler.cached = kernel(OTHER)
    with pytest.raises(dispatcher.LockError, match=r"NVRTC 1\.0 makes other machine code than NVRTC 1\.0 made for"):
        call()
    dispatcher.configure(lock=lock, strict=False)
    with pytest.warns(RuntimeWarning, match="makes other machine code"):
        assert call().cubins == digests([OTHER])


def test_machine_code_is_taken_from_the_folder_beside_the_lock_if_it_is_intact(lock, compiler):
    compiler.cached = None
    travelled = Lock(lock).cubin(*digests([OURS]))
    travelled.parent.mkdir()
    travelled.write_bytes(OTHER)
    with pytest.raises(dispatcher.LockError, match="is not compiled"):
        call()
    travelled.write_bytes(OURS)
    assert call().cubins == digests([OURS])


def test_a_kernel_that_is_refused_makes_way_only_if_the_lock_is_not_strict(lock, gpu):
    gpu.refused["raster_group = 107"] = dispatcher.LaunchError("out of memory")
    with pytest.raises(dispatcher.LaunchError, match="out of memory"):
        call()
    new_process()
    dispatcher.configure(lock=lock, strict=False)
    told = []
    stop = dispatcher.on_choice(told.append)
    with pytest.warns(RuntimeWarning, match="skipped the lock's schedule: out of memory"):
        call()
    assert [chosen.choice.rule for chosen in told] == [Rule.LOCK, Rule.EXACT]
    stop()


WRONG = {
    "[]": "a lock has version, autotune, compiler, device, choices; got",
    "{": "is not a JSON file",
    '"version": 2': "version 2: expected 1",
    '"autotune": "\\u001b"': "autotune='.*': expected a printable name",
    '"sm_count": "many"': "sm_count='many' of the device's limits: expected int",
    '"operator": "sgem"': r"choices\[0\]: .*sgem",
    '"problem": 3': r"choices\[0\]: problem=3: expected an object",
    '"m": -1': r"choices\[0\]: m=-1",
    '"block_m": "x"': r"choices\[0\]: .*block_m",
    '"block_k": 0': r"choices\[0\]: block_k=0",
    '"program": "0"': r"choices\[0\]: '0': expected a digest of 64 hexadecimal digits",
    '"cubins": []': r"choices\[0\]: cubins=\[\]: expected a list of 1",
    '"cubins": ["../../../etc/passwd"]': r"choices\[0\]: .*: expected a digest",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_file_that_is_no_lock_is_refused(lock, text, tmp_path):
    values, other, message = json.loads(lock.read_text()), tmp_path / "wrong.lock", WRONG[text]
    if text.startswith('"'):
        (name, value), *_ = json.loads(f"{{{text}}}").items()
        choice = values["choices"][0]
        for place in (values["device"], choice, choice["problem"], choice["schedule"], values):
            if name in place:
                place[name] = value
                break
        text = json.dumps(values)
    other.write_text(text)
    with pytest.raises(dispatcher.LockError, match=f"{other}.*{message}") as raised:
        dispatcher.configure(lock=other)
    assert "\n" not in str(raised.value)


def test_a_lock_must_be_there(tmp_path):
    with pytest.raises(dispatcher.LockError, match="No such file or directory; expected a file that autotune lock"):
        dispatcher.configure(lock=tmp_path / "none.lock")


def test_a_problem_that_is_there_twice_is_refused(lock, tmp_path):
    values = json.loads(lock.read_text())
    values["choices"] *= 2
    (tmp_path / "twice.lock").write_text(json.dumps(values))
    with pytest.raises(dispatcher.LockError, match="m8-n512-k512-nn is there twice"):
        dispatcher.configure(lock=tmp_path / "twice.lock")


@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_lock_that_anybody_may_write_to_is_refused(lock, tmp_path, where):
    folder = tmp_path / "shared"
    folder.mkdir()
    path = lock.rename(folder / "open.lock")
    (path if where == "file" else folder).chmod(0o777)
    with pytest.raises(dispatcher.LockError, match="anybody may write to"):
        dispatcher.configure(lock=path)


def test_the_fingerprint_is_of_what_runs(lock, compiler, monkeypatch):
    dispatcher.configure()
    before = dispatcher.fingerprint()
    call(), call(16)
    both = dispatcher.fingerprint()
    new_process()
    call(16), call(), call()
    assert dispatcher.fingerprint() == both != before
    new_process()
    call()
    assert dispatcher.fingerprint() != both
    new_process()
    compiler.cached = kernel(OTHER)
    call(), call(16)
    assert dispatcher.fingerprint() != both


def test_who_listens_is_told_once_what_serves_and_what_was_compiled(gpu, compiler, database):
    gpu.needs_code, compiler.cached = True, None
    told = []
    stop = dispatcher.on_choice(lambda chosen: told.append(str(chosen)))
    call(), call()
    stop()
    call(16)
    assert told == ["sgemm m8-n512-k512-nn on NVIDIA H200: model, the model's schedule, compiled"]
