"""Patched models of transformers: losses and gradients are those of before, and the model is itself after unpatch."""

import importlib
from inspect import unwrap

import pytest
from test_transformers import MODELS, SIZES, TOKENS, model_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
patching = pytest.importorskip("autotune.transformers")


@pytest.fixture(autouse=True)
def worth(monkeypatch):
    """What says of small layers, too, that they are worth it; the numbers from which on they are without it."""
    module = importlib.import_module("autotune.transformers.worth")
    least = module._LEAST
    monkeypatch.setattr(module, "_LEAST", {})
    return least


def gradients_of(model):
    """Copies of the gradients by parameter."""
    return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}


def assert_alike(found, expected):
    """Each gradient is that of before, but for a tenth of its norm."""
    assert found.keys() == expected.keys()
    for key, one in expected.items():
        off = (found[key].float() - one.float()).norm()
        assert off <= 0.1 * one.float().norm() + 1e-3, key


def step(model):
    """The loss of a step, and the gradients by parameter."""
    tokens = torch.tensor(TOKENS)
    model.zero_grad()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    return loss.detach(), gradients_of(model)


@pytest.mark.parametrize("name", ["Llama", "Qwen3", "Gemma3", "GptOss"])
def test_a_patched_model_learns_as_before(name):
    model = model_of(name, MODELS[name])
    loss, gradients = step(model)
    patched = patching.patch(model)
    found, others = step(model)
    assert patched.replaced["loss", "cross_entropy"] == 1
    torch.testing.assert_close(found, loss.float(), rtol=2e-2, atol=2e-2)
    if name != "GptOss":  # whose router may choose another expert
        assert_alike(others, gradients)
    patching.unpatch(model)
    again, same = step(model)
    assert again == loss
    assert all(torch.equal(same[key], one) for key, one in gradients.items())


ENCODERS = {
    "BertForMaskedLM": {"input_ids": TOKENS, "labels": TOKENS},
    "ViTForImageClassification": {"pixel_values": (2, 3, 8, 8), "labels": [0, 1]},
    "WhisperForConditionalGeneration": {"input_features": (2, 8, 12), "labels": TOKENS},
}
OF_WHISPER = {"d_model": 32, "num_mel_bins": 8, "max_source_positions": 6, "decoder_start_token_id": 2} | {
    f"{part}_{what}": value
    for part in ("encoder", "decoder")
    for what, value in {"layers": 1, "attention_heads": 4, "ffn_dim": 48}.items()
}
OF_WHISPER |= {"bos_token_id": 0, "eos_token_id": 1, "suppress_tokens": None, "begin_suppress_tokens": None}
OF_VIT = {"image_size": 8, "patch_size": 4}


def heard(model, inputs):
    """The tokens that Whisper writes, and none of others."""
    if "input_features" not in inputs:
        return []
    return model.generate(inputs["input_features"], max_new_tokens=2, do_sample=False).tolist()


@pytest.mark.parametrize("name", ENCODERS)
def test_a_patched_encoder_sees_both_ways_as_before(name, problems):
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**SIZES, **OF_WHISPER, **OF_VIT)).to(torch.bfloat16).eval()
    inputs = {
        key: torch.randn(given).bfloat16() if isinstance(given, tuple) else torch.tensor(given)
        for key, given in ENCODERS[name].items()
    }
    expected = model(**inputs)
    expected.loss.backward()
    gradients, tokens = gradients_of(model), heard(model, inputs)
    patched = patching.patch(model)
    model.zero_grad()
    found = model(**inputs)
    found.loss.backward()
    assert not patched.kept
    torch.testing.assert_close(found.logits, expected.logits, rtol=2e-2, atol=1e-2)
    torch.testing.assert_close(found.loss, expected.loss, rtol=2e-2, atol=1e-2)
    assert_alike(gradients_of(model), gradients)
    assert heard(model, inputs) == tokens
    assert {problem.causal for problem in problems if hasattr(problem, "causal")} == (
        {False, True} if "Whisper" in name else {False}
    )


@pytest.mark.parametrize(("name", "padded"), [("Llama", 0), ("Llama", 2), ("Qwen3", 0), ("Gemma3", 0), ("GptOss", 0)])
def test_a_patched_model_writes_the_same_tokens(name, padded):
    model, tokens = model_of(name, MODELS[name]).float(), torch.tensor(TOKENS)
    seen = torch.ones_like(tokens)
    seen[0, :padded] = 0
    options = {"attention_mask": seen, "max_new_tokens": 3, "do_sample": False}
    expected = model.generate(tokens, **options)
    assert patching.patch(model).replaced[f"{name}Attention", "rope"] == SIZES["num_hidden_layers"]
    assert torch.equal(model.generate(tokens, **options), expected)


def test_rotary_embeddings_are_of_one_model_alone_and_compile():
    model, other = model_of("Llama", {}), model_of("Llama", {})
    tokens = torch.tensor(TOKENS)
    layer = other.model.layers[0].self_attn
    shared = unwrap(type(layer).forward).__globals__["apply_rotary_pos_emb"]
    patching.patch(model)
    assert "forward" in vars(model.model.layers[0].self_attn) and "forward" not in vars(layer)
    assert unwrap(type(layer).forward).__globals__["apply_rotary_pos_emb"] is shared
    with torch.no_grad():
        expected = model(tokens).logits
        torch.testing.assert_close(torch.compile(model, backend="eager")(tokens).logits, expected, rtol=2e-2, atol=1e-2)


