"""autotune.torch on the CPU: schemas, and what sgemm, gemv, transpose and the norms have beside other operators."""

import inspect
from typing import Any

import pytest

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import Call
from autotune.search_spaces.contract.registry import OPERATORS

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
schema = pytest.importorskip("autotune.torch.schema").schema
CALLED = [name for name, stated in OPERATORS.items() if stated.call]
SHAPES = [
    ((5, 33), (33, 7)),
    ((3, 5, 33), (3, 33, 7)),
    ((3, 5, 33), (33, 7)),
    ((5, 33), (3, 33, 7)),
    ((1, 5, 2), (2, 7)),
    ((2, 3, 5, 33), (2, 3, 33, 7)),
    ((2, 3, 5, 33), (33, 7)),
]


def random(*shape, requires_grad=True):
    torch.manual_seed(sum(shape))
    return (torch.rand(*shape) * 2 - 1).requires_grad_(requires_grad)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_operator_keeps_pytorchs_contract(a, b):
    torch.library.opcheck(torch.ops.autotune.sgemm.default, (random(*a), random(*b)))


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_are_those_of_matmul(a, b, transposed):
    inputs = [random(*shape) for shape in (a, b)]
    if transposed:
        inputs = [tensor.detach().mT.contiguous().mT.requires_grad_() for tensor in inputs]
    outputs = [multiply(*inputs) for multiply in (autotune_torch.sgemm, torch.matmul)]
    assert outputs[0].shape == outputs[1].shape
    weights = random(*outputs[0].shape, requires_grad=False)
    for reduce in (lambda c: c.sum(), lambda c: (c * weights).sum(), lambda c: (c.mT * weights.mT).sum()):
        found, expected = (torch.autograd.grad(reduce(c), inputs, retain_graph=True) for c in outputs)
        for gradient, truth in zip(found, expected, strict=True):
            torch.testing.assert_close(gradient, truth, rtol=1e-5, atol=1e-4)


def test_a_shared_matrix_gets_its_gradient_by_one_product(problems):
    a, b = random(3, 5, 33, requires_grad=False), random(33, 7)
    autotune_torch.sgemm(a, b).sum().backward()
    assert [(problem.batch, problem.m, problem.n, problem.k) for problem in problems] == [(3, 5, 7, 33), (1, 33, 7, 15)]


@pytest.mark.parametrize("by_input", [False, True])
def test_gradients_of_weights_are_stored_as_the_weights(by_input):
    """PyTorch copies gradients of parameters that are not."""
    layer = autotune_torch.Linear(24, 9, bias=False)
    layer = layer.store_by_input() if by_input else layer
    layer(random(5, 24)).sum().backward()
    assert layer.weight.grad.stride() == layer.weight.stride()
    a, b = random(24, 5).detach().mT.requires_grad_(), random(24, 9)
    of_a, of_b = torch.autograd.grad(autotune_torch.sgemm(a, b).sum(), (a, b))
    assert (of_a.stride(), of_b.stride()) == (a.stride(), b.stride())


def test_a_second_derivative_is_that_of_matmul():
    a, b = random(5, 8), random(8, 7)

    def second(multiply):
        (first,) = torch.autograd.grad((multiply(a, b) ** 2).sum(), a, create_graph=True)
        return torch.autograd.grad((first**2).sum(), b)[0]

    torch.testing.assert_close(second(autotune_torch.sgemm), second(torch.matmul), rtol=1e-4, atol=1e-3)


def test_without_gradients_the_dispatcher_is_called_at_once(problems, monkeypatch):
    monkeypatch.setattr(torch.ops.autotune, "sgemm", None)
    with torch.no_grad():
        assert autotune_torch.sgemm(random(5, 33), random(33, 7)).shape == (5, 7)
    assert len(problems) == 1


