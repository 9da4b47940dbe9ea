"""The samplers by name, and Optuna without its log messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

# Optuna takes a quarter of a second to import, so it is imported only for tuning.
if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

# Those that need nothing beyond Optuna itself, by the names of their classes.
_OPTUNA: Mapping[str, str] = {"tpe": "TPESampler", "random": "RandomSampler", "nsga2": "NSGAIISampler"}
BAYES = "bayes"  # our own, in `bayes`
SAMPLERS = (BAYES, *_OPTUNA)


def new_sampler(name: str, seed: int) -> BaseSampler:
    """A sampler of Optuna by its name in `SAMPLERS`."""
    import optuna

    sampler: BaseSampler = getattr(optuna.samplers, _OPTUNA[name])(seed=seed)
    return sampler


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Keep Optuna from logging each trial to the terminal."""
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)
