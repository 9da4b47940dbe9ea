"""Which kernels are not sampled further, and who decides it."""

from functools import partial
from itertools import chain, cycle, repeat

import pytest
from optuna.pruners import MedianPruner, NopPruner, WilcoxonPruner
from test_timing import Bench

from autotune.base.optuna_log import quiet_optuna
from autotune.devices import cuda, select
from autotune.devices.race import Race
from autotune.devices.timing import Timed, measure


def against(seconds, pruner=None):
    """A race in which a kernel has taken so long, and another one starts."""
    race = Race(pruner)
    race.start()
    race.prune([seconds] * 100)
    race.finish(seconds)
    race.start()
    return race


def test_a_kernel_that_is_surely_slower_than_the_fastest_stops_early():
    slower = Bench(repeat(1.1e-3))
    assert measure(slower.sample, slower.now, against(1e-3).prune) == Timed((1.1e-3,) * 10, True)
    found = measure(slower.sample, slower.now, against(1.1e-3).prune)
    assert (len(found.samples), found.stopped_early) == (91, False)
    mixed = Bench(chain(repeat(1e-3, 40), cycle([0.9e-3, 1.4e-3])))
    assert len(measure(mixed.sample, mixed.now, against(1e-3).prune).samples) > 40, "half of the samples are faster"


def test_a_kernel_that_is_far_slower_than_the_fastest_is_not_warmed_up():
    far, near, mixed = Bench(repeat(1.6e-3)), Bench(repeat(1.4e-3)), Bench(chain([1.6e-3] * 4, repeat(1.4e-3)))
    race = against(1e-3)
    assert measure(far.sample, far.now, hopeless=race.hopeless) == Timed((1.6e-3,) * 5, True)
    assert len(far.samples) == 5
    for bench in (near, mixed):
        assert measure(bench.sample, bench.now, hopeless=race.hopeless) == Timed((1.4e-3,) * 72, False)
    assert not Race().hopeless([1.0]), "no kernel has finished"


def test_one_launch_of_a_long_kernel_is_enough_to_see_that_it_is_far_slower():
    long = Bench(repeat(0.1))
    assert measure(long.sample, long.now, hopeless=against(1e-3).hopeless) == Timed((0.1,), True)


def test_a_kernel_with_all_samples_was_not_stopped_early():
    slow = Bench(repeat(50e-3))
    assert measure(slow.sample, slow.now, against(1e-3).prune) == Timed((50e-3,) * 10, False)


def test_a_kernel_that_did_not_finish_is_out_of_the_race():
    race = Race()
    race.start()
    assert not race.prune([1e-9] * 10)
    race.start()
    assert not race.prune([1.0] * 10)


@pytest.mark.parametrize("kind", [partial(MedianPruner, n_startup_trials=1), WilcoxonPruner])
def test_pruners_of_optuna_decide_by_the_samples_of_other_kernels(kind):
    with quiet_optuna():
        pruner = kind()
    assert against(1e-3, pruner).prune([2e-3] * 10)
    assert not against(1e-3, pruner).prune([0.5e-3] * 10)


def test_a_gpu_is_given_the_pruner(monkeypatch):
    monkeypatch.setattr(cuda, "CudaDevice", lambda *arguments, energy: arguments)
    pruner = NopPruner()
    assert select.device("1", pruner) == (1, pruner)
