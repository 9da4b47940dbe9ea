"""PyTorch's scaled_dot_product_attention by autotune.torch: results are PyTorch's, by whichever way."""

import pytest

from autotune import fragments
from autotune.fragments import tanh

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


@pytest.mark.parametrize("options", [{}, {"is_causal": True, "scale": 0.25}])
def test_gradients_are_those_of_pytorch(problems, options):
    tensors = [tensor.requires_grad_() for tensor in operands()]
    direction = torch.randn(2, 4, 7, 16).bfloat16()
    gradients = [torch.autograd.grad(o, tensors, direction) for o in both(tensors, **options)]
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, rtol=2e-2, atol=3e-2)
    assert len(problems) == 2


def test_gradients_are_deterministic_where_pytorch_is_told_so(problems):
    tensors = [tensor.requires_grad_() for tensor in operands()]
    torch.use_deterministic_algorithms(True)
    try:
        autotune_torch.scaled_dot_product_attention(*tensors, enable_gqa=True).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    assert problems[-1].deterministic


def test_scores_and_masks_are_fragments(problems):
    functions = {
        "score_mod": lambda score, batch, head, q, k: score + 0.125 * (k - q),
        "mask_mod": lambda batch, head, q, k: k != 2,
        "enable_gqa": True,
    }
    tensors = operands()
    found = autotune_torch.scaled_dot_product_attention(*tensors, **functions)
    bias = 0.125 * (torch.arange(9) - torch.arange(7)[:, None])
    bias[:, 2] = -torch.inf
    expected = torch.nn.functional.scaled_dot_product_attention(*tensors, bias.bfloat16(), enable_gqa=True)
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    assert [problem.mask for problem in problems] == ["ne(k,2)"]
    with pytest.raises(ValueError, match="expected a call that attention serves"):
        autotune_torch.scaled_dot_product_attention(*operands(dtype=torch.float32), **functions)
    for tensor in tensors:
        tensor.requires_grad_()
    direction = torch.randn(found.shape).bfloat16()
    recorded = autotune_torch.scaled_dot_product_attention(*tensors, **functions)
    gradients = torch.autograd.grad(recorded, tensors, direction)
    expected = torch.nn.functional.scaled_dot_product_attention(*tensors, bias.bfloat16(), enable_gqa=True)
    for own, other in zip(gradients, torch.autograd.grad(expected, tensors, direction), strict=True):
        torch.testing.assert_close(own, other, rtol=2e-2, atol=3e-2)


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


def test_packed_sequences_have_gradients_through_fragments(problems):
    offsets = torch.tensor([0, 5, 5, 14], dtype=torch.int32)
    tensors = [tensor.requires_grad_() for tensor in operands(((14, 4, 24), (14, 2, 24), (14, 2, 16)))]
    found = autotune_torch.attention_varlen(
        *tensors,
        offsets,
        causal=True,
        score=fragments.score(lambda score, batch, head, q, k: 3 * tanh(score / 3) + 0.125 * batch * (k - q)),
        mask=fragments.mask(lambda batch, head, q, k: (k != 2) | (q == 2)),
    )
    parts = []
    for sequence, own in ((0, slice(0, 5)), (2, slice(5, 14))):
        q, k, v = (tensor[own].float().transpose(0, 1) for tensor in tensors)
        places = torch.arange(q.shape[1])
        query, key = places[:, None], places[None]
        scores = q @ k.repeat_interleave(2, 0).transpose(1, 2) / 24**0.5
        scores = 3 * torch.tanh(scores / 3) + 0.125 * sequence * (key - query)
        seen = (key <= query) & ((key != 2) | (query == 2))
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        parts.append((weights @ v.repeat_interleave(2, 0)).transpose(0, 1))
    expected = torch.cat(parts)
    torch.testing.assert_close(found.float(), expected, rtol=2e-2, atol=2e-2)
    direction = torch.randn(14, 4, 16)
    gradients = torch.autograd.grad(found, tensors, direction.bfloat16())
    for one, other in zip(gradients, torch.autograd.grad(expected, tensors, direction), strict=True):
        torch.testing.assert_close(one, other, rtol=2e-2, atol=3e-2)
    assert [problem.score != "" and problem.mask != "" for problem in problems] == [True, True]


@pytest.mark.parametrize("window", [(-1, -1), (-1, 0), (3, 0), (2, 4)])
@pytest.mark.parametrize("same", [True, False])
def test_packed_sequences_attend_to_their_own_keys(problems, window, same):
    of_queries = torch.tensor([0, 5, 5, 14], dtype=torch.int32)
    of_keys = of_queries if same else torch.tensor([0, 7, 9, 21], dtype=torch.int32)
    shapes = (14, 4, 24), (int(of_keys[-1]), 2, 24), (int(of_keys[-1]), 2, 16)
    q, k, v = tensors = [tensor.requires_grad_() for tensor in operands(shapes)]
    found = autotune_torch.varlen_attn(q, k, v, of_queries, of_keys, 9, 12, window_size=window)
    parts = []
    for i in range(3):
        own, keys = slice(*of_queries[i : i + 2].tolist()), slice(*of_keys[i : i + 2].tolist())
        length, seen = own.stop - own.start, keys.stop - keys.start
        ahead = torch.arange(length)[:, None] + seen - length - torch.arange(seen)
        mask = (ahead <= (window[0] if window[0] >= 0 else 99)) & (-ahead <= (window[1] if window[1] >= 0 else 99))
        part = torch.nn.functional.scaled_dot_product_attention(
            *(x.transpose(0, 1) for x in (q[own], k[keys], v[keys])), mask, enable_gqa=True
        )
        parts.append(part.transpose(0, 1))
    expected = torch.cat(parts)
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    direction = torch.randn(14, 4, 16).bfloat16()
    gradients = [torch.autograd.grad(o, tensors, direction) for o in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-2, atol=3e-2)
    assert len(problems) == 2
