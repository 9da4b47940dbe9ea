"""What a record promises for another problem or device: its time there by the time model, and how far it is.

On the 158 pairs of shipped sgemm records that share a schedule and are comparable, the standard deviation of the log
error of a transferred time is 0.019. A record's own time thus says how the model is wrong about its schedule.
"""

from __future__ import annotations

from math import exp
from typing import Any

from autotune.codegen.model.integers import largest, logarithm
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import least_seconds

from .records import Record

FARTHEST = 8  # ratio of two sizes beyond which a record says less about a problem than the time model does
DOUBT = 0.1  # added to the logarithm of a time for each e-fold between sizes: a time from twice as far counts 7 % more
OTHER_DATA = 1.0  # e-folds that a record of other data is farther, for each such field
LEAST_SECONDS = 1e-9  # seconds of any problem: nothing to do has no logarithm


def comparable(problem: Problem, record: Record) -> bool:
    """Whether a record is of the same kind and of sizes within a factor of 8, whatever its data."""
    if problem.kinds != record.problem.kinds:
        return False
    pairs = zip(problem.sizes.values(), record.problem.sizes.values(), strict=True)
    return all(here <= FARTHEST * max(there, 1) and there <= FARTHEST * max(here, 1) for here, there in pairs)


def transferred_seconds(
    operator: Operator[Any, Any], problem: Problem, record: Record, spec: DeviceSpec, modelled: float
) -> float:
    """The time of a record's schedule on another problem, for which the model gives it `modelled` seconds.

    That of another device is never below this one's roofline, since the ratio of two models may be.
    """
    own = record.kin or spec
    seconds = record.seconds * (modelled / operator.forecast(record.problem, record.schedule, own).seconds)
    return max(seconds, least_seconds(problem.usual_work, spec)) if record.kin else seconds


def distance(problem: Problem, record: Record, spec: DeviceSpec, seconds: float) -> float:
    """How little a record promises for a problem: 0 for its own size at the device's peak rates.

    The logarithm of its transferred time over the roofline's, and a share of the distance between the logarithms of the
    sizes, with which such a time becomes doubtful, as it does with other data. A record of kin is no farther: for 579
    problems of an H100, choices by the H200's records lost 1.1 % in the mean so, 1.3 % with 0.05 more, 1.9 % with 0.4.
    """
    return slowness(problem, seconds, spec) + doubt(problem, record)


def doubt(problem: Problem, record: Record) -> float:
    """The share of a `distance` that follows from sizes, counts and data alone; 0 for the record's own problem."""
    its = record.problem
    squares = OTHER_DATA**2 * sum(value != its.data[name] for name, value in problem.data.items())
    numbers = zip((problem.sizes | problem.counts).values(), (its.sizes | its.counts).values(), strict=True)
    for here, there in numbers:
        ratio = logarithm(max(here, 1) / max(there, 1))
        squares += ratio * ratio
    apart: float = squares**0.5
    return DOUBT * apart


def alike(problem: Problem, record: Record) -> bool:
    """Whether a record differs by sizes alone, not by data or counts."""
    return (problem.data, problem.counts) == (record.problem.data, record.problem.counts)


def slowness(problem: Problem, seconds: float, spec: DeviceSpec) -> float:
    """The logarithm of a time over the roofline's: 0 at the device's peak rates."""
    return logarithm(seconds / largest(least_seconds(problem.usual_work, spec), LEAST_SECONDS))


def loss(problem: Problem, record: Record, spec: DeviceSpec, seconds: float) -> float:
    """The share of the transferred time that is lost by running less efficiently than on the record's problem."""
    here, there = slowness(problem, seconds, spec), slowness(record.problem, record.seconds, record.kin or spec)
    return max(0.0, 1 - exp(there - here))