def trained(linear, dtype):
    """The losses of a small model on a fixed task."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(linear(8, 16), torch.nn.Tanh(), linear(16, 4, bias=False)).to(dtype)
    x, y = torch.rand(2, 20, 8).to(dtype), torch.rand(2, 20, 4).to(dtype)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(10):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)])
def test_a_model_trains_to_the_same_loss(dtype, tolerance):
    losses = trained(autotune_torch.Linear, dtype)
    assert losses == pytest.approx(trained(torch.nn.Linear, dtype), rel=tolerance)
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_layer_whose_weights_are_stored_by_input_is_the_same(dtype):
    layer, plain = autotune_torch.Linear(24, 9, dtype=dtype), torch.nn.Linear(24, 9, dtype=dtype)
    plain.load_state_dict(layer.store_by_input().state_dict())
    assert layer.weight.stride() == (1, 9)
    assert isinstance(layer.weight, torch.nn.Parameter)
    x = torch.rand(5, 24).to(dtype)
    torch.testing.assert_close(layer(x), plain(x), rtol=2e-3, atol=2e-3)
    for one in (layer, plain):
        one(x).sum().backward()
    torch.testing.assert_close(layer.weight.grad, plain.weight.grad, rtol=2e-3, atol=2e-3)


def test_a_scaled_product_has_scaled_gradients():
    inputs = random(5, 33), random(33, 7)
    outputs = autotune_torch.sgemm(*inputs, alpha=0.5), 0.5 * torch.matmul(*inputs)
    found, expected = (torch.autograd.grad(c.square().sum(), inputs) for c in outputs)
    for gradient, truth in zip(found, expected, strict=True):
        torch.testing.assert_close(gradient, truth, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("activation", FUSED)
@pytest.mark.parametrize(("x", "w"), [((3, 33), (7, 33)), ((33,), (7, 33)), ((2, 3, 5), (2, 4, 5))])
def test_a_gemv_has_the_gradients_of_a_linear_layer(activation, x, w):
    inputs = random(*x), random(*w), random(w[-2])
    found = autotune_torch.gemv(*inputs, activation=str(activation), alpha=0.5)
    z = 0.5 * torch.matmul(inputs[0], inputs[1].mT) + inputs[2]
    expected = {
        Activation.IDENTITY: lambda: z,
        Activation.RELU: z.relu,
        Activation.GELU: lambda: torch.nn.functional.gelu(z),
        Activation.GELU_TANH: lambda: torch.nn.functional.gelu(z, approximate="tanh"),
        Activation.SILU: lambda: torch.nn.functional.silu(z),
    }[activation]()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    gradients, truths = (torch.autograd.grad(y.square().sum(), inputs) for y in (found, expected))
    for gradient, truth in zip(gradients, truths, strict=True):
        torch.testing.assert_close(gradient, truth, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 33), (2, 3, 5)])
def test_transpose_is_differentiable(shape):
    a = random(*shape)
    torch.library.opcheck(torch.ops.autotune.transpose.default, (a,))
    for reduce in (lambda b: b.sum(), lambda b: (b * b.detach()).sum(), lambda b: (b.mT * a.detach()).sum()):
        found, expected = (torch.autograd.grad(reduce(b), a)[0] for b in (autotune_torch.transpose(a), a.mT))
        torch.testing.assert_close(found, expected)


def shifted(  # the schema follows from its annotations
    x: Any, mask: Any = None, dim: tuple[int, ...] | int | None = None, dtype: DType | None = None, *,
    by: float = 1.5, seed: int = 0, mode: str = "all", keep: bool = False, out: Any = None, stream: Any = None,
) -> Any:  # fmt: skip
    """A call with parameters of all kinds."""


@pytest.mark.parametrize(("outputs", "returned"), [(("out",), "Tensor"), (("values", "indices"), "(Tensor, Tensor)")])
def test_the_schema_is_that_of_the_declaration(outputs, returned):
    call = Call(shifted, ("x", "mask"), outputs, types=dict, bind=dict, scalars=("by", "seed"), optional=("mask",))
    assert schema(call) == (
        "(Tensor x, Tensor? mask=None, int[1]? dim=None, ScalarType? dtype=None, float by=1.5, int seed=0, "
        f'str mode="all", bool keep=False) -> {returned}'
    )
    assert torch._C.parse_schema(f"autotune::shifted{schema(call)}").name == "autotune::shifted"


def test_gradients_of_plain_tensors_do_not_go_by_pytorchs_dispatcher():
    """Its way takes longer on the host."""
    inputs = random(2, 3), random(3, 4)
    by_us, by_pytorch = (f(*inputs).grad_fn for f in (autotune_torch.sgemm, torch.ops.autotune.sgemm))
    assert type(by_us).__name__ == "sgemmBackward"
    assert "Generated" in type(by_pytorch).__name__


def test_every_operator_with_a_call_is_registered():
    assert CALLED
    for name in CALLED:
        assert getattr(torch.ops.autotune, name)
        assert getattr(autotune_torch, name).__name__ == name
    assert str(inspect.signature(autotune_torch.sgemm)) == "(a: Any, b: Any, *, alpha: float = 1.0)"
    with pytest.raises(AttributeError, match="no attribute 'geqrf'"):
        autotune_torch.geqrf  # noqa: B018


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 4e-3)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_a_norm_has_the_gradients_of_pytorchs(name, affine, dtype, tolerance):
    x = random(2, 3, 4, 10).detach().to(dtype).requires_grad_()
    factors = [random(4, 10).detach().to(dtype).requires_grad_() for _ in range(2 if name == "layer_norm" else 1)]
    inputs = [x, *factors] if affine else [x]
    results = [
        getattr(module, name)(x, (4, 10), *inputs[1:], eps=0.1) for module in (autotune_torch, torch.nn.functional)
    ]
    torch.testing.assert_close(*results, rtol=tolerance, atol=tolerance)
    weights = random(4, 10, requires_grad=False).to(dtype)
    for reduce in (lambda y: y.square().sum(), lambda y: (y * weights).sum(), lambda y: y.sum()):
        gradients, truths = (torch.autograd.grad(reduce(y), inputs, retain_graph=True) for y in results)
        for gradient, truth in zip(gradients, truths, strict=True):
            torch.testing.assert_close(gradient, truth, rtol=tolerance, atol=10 * tolerance)
