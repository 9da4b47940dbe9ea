"""autotune.torch.conv2d and the layer made of it on the CPU: values and gradients are PyTorch's, but for rounding."""

import pytest

torch = pytest.importorskip("torch")
autotune_torch = pytest.importorskip("autotune.torch")
functional = torch.nn.functional


def random(*shape, dtype=torch.float32, channels_last=True):
    torch.manual_seed(sum(shape))
    numbers = (torch.rand(*shape) * 2 - 1).to(dtype)
    if channels_last and len(shape) >= 4:
        numbers = numbers.to(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)
    return numbers.requires_grad_()


def assert_gradients(found, expected, inputs, tolerance=1e-5):
    """Values, and gradients by weights that differ from element to element."""
    torch.testing.assert_close(found.float(), expected.float(), rtol=tolerance, atol=tolerance)
    weights = torch.rand(expected.shape) - 0.5
    gradients, truths = (torch.autograd.grad((y.float() * weights).sum(), inputs) for y in (found, expected))
    for gradient, truth in zip(gradients, truths, strict=True):
        assert gradient.dtype == truth.dtype
        torch.testing.assert_close(gradient, truth, rtol=tolerance, atol=20 * tolerance)


@pytest.mark.parametrize(
    ("channels", "filters", "kernel", "options"),
    [
        (4, 6, (3, 3), {"stride": 2, "padding": 1}),
        (6, 4, (3, 2), {"stride": (3, 2), "padding": (4, 0), "dilation": (1, 2), "groups": 2}),
        (5, 5, (3, 3), {"padding": 1, "stride": (1, 2), "groups": 5}),
        (1, 4, (1, 2), {"padding": "same"}),
        (4, 1, (2, 4), {"padding": "same", "dilation": (3, 1)}),
    ],
)
def test_values_and_gradients_are_those_of_pytorch(channels, filters, kernel, options):
    groups = options.get("groups", 1)
    inputs = x, weight, bias = random(2, channels, 7, 8), random(filters, channels // groups, *kernel), random(filters)
    found, expected = (module.conv2d(x, weight, bias, **options) for module in (autotune_torch, functional))
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert_gradients(found, expected, inputs)


@pytest.mark.parametrize(
    ("channels", "filters", "kernel", "options"),
    [
        (4, 6, (3, 2, 3), {"padding": 1}),
        (6, 4, (2, 3, 1), {"stride": (2, 1, 3), "padding": (3, 1, 0), "dilation": (3, 1, 1), "groups": 2}),
        (3, 4, (2, 1, 3), {"padding": "same"}),
    ],
)
def test_volumes_are_those_of_pytorch(channels, filters, kernel, options):
    shape = filters, channels // options.get("groups", 1), *kernel
    inputs = x, weight, bias = random(2, channels, 4, 5, 6), random(*shape), random(filters)
    found, expected = (module.conv3d(x, weight, bias, **options) for module in (autotune_torch, functional))
    assert found.is_contiguous(memory_format=torch.channels_last_3d)
    assert_gradients(found, expected, inputs)


def test_a_volume_needs_no_batch_and_its_slices_are_read_where_they_are(problems):
    layer = autotune_torch.Conv3d(4, 3, (2, 1, 1), stride=(2, 1, 1)).to(memory_format=torch.channels_last_3d)
    x = random(1, 4, 5, 5, 6)[0]
    expected = functional.conv3d(x, layer.weight, layer.bias, (2, 1, 1))
    assert_gradients(layer(x), expected, (x, layer.weight))
    assert problems[-1].layouts["x"].strides[0] == 2 * 5 * 6 * 4  # every second slice


def test_codes_are_convolved_to_what_their_scales_make_of_them():
    torch.manual_seed(0)
    x, weight = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((2, 16, 5, 6), (8, 16, 3, 3)))
    scale, bias = torch.rand(8) * 2**-12, random(8)
    sums = functional.conv2d(x.double(), weight.double(), padding=1)
    torch.testing.assert_close(autotune_torch.conv2d(x, weight, padding=1), sums.int())
    options = {"padding": 1, "scale": scale, "dtype": torch.float32, "activation": "silu"}
    found = autotune_torch.conv2d(x, weight, bias, **options)
    expected = functional.silu(sums * scale.double()[:, None, None] + bias[:, None, None])
    assert_gradients(found, expected, (bias,))


def test_what_is_fused_has_the_gradients_of_its_steps():
    shapes = (2, 8, 5, 6), (8, 8, 3, 3), (8,), (2, 8, 5, 6)
    inputs = x, weight, bias, residual = [random(*shape, dtype=torch.bfloat16) for shape in shapes]
    found = autotune_torch.conv2d(x, weight, bias, padding=1, residual=residual, activation="gelu")
    wide = functional.conv2d(x.float(), weight.float(), bias.float(), padding=1)
    assert_gradients(found, functional.gelu(wide) + residual.float(), inputs, tolerance=0.02)


def test_other_memory_formats_are_copied(problems):
    x, weight = random(2, 4, 5, 6, channels_last=False), random(3, 4, 2, 2, channels_last=False)
    assert_gradients(autotune_torch.conv2d(x, weight), functional.conv2d(x, weight), (x, weight))
    assert problems[0].layouts["x"].strides == (120, 24, 4)


