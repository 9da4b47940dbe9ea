"""Kernels of rows in Triton as its tutorials write them: a program for each row. Importing it needs Triton."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, row_x, row_y, columns, block: tl.constexpr):
    """Rows that fit into one block."""
    row = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, block)
    inside = places < columns
    numbers = tl.load(x + row * row_x + places, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(numbers - tl.max(numbers, axis=0))
    tl.store(y + row * row_y + places, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layer_norm(x, y, weight, bias, row_x, row_y, columns, eps, block: tl.constexpr):
    """Rows of any length, which are read three times, from the cache if they fit."""
    row = tl.program_id(0).to(tl.int64)
    x += row * row_x
    y += row * row_y
    places = tl.arange(0, block)
    total = tl.zeros((block,), tl.float32)
    for begin in range(0, columns, block):
        at = begin + places
        total += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((block,), tl.float32)
    for begin in range(0, columns, block):
        at = begin + places
        numbers = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        centered = tl.where(at < columns, numbers - mean, 0.0)
        squares += centered * centered
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    for begin in range(0, columns, block):
        at = begin + places
        inside = at < columns
        numbers = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        factor = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        summand = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + at, (numbers - mean) * rstd * factor + summand, mask=inside)
