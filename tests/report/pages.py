"""Pages to look at: trials of a transpose with times by a formula, failures, resources and a comparison."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from factories import PROBLEM, SPEC, TRANSPOSE, calibration, schedules, trials

from autotune.db import Status, TimeSource
from autotune.db.comparison import BaselineTimes
from autotune.report.document import document
from autotune.report.page import page
from autotune.report.subject import Group, known_as
from autotune.search_spaces.machine.calibration import Curve, Figure, Quantity

_VALUES = {Quantity.BANDWIDTH: 4.2e12, Quantity.OPERATIONS: 6.5e13, Quantity.SECONDS: 6.4e-7, Quantity.BYTES: 48128.0}
BEGUN = datetime(2026, 11, 22, 12, tzinfo=UTC)
RESOURCES = {"registers": 40, "shared_bytes": 0, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}
HOSTILE = "<img src=x onerror=document.title='run'> is no element"
LONG_NAME = "m16384-n32768-e4-batch16-lda65536-sa1073741824-aligna4-ldb65536-sb1073741824-alignb4"
BENCH = {
    "title": "transpose on NVIDIA H200, 2026-11-22",
    "baselines": {"torch": "PyTorch 2.9"},
    "means": {"torch": 2.0},
    "rows": [
        {"problem": PROBLEM.key, "group": "", "ratios": {"torch": 2.0}, "energy": {"autotune": [0.0123, 456.7]}},
        {"problem": LONG_NAME, "group": "", "ratios": {"torch": 2.0}, "energy": {}},
    ],
}


def made(count, run=None):
    """So many trials, of which every fifth failed; the first has the default schedule."""
    some = trials([TRANSPOSE.kernels[0].schedule_type(), *schedules(min(count, 40) - 1)])
    return [_one(some[number % len(some)], number, run) for number in range(count)]


def _one(trial, number, run):
    own = {"created_at": BEGUN + timedelta(seconds=number), "schedule_digest": f"{number:016}", "run": run}
    if number % 5 == 4:
        error = f"{HOSTILE}, {number} times"
        return replace(trial, status=Status.WRONG, samples=(), error=error, resources=RESOURCES, **own)
    seconds = trial.samples[0] * (1 + 0.01 * (number % 7))
    own["conditions"] = {"joules": seconds * (300 + 50 * (number % 3))}
    return replace(trial, samples=(seconds,), resources=RESOURCES | {"registers": 32 + 8 * (number % 4)}, **own)


def group_of(listed):
    """A group as `groups_of` makes it, whose best trial was compared with a copy."""
    known = known_as(listed[0])
    assert known
    best = min((trial for trial in listed if trial.ok), key=lambda trial: trial.seconds or 0)
    best = best.compared(BaselineTimes(best.samples[0], {"torch": 2 * best.samples[0]}, {"torch": "2.9"}))
    return Group(known, TimeSource.MEASURED, list(listed), best)


def report_of(count):
    """The document of a report about so many trials of a problem, two of another one, and a result of bench."""
    groups = [group_of(made(count)), group_of(_smaller())]
    facts = [("command", "autotune tune transpose"), ("state", "done")]
    records = [group.best for group in groups if group.best]
    return document(f"transpose <{count}>", facts, groups, records, (BENCH,), {SPEC.name: measured()})


def measured():
    """A calibration whose curves rise to a figure of 4200 GB/s or 640 ns; offsets begin at 0."""
    figures = {figure: _VALUES[figure.quantity] for figure in Figure}
    return calibration(SPEC.name, figures=figures, curves={curve: tuple(_points(curve)) for curve in Curve})


def _points(curve):
    for step in range(11):
        x = 16 * step if curve is Curve.ALIGNMENT else 512 << step
        yield x, _VALUES[curve.quantity] * (1 - 0.5 ** (1 + step))


def page_of(count):
    """The page of `report_of`."""
    return page(report_of(count))


def _smaller():
    problem = TRANSPOSE.problem_type(PROBLEM.m // 2, PROBLEM.n)
    return trials(schedules(2, problem), problem)
