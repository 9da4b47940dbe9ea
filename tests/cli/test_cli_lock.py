"""lock and warm --lock: what programs called or a suite names, and its machine code in a folder that travels."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from autotune import compiler
from autotune.base.cache import cache_folder
from autotune.dispatcher.choice import called, records
from autotune.dispatcher.lock.lock import Lock
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

TRANSPOSE, H200 = operator("transpose"), named_device("h200")
PROBLEM = TRANSPOSE.problem_type(40, 33)


@pytest.fixture
def locked(autotune, tmp_path):
    """A lock of a suite of one problem."""
    suite, path = tmp_path / "suite.json", tmp_path / "autotune.lock"
    suite.write_text('[{"m": 40, "n": 33}]')
    outcome = autotune("lock", "-o", str(path), "--device", "h200", "--suite", f"transpose={suite}", "--json")
    assert outcome.json == {"path": str(path), "device": H200.name, "choices": 1}
    return path


def test_what_a_lock_names_is_compiled_into_a_folder_that_needs_no_compiler(autotune, locked, tmp_path, monkeypatch):
    outcome = autotune("warm", "--lock", str(locked), "--json")
    assert outcome.json == {"folder": f"{locked}.kernels", "choices": 1, "kernels": 1}
    assert outcome.stderr == "1/1  transpose m40-n33-e4\n"
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(compiler, "_built", None)  # nothing can be compiled any more
    lock = Lock(locked)
    serving = lock.serving(TRANSPOSE, PROBLEM, H200).locked
    kernel = lock.travelled(serving, H200.arch)
    assert kernel
    lock.check(serving, kernel)
    assert kernel.cubin.startswith(b"\x7fELF")


@pytest.mark.parametrize(
    "words",
    [("lock", "-o", "x.lock", "--suite", "transpose=suite.json"), ("warm", "transpose", "--suite", "suite.json")],
)
def test_records_are_read_once_for_all_problems(autotune, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("suite.json").write_text('[{"m": 40, "n": 33}, {"m": 33, "n": 40}]')
    read = []
    monkeypatch.setattr(records, "read_records", lambda operator, *_: read.append(operator.name) or [])
    assert autotune(*words, "--device", "h200").code == 0
    assert read == ["transpose"]


def test_machine_code_that_is_not_what_was_locked_is_refused(autotune, locked):
    values = json.loads(locked.read_text())
    values["choices"][0]["cubins"] = ["0" * 64]
    locked.write_text(json.dumps(values))
    outcome = autotune("warm", "--lock", str(locked))
    assert (outcome.code, list(Path(f"{locked}.kernels").iterdir())) == (1, [])
    assert "makes other machine code than" in outcome.stderr


def test_what_programs_called_is_locked(autotune, tmp_path, monkeypatch):
    path = tmp_path / "autotune.lock"
    monkeypatch.setattr(called, "_file", lambda: tmp_path / "called.json")
    monkeypatch.setattr(called, "_noted", [])
    arguments = ("lock", "-o", str(path), "--device", "h200")
    outcome = autotune(*arguments)
    assert (outcome.code, path.exists()) == (2, False)
    assert outcome.stderr.startswith(f"autotune: no program called a problem on {H200.name}: run one first")
    for name, problem in (("transpose", PROBLEM), ("softmix", PROBLEM)):
        called.note(name, H200.name, SimpleNamespace(problem=problem, calls=1), untuned=False, at_once=True)
    outcome = autotune(*arguments)
    assert outcome.stdout == f"{path}: 1 problems on {H200.name}\n"
    assert outcome.stderr.startswith("skipped a problem of softmix: ")
    assert set(Lock(path).choices) == {("transpose", PROBLEM)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lock", "-o", "x.lock", "--suite", "sgemm"), "--suite sgemm: expected OPERATOR=SUITE"),
        (("lock", "-o", "x.lock", "--suite", "sgem=x.json"), "sgem"),
        (("warm",), "expected --lock, or the name of an operator"),
        (("warm", "--lock", "x.lock", "sgemm"), "sgemm has options of its own"),
    ],
)
def test_what_was_typed_wrong_is_told(autotune, words, message):
    outcome = autotune(*words)
    assert outcome.code == 2
    assert message in outcome.stderr


WARM = ("warm", "transpose", "--device", "h200", "--n", "33")


def test_what_it_compiled_is_not_compiled_again(autotune, tmp_path, monkeypatch):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 40}, {"m": 72}]')
    outcome = autotune(*WARM, "--suite", str(suite), "--json")
    assert [entry["problem"] for entry in outcome.json] == ["m40-n33-e4", "m72-n33-e4"]
    assert outcome.stderr == "1/2  m40-n33-e4\n2/2  m72-n33-e4\n"
    monkeypatch.setattr(compiler, "_built", None)  # nothing can be compiled any more
    transpose, spec = operator("transpose"), named_device("h200")
    for m, entry in zip((40, 72), outcome.json, strict=True):
        schedule = transpose.schedule(entry["schedule"])
        problem = transpose.problem_type(m, 33)
        assert compiler.compile_kernel(transpose.program(problem, schedule, spec), spec.arch).cubin


def test_people_get_a_table(autotune):
    outcome = autotune(*WARM, "--m", "40")
    assert outcome.code == 0
    assert "model" in next(line for line in outcome.stdout.splitlines() if "m40-n33-e4" in line)


def test_info_and_clear_say_what_and_where(autotune, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    assert autotune("cache", "info").stdout == "files: 0, 0.0 MB, in a cache that does not exist yet\n"
    folder = cache_folder("sources")
    (folder / "sgemm-0123456789abcdef.cu").write_bytes(bytes(2_000_000))
    (folder / "notes.txt").touch()
    lines = autotune("cache", "info").stdout.splitlines()
    assert lines[-2:] == [
        f"files: 1, 2.0 MB, in {tmp_path}/cache",
        "files of other names, which autotune did not write: 1; cache clear leaves them",
    ]
    assert any(line.split() == ["sources", "sources", "of", "winners", "1", "2.0"] for line in lines)
    counted = {"kind": "sources", "files": 1, "bytes": 2_000_000, "foreign": 1}
    assert autotune("cache", "clear", "--json").json == {"folder": str(tmp_path / "cache"), "kinds": [counted]}
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert f"files: 0, 0.0 MB, removed from {tmp_path}/cache\n" in autotune("cache", "clear").stdout
