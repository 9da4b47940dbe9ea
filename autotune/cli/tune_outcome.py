"""How ``autotune tune`` ends: where the results are, and what went wrong."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from .errors import CommandError, InterruptedRunError
from .options import chosen_database
from .rendering.output import print_json
from .rendering.winner import Tuned, counts, document

if TYPE_CHECKING:
    from autotune.tuner.parallel import Parallel, Queue


def print_end(
    location: str, run: str | None, results: list[Tuned], as_json: bool, db: str | None, subject: str
) -> None:
    """Say where the results are, and of what a report shows them; there is no run where there was nothing to tune."""
    if as_json:
        print_json({"database": location, "run": run, "results": [document(one) for one in results]})
        return
    print(f"database  {location}")
    if run:
        chosen = chosen_database(db, location)
        print(f"next      autotune runs show {run}{chosen}")
        print(f"pictures  autotune report {quote(subject)}{chosen}")


def check_outcome(results: list[Tuned], queues: list[Queue], parallel: Parallel, listing: str) -> None:
    """Raise unless every problem has a winner, no device was lost and the run was not interrupted.

    `listing` is the command that lists the errors of trials.
    """
    if parallel.interrupted:
        raise InterruptedRunError("interrupted; every trial is stored, and the same command continues from there")
    wrong = [f"device {device.selector} at {problem.key}: {error}" for device, problem, error in parallel.lost]
    left = [f"{', '.join(one.key for one in queue.problems)} on {queue.model}" for queue in queues if queue.problems]
    if left:
        wrong.append(f"not tuned: {'; '.join(left)}")
    lost = [one for one in results if one.result.best is None]
    if none := [one.problem.key for one in lost if not one.result.evaluated]:
        wrong.append(f"no legal schedule is left to try for {', '.join(none)}")
    if failed := [_ended(one) for one in lost if one.result.evaluated]:
        wrong.append(f"no schedule worked for {'; '.join(failed)}; {listing} lists the errors")
    if wrong:
        raise CommandError("; ".join(wrong))


def _ended(failed: Tuned) -> str:
    """How a problem ended for which no schedule worked, and the last error."""
    error = f" ({failed.result.error})" if failed.result.error else ""
    return f"{failed.problem.key}: {counts(failed.result)}{error}"
