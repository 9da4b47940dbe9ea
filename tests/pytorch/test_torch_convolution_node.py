"""The autograd node of convolutions: what it records, saves and computes, whatever lies ahead of it and behind it."""

import gc
import weakref

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
from autotune.dispatcher.calls.function import Dispatched  # noqa: E402

functional = torch.nn.functional
SHAPES = {"x": (2, 4, 5, 6), "weight": (8, 4, 3, 3), "bias": (8,), "residual": (2, 8, 5, 6)}


def random(*shape, channels_last=True):
    torch.manual_seed(sum(shape))
    numbers = torch.rand(*shape) * 2 - 1
    return numbers.to(memory_format=torch.channels_last) if channels_last and len(shape) == 4 else numbers


def operands(channels_last=True):
    return {name: random(*shape, channels_last=channels_last) for name, shape in SHAPES.items()}


def convolved(x, weight, bias=None, residual=None):
    """By PyTorch."""
    found = functional.conv2d(x, weight, bias, padding=1)
    return found if residual is None else found + residual


def assert_same(found, truth):
    torch.testing.assert_close(found, truth, rtol=1e-5, atol=1e-4)


def test_a_call_is_one_node():
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    found = autotune_torch.conv2d(x, weight, padding=1)
    leaves = [node.variable for node, _ in found.grad_fn.next_functions if node is not None]
    assert len(leaves) == 2
    assert leaves[0] is x
    assert leaves[1] is weight


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize(
    "wanted", [("x",), ("weight",), ("bias",), ("residual",), ("x", "bias"), ("weight", "residual"), tuple(SHAPES)]
)
def test_inputs_that_require_a_gradient_get_theirs_alone(wanted, channels_last):
    given = operands(channels_last)
    for name in wanted:
        given[name].requires_grad_()
    weights = random(2, 8, 5, 6, channels_last=channels_last)
    results = [call(**given) for call in (lambda **some: autotune_torch.conv2d(**renamed(some), padding=1), convolved)]
    gradients, truths = (torch.autograd.grad(one, [given[name] for name in wanted], weights) for one in results)
    for gradient, truth in zip(gradients, truths, strict=True):
        assert_same(gradient, truth)
    backward = autotune_torch.conv2d(**renamed(given), padding=1).grad_fn
    assert sum(node is not None for node, _ in backward.next_functions) == len(wanted)


def renamed(given):
    return {"input" if name == "x" else name: tensor for name, tensor in given.items()}


@pytest.mark.parametrize(("wanted", "operator"), [("x", "Conv2dInputProblem"), ("weight", "Conv2dWeightProblem")])
def test_only_gradients_that_are_needed_are_computed(problems, wanted, operator):
    given = operands()
    given[wanted].requires_grad_()
    autotune_torch.conv2d(**renamed(given), padding=1).sum().backward()
    assert [type(problem).__name__ for problem in problems] == ["Conv2dProblem", operator]


def test_gradients_lie_in_memory_as_their_inputs_do():
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    for _ in range(2):  # by the slow path, and by the fast one
        x.grad = weight.grad = None
        autotune_torch.conv2d(x, weight, padding=1).backward(random(2, 8, 5, 6))
        assert x.grad.stride() == x.stride()
        assert weight.grad.stride() == weight.stride()


@pytest.mark.parametrize("kind", ["row-major", "expanded", "sliced"])
def test_a_gradient_may_have_any_strides(kind):
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    gradient = {
        "row-major": random(2, 8, 5, 6, channels_last=False),
        "expanded": torch.ones(()).expand(2, 8, 5, 6),
        "sliced": random(2, 16, 5, 6)[:, ::2],
    }[kind]
    results = autotune_torch.conv2d(x, weight, padding=1), convolved(x, weight)
    found, truth = (torch.autograd.grad(one, (x, weight), gradient) for one in results)
    for one, other in zip(found, truth, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("activation", ["identity", "silu"])
def test_what_hooks_make_of_saved_tensors_may_have_other_strides(activation):
    given = {name: tensor.requires_grad_() for name, tensor in operands().items()}
    with torch.autograd.graph.saved_tensors_hooks(lambda one: one.contiguous().clone(), lambda one: one):
        found = autotune_torch.conv2d(**renamed(given), padding=1, activation=activation)
    truth = getattr(functional, activation, torch.nn.Identity())(convolved(given["x"], given["weight"], given["bias"]))
    weights = random(2, 8, 5, 6)
    for one, other in zip(
        torch.autograd.grad(found, list(given.values()), weights),
        torch.autograd.grad(truth + given["residual"], list(given.values()), weights),
        strict=True,
    ):
        assert_same(one, other)


def test_what_is_changed_in_place_has_no_gradient_any_more():
    x, weight = random(2, 4, 5, 6), random(8, 4, 3, 3).requires_grad_()
    found = autotune_torch.conv2d(x, weight, padding=1)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.sum().backward()


def penalty(result, *inputs):
    """Derivatives of the squares of gradients."""
    gradients = torch.autograd.grad(result.square().sum(), inputs, create_graph=True)
    return torch.autograd.grad(sum(one.square().sum() for one in gradients), inputs)


@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_are_differentiated_again(groups):
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4 // groups, 3, 3).requires_grad_()
    found, truth = (
        penalty(module.conv2d(x, weight, padding=1, groups=groups), x, weight)
        for module in (autotune_torch, functional)
    )
    for one, other in zip(found, truth, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-2)


def test_those_of_an_activation_are_not():
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="map"):
        penalty(autotune_torch.conv2d(x, weight, padding=1, activation="gelu"), x, weight)


def test_options_may_be_lists():
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    options = {"stride": [2, 1], "padding": [1, 0], "dilation": [1, 2]}
    results = autotune_torch.conv2d(x, weight, **options), functional.conv2d(x, weight, **options)
    found, truth = (torch.autograd.grad(one.square().sum(), (x, weight)) for one in results)
    for one, other in zip(found, truth, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_where_nothing_is_recorded_nothing_is_kept(mode):
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    with mode():
        found = autotune_torch.conv2d(x, weight, padding=1)
    assert found.grad_fn is None
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert_same(found, convolved(x, weight).detach())


def test_a_call_like_one_before_is_neither_resolved_anew_nor_copied(monkeypatch):
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    gradient = random(2, 8, 5, 6)

    def step():
        return torch.autograd.grad(autotune_torch.conv2d(x, weight, padding=1), (x, weight), gradient)

    first = step()
    monkeypatch.setattr(Dispatched, "prepare", None)
    monkeypatch.setattr(torch.Tensor, "movedim", None)
    for one, other in zip(step(), first, strict=True):
        assert_same(one, other)


def test_a_graph_is_freed_with_its_result():
    # Without garbage collection: a node of a leaf that lives on breaks the capture of a training step.
    x, weight = random(2, 4, 5, 6).requires_grad_(), random(8, 4, 3, 3).requires_grad_()
    gc.disable()
    try:
        found = autotune_torch.conv2d(x, weight, padding=1)
        found.sum().backward()
        left = weakref.ref(x), weakref.ref(weight)
        del x, weight, found
        assert [one() for one in left] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("images", "filters"), [((4, 6), (8, 4, 3, 3)), ((4, 5, 6, 7, 8), (8, 4, 3, 3)), ((2, 4, 5, 6), (8, 4))]
)
def test_tensors_of_other_axes_are_refused(images, filters):
    with pytest.raises(ValueError, match="expected 4 axes"):
        autotune_torch.conv2d(torch.ones(images), torch.ones(filters))
