"""-v: what happens is said on stderr, in workers too, and nothing of it by default."""

import logging
import re

import pytest

from autotune.base import log
from autotune.base.worker import Worker
from autotune.dispatcher.choice import records as of_dispatcher
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

OCCUPANCY = ("occupancy", "transpose", "--m", "64", "--n", "64", "--device", "t4")


@pytest.fixture(autouse=True)
def silent_again(monkeypatch):
    monkeypatch.setenv(log._VARIABLE, "")
    yield
    log.logger.handlers = []
    log.logger.setLevel(logging.NOTSET)


def test_kernels_are_compiled_or_taken_from_the_cache(autotune, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    assert autotune(*OCCUPANCY).stderr == ""
    cached = r"\d\d:\d\d:\d\d  transpose [0-9a-f]{8} of sm_75: from the cache\n"
    assert re.fullmatch(cached, autotune("-v", *OCCUPANCY).stderr)
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "other"))
    assert re.search(r" of sm_75: compiled by NVRTC \S+ in \S+ s\n", autotune("-v", *OCCUPANCY).stderr)


def test_records_are_read_from_the_database_or_from_the_cache(environment, caplog):
    transpose, spec = operator("transpose"), named_device("h200")
    with caplog.at_level(logging.INFO, "autotune"):
        of_dispatcher.records(transpose, spec)
    assert f"records of transpose on {spec.name}: from the " in caplog.text


class Speaker:
    """What a worker hosts."""

    def speak(self):
        log.logger.info("from the worker")


@pytest.mark.parametrize("shown", [False, True])
def test_workers_speak_if_their_parent_does(capfd, shown):
    if shown:
        log.show_messages()
    worker = Worker(Speaker)
    try:
        worker.call("speak")
    finally:
        worker.end()
    assert ("from the worker" in capfd.readouterr().err) is shown
