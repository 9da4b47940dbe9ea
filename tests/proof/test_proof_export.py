"""The probe in C++: several launches with a memset between them; tensor maps."""

from dataclasses import replace
from functools import partial

import pytest
from export.exports import asked_sizes, assert_launched_alike, drawn
from probe import OPERATOR, ProbeSchedule

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.launch import Launch
from autotune.export import TraceError
from autotune.export.tables import tables

SIZES = ("rows", "columns")


def drawn_probe(*ways, emit=OPERATOR.emit):
    """With tensor copies, without, or with and without."""
    schedules = [ProbeSchedule(rows, tensor_copy=way) for rows in (8, 16, 32) for way in ways]
    probe = replace(OPERATOR, default=lambda *_: schedules[0]).with_kernels(candidates=lambda *_: schedules, emit=emit)
    return drawn(probe, 4, SIZES)


def test_launches_memsets_and_tensor_maps_are_those_of_python(tmp_path):
    """Each launch has a source and arguments of its own, which differ from schedule to schedule."""
    exported = drawn_probe(False, True)
    lines = assert_launched_alike(exported, asked_sizes(exported), tmp_path, tables(exported))
    chosen = [line for line in lines if not line.startswith("-1")]
    assert chosen and all(" set " in line and line.count("probe") > 1 for line in chosen)
    assert {" map " in line for line in chosen} == {False, True}


def test_a_scalar_has_one_type():
    def emit(problem, schedule):
        program = OPERATOR.emit(problem, schedule)
        kind = "float" if schedule.tensor_copy else "double"
        return replace(program, arguments=(*program.arguments, Argument("eps", kind)))

    with pytest.raises(TraceError, match=r"eps is (double and float|float and double): expected one type"):
        tables(drawn_probe(False, True, emit=emit))


@pytest.mark.parametrize("pixels", [None, Im2col((-3,), (-2,), (2,))], ids=["boxes", "pixels"])
def test_cpp_encodes_maps_that_begin_behind_an_address(pixels, tmp_path):
    exported = drawn_probe(True, emit=partial(_emit_behind, pixels))
    lines = assert_launched_alike(exported, asked_sizes(exported), tmp_path, tables(exported))
    assert any(f" {'pixels' if pixels else 'map'} 0x" in line for line in lines)


def _emit_behind(pixels, problem, schedule):
    """With a map of boxes, or of the rows of one image."""
    program = OPERATOR.emit(problem, schedule)
    described = program.arguments[0].tensor_map
    assert described
    behind = replace(described, offset=48)
    if pixels:
        shape, strides = (1, *behind.shape), (problem.rows * problem.ldx, *behind.strides)
        behind = replace(behind, shape=shape, strides=strides, im2col=pixels)
    steps = [one.taking(x_map=behind) if isinstance(one, Launch) else one for one in program.steps]
    return replace(program, steps=tuple(steps))
