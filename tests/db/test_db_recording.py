"""Recordings come back as they were, and what is damaged or hostile is refused in one line."""

import gzip
import json
import os
import random
from pathlib import Path

import pytest
from trial_factory import trial

from autotune.db import Status
from autotune.db import recording as module
from autotune.db.exchange import read_document
from autotune.db.recording import read_recording, write_recording

TRIALS = [
    trial("a", samples=(1e-3, 1.0004e-3)),
    trial("b", 2e-3),
    trial("c", status=Status.WRONG, samples=(), error="3 of 9 wrong", max_error=None),
]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "recording.jsonl.gz"
    write_recording(file, TRIALS)
    return file


def rewritten(path, change):
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    lines = change(lines) or lines
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def test_a_recording_round_trips_and_is_the_same_bytes_again(path, monkeypatch):
    assert read_recording(path) == TRIALS
    before = path.read_bytes()
    monkeypatch.setattr("time.time", lambda: 1.0)  # at another time
    write_recording(path, TRIALS)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == [path.name]


def test_samples_are_whole_nanoseconds_but_never_nothing(path):
    write_recording(path, [trial(samples=(1.23456789123e-3, 1e-12))])
    assert read_recording(path)[0].samples == (1.234568e-3, 1e-12)


def test_a_file_that_is_cut_short_anywhere_is_refused(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not a recording: "):
            read_recording(path)


def test_a_damaged_file_is_refused_or_read_never_another_error(path):
    whole = path.read_bytes()
    chance = random.Random(0)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[chance.randrange(10, len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            assert read_recording(path) == TRIALS  # bits after the end of what is compressed say nothing
        except ValueError as error:
            assert "is not a recording: " in str(error)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "does not announce the 2 trials"),
        (lambda lines: lines[1:], "does not announce"),
        (lambda lines: lines[0].update(version=3), "version 3, expected 2"),
        (lambda lines: lines[1].update(samples=[-1.0]), r"trials\[0\]: sample -1.0"),
        (lambda lines: lines[1].update(status="best"), r"trials\[0\]: 'best' is none of ok, "),
        (lambda lines: [7], "does not announce"),
    ],
)
def test_what_is_not_as_it_should_be_is_named(path, change, message):
    rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        read_recording(path)


def test_an_empty_file_and_one_that_unfolds_beyond_measure_are_refused(path, monkeypatch):
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="is not a recording"):
        read_recording(path)
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    path.write_bytes(gzip.compress(b" " * 1001))
    with pytest.raises(ValueError, match="over 1000 bytes after decompression"):
        read_recording(path)


def test_what_decompresses_to_far_more_than_the_file_is_refused(path):
    path.write_bytes(gzip.compress(b"[" + b"[]," * (40 << 20) + b"[]]\n"))  # 120 MB, which would be 3 GB as lists
    with pytest.raises(ValueError, match=r"over \d+ bytes after decompression"):
        read_recording(path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [(b'{"a": [%s[]]}' % (b"[]," * 2000), "over 1000 lists and objects"), (b'"%s"' % bytes(300_000), "a line of 3")],
)
def test_a_line_that_no_trial_has_is_refused(path, line, complaint):
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + line, 0))
    with pytest.raises(ValueError, match=complaint):
        read_recording(path)


@pytest.mark.parametrize("read", [read_recording, read_document])
def test_what_never_ends_is_not_read(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for endless in (Path("/dev/zero"), tmp_path / "pipe"):
        with pytest.raises(ValueError, match="no regular file"):
            read(endless)
