"""The package kernels puts forwards of this project in place of a model's own; results are those of before."""

from pathlib import Path

import pytest
from test_transformers import MODELS, TOKENS, model_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
kernels = pytest.importorskip("kernels", reason="PyTorch's kernels of the hub: torch needs the package kernels")
ours = pytest.importorskip("autotune.transformers")
layers = pytest.importorskip("autotune.transformers.layers")

ROTARY = {"Llama": layers.Rotary, "GptOss": layers.RotaryByHalfTables}


@pytest.mark.parametrize("name", ROTARY)
def test_layers_are_replaced_and_learn_as_before(name):
    model, tokens = model_of(name, MODELS[name]), torch.tensor(TOKENS)
    expected = model(tokens).logits
    chosen = ours.kernel_config(model).kernel_mapping
    mapping = {}
    for registered, repository in chosen.items():
        folder, layer = repository.split(":")
        mapping[registered] = {"cpu": kernels.LocalLayerRepository(Path(folder), layer_name=layer)}
    with kernels.use_kernel_mapping(mapping, inherit_mapping=False):
        kernels.kernelize(model, mode=kernels.Mode.TRAINING | kernels.Mode.TORCH_COMPILE, device="cpu")
    attention = model.model.layers[0].self_attn
    (rotary,) = attention._kernel_funcs.values()
    assert rotary.forward.__func__ is ROTARY[name].forward
    assert model.model.norm.forward.__func__ is layers.RMSNorm.forward
    if name == "Llama":
        assert model.model.layers[0].mlp.act_fn.forward.__func__ is layers.SiLU.forward
    found = model(tokens).logits
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=1e-2)
    found.float().sum().backward()
    assert attention.q_proj.weight.grad.abs().sum() > 0
    kernels.kernelize(model, mode=kernels.Mode.TRAINING, device="cpu")  # without a mapping: what all models share again
    assert torch.equal(model(tokens).logits, expected)


@pytest.mark.parametrize(("layer", "function"), [("SiLU", "silu"), ("GeLU", "gelu"), ("GeluTanh", "gelu_pytorch_tanh")])
def test_activations_are_those_of_transformers(layer, function):
    own = transformers.activations.ACT2FN[function]
    assert own.kernel_layer_name == layer
    x = torch.linspace(-4, 4, 33)
    torch.testing.assert_close(getattr(layers, layer).forward(own, x), own(x))


def test_a_model_without_such_layers_is_refused():
    with pytest.raises(ValueError, match="none; expected some of"):
        ours.kernel_config(torch.nn.Sequential(torch.nn.Linear(2, 2)))
