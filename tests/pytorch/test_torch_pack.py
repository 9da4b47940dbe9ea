"""pack in PyTorch: its codes are those of a plain expression, and gemv takes them."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")


def test_codes_are_those_of_the_plain_expression():
    torch.manual_seed(0)
    weight, x = torch.randn(7, 64), torch.randn(3, 64)
    codes, scales = autotune_torch.pack(weight, "int4", 32)
    groups = weight.view(7, 2, 32)
    expected = groups.abs().amax(-1) / 7
    assert torch.equal(scales, expected)
    q = (groups * expected.reciprocal()[..., None]).round()
    pairs = (q + 8).to(torch.uint8).view(7, 32, 2)
    assert torch.equal(codes, pairs[..., 0] | pairs[..., 1] << 4)
    y = autotune_torch.gemv(x, codes, scales=scales, group_size=32)
    torch.testing.assert_close(y, x @ (q * expected[..., None]).view(7, 64).T, rtol=1e-5, atol=1e-5)


def test_float8_codes_are_those_of_pytorchs_conversion():
    weight = torch.linspace(-1, 1, 60).view(4, 15)
    codes, scales = autotune_torch.pack(weight, "fp8", 0, scale_dtype=torch.float16)
    expected = (weight.abs().amax(-1, keepdim=True) / 448).half()
    assert torch.equal(scales, expected)
    plain = (weight * expected.float().reciprocal()).clamp(-448, 448).to(torch.float8_e4m3fn)
    assert torch.equal(codes.view(torch.uint8), plain.view(torch.uint8))
