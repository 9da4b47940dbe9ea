"""A matrix product in Triton as its tutorials write one, in true FP32. Importing it needs Triton."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
import triton
import triton.language as tl

# block_m, block_n, block_k, warps, stages
_CONFIGS = (
    (128, 256, 16, 8, 3),
    (256, 128, 16, 8, 3),
    (128, 128, 16, 8, 3),
    (128, 128, 32, 8, 3),
    (128, 64, 16, 4, 3),
    (64, 128, 16, 4, 3),
    (64, 64, 16, 4, 4),
    (64, 64, 32, 4, 3),
    (64, 32, 32, 4, 4),
    (32, 64, 32, 4, 4),
    (16, 128, 32, 4, 4),
    (16, 32, 64, 2, 4),
)


@triton.autotune(
    configs=[
        triton.Config(
            {"block_m": block_m, "block_n": block_n, "block_k": block_k, "group_m": 8},
            num_warps=warps,
            num_stages=stages,
        )
        for block_m, block_n, block_k, warps, stages in _CONFIGS
    ],
    key=["m", "n", "k", "a_row", "a_column", "b_row", "b_column"],
)
@triton.jit
def sgemm(
    a, b, c, alpha, beta, m, n, k,
    a_batch, a_row, a_column, b_batch, b_row, b_column, c_batch, c_row,
    beta_nonzero: tl.constexpr,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr, group_m: tl.constexpr,
):  # fmt: skip
    """C = alpha·A·B, + beta·C with `beta_nonzero`; words from a matrix, a row or a column to the next as strides.

    The grid is tiles × batch.
    """
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(n, block_n)
    first = tile // (group_m * tiles_n) * group_m
    height = tl.minimum(tl.cdiv(m, block_m) - first, group_m)
    within = tile % (group_m * tiles_n)
    rows = (first + within % height) * block_m + tl.arange(0, block_m)
    columns = within // height * block_n + tl.arange(0, block_n)
    deep = tl.arange(0, block_k)
    batch = tl.program_id(1).to(tl.int64)
    # Beyond the edges other rows and columns are read, and their products are not stored.
    a_tile = a + batch * a_batch + (rows % m).to(tl.int64)[:, None] * a_row + deep[None, :] * a_column
    b_tile = b + batch * b_batch + (columns % n).to(tl.int64)[None, :] * b_column + deep[:, None] * b_row
    product = tl.zeros((block_m, block_n), tl.float32)
    for begin in range(0, k, block_k):
        a_words = tl.load(a_tile, mask=deep[None, :] < k - begin, other=0.0)
        b_words = tl.load(b_tile, mask=deep[:, None] < k - begin, other=0.0)
        product = tl.dot(a_words, b_words, product, input_precision="ieee")
        a_tile += block_k * a_column
        b_tile += block_k * b_row
    c_tile = c + batch * c_batch + rows.to(tl.int64)[:, None] * c_row + columns[None, :]
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    result = alpha * product
    if beta_nonzero:
        result += beta * tl.load(c_tile, mask=inside)
    tl.store(c_tile, result, mask=inside)
