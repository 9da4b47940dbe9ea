"""Every operator in PyTorch, on the CPU and on a GPU: its contract, its gradients, and one graph for the compiler."""

import pytest

from autotune.bench.dispatch.example_call import example_call, problem_of_sizes
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role
from autotune.search_spaces.contract.registry import OPERATORS

torch = pytest.importorskip("torch")
functions = pytest.importorskip("autotune.torch.operators").functions
CALLED = [name for name, stated in OPERATORS.items() if stated.call]
# Every operator as its example calls it, and with options by which it is another computation.
CALLS = [(name, {}) for name in CALLED] + [
    ("map", {"function": "gelu"}),
    ("gemm", {"activation": "silu", "packed": "interleaved"}),
    ("map", {"function": "silu", "packed": "halves"}),
    ("reduce", {"op": "l2", "dim": 0}),
    ("reduce", {"op": "min", "dim": None}),
    ("softmax", {"temperature": 0.5}),
    ("softmax", {"log": True, "temperature": 2.0}),
    ("softmax", {"causal": True, "causal_offset": -1, "zero_rows": True}),
    ("softmax_backward", {"log": True, "scale": 0.5}),
    ("dropout", {"p": 0.25, "offset": 3}),
    ("rope", {"interleaved": True, "offset": 3}),
    ("rms_norm", {"weight_offset": 1.0}),
    ("conv2d", {"stride": (2, 1), "padding": (1, 3), "dilation": (1, 2), "activation": "silu", "alpha": 0.5}),
    ("cross_entropy", {"label_smoothing": 0.1, "lse_square_scale": 0.01, "softcap": 5.0}),
]
BACKENDS = {"cpu": "aot_eager", "cuda": "inductor"}

pytestmark = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
called = pytest.mark.parametrize(("name", "options"), CALLS)
# Differences of 16-bit numbers are no gradients: these have tests of their own.
_OF_16_BITS = ("gemm", "attention", "attention_varlen", "causal_conv1d")
differentiable = pytest.mark.parametrize(
    ("name", "options"),
    [call for call in CALLS if OPERATORS[call[0]].derivative and call[0] not in _OF_16_BITS],
)


def arguments(name, options, device):
    """Those of a small call, by name; its inputs require gradients as far as they can."""
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA; torch is needed with it")
    problem = problem_of_sizes(OPERATORS[name].problem_type, lambda *_: 8)
    example, inputs = example_call(OPERATORS[name], problem), problem.inputs(seed=0)
    torch.manual_seed(0)
    given = {
        array: _tensor(inputs[tensor.name]).reshape(example.shape(array)).to(device)
        for array, tensor in example.tensors.items()
        if tensor.role is not Role.OUTPUT
    }
    for tensor in given.values():
        tensor.requires_grad_(tensor.is_floating_point() and OPERATORS[name].derivative is not None)
    plain = {option: _plain(value) for option, value in example.options.items()}
    return given | plain | dict(example.scalars) | options


def _tensor(array):
    """Signed integers, such as indices, and pixels as they are; all others have gradients, or are of 16 bits."""
    if array.dtype.kind == "i" or array.dtype.name == "uint8":
        return torch.from_numpy(array)
    narrow = array.dtype.name in ("bfloat16", "float16")
    return (torch.rand(array.shape) * 2 - 1).to(getattr(torch, array.dtype.name) if narrow else torch.float32)


def _plain(value):
    """An option as PyTorch knows it."""
    return getattr(torch, value) if isinstance(value, DType) else str(value) if isinstance(value, str) else value


def tracked(given):
    """The inputs that require gradients."""
    return {name: value for name, value in given.items() if getattr(value, "requires_grad", False)}


@called
def test_it_keeps_pytorchs_contract(name, options, device):
    torch.library.opcheck(getattr(torch.ops.autotune, name).default, (), arguments(name, options, device))


@differentiable
@pytest.mark.filterwarnings("ignore:Input #")  # single precision will do: steps are long
def test_its_gradients_are_those_of_finite_differences(name, options, device):
    given = arguments(name, options, device)
    inputs = tracked(given)

    def function(*values):
        return functions[name](**given | dict(zip(inputs, values, strict=True)))

    torch.autograd.gradcheck(function, tuple(inputs.values()), eps=1e-2, atol=2e-3, rtol=2e-3, fast_mode=True)


@called
def test_the_compiler_keeps_it_in_one_graph(name, options, device):
    given = arguments(name, options, device)
    updates = [update for update in OPERATORS[name].call.updates if update in given]

    def function(**values):
        values |= {name: values[name].clone() for name in updates}
        outputs = functions[name](**values)
        outputs = tuple(values[name] for name in updates) if outputs is None else outputs
        return [2 * output for output in (outputs if isinstance(outputs, tuple) else (outputs,))]

    torch.compiler.reset()
    found, expected = torch.compile(function, fullgraph=True, backend=BACKENDS[device])(**given), function(**given)
    torch.testing.assert_close(found, expected)
    if inputs := tuple(tracked(given).values()):
        totals = (sum(output.square().sum() for output in outputs) for outputs in (found, expected))
        torch.testing.assert_close(*(torch.autograd.grad(total, inputs) for total in totals))
