"""FlashAttention's attention with a cache by autotune.torch: what PyTorch computes of the same keys in order."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")

LENGTHS, NEW, PAGE, COLUMNS = (5, 0, 9), 2, 4, 3


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_new_keys_are_appended_and_seen(paged, causal):
    torch.manual_seed(0)
    batch, room = len(LENGTHS), PAGE * COLUMNS
    q, k, v = (torch.randn(batch, NEW, heads, 16).half() for heads in (4, 2, 2))
    in_order = [torch.randn(batch, room, 2, 16).half() for _ in range(2)]
    table = torch.randperm(batch * COLUMNS).reshape(batch, COLUMNS).int()
    caches = [one.clone() for one in in_order]
    if paged:
        caches = [torch.full((batch * COLUMNS, PAGE, 2, 16), torch.nan).half() for _ in range(2)]
        for cache, rows in zip(caches, in_order, strict=True):
            cache[table.long()] = rows.reshape(batch, COLUMNS, PAGE, 2, 16)
    lengths = torch.tensor(LENGTHS, dtype=torch.int32)
    o, lse = autotune_torch.flash_attn_with_kvcache(
        *(q, *caches, k, v),
        cache_seqlens=lengths,
        block_table=table if paged else None,
        causal=causal,
        return_softmax_lse=True,
    )
    for request, length in enumerate(LENGTHS):
        keys, values = (
            torch.cat([rows[request, :length], new[request]]).repeat_interleave(2, 1).transpose(0, 1).float()
            for rows, new in zip(in_order, (k, v), strict=True)
        )
        mask = torch.ones(NEW, length + NEW, dtype=torch.bool).tril(length) if causal else None
        expected = torch.nn.functional.scaled_dot_product_attention(
            q[request].transpose(0, 1).float(), keys, values, mask
        )
        torch.testing.assert_close(o[request].transpose(0, 1).float(), expected, rtol=1e-2, atol=1e-2)
    assert lse.shape == (batch, 4, NEW) and lse.isfinite().all()
    again = autotune_torch.flash_attn_with_kvcache(
        q, *caches, cache_seqlens=lengths + NEW, block_table=table if paged else None, causal=causal
    )
    assert torch.equal(again, o)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.int8])
@pytest.mark.parametrize("shape", [(1,), (2,), (3, 12, 2)])
def test_caches_of_codes(dtype, shape):
    """Keys and values become codes as they are appended, with scales that are given, or with their own."""
    torch.manual_seed(0)
    batch, new = len(LENGTHS), PAGE * COLUMNS
    q, k, v = (torch.randn(batch, new, heads, 16).half() for heads in (4, 2, 2))
    caches = [torch.zeros(batch, new, 2, 16).to(dtype) for _ in range(2)]
    scales = [torch.full(shape, 1.0 if dtype == torch.float8_e4m3fn else 1 / 32) for _ in range(2)]
    o = autotune_torch.flash_attn_with_kvcache(
        *(q[:, :1], *caches, k, v),
        cache_seqlens=0,
        k_descale=scales[0],
        v_descale=scales[1],
    )
    k, v = (one.float().repeat_interleave(2, 2).transpose(1, 2) for one in (k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(q[:, :1].transpose(1, 2).float(), k, v)
    torch.testing.assert_close(o.transpose(1, 2).float(), expected, rtol=0.1, atol=0.05)


@pytest.mark.parametrize("columns", [None, 4])
def test_flashinfers_pages_become_a_table(columns):
    """Of requests with none, one and several; the last pages are whole, or have one key."""
    numbers = {"dtype": torch.int32}
    indptr, last = torch.tensor([0, 0, 1, 4, 4, 6], **numbers), torch.tensor([0, 4, 1, 0, 3], **numbers)
    indices = torch.tensor([7, 2, 9, 4, 0, 5], **numbers)
    table, lengths = autotune_torch.block_table(indptr, indices, last, 4, columns)
    expected = [[0, 0, 0], [7, 0, 0], [2, 9, 4], [0, 0, 0], [0, 5, 0]]
    assert table.tolist() == [row + [0] * ((columns or 3) - 3) for row in expected]
    assert lengths.tolist() == [0, 4, 9, 0, 7] and table.dtype == lengths.dtype == torch.int32
    nothing, none = autotune_torch.block_table(indptr[:1], indices[:0], last[:0], 4, columns)
    assert nothing.shape == (0, columns or 0) and none.shape == (0,)