def test_a_part_of_the_channels_is_read_where_it_is(problems):
    wide, weight = random(2, 8, 5, 6).detach(), random(3, 4, 2, 2).detach()
    x = wide[:, 4:]
    torch.testing.assert_close(autotune_torch.conv2d(x, weight), functional.conv2d(x, weight))
    assert problems[0].layouts["x"].strides == (240, 48, 8)


def test_an_image_needs_no_batch():
    x, weight, residual = random(4, 5, 6), random(3, 4, 2, 2), random(3, 4, 5)
    found = autotune_torch.conv2d(x, weight, residual=residual)
    assert_gradients(found, functional.conv2d(x, weight) + residual, (x, weight, residual))


def test_words_for_padding_are_refused():
    with pytest.raises(ValueError, match="padding='full', stride=1: expected numbers, valid"):
        autotune_torch.conv2d(random(1, 4, 5, 6), random(3, 4, 2, 2), padding="full")
    with pytest.raises(
        ValueError, match="padding='same', stride=2: expected numbers, valid, or same with a stride of 1"
    ):
        autotune_torch.conv2d(random(1, 4, 5, 6), random(3, 4, 2, 2), padding="same", stride=2)


@pytest.mark.parametrize(
    "options",
    [
        {"padding": 1, "stride": 2},
        {"padding": (1, 2), "padding_mode": "circular", "groups": 2},
    ],
)
def test_a_layer_is_pytorchs_in_one_graph(options):
    layer, plain = (module.Conv2d(4, 6, (3, 2), **options) for module in (autotune_torch, torch.nn))
    plain.load_state_dict(layer.state_dict())
    x = random(2, 4, 7, 6)
    torch.compiler.reset()
    found = torch.compile(layer, fullgraph=True, backend="aot_eager")(x)
    assert_gradients(found, layer(x), [x, *layer.parameters()])
    torch.testing.assert_close(found, plain(x), rtol=1e-5, atol=1e-5)


def test_under_autocast_a_layer_casts_as_pytorchs():
    layer, plain = (module.Conv2d(8, 6, 3) for module in (autotune_torch, torch.nn))
    plain.load_state_dict(layer.state_dict())
    x = random(2, 8, 5, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, expected = layer(x), plain(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(("length", "width", "activation"), [(9, 4, "silu"), (2, 4, None), (5, 1, "gelu")])
def test_sequences_are_differentiated_as_pytorch_does(channels_last, length, width, activation):
    inputs = x, weight, bias, states = random(2, 6, length), random(6, width), random(6), random(2, 6, width - 1)
    given = x.mT.contiguous() if channels_last else x
    found = autotune_torch.causal_conv1d(
        given, weight, bias, states, activation=activation, channels_last=channels_last
    )
    found = found.mT if channels_last else found
    expected = functional.conv1d(torch.cat([states, x], 2), weight[:, None], bias, groups=6)
    expected = getattr(functional, activation)(expected) if activation else expected
    assert_gradients(found, expected, inputs)


def test_sequences_without_states_begin_with_zeros():
    inputs = x, weight = random(1, 3, 7), random(3, 3)
    found = autotune_torch.causal_conv1d(x, weight)
    assert_gradients(found, functional.conv1d(x, weight[:, None], padding=2, groups=3)[..., :7], inputs)


@pytest.mark.parametrize(
    ("width", "options"),
    [(3, {"stride": 2, "padding": 1}), (2, {"padding": "same", "dilation": 3}), (4, {"groups": 6, "dilation": (2,)})],
)
def test_sequences_are_images_of_one_row(width, options):
    inputs = random(2, 6, 9), random(6, 6 // options.get("groups", 1), width), random(6)
    assert_gradients(autotune_torch.conv1d(*inputs, **options), functional.conv1d(*inputs, **options), inputs)


def test_steps_whose_channels_are_neighbours_are_read_where_they_are(problems):
    wide, weight = random(2, 9, 8).detach(), random(3, 4, 2).detach()
    x = wide[:, :, :4].mT
    torch.testing.assert_close(autotune_torch.conv1d(x, weight), functional.conv1d(x, weight))
    assert problems[0].layouts["x"].strides[-1] == 8


def test_a_layer_of_sequences_is_pytorchs():
    layer = autotune_torch.Conv1d(4, 3, 3, padding=2, padding_mode="reflect")
    truth = torch.nn.Conv1d(4, 3, 3, padding=2, padding_mode="reflect")
    truth.load_state_dict(layer.state_dict())
    x = random(4, 7)
    torch.testing.assert_close(layer(x), truth(x))


def test_sequences_one_behind_the_other_see_their_own_steps():
    inputs = x, weight, bias = random(1, 9, 6), random(6, 3), random(6)
    numbers = torch.tensor([[0, 0, 1, 1, 1, 1, 2, -1, -1]], dtype=torch.int32)
    found = autotune_torch.causal_conv1d(x, weight, bias, None, numbers, activation="silu", channels_last=True)
    parts = [x[:, :2], x[:, 2:6], x[:, 6:7]]
    apart = [autotune_torch.causal_conv1d(part, weight, bias, activation="silu", channels_last=True) for part in parts]
    assert_gradients(found, torch.cat([*apart, torch.zeros(1, 2, 6)], 1), inputs)
