"""PyTorch's scaled_dot_product_attention by autotune.torch: results are PyTorch's, by whichever way."""

from itertools import starmap

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")

SHAPES = ((2, 4, 7, 24), (2, 2, 9, 24), (2, 2, 9, 16))


def operands(shapes=SHAPES, dtype=torch.bfloat16):
    torch.manual_seed(1)
    return [torch.randn(shape).to(dtype) for shape in shapes]


def both(tensors, **options):
    options = {"enable_gqa": True, **options}
    functions = autotune_torch.scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention
    return [function(*tensors, **options) for function in functions]


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.25}])
def test_attention_computes_what_pytorch_would(problems, options):
    found, expected = both(operands(), **options)
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    assert found.transpose(1, 2).is_contiguous()
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("shapes", "dtype", "options"),
    [
        (SHAPES, torch.float32, {}),
        (SHAPES, torch.bfloat16, {"attn_mask": torch.ones(7, 9, dtype=torch.bool).tril()}),
        (SHAPES, torch.bfloat16, {"scale": 0.0}),
        (SHAPES, torch.bfloat16, {"scale": -1.0}),
        (((4, 7, 24), (4, 9, 24), (4, 9, 16)), torch.bfloat16, {"enable_gqa": False}),
        (((2, 4, 7, 24), (1, 4, 9, 24), (1, 4, 9, 16)), torch.bfloat16, {"enable_gqa": False}),
    ],
)
def test_pytorch_computes_what_attention_does_not(problems, shapes, dtype, options):
    found, expected = both(operands(shapes, dtype), **options)
    assert torch.equal(found, expected)
    assert not problems


def test_gradients_are_recorded():
    tensors = [tensor.requires_grad_() for tensor in operands()]
    gradients = [torch.autograd.grad(o.sum(), tensors) for o in both(tensors)]
    assert all(starmap(torch.equal, zip(*gradients, strict=True)))


def test_heads_that_differ_are_refused_as_pytorch_does():
    with pytest.raises(RuntimeError):
        autotune_torch.scaled_dot_product_attention(*operands())


def test_a_compiled_program_has_it_whole(problems):
    compiled = torch.compile(
        lambda q, k, v: autotune_torch.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        fullgraph=True,
        backend="aot_eager",
    )
    torch.testing.assert_close(compiled(*operands()), both(operands())[0])
