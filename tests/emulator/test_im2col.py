"""Copies of pixels by tensor maps in im2col mode: which are read, and what a kernel may get wrong."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from refusals import refused
from tensor_programs import execute, tensor_program

from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.tensor import row_major
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.emulator import EmulatorError


@dataclass(frozen=True)
class Columns:
    """A column of pixels: of which images, from which base pixel on, moved by which tap."""

    shape: tuple[int, ...]
    pixels: Im2col
    box: tuple[int, int]
    at: tuple[int, ...]
    tap: tuple[int, ...]
    swizzle: Swizzle = Swizzle.NONE

    def program(self):
        """Copies the column, and stores it as rows."""
        count, channels = self.box
        x_map = TensorMap("x", "float32", self.shape, row_major(self.shape), self.box, self.swizzle, im2col=self.pixels)
        at, tap = (", ".join(map(str, one)) for one in (self.at, self.tap))
        body = f"""
  Barrier* full = reinterpret_cast<Barrier*>(tile + {4 * count * channels});
  if (t == 0) {{
    full->init(1);
    proxy_fence();
    full->arrive_and_expect({4 * count * channels});
    im2col_copy(tile, arguments.x_map, {{{at}}}, {{{tap}}}, *full);
  }}
  __syncthreads();
  full->wait(0);
  for (int e = t; e < {count * channels}; e += 64)
    arguments.y[e] = reinterpret_cast<float*>(tile)[swizzled(4 * e, {self.swizzle.bytes}) / 4];
"""
        pointers = {"x": "const float*", "y": "float*"}
        shared_bytes = 4 * count * channels + 8
        return tensor_program(body, {"x_map": x_map}, pointers, shared_bytes=shared_bytes, headers=("im2col_copy",))

    def arrays(self):
        """The images, and room for the column."""
        x = np.random.default_rng(0).standard_normal(self.shape).astype(np.float32)
        return {"x": x.ravel(), "y": np.full(self.box[0] * self.box[1], -1, np.float32)}

    def expected(self):
        """Base pixels in order, each moved by the tap, zeros outside."""
        x = self.arrays()["x"].reshape(self.shape)
        image, (count, channels) = self.shape[1:-1], self.box
        axes = [
            range(low, size + high, step)
            for size, low, high, step in zip(
                image, self.pixels.lower, self.pixels.upper, self.pixels.steps, strict=True
            )
        ]
        assert self.pixels.base_pixels(image) == tuple(map(len, axes))
        bases = [(n, *place) for n in range(self.shape[0] + 9) for place in _product(axes)]
        found = np.zeros(self.box, np.float32)
        first = bases.index(self.at[:-1])
        for row, (n, *place) in enumerate(bases[first : first + count]):
            moved = tuple(a + b for a, b in zip(place, self.tap, strict=True))
            if n < self.shape[0] and all(0 <= a < size for a, size in zip(moved, image, strict=True)):
                begin = self.at[-1]
                taken = x[n][moved][begin : begin + channels]
                found[row, : taken.size] = taken
        return found.ravel()


def _product(axes):
    places = [()]
    for axis in axes:
        places = [(*place, one) for place in places for one in axis]
    return places


# A filter of 3×3 with padding of 1 and a stride; of 7×7 dilated; along one dimension, causal; in three.
CASES = [
    Columns((2, 5, 6, 12), Im2col((-1, -1), (-1, -1), (1, 1)), (32, 8), (0, -1, -1, 0), (0, 2)),
    Columns((2, 5, 6, 12), Im2col((-1, -1), (-1, -1), (1, 1)), (48, 8), (0, 3, 2, 8), (2, 1), Swizzle.B32),
    Columns((3, 7, 6, 16), Im2col((-1, -1), (-1, -1), (2, 2)), (16, 16), (1, 1, 1, 0), (1, 2), Swizzle.B64),
    Columns((1, 9, 9, 32), Im2col((-6, -6), (-6, -6), (1, 1)), (40, 32), (0, -6, 0, 0), (12, 6), Swizzle.B128),
    Columns((2, 11, 8), Im2col((-3,), (-3,), (1,)), (24, 8), (0, -1, 0), (3,)),
    Columns((2, 3, 4, 5, 8), Im2col((-1, 0, -1), (-1, 0, -1), (1, 2, 3)), (16, 8), (0, 0, 2, -1, 0), (2, 0, 1)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pixels_are_those_of_a_convolution(case):
    arrays = case.arrays()
    execute(case.program(), arrays, ("y",))
    np.testing.assert_array_equal(arrays["y"], case.expected())
    assert np.any(arrays["y"])


test_what_hardware_leaves_undefined_is_an_error = refused(
    lambda case: execute(case.program(), case.arrays(), ("y",)),
    [
        (replace(CASES[0], at=(0, -2, 0, 0)), "a base pixel at -2 along dimension 0 of an image, expected -1 to 3"),
        (replace(CASES[0], tap=(0, -1)), "a tap at -1 along dimension 1 of an image, expected 0 or more"),
    ],
)


def test_a_map_is_of_boxes_or_of_pixels():
    program = CASES[0].program()
    boxed = program.source.replace("im2col_copy(tile, arguments.x_map", "tensor_copy(tile, arguments.x_map")
    boxed = boxed.replace("{0, -1, -1, 0}, {0, 2}", "{0, -1, -1, 0}")
    assert boxed != program.source
    with pytest.raises(EmulatorError, match="a copy of a box by a tensor map of pixels"):
        execute(replace(program, source=boxed), CASES[0].arrays(), ("y",))


test_maps_that_hardware_has_not_are_refused = refused(
    lambda shape, pixels, box: TensorMap("x", "float32", shape, row_major(shape), box, im2col=pixels),
    [
        (((1, 8), Im2col((), (), ()), (8, 8)), "expected one for each of 1 to 3 dimensions"),
        (((1, 9, 9, 8), Im2col((-129, 0), (0, 0), (1, 1)), (8, 8)), "expected -128 … 127"),
        (((1, 9, 9, 9, 8), Im2col((0, 0, 0), (0, 0, 16), (1, 1, 1)), (8, 8)), "expected -16 … 15"),
        (((1, 9, 9, 8), Im2col((0, 0), (0, 0), (1, 9)), (8, 8)), "steps (1, 9): expected 1 … 8"),
        (((1, 2, 9, 8), Im2col((0, 0), (-2, 0), (1, 1)), (8, 8)), "expected a base pixel between them"),
        (((1, 9, 9, 8), Im2col((0, 0), (0, 0), (1, 1)), (1025, 8)), "box (1025, 8): expected 1 to 1024"),
        (((1, 9, 9, 8), Im2col((0, 0), (0, 0), (1, 1)), (1, 8, 8, 8)), "expected as many of each"),
    ],
)
