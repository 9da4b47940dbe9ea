"""What a kernel's packed arguments hold: scalars of any width, addresses, tensor maps."""

import ctypes
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.dispatcher.calls.arguments import Template

KERNEL = SimpleNamespace(bound=lambda packed: None)


def template(*arguments, encoder=None):
    program = Program("", arguments, (Launch("kernel", (1, 1, 1), (1, 1, 1)),))
    return Template(program, KERNEL, encoder)


def filled(cuda_type, value):
    """What a scalar of this type is after a call brought a value."""
    chosen = template(Argument("x", cuda_type))
    arguments = chosen.arguments()
    chosen.filler(("x",))(arguments, (value,))
    return arguments.packed.x


@pytest.mark.parametrize(
    ("cuda_type", "value"),
    [
        ("float", 0.5),
        ("double", 1e300),
        ("int", -(2**31)),
        ("unsigned", 2**32 - 1),
        ("long long", -(2**63)),
        ("unsigned long long", 2**64 - 1),
        ("unsigned char", np.uint8(255)),
        ("short", np.int64(-5)),
        ("float", 3),
        ("bool", True),
    ],
)
def test_scalars_of_any_width_arrive_whole(cuda_type, value):
    assert filled(cuda_type, value) == value


test_an_integer_that_does_not_fit_is_refused = refused(
    filled,
    [
        (("int", 2**31), r"x=2147483648: expected -2147483648 … 2147483647"),
        (("unsigned long long", -1), "x=-1: expected 0 … 18446744073709551615"),
        (("long long", 1.5), r"TypeError: x=1\.5: expected an integer"),
        (("unsigned", "7"), "TypeError: x is a str: expected a number"),
    ],
)


@pytest.mark.parametrize("value", [0, -1.5, float("nan")])
def test_a_number_that_must_be_positive_is_checked(value):
    chosen = template(Argument("x", "float", positive=True))
    arguments = chosen.arguments()
    chosen.filler(("x",))(arguments, (0.5,))
    assert arguments.packed.x == 0.5
    with pytest.raises(ValueError, match=f"x={value}: expected more than 0"):
        chosen.filler(("x",))(arguments, (value,))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [("x", TypeError, "x is a str: expected a number"), (10**400, ValueError, "expected a number that a double can")],
)
@pytest.mark.parametrize("positive", [False, True])
def test_what_is_no_number_is_named(positive, value, error, message):
    chosen = template(Argument("x", "float", positive=positive))
    with pytest.raises(error, match=message):
        chosen.filler(("x",))(chosen.arguments(), (value,))


def test_values_go_to_the_arguments_that_are_named():
    members = Argument("b", "float*"), Argument("n", "int", 7), Argument("a", "const float*"), Argument("s", "float")
    chosen = template(*members, Argument("workspace", "void*"))
    arguments = chosen.arguments()
    packed = arguments.packed
    chosen.filler(("a", "", "b", "s", "unknown"))(arguments, (0x10, 0x20, 0x30, 1.5, 9))
    assert (packed.a, packed.b, packed.n, packed.s, packed.workspace) == (0x10, 0x30, 7, 1.5, None)


def test_an_argument_that_nothing_brings_is_an_error():
    with pytest.raises(ValueError, match="kernel takes scale, which the call does not provide"):
        template(Argument("a", "float*"), Argument("scale", "float")).filler(("a",))


def test_tensor_maps_are_encoded_where_the_arguments_lie():
    """Those of the workspace are the kernel's concern, which knows where it is."""

    def encoder(tensor_map, memory):
        assert memory % 64 == 0
        return lambda address: ctypes.memmove(memory, address.to_bytes(TENSOR_MAP_BYTES, "little"), TENSOR_MAP_BYTES)

    boxes = TensorMap("a", "float32", (8, 8), (8, 1), (4, 4))
    members = (
        Argument("boxes", "TensorMap", tensor_map=boxes),
        Argument("copied", "TensorMap", tensor_map=replace(boxes, tensor="workspace")),
        Argument("behind", "TensorMap", tensor_map=replace(boxes, offset=32)),
        Argument("out", "float*"),
        Argument("workspace", "void*"),
    )
    chosen = template(*members, encoder=encoder)
    for arguments in (chosen.arguments(), chosen.arguments()):
        packed, fill = arguments.packed, chosen.filler(("a", "out"))
        for a, out in ((0x100, 0x200), (0x400, 0x300)):
            fill(arguments, (a, out))
            assert (packed.boxes[0], packed.behind[0], packed.out) == (a, a + 32, out)
            assert not any(packed.copied)
