"""cache info and cache clear."""

from pathlib import Path

import pytest
from cli_command import Command

from autotune.base.cache import cache_folder


def test_info_and_clear_say_what_and_where(autotune: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
