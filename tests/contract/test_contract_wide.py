"""Every operator with rows and matrices 2^31 elements apart and more, where signed overflow ends a run."""

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import islice, product

import pytest

from autotune import emulator
from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.contract.operator_cases import NAMES, PRESETS, SPEC, cases_of
from autotune.contract.wide_layouts import (
    at_threshold,
    check_far_launches,
    check_far_rows,
    check_wide,
    far_rows,
    far_sizes,
    grows_along_rows,
    wide_layouts,
)
from autotune.search_spaces.contract.registry import operator

_CASES, _MOST_BLOCKS, _MOST_BYTES, _MOST_OPERATIONS, _MOST_ROWS = 3, 64, 1 << 19, 1 << 21, 256
_MANY_BLOCKS, _FAR_BYTES, _FLAT_BYTES = 1 << 24, 1 << 41, 1 << 38


def _blocks(name, problem, schedule):
    """Blocks of a problem with few elements, and with some rows to lie far apart; 0 of others."""
    sizes = [tensor.bytes for tensor in problem.tensors]
    if not problem.layouts or not all(1 < stated.shape[-2] <= _MOST_ROWS for stated in problem.layouts.values()):
        return 0
    if min(sizes) == 0 or sum(sizes) > _MOST_BYTES or sum(problem.work.operations.values()) > _MOST_OPERATIONS:
        return 0
    program = operator(name).emit(problem, schedule)
    if "RealignedLoad" in program.source:  # aligned words are loaded whole, also where a row ends within one
        return 0
    blocks = sum(launch.blocks for launch in program.launches)
    return blocks if blocks <= _MOST_BLOCKS else 0


def _layouts(name, problem, schedule):
    """Wide ones that the schedule takes: strides of tensor maps, for one, are less than 2^40 bytes."""
    return [one for one in wide_layouts(problem) if not operator(name).violations(one, schedule, SPEC)]


def _dealt(things, turn, players):
    """Every third one of things, or more where fewer than three have a turn: so that each is had by one of them."""
    apart = max(1, min(3, players))
    return things[turn % apart :: apart]


@cache
def _cases(name):
    """Those with the most blocks, and the default for small problems; wide layouts are dealt out to them."""
    cases = cases_of(name)
    generic = [(problem, schedule.shape_generic) for problem, schedule in cases.CASES[::2]]
    most_blocks = sorted(generic, key=lambda case: -_blocks(name, *case))[:_CASES]
    defaults = [(problem, operator(name).default(problem, SPEC)) for problem in cases.SMALL_PROBLEMS]
    few = [case for case in (*most_blocks, *defaults) if _blocks(name, *case)]
    dealt = [(*case, _dealt(_layouts(name, *case), turn, len(few))) for turn, case in enumerate(few)]
    found = [case for case in dealt if case[-1]]
    assert bool(found) == bool(cases.SMALL_PROBLEMS[-1].layouts), "strides are fields, or there are no cases"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_offsets_of_tiles_and_batches(name):
    for problem, schedule, layouts in _cases(name):
        for layout in layouts:
            check_wide(problem, layout, operator(name).program(layout, schedule, SPEC))


@pytest.mark.parametrize("name", NAMES)
def test_offsets_inside_of_a_tile_at_the_threshold(name):
    def has_wide_index(layout, schedule):
        return bool(re.search(r"using Index = long long;", operator(name).emit(layout, schedule).source))

    cases = _cases(name)
    for turn, (problem, schedule, _) in enumerate(cases):
        for operand in _dealt([*problem.layouts], turn, len(cases)):
            for layout in at_threshold(problem, operand, partial(has_wide_index, schedule=schedule)):
                check_wide(problem, layout, operator(name).program(layout, schedule, SPEC))


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_offsets_of_presets(name, preset):
    problem, by_name = cases_of(name).SMALL_PROBLEMS[-1], operator(name).presets
    for layout in _dealt([*wide_layouts(problem)], [*by_name].index(preset), len(by_name)):
        check_wide(problem, layout, by_name[preset](layout))


