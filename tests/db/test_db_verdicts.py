"""A verdict on a program outlives the process, as long as the generator's sources are the same."""

import json
import os

import pytest

from autotune.db import verdicts
from autotune.search_spaces.contract import generator


@pytest.fixture
def found(tmp_path, monkeypatch):
    """A function that asks in a new process whose generator has this digest: the verdict, and whether it was kept."""
    monkeypatch.setattr(verdicts, "_file", lambda: tmp_path / "verdicts.json")
    monkeypatch.setattr(verdicts.atexit, "register", lambda function: None)

    def found(asked, digest="today"):
        monkeypatch.setattr(verdicts, "generator_digest", lambda: digest)
        monkeypatch.setattr(verdicts, "_new", {})
        verdicts._known.cache_clear()
        judged = []
        for _ in range(2):
            assert verdicts.verdict(asked, lambda: judged.append(asked) or f"{digest}: {asked}") == f"{digest}: {asked}"
        if verdicts._new:
            verdicts._save()
        assert len(judged) < 2
        return not judged

    yield found
    verdicts._known.cache_clear()


def test_each_program_is_judged_once_by_each_generator(found):
    assert [found("a"), found("b"), found("a"), found("a", "edited"), found("a"), found("b")] == [0, 0, 1, 0, 1, 1]


def test_the_newest_generators_and_verdicts_are_kept(found, monkeypatch):
    monkeypatch.setattr(verdicts, "_MOST", 2)
    assert [found(name) for name in "abcba"] == [0, 0, 0, 1, 0]
    assert [found("a", name) for name in "1234"] == [0, 0, 0, 0]
    assert [found("a", "4"), found("a", "1"), found("a")] == [1, 1, 0]


@pytest.mark.parametrize("damaged", [b"", b"\xff", b"[]", b'{"today": []}', b'{"today": {"%s": 1}}'])
def test_a_damaged_file_is_begun_anew(found, damaged):
    found("a")
    name, *_ = json.loads(verdicts._file().read_text())["today"]
    verdicts._file().write_bytes(damaged.replace(b"%s", name.encode()))
    assert [found("a"), found("a")] == [0, 1]


def test_nothing_is_kept_once_the_sources_have_changed_under_the_process(found, tmp_path, monkeypatch):
    source = tmp_path / "emit.py"
    source.touch()
    monkeypatch.setattr(generator, "_files", lambda: [(source, source)])
    monkeypatch.setattr(verdicts, "as_loaded", generator.as_loaded.__wrapped__)
    assert [found("a"), found("a"), verdicts._file().exists()] == [0, 0, 0]
    os.utime(source, (0, 0))
    assert [found("a"), found("a")] == [0, 1]


def test_the_digest_is_of_names_and_content(tmp_path, monkeypatch):
    source = tmp_path / "emit.py"
    digests = set()
    for name, text in (("a", "1"), ("a", "2"), ("b", "1"), ("a", "1")):
        source.write_text(text)
        monkeypatch.setattr(generator, "_files", lambda name=name: [(name, source)])
        digests.add(generator.generator_digest.__wrapped__())
    assert len(digests) == 3
    assert {".py", ".cuh"} == {file.suffix for _, file in monkeypatch.undo() or generator._files()}
