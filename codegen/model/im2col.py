"""Tensor maps in im2col mode: which pixels of an image the copies of a convolution begin at."""

from __future__ import annotations

from dataclasses import dataclass

MOST_PIXELS, MOST_STEP = 1024, 8
_CORNER_BITS = {1: 16, 2: 8, 3: 5}  # by the dimensions of the image


@dataclass(frozen=True)
class Im2col:
    """Base pixels: those of an image at which a filter may begin, in the order of the image's dimensions.

    Along a dimension of so many pixels they are lower, lower + step, … up to pixels - 1 + upper. A convolution has
    lower = -padding, upper = padding - (taps - 1)·dilation, and its stride as the step.

    Attributes:
        lower, upper: the corners of the box around them, relative to the first and to the last pixel of the image.
        steps: pixels from one to the next.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...]

    def base_pixels(self, image: tuple[int, ...]) -> tuple[int, ...]:
        """How many there are along each dimension of an image."""
        corners = zip(image, self.lower, self.upper, self.steps, strict=True)
        return tuple(-(-(size + upper - lower) // step) for size, lower, upper, step in corners)

    def violations(self, image: tuple[int, ...]) -> list[str]:
        """What keeps hardware from having such a map of an image."""
        dimensions = len(image)
        if dimensions not in _CORNER_BITS or {len(self.lower), len(self.upper), len(self.steps)} != {dimensions}:
            stated = f"corners {self.lower} and {self.upper} and steps {self.steps} of an image {image}"
            return [f"{stated}: expected one for each of 1 to 3 dimensions"]
        most = 2 ** (_CORNER_BITS[dimensions] - 1)
        return [
            text
            for wrong, text in (
                (
                    not all(-most <= one < most for one in (*self.lower, *self.upper)),
                    f"corners {self.lower} and {self.upper}: expected {-most} … {most - 1}",
                ),
                (not all(1 <= one <= MOST_STEP for one in self.steps), f"steps {self.steps}: expected 1 … {MOST_STEP}"),
                (
                    any(pixels <= 0 for pixels in self.base_pixels(image)),
                    f"corners {self.lower} and {self.upper} of an image {image}: expected a base pixel between them",
                ),
            )
            if wrong
        ]
