"""Models of transformers with ``attn_implementation="autotune"``: logits are those of their own attention."""

import importlib
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("autotune.transformers")

SIZES = {
    "vocab_size": 32,
    "hidden_size": 32,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "pad_token_id": 0,
}
WINDOWED = {"sliding_window": 3, "layer_types": ["sliding_attention", "full_attention"]}
MODELS = {
    "Llama": {},
    "Qwen3": {},
    "Gemma2": WINDOWED | {"attn_logit_softcapping": 2.0},
    "Gemma3": WINDOWED,
    "GptOss": WINDOWED | {"num_local_experts": 2, "num_experts_per_tok": 1},
}
TOKENS = [[5, 7, 1, 9, 3, 8, 2], [4, 4, 6, 1, 2, 3, 9]]


def model_of(name, fields):
    torch.manual_seed(0)
    text = "Text" if name == "Gemma3" else ""
    config = getattr(transformers, f"{name}{text}Config")(**SIZES, **fields)
    model = getattr(transformers, f"{name}ForCausalLM")(config).to(torch.bfloat16).eval()
    for parameter_name, parameter in model.named_parameters():
        if parameter_name.endswith("sinks"):
            parameter.data.normal_()
    return model


def both(model, **inputs):
    found = []
    for implementation in ("autotune", "eager"):
        model.set_attn_implementation(implementation)
        with torch.no_grad():
            found.append(model(**inputs))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_the_models_own_attention(problems, name):
    model, tokens = model_of(name, MODELS[name]), torch.tensor(TOKENS)
    found, expected = both(model, input_ids=tokens)
    torch.testing.assert_close(found.logits, expected.logits, rtol=5e-2, atol=5e-2)
    assert {problem.window_left for problem in problems} == ({0, 3} if "sliding_window" in MODELS[name] else {0})


@pytest.mark.parametrize("name", ["Llama", "Gemma2", "GptOss"])
def test_padding_is_not_seen(problems, name):
    model, tokens = model_of(name, MODELS[name]), torch.tensor(TOKENS)
    padding = torch.ones_like(tokens)
    padding[0, :2] = 0
    found, expected = both(model, input_ids=tokens, attention_mask=padding)
    seen = padding.bool()
    torch.testing.assert_close(found.logits[seen], expected.logits[seen], rtol=5e-2, atol=5e-2)
    assert not problems


@pytest.mark.parametrize("name", ["Llama", "Gemma3"])
def test_a_cache_is_read_to_its_end(problems, name):
    model, tokens = model_of(name, MODELS[name]), torch.tensor(TOKENS)
    several = []
    for implementation in ("autotune", "eager"):
        model.set_attn_implementation(implementation)
        with torch.no_grad():
            past = model(tokens[:, :4], use_cache=True).past_key_values
            several.append(model(tokens[:, 4:], past_key_values=past).logits)
    torch.testing.assert_close(*several, rtol=5e-2, atol=5e-2)
    assert {(problem.queries, problem.keys) for problem in problems} >= {(4, 4), (3, 7)}


@pytest.mark.parametrize("name", ["Llama", "Gemma2", "GptOss"])
def test_gradients_are_those_of_the_models_own_attention(name):
    model, tokens = model_of(name, MODELS[name]), torch.tensor(TOKENS)
    gradients = []
    for implementation in ("autotune", "eager"):
        model.set_attn_implementation(implementation)
        model.zero_grad()
        model(tokens).logits.float().square().sum().backward()
        gradients.append(model.model.layers[0].self_attn.q_proj.weight.grad.clone())
    torch.testing.assert_close(*gradients, rtol=1e-1, atol=1e-1)


@pytest.mark.parametrize("name", ["Llama", "Qwen3", "GptOss"])
def test_a_cache_with_room_for_more_is_read_by_its_length(problems, name):
    fields = MODELS[name] if name == "GptOss" else {}
    model, tokens = model_of(name, fields), torch.tensor(TOKENS)
    several = []
    for implementation in ("autotune", "eager"):
        model.set_attn_implementation(implementation)
        cache = transformers.StaticCache(config=model.config, max_cache_len=9)
        problems.clear()
        with torch.no_grad():
            model(tokens[:, :4], past_key_values=cache)
            rows = [model(part, past_key_values=cache).logits for part in tokens[:, 4:].split((1, 2), 1)]
        several.append(torch.cat(rows, 1))
        read = {one.queries for one in problems if type(one).__name__ == "AttentionDecodeProblem"}
        assert read == ({1, 2} if implementation == "autotune" else set())
    torch.testing.assert_close(*several, rtol=5e-2, atol=5e-2)


def test_queries_of_a_cache_with_room_for_more_have_gradients():
    module = importlib.import_module("autotune.transformers.attention")
    layer = SimpleNamespace(is_causal=True, num_key_value_groups=2, training=False)
    q, k, v = (torch.randn(2, heads, tokens, 8, dtype=torch.bfloat16) for heads, tokens in ((4, 2), (2, 9), (2, 9)))
    lengths = module.mask(batch_size=2, q_length=2, kv_length=9, q_offset=torch.tensor(4))
    with torch.no_grad():
        expected, _ = module.attention(layer, q, k, v, lengths)
    found, _ = module.attention(layer, q.requires_grad_(), k, v, lengths)
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    found.float().sum().backward()
    assert q.grad.abs().sum() > 0
