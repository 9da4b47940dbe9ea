"""JSON values of the cache are changed under a lock, and a damaged one counts as none."""

from contextlib import contextmanager

import pytest

from autotune.base import kept


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": 1}'])
def test_what_can_be_read_is_changed_and_what_cannot_is_begun_anew(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    kept.change(path, lambda before: [before])
    assert kept.read(path) == [{"a": 1} if text == '{"a": 1}' else None]


def test_a_value_is_read_and_written_under_one_lock(tmp_path, monkeypatch):
    done = []

    @contextmanager
    def lock(path):
        done.append(path.name)
        yield
        done.append("unlocked")

    monkeypatch.setattr(kept, "lock", lock)
    for name in ("read", "write_text"):
        monkeypatch.setattr(kept, name, lambda *_, name=name: done.append(name))
    kept.change(tmp_path / "a.json", lambda before: before)
    assert done == ["a.lock", "read", "write_text", "unlocked"]
