"""A Llama of Hugging Face generates tokens with a cache by autotune's kernels, and they are those of eager attention.

kv_append rotates new keys and queries and puts keys and values into caches of a fixed size, and the queries see them by
attention_decode: both read the lengths on the device, so that on a GPU one captured graph serves all tokens. Without a
GPU the emulator computes them. The weights are random. Needs PyTorch and transformers.

    python examples/cached_decoding.py
"""

from contextlib import contextmanager

import torch
from transformers import AttentionInterface, AttentionMaskInterface, LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama

import autotune.torch

NAME = "autotune_cached"
BATCH, PROMPT, NEW, ROOM = 2, 5, 8, 32
CONFIG = LlamaConfig(
    vocab_size=101,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    attn_implementation="eager",
)
NEAR = 0.02  # of logits: what rounding may change


class Decoder:
    """A model that has the keys and values of all tokens so far, of `batch` sequences with room for `room` tokens."""

    def __init__(self, model, batch, room):
        config = model.config
        shape = (config.num_hidden_layers, 2, batch, room, config.num_key_value_heads, config.head_dim)
        self.model = model
        self.caches = torch.zeros(shape, dtype=model.dtype, device=model.device)
        self.lengths = torch.zeros(batch, dtype=torch.int32, device=model.device)
        angles = torch.arange(room, device=model.device)[:, None] * model.model.rotary_emb.inv_freq.float()
        self.cos_sin = torch.cat((angles.cos(), angles.sin()), 1)
        AttentionInterface.register(NAME, self.attention)
        AttentionMaskInterface.register(NAME, lambda **options: None)

    def attention(self, module, query, key, value, mask, scaling=None, **options):
        """Of new queries with all keys, the new ones among them; arrays are (batch, heads, tokens, head_dim)."""
        q, k, v = (one.transpose(1, 2) for one in (query, key, value))
        caches, tokens = self.caches[module.layer_idx], (one.flatten(0, 1) for one in (k, v))
        autotune.torch.kv_append(*tokens, *caches, lengths=self.lengths, cos_sin_cache=self.cos_sin, q=q.flatten(0, 1))
        return autotune.torch.attention_decode(q, *caches, self.lengths_after, scale=scaling, causal=True), None

    @contextmanager
    def serving(self):
        """The model leaves attention and rotation to this decoder for a while."""
        rotate, before = modeling_llama.apply_rotary_pos_emb, self.model.config._attn_implementation
        modeling_llama.apply_rotary_pos_emb = lambda q, k, *angles: (q, k)
        self.model.set_attn_implementation(NAME)
        try:
            yield self
        finally:
            modeling_llama.apply_rotary_pos_emb = rotate
            self.model.set_attn_implementation(before)

    def __call__(self, tokens):
        """The likeliest token behind some new ones of each sequence, 16 at most."""
        self.lengths_after = self.lengths + tokens.shape[1]
        logits = self.model(input_ids=tokens, use_cache=False).logits
        self.lengths += tokens.shape[1]
        return logits[:, -1:].argmax(-1)


def captured(decoder, token):
    """A function that replaces `token` by the next one: on a GPU, a graph that is captured once."""

    def step():
        token.copy_(decoder(token))

    if not token.is_cuda:
        return step
    before, own = decoder.lengths.clone(), token.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())  # has written what the step reads, and copied what it changes
    with torch.cuda.stream(stream):  # compiles what is captured
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    decoder.lengths.copy_(before)
    token.copy_(own)
    return graph.replay


@torch.no_grad()
def generated(model, prompt, new):
    """The likeliest `new` tokens behind a prompt, one after the other, (batch, new)."""
    with Decoder(model, len(prompt), ROOM).serving() as decoder:
        token = decoder(prompt)
        found, step = [token.clone()], captured(decoder, token)
        for _ in range(new - 1):
            step()
            found.append(token.clone())
    return torch.cat(found, 1)


@torch.no_grad()
def main():
    """Compare all tokens with the likeliest ones of eager attention without a cache."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = LlamaForCausalLM(CONFIG).to(device, torch.bfloat16).eval()
    prompt = torch.randint(CONFIG.vocab_size, (BATCH, PROMPT), device=device)
    tokens = generated(model, prompt, NEW)
    logits = model(input_ids=torch.cat([prompt, tokens], 1), use_cache=False).logits[:, PROMPT - 1 : -1].float()
    lost = logits.amax(-1) - logits.gather(-1, tokens[..., None])[..., 0]
    for row in tokens.tolist():
        print(*row)
    if float(lost.max()) > NEAR:
        raise SystemExit(f"eager attention finds others {float(lost.max()):.3f} likelier")
    print(f"{int((lost == 0).sum())} of {lost.numel()} tokens are those of eager attention, the others within {NEAR}")


if __name__ == "__main__":
    main()