def test_rotary_tables_are_made_once_a_step(monkeypatch):
    rotary = importlib.import_module("autotune.transformers.rotary")
    made, own = [], rotary._table
    monkeypatch.setattr(rotary, "_table", lambda *given: made.append(given) or own(*given))
    model, tokens = model_of("Llama", {}), torch.tensor(TOKENS)
    patching.patch(model)
    made.clear()
    with torch.no_grad():
        model(tokens)
        assert len(made) == 1
        model(tokens)
    assert len(made) == 2


def test_a_compiler_gets_what_it_fuses_from_the_model():
    model, tokens = model_of("Llama", {}), torch.tensor(TOKENS)
    patching.patch(model)
    called = set()

    def look(graph, inputs):
        called.update(str(node.target) for node in graph.graph.nodes if "autotune" in str(node.target))
        return graph

    with torch.no_grad():
        torch.compile(model, backend=look)(tokens)
    assert {name.split(".")[1] for name in called} == {"gemm", "attention"}


@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_compiled_graph_ends_at_the_logits_unless_it_must_be_one(fullgraph):
    model, tokens = model_of("Llama", {}), torch.tensor(TOKENS)
    expected, gradients = step(model)
    patching.patch(model)
    losses = []

    def look(graph, inputs):
        losses.extend(node for node in graph.graph.nodes if "cross_entropy" in str(node.target))
        return graph

    model.zero_grad()
    loss = torch.compile(model, backend=look, fullgraph=fullgraph)(input_ids=tokens, labels=tokens).loss
    loss.backward()
    assert len(losses) == fullgraph
    torch.testing.assert_close(loss, expected.float(), rtol=2e-2, atol=2e-2)
    assert_alike(gradients_of(model), gradients)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize(("family", "doubled", "interleaved"), [("llama", 1, 0), ("gpt_oss", 0, 0), ("glm", 1, 1)])
def test_rotary_embeddings_are_those_of_each_family(family, doubled, interleaved, axis):
    module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
    rotary = importlib.import_module("autotune.transformers.rotary")
    q, k, cos, sin = rotary.trial(doubled, torch.zeros((), dtype=torch.float32))
    if family == "glm":  # half of a head is rotated
        cos, sin = (torch.cat((one[..., :4], one[..., :4]), -1) for one in (cos, sin))
    q, k = (one.transpose(1, axis) for one in (q, k))
    expected = module.apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=axis)
    found = rotary.rotated(q, k, cos, sin, axis, doubled=bool(doubled), interleaved=bool(interleaved))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_little_work_with_gradients_is_left_to_pytorch(worth, monkeypatch, problems):
    module = importlib.import_module("autotune.transformers.worth")
    monkeypatch.setattr(module, "_LEAST", worth)
    model, tokens = model_of("Llama", {}), torch.tensor(TOKENS)
    patching.patch(model)
    problems.clear()
    step(model)
    kinds = {type(problem).__name__ for problem in problems}
    assert "RmsNormProblem" in kinds and not kinds & {"GemmProblem", "GemvProblem", "MapProblem"}
    with torch.no_grad():
        model(tokens)
    assert {"GemmProblem", "MapProblem"} <= {type(problem).__name__ for problem in problems}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_much_work_is_worth_it(worth, monkeypatch, dtype):
    module = importlib.import_module("autotune.transformers.worth")
    monkeypatch.setattr(module, "_LEAST", worth)
    layer = torch.nn.Linear(2048, 8192, dtype=dtype, device="meta")
    least = {torch.bfloat16: 2048, torch.float32: 128}[dtype]
    for rows in (least - 1, least):
        assert module.is_worth("gemm", layer, torch.empty(rows, 2048, dtype=dtype)) == (rows == least)


def test_what_is_replaced_is_told():
    patched = patching.patch(model_of("Gemma3", MODELS["Gemma3"]))
    assert patched.replaced["Gemma3RMSNorm", "rms_norm"] == 4 * SIZES["num_hidden_layers"] + 5
    assert patched.replaced["Gemma3MLP", "map"] == SIZES["num_hidden_layers"]
    assert "Gemma3MLP" in str(patched)


def test_a_layer_that_computes_something_else_is_kept():
    model = model_of("Llama", {})
    model.model.norm.forward = lambda x: 2 * x
    model.lm_head.forward = lambda x: x @ model.lm_head.weight.mT + 1
    norm, head = model.model.norm.forward, model.lm_head.forward
    patched = patching.patch(model)
    assert patched.kept == {("LlamaRMSNorm", "other results"): 1, ("Linear", "other results"): 1}
    assert model.model.norm.forward is norm
    assert model.lm_head.forward is head


def test_parameters_of_other_types_are_left():
    patched = patching.patch(model_of("Llama", {}).double())
    assert not {by for _, by in patched.replaced} & {"gemm", "rms_norm", "map"}
    assert patched.kept["Linear", "its parameters are neither bfloat16, float16 nor float32 in memory"] == 15


def test_models_are_patched_once():
    model = model_of("Llama", {})
    with pytest.raises(ValueError, match="expected patch"):
        patching.unpatch(model)
    patching.patch(model)
    with pytest.raises(ValueError, match="expected unpatch"):
        patching.patch(model)
