"""What hardware takes as a tensor map."""

import pytest

from autotune.codegen.model.tensor_map import Swizzle, TensorMap

RIGHT = {"dtype": "bfloat16", "shape": (70, 100), "strides": (104, 1), "box": (8, 64), "swizzle": Swizzle.B128}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"shape": (1,) * 6, "strides": (8,) * 5 + (1,), "box": (1,) * 5 + (64,)}, "6 dimensions: expected 1 to 5"),
        ({"strides": (104,)}, "expected as many of each"),
        ({"box": (1, 8, 64)}, "expected as many of each"),
        ({"shape": (0, 100)}, r"shape \(0, 100\): expected 1 to 2\^32"),
        ({"shape": (2**32 + 1, 100)}, "expected 1 to 2"),
        ({"strides": (104, 2)}, "the last stride 2: expected 1"),
        ({"strides": (100, 1)}, r"strides of \[200\] bytes: expected multiples of 16"),
        ({"strides": (2**39, 1)}, "below 2"),
        ({"box": (257, 64)}, r"box \(257, 64\): expected 1 to 256"),
        ({"box": (0, 64)}, "expected 1 to 256"),
        ({"box": (8, 60), "swizzle": Swizzle.NONE}, "rows of the box of 120 bytes: expected a multiple of 16"),
        ({"box": (8, 32)}, "rows of the box of 64 bytes and a swizzle of 128B: expected as many bytes"),
        ({"offset": 8}, "an offset of 8 bytes: expected a multiple of 16"),
        ({"dtype": "bfloat16", "tf32": True}, "elements of bfloat16 rounded to TF32: expected float32"),
    ],
)
def test_what_hardware_refuses_is_refused_in_one_line(changes, error):
    TensorMap("x", **RIGHT)
    with pytest.raises(ValueError, match=f"a tensor map of x with .*{error}"):
        TensorMap("x", **RIGHT | changes)
