"""What a kernel's packed arguments hold: scalars of any width, addresses, tensor maps."""

from types import SimpleNamespace

import numpy as np
import pytest

from autotune.codegen.program import Argument, Launch, Program
from autotune.codegen.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.dispatcher.calls.arguments import Template

KERNEL = SimpleNamespace(bound=lambda packed: None)


def template(*arguments, encode=None):
    program = Program("", arguments, (Launch("kernel", (1, 1, 1), (1, 1, 1)),))
    return Template(program, KERNEL, encode)


def filled(cuda_type, value):
    """What a scalar of this type is after a call brought a value."""
    chosen = template(Argument("x", cuda_type))
    packed = chosen.arguments().packed
    chosen.filler(("x",))(packed, (value,))
    return packed.x


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


@pytest.mark.parametrize(
    ("cuda_type", "value", "error", "message"),
    [
        ("int", 2**31, ValueError, r"x=2147483648: expected -2147483648 … 2147483647"),
        ("unsigned long long", -1, ValueError, "x=-1: expected 0 … 18446744073709551615"),
        ("long long", 1.5, TypeError, r"x=1\.5: expected an integer"),
        ("unsigned", "7", TypeError, "x is a str: expected a number"),
    ],
)
def test_an_integer_that_does_not_fit_is_refused(cuda_type, value, error, message):
    with pytest.raises(error, match=message):
        filled(cuda_type, value)


@pytest.mark.parametrize("value", [0, -1.5, float("nan")])
def test_a_number_that_must_be_positive_is_checked(value):
    chosen = template(Argument("x", "float", positive=True))
    packed = chosen.arguments().packed
    chosen.filler(("x",))(packed, (0.5,))
    assert packed.x == 0.5
    with pytest.raises(ValueError, match=f"x={value}: expected more than 0"):
        chosen.filler(("x",))(packed, (value,))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [("x", TypeError, "x is a str: expected a number"), (10**400, ValueError, "expected a number that a double can")],
)
@pytest.mark.parametrize("positive", [False, True])
def test_what_is_no_number_is_named(positive, value, error, message):
    chosen = template(Argument("x", "float", positive=positive))
    with pytest.raises(error, match=message):
        chosen.filler(("x",))(chosen.arguments().packed, (value,))


def test_values_go_to_the_arguments_that_are_named():
    arguments = Argument("b", "float*"), Argument("n", "int", 7), Argument("a", "const float*"), Argument("s", "float")
    chosen = template(*arguments, Argument("workspace", "void*"))
    packed = chosen.arguments().packed
    chosen.filler(("a", "", "b", "s", "unknown"))(packed, (0x10, 0x20, 0x30, 1.5, 9))
    assert (packed.a, packed.b, packed.n, packed.s, packed.workspace) == (0x10, 0x30, 7, 1.5, None)


def test_an_argument_that_nothing_brings_is_an_error():
    with pytest.raises(ValueError, match="kernel takes scale, which the call does not provide"):
        template(Argument("a", "float*"), Argument("scale", "float")).filler(("a",))


def test_a_tensor_map_is_encoded_anew_when_its_tensor_has_moved():
    encoded = []

    def encode(tensor_map, address):
        encoded.append(address)
        return address.to_bytes(8, "little").ljust(TENSOR_MAP_BYTES, tensor_map.tensor.encode())

    boxes = TensorMap("a", "float32", (8, 8), (8, 1), (4, 4))
    chosen = template(Argument("boxes", "TensorMap", tensor_map=boxes), Argument("out", "float*"), encode=encode)
    packed, fill = chosen.arguments().packed, chosen.filler(("a", "out"))
    for a, out in ((0x100, 0x200), (0x100, 0x300), (0x400, 0x300), (0x100, 0x300)):
        fill(packed, (a, out))
        assert (packed.boxes[0], packed.out) == (a, out)
        assert bytes(packed.boxes)[8:] == b"a" * (TENSOR_MAP_BYTES - 8)
    assert encoded == [0x100, 0x400]
