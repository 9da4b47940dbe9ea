"""A 16-bit matrix product in Triton as its tutorial on persistent kernels writes one. Importing it needs Triton."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
import triton
import triton.language as tl

# block_m, block_n, block_k, warps, stages
_CONFIGS = (
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 8, 4),
    (128, 128, 64, 4, 4),
    (128, 128, 128, 8, 3),
    (256, 128, 64, 8, 3),
    (64, 256, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (64, 64, 128, 4, 4),
    (16, 128, 128, 4, 5),
    (16, 64, 128, 4, 6),
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
    key=["m", "n", "k", "batch", "a_row", "a_column", "b_row", "b_column"],
)
@triton.jit
def gemm(
    a, b, d, alpha, m, n, k, batch, programs,
    a_batch, a_row, a_column, b_batch, b_row, b_column, d_batch, d_row,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr, group_m: tl.constexpr,
):  # fmt: skip
    """D = alpha·A·B; elements from a matrix, a row or a column to the next as strides.

    The grid is `programs` at most, each of which computes every `programs`-th tile.
    """
    tiles_m, tiles_n = tl.cdiv(m, block_m), tl.cdiv(n, block_n)
    deep = tl.arange(0, block_k)
    for index in tl.range(tl.program_id(0), tiles_m * tiles_n * batch, programs, flatten=True):
        matrix = (index // (tiles_m * tiles_n)).to(tl.int64)
        tile = index % (tiles_m * tiles_n)
        first = tile // (group_m * tiles_n) * group_m
        height = tl.minimum(tiles_m - first, group_m)
        within = tile % (group_m * tiles_n)
        rows = (first + within % height) * block_m + tl.arange(0, block_m)
        columns = within // height * block_n + tl.arange(0, block_n)
        # Beyond the edges other rows and columns are read, and their products are not stored.
        a_rows = a + matrix * a_batch + (rows % m).to(tl.int64)[:, None] * a_row
        b_columns = b + matrix * b_batch + (columns % n).to(tl.int64)[None, :] * b_column
        product = tl.zeros((block_m, block_n), tl.float32)
        for begin in range(0, k, block_k):
            terms = (begin + deep).to(tl.int64)
            left = tl.load(a_rows + terms[None, :] * a_column, mask=terms[None, :] < k, other=0.0)
            right = tl.load(b_columns + terms[:, None] * b_row, mask=terms[:, None] < k, other=0.0)
            product = tl.dot(left, right, product)
        target = d + matrix * d_batch + rows.to(tl.int64)[:, None] * d_row + columns[None, :]
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        tl.store(target, (alpha * product).to(d.dtype.element_ty), mask=inside)
