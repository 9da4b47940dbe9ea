"""A worker whose end two threads bring about."""

from __future__ import annotations

from threading import Thread
from typing import Any

from autotune.worker import Worker

_MOMENT = 0.2  # seconds; only a fault is done sooner


class _Pipe:
    """Has another thread end its worker while one closes it."""

    def __init__(self, worker: Worker, pipe: Any) -> None:
        self._pipe = pipe
        self._other = Thread(target=worker.end)
        self.closing = self.most_at_once = 0

    def close(self) -> None:
        self.closing += 1
        self.most_at_once = max(self.most_at_once, self.closing)
        if self._other.ident is None:
            self._other.start()
            self._other.join(_MOMENT)
        self._pipe.close()
        self.closing -= 1

    def join(self) -> None:
        self._other.join()


def test_one_thread_at_a_time_closes_the_pipe() -> None:
    worker = Worker(dict)
    pipe = worker._pipe = _Pipe(worker, worker._pipe)  # type: ignore[assignment]
    worker.end()
    pipe.join()
    assert pipe.most_at_once == 1
