"""The searches that are compared, by name. Each gives the seconds of its evaluations in the order in which it asks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from itertools import islice
from math import inf
from random import Random

from autotune.base.optuna_log import quiet_optuna
from autotune.devices.recording import Recording
from autotune.search_spaces.contract.modelled_time import likely_first
from autotune.tuner import TuneOptions

from .kernel_tuner import simulated

# From a recording, a seed, a number of evaluations and how many are always under way, to seconds; infinite ones stand
# for a schedule that failed. None is evaluated twice.
Searcher = Callable[[Recording, int, int, int], Iterator[float]]

# Kernel Tuner's strategies that do well in its authors' papers: Bayesian optimisation (Willemsen, van Nieuwpoort, van
# Werkhoven, 2021), metaheuristics (Schoonhoven, van Werkhoven, Batenburg, 2022), and the last two, which come from
# "Automated Algorithm Design For Auto-Tuning Optimizers".
_STRATEGIES = ("bayes_opt", "genetic_algorithm", "pso", "hybrid_vndx", "adaptive_tabu_greywolf")
_KERNEL_TUNER = "kernel_tuner."


def _tuner(sampler: str, seeded: bool, recording: Recording, seed: int, budget: int, ahead: int) -> Iterator[float]:
    """What `tune` asks for in an empty database."""
    from autotune.tuner.search.proposals import Proposals

    operator, problem, spec = recording.operator, recording.problem, recording.spec
    first = likely_first(operator, problem, operator.seeds(problem, spec), spec) if seeded else []
    with quiet_optuna():
        proposals = Proposals(operator, problem, spec, sampler, seed, first, {})
        started = deque(islice(proposals, ahead))
        while started:
            schedule = started.popleft()
            seconds = recording.seconds.get(schedule, inf)
            yield seconds
            proposals.tell(schedule, seconds)
            started.extend(islice(proposals, 1))


def _random(recording: Recording, seed: int, budget: int, ahead: int) -> Iterator[float]:
    """Every recorded schedule equally likely, none twice."""
    order = list(recording.trials)
    Random(seed).shuffle(order)
    return (recording.seconds.get(schedule, inf) for schedule in order)


def _kernel_tuner(strategy: str, recording: Recording, seed: int, budget: int, ahead: int) -> Iterator[float]:
    """One at a time, whatever `ahead` says."""
    return iter(simulated(recording, strategy, seed, budget))


SEARCHERS: Mapping[str, Searcher] = {
    TuneOptions().sampler: partial(_tuner, TuneOptions().sampler, True),
    "unseeded": partial(_tuner, TuneOptions().sampler, False),
    "tpe": partial(_tuner, "tpe", False),
    "random": _random,
    **{f"{_KERNEL_TUNER}{strategy}": partial(_kernel_tuner, strategy) for strategy in _STRATEGIES},
}


def missing(name: str) -> str:
    """Why this machine cannot run a searcher, and the remedy; empty if it can."""
    if name.startswith(_KERNEL_TUNER) and find_spec("kernel_tuner") is None:
        return f"{name} needs Kernel Tuner: pip install 'autotune[kernel-tuner]'"
    return ""
