"""Which schedules every operator draws, which it calls legal, which it tries first."""

import json
from dataclasses import fields, replace
from functools import cache
from itertools import islice

import pytest

from autotune.contract.operator_cases import SPEC, anywhere, cases_of, walked
from autotune.search_spaces.contract.operator import IllegalScheduleError
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device, named_devices

DRAWS, _TAKEN_BACK = 100, 40
_SMALL_BYTES, _FEW_OPERATIONS = 8 << 20, 1 << 26  # of a check problem, or the emulator takes long


def in_turn(problems, devices):
    """Each problem with a device, and each device with a problem: with all of them the tests take ten times as long."""
    for turn in range(max(len(problems), len(devices))):
        yield problems[turn % len(problems)], devices[turn % len(devices)]


on_devices = walked(lambda name: in_turn([*cases_of(name).PROBLEMS.values()], named_devices()))


def draws(name, problem):
    return list(islice(operator(name).space(problem, SPEC).random_draws(0), DRAWS))


@cache
def legal_schedules(name, problem):
    """Drawn ones, then the seeds; of three tests."""
    chosen = operator(name)
    drawn = map(chosen.space(problem, SPEC).build, draws(name, problem)[:_TAKEN_BACK])
    return [*(s for s in drawn if not chosen.violations(problem, s, SPEC)), *chosen.seeds(problem, SPEC)]


@anywhere
def test_plain_values_and_back(name, problem):
    chosen = operator(name)
    for number, schedule in enumerate(legal_schedules(name, problem)):
        assert chosen.schedule(json.loads(json.dumps(schedule.to_dict()))) == schedule
        if number % 8:
            continue  # words change the default, which gemm takes a millisecond to choose
        again = chosen.parse(str(schedule).split(), problem, SPEC)
        assert (again, again.digest) == (schedule, schedule.digest)


@anywhere
def test_different_schedules_have_different_names(name, problem):
    schedules = set(legal_schedules(name, problem))
    assert len({schedule.digest for schedule in schedules}) == len({str(s) for s in schedules}) == len(schedules)


@on_devices
def test_default_and_seeds_are_legal_and_drawn(name, problem, device):
    chosen, spec = operator(name), named_device(device)
    seeds, space = chosen.seeds(problem, spec), chosen.space(problem, spec)
    assert chosen.default(problem, spec) in seeds
    assert len(set(seeds)) == len(seeds)
    for schedule in seeds:
        assert chosen.violations(problem, schedule, spec) == []
        assert schedule in space


@on_devices
def test_most_draws_are_legal(name, problem, device):
    chosen, spec = operator(name), named_device(device)
    space = chosen.space(problem, spec)
    drawn = [space.build(draw) for draw in islice(space.random_draws(0), DRAWS)]
    assert sum(not chosen.violations(problem, schedule, spec) for schedule in drawn) >= DRAWS / 2


@anywhere
def test_a_legal_draw_can_be_found_again(name, problem):
    chosen = operator(name)
    space = chosen.space(problem, SPEC)
    for number, schedule in enumerate(legal_schedules(name, problem)):
        assert space.build(space.draw_of(schedule)) == schedule
        if number % 16 == 0:  # of gemm, it tries thousands
            own = chosen.kernel_of(schedule).space(problem, SPEC)
            assert own.draw_of(schedule) == replace(own, fits={}).draw_of(schedule)


@anywhere
def test_an_illegal_draw_has_no_source(name, problem):
    chosen = operator(name)
    for schedule in map(chosen.space(problem, SPEC).build, draws(name, problem)):
        violations = chosen.violations(problem, schedule, SPEC)
        if violations:
            with pytest.raises(IllegalScheduleError) as caught:
                chosen.program(problem, schedule, SPEC)
            assert str(caught.value) == "; ".join(violations)
            assert "\n" not in str(caught.value)


@anywhere
def test_numbers_below_zero_are_illegal(name, problem):
    chosen = operator(name)
    default = chosen.default(problem, SPEC)
    for field in fields(default):
        if type(getattr(default, field.name)) is int:
            schedule = replace(default, **{field.name: -1})
            assert any(f"{field.name} -1" in line for line in chosen.violations(problem, schedule, SPEC))


@anywhere
def test_checks_are_small_and_legal(name, problem):
    chosen = operator(name)
    for schedule in chosen.seeds(problem, SPEC):
        checks = chosen.checks(problem, schedule)
        assert len({check.key for check, _ in checks}) == len(checks) >= 2
        for check, like in checks:
            assert chosen.violations(check, like, SPEC) == []
            assert 0 < sum(tensor.bytes for tensor in check.tensors) <= _SMALL_BYTES
            assert sum(check.work.operations.values()) <= _FEW_OPERATIONS