def odd_layouts(problem):
    """The problem with one pointer or one axis of one operand aligned to an element, all others to 16 bytes."""
    wide = {}
    for stated in problem.layouts.values():
        last = len(stated.fields) - 1
        wide |= stated.spread(last, (stated.shape[-1] + 15) // 16 * 16) | {stated.alignment_field: 16}
    aligned = replace(problem, **wide)
    assert all(stated.vector_width > 1 for stated in aligned.layouts.values())
    found = []
    for stated in aligned.layouts.values():
        found.append(replace(aligned, **{stated.alignment_field: stated.element_bytes}))
        for axis, stride in enumerate(stated.strides):
            found += [replace(aligned, **stated.spread(axis, stride + 1, times=16))] if stride else []
    return found


@pytest.mark.parametrize("name", NAMES)
def test_one_odd_layout_narrows_accesses(name):
    problem = cases_of(name).SMALL_PROBLEMS[-1]
    if not problem.layouts:  # its strides are no fields
        return
    if name == "transpose":
        problem = replace(problem, element_bytes=4)
    for odd in odd_layouts(problem):
        schedules = operator(name).seeds(odd, SPEC)[:1]
        for schedule in schedules:
            emulator.verify(odd, operator(name).program(odd, schedule, SPEC), seeds=(2,))


def _far_cases(name):
    """Those with the most rows: a compact problem, one of which a grid hardly has the blocks, a schedule for both."""
    specs = field_specs(operator(name).problem_type).items()
    sizes = [field for field, spec in specs if spec.role is FieldRole.SIZE]
    cases = [(problem, schedule.shape_generic) for problem, schedule in cases_of(name).CASES]
    found = []
    for (problem, schedule), field in product(cases, sizes):
        if getattr(schedule, "cluster", 1) == 1 and 0 < getattr(problem, field) <= _MOST_ROWS and not problem.empty:
            tried = (far for far in far_rows(problem, field) if _is_far(name, far, schedule))
            found += [(field, problem, far, schedule) for far in islice(tried, 1)]
    for field, problem, far, schedule in sorted(found, key=lambda case: -getattr(case[2], case[0])):
        if grows_along_rows(problem, field):
            yield problem, far, schedule


def _is_far(name, far, schedule):
    if max(tensor.bytes for tensor in far.tensors) > _FAR_BYTES or operator(name).violations(far, schedule, SPEC):
        return False
    return schedule.blocks(far) > _MANY_BLOCKS and operator(name).emit(far, schedule).workspace_bytes <= _FAR_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_blocks_and_rows(name):
    """Of a schedule, and of the first preset where a grid has as many blocks as it takes.

    Not of operators whose rows depend on others, or whose blocks take rows in turn.
    """
    problem, far, schedule = next(_far_cases(name), (None, None, None))
    if problem is None or far is None or schedule is None:
        assert name not in ("map", "scan", "softmax")
        return
    check_far_rows(problem, far, partial(operator(name).emit, schedule=schedule))
    with suppress(ValueError):
        check_far_rows(problem, far, next(iter(operator(name).presets.values())))


def _flat_cases(name):
    """Small problems of arrays without strides, one of more than 2^32 bytes, and the program of a schedule for it."""
    specs = field_specs(operator(name).problem_type).items()
    sizes = [field for field, spec in specs if spec.role is FieldRole.SIZE]
    cases = [(problem, schedule.shape_generic) for problem, schedule in cases_of(name).CASES if not problem.layouts]
    for (problem, schedule), field in product(cases, sizes):
        if not problem.empty and not grows_along_rows(problem, field):
            for far in far_sizes(problem, field):
                if not operator(name).violations(far, schedule, SPEC):
                    program = operator(name).emit(far, schedule)
                    if 2**32 < max(program.workspace_bytes, *(one.bytes for one in far.tensors)) <= _FLAT_BYTES:
                        yield problem, far, program
                        break


@pytest.mark.parametrize("name", NAMES)
def test_far_blocks_of_each_launch(name):
    """Of flat arrays whose results depend on all of them, so that the test above has nothing to judge."""
    for problem, far, program in sorted(_flat_cases(name), key=lambda case: -case[2].workspace_bytes)[:2]:
        check_far_launches(problem, far, program)
