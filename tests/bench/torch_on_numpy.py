"""As much of PyTorch as baselines need, on NumPy: tensors in host memory that "launch" at once."""

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.model.dtype import DType


class Tensor:
    """A NumPy array with PyTorch's names; `_METHODS` has those that are one function of NumPy."""

    device = "cuda"

    def __init__(self, array):
        self.array = array

    itemsize = property(lambda self: self.array.itemsize)
    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    mT = property(lambda self: Tensor(self.array.swapaxes(-1, -2)))  # noqa: N815

    def __setitem__(self, index, other):
        self.array[index] = other.array

    def __sub__(self, other):
        return self + -other

    def view(self, *shape):
        as_dtype = len(shape) == 1
        return Tensor(self.array.view(*shape) if as_dtype else self.array.reshape(shape))

    def view_as(self, other):
        return self.view(*other.shape)

    def as_strided(self, shape, strides):
        strides = [stride * self.itemsize for stride in strides]
        return Tensor(np.lib.stride_tricks.as_strided(self.array, shape, strides))

    def __add__(self, other):
        with np.errstate(all="ignore"):
            return Tensor(numbers(self) + numbers(other))

    def __mul__(self, other):
        with np.errstate(all="ignore"):
            return Tensor(numbers(self) * numbers(other))

    def flatten(self, first=0, last=None):
        after = self.array.shape[last + 1 :] if last is not None else ()
        return Tensor(self.array.reshape(*self.array.shape[:first], -1, *after))

    def unflatten(self, dim, sizes):
        return Tensor(self.array.reshape(*sizes, *self.array.shape[dim + 1 :]))

    def masked_fill_(self, mask, value):
        np.copyto(self.array, self.array.dtype.type(value), where=mask.array)

    def div_(self, by):
        self.array[...] = self.array.astype(np.float32) / np.float32(by)  # rounded to the dtype
        return self

    def reciprocal(self):
        with np.errstate(divide="ignore", over="ignore"):
            return Tensor(1 / self.array)

    def fill_(self, value):
        self.array[...] = value

    def copy_(self, other):
        assert self.array.shape == other.array.shape
        with np.errstate(over="ignore"):
            self.array[...] = other.array

    def addmm_(self, a, b, *, beta=1.0, alpha=1.0):
        self.array[...] = beta * self.array + alpha * (a.array @ b.array) if beta else alpha * (a.array @ b.array)

    baddbmm_ = addmm_


_METHODS = {
    "__getitem__": lambda x, index: x[index],
    "__neg__": np.negative,
    "__invert__": np.invert,
    "__ge__": np.greater_equal,
    "__gt__": np.greater,
    "__eq__": np.equal,
    "__or__": np.bitwise_or,
    "__mod__": np.mod,
    "__lshift__": lambda x, by: x << np.uint8(by),
    "__truediv__": lambda x, by: x / np.float32(by),
    "transpose": np.swapaxes,
    "clone": np.copy,
    "detach": np.asarray,
    "requires_grad_": np.asarray,
    "float": lambda x: x.astype(np.float32),
    "to": lambda x, dtype: x.astype(dtype),
    "repeat": np.tile,
    "cos": np.cos,
    "sin": np.sin,
    "square": np.square,
    "exp": np.exp,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "abs": np.abs,
    "round": np.rint,
    "clamp": lambda x, min=None, max=None: np.clip(x, min, max),
    "amin": np.min,
    "amax": np.max,
    "all": lambda x, dim, keepdim: x.all(dim, keepdims=keepdim),
    "mean": lambda x, dim, keepdim=False: x.mean(dim, keepdims=keepdim),
    "sum": lambda x, dim, keepdim=False: x.sum(dim, keepdims=keepdim),
    "masked_fill": lambda x, mask, value: np.where(mask, x.dtype.type(value), x),
}


def _method(function):
    def method(self, *arguments, **named):
        given = (one.array if isinstance(one, Tensor) else one for one in arguments)
        return Tensor(function(self.array, *given, **named))

    return method


for _name, _function in _METHODS.items():
    setattr(Tensor, _name, _method(_function))


def numbers(tensor):
    """The numbers of a tensor of up to 32 bits in float32: what follows on them is rounded in the end."""
    if not isinstance(tensor, Tensor):
        return np.float32(tensor)
    return tensor.array if tensor.array.dtype == np.float64 else tensor.array.astype(np.float32)


def as_tensor(interface, device):
    """The host memory at the address that the CUDA array interface names."""
    described = interface.__cuda_array_interface__
    address, (size,) = described["data"][0], described["shape"]
    return Tensor(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)))


def product(c, *factors, beta=1, alpha=1, out=None, **named):
    """A product added to something, accumulated in float32 and rounded once."""
    a, b = (factor.array.astype(np.float32) for factor in (*factors, *named.values()))
    total = alpha * (a @ b) + (beta * c.array.astype(np.float32) if beta else 0)
    if out is None:
        return Tensor(total.astype(c.array.dtype))
    out.array[...] = total
    return out


def add(a, b, *, alpha=1.0, out):
    """In float32, rounded once."""
    with np.errstate(invalid="ignore"):  # infinities of both signs
        out.array[...] = a.array.astype(np.float32) + np.float32(alpha) * b.array.astype(np.float32)
    return out


def _exponents(x, dim):
    """In float32, as PyTorch computes them: the maximum is subtracted, and nothing is divided before."""
    numbers = x.array.astype(np.float32)
    with np.errstate(invalid="ignore"):  # infinity - infinity
        return numbers - numbers.max(dim, keepdims=True)


def softmax(x, dim, *, out):
    terms = np.exp(_exponents(x, dim))
    out.array[...] = terms / terms.sum(dim, keepdims=True)


def log_softmax(x, dim, *, out):
    exponents = _exponents(x, dim)
    out.array[...] = exponents - np.log(np.exp(exponents).sum(dim, keepdims=True))


def softmax_gradient(dy, y, dim, dtype, *, grad_input):
    g, p = numbers(dy), numbers(y)
    grad_input.array[...] = p * (g - (p * g).sum(dim, keepdims=True))


def log_softmax_gradient(dy, y, dim, dtype, *, out):
    g = numbers(dy)
    out.array[...] = g - np.exp(numbers(y)) * g.sum(dim, keepdims=True)


def logsumexp(x, dim):
    with np.errstate(invalid="ignore"):  # infinity - infinity
        return Tensor(np.logaddexp.reduce(x.array, dim))


def scan(function):
    """A function of NumPy as one of PyTorch: floats of 16 bits are computed in float32."""

    def call(x, dim, *, dtype=None, out=None):
        given = DType(x.array.dtype.name)
        computed = np.float32 if given.is_float and given.bits < 32 else dtype or x.array.dtype
        scanned = function.accumulate(x.array, dim, dtype=computed).astype(dtype or x.array.dtype)
        if out is None:
            return SimpleNamespace(values=Tensor(scanned), array=scanned)
        (out[0] if isinstance(out, tuple) else out).array[...] = scanned
        return None

    return call


def reduction(function):
    """A function of NumPy as one of PyTorch: sums of floats are rounded once, of integers they are int64."""

    def call(x, *, dim, out):
        wide = np.float32 if DType(x.array.dtype.name).is_float else np.int64
        out.array[...] = function(x.array.astype(wide), dim).reshape(out.array.shape)

    return call


def segment_reduce(x, op, *, offsets, unsafe):
    """Of segments of a vector, in float32; without elements, NaN or the number that changes no other."""
    functions = {"mean": (np.mean, np.nan), "min": (np.min, np.inf)}
    function, empty = functions[op]
    parts = np.split(x.array.astype(np.float32), offsets.array[1:-1])
    return Tensor(np.array([function(part) if part.size else empty for part in parts]))


def layer_norm(x, shape, weight, bias, eps):
    """In float32, rounded once."""
    numbers = x.array.astype(np.float32)
    with np.errstate(invalid="ignore"):  # infinity - infinity
        mean = numbers.mean(-1, keepdims=True, dtype=np.float64).astype(np.float32)
        centered = numbers - mean
        rstd = 1 / np.sqrt(np.square(centered).mean(-1, keepdims=True) + np.float32(eps))
        result = centered * rstd * weight.array.astype(np.float32) + bias.array.astype(np.float32)
        return Tensor(result.astype(x.array.dtype)), Tensor(mean), Tensor(rstd)


def layer_norm_gradients(dy, x, shape, mean, rstd, weight, bias, wanted):
    """Of a norm's input, weight and bias, rounded once; rms_norm has no mean."""
    numbers, g = x.array.astype(np.float64), dy.array.astype(np.float64)
    centered = mean is not None
    normal = (numbers - mean.array if centered else numbers) * rstd.array
    weighed = g * weight.array.astype(np.float64)
    slope, mean_g = (weighed * normal).mean(-1, keepdims=True), centered * weighed.mean(-1, keepdims=True)
    dx = rstd.array * (weighed - mean_g - normal * slope)
    return Tensor(dx), Tensor((g * normal).sum(0)), Tensor(g.sum(0))


def rms_norm_gradients(dy, x, shape, rstd, weight, wanted):
    return layer_norm_gradients(dy, x, shape, None, rstd, weight, None, [*wanted, False])[:2]


def rms_norm(x, shape, weight, eps):
    """In float32, rounded once."""
    numbers = x.array.astype(np.float32)
    with np.errstate(invalid="ignore"):  # infinity · 0
        rstd = 1 / np.sqrt(np.square(numbers).mean(-1, keepdims=True) + np.float32(eps))
        result = numbers * rstd * weight.array.astype(np.float32)
    return Tensor(result.astype(x.array.dtype))


_GELU = {"none": Activation.GELU, "tanh": Activation.GELU_TANH}


def gradient(function, g, z):
    """The gradient of z by that of a function's result."""
    return Tensor(function.gradient(z.array.astype(np.float64), numbers(g)))


TORCH = SimpleNamespace(
    **{dtype: dtype.numpy for dtype in DType if dtype is not DType.INT4},
    int16=np.int16,
    __version__="2.11.0",
    add=add,
    addmm=product,
    addmv=product,
    amax=reduction(np.max),
    amin=reduction(np.min),
    arange=lambda count, *, device: Tensor(np.arange(count)),
    argmax=reduction(np.argmax),
    argmin=reduction(np.argmin),
    as_tensor=as_tensor,
    baddbmm=product,
    bitwise_or=lambda a, b, *, out: out.copy_(Tensor(a.array | b.array)),
    where=lambda mask, a, b: Tensor(np.where(mask.array, a.array, np.float32(b))),
    cat=lambda parts, axis: Tensor(np.concatenate([part.array for part in parts], axis)),
    stack=lambda parts, axis: Tensor(np.stack([part.array for part in parts], axis)),
    tensor=lambda values, *, device: Tensor(np.array(values)),
    backends=SimpleNamespace(
        cuda=SimpleNamespace(
            matmul=SimpleNamespace(
                allow_tf32=True,
                allow_fp16_reduced_precision_reduction=True,
                allow_bf16_reduced_precision_reduction=True,
            )
        )
    ),
    compile=lambda function, **_: function,
    compiler=SimpleNamespace(reset=lambda: None),
    cuda=SimpleNamespace(ExternalStream=lambda handle: handle, stream=lambda stream: nullcontext()),
    ops=SimpleNamespace(
        aten=SimpleNamespace(
            _fused_rms_norm_backward=rms_norm_gradients,
            native_layer_norm_backward=layer_norm_gradients,
            _softmax_backward_data=SimpleNamespace(out=softmax_gradient),
            _log_softmax_backward_data=SimpleNamespace(out=log_softmax_gradient),
            gelu_backward=lambda g, z, *, approximate: gradient(Activation(_GELU[approximate]), g, z),
            silu_backward=lambda g, z: gradient(Activation.SILU, g, z),
            threshold_backward=lambda g, z, _: gradient(Activation.RELU, g, z),
        )
    ),
    nn=SimpleNamespace(
        functional=SimpleNamespace(
            gelu=lambda z, *, approximate: Tensor(_GELU[approximate].apply(z.array.astype(np.float64))),
            relu=lambda z: Tensor(np.maximum(z.array, 0)),
            rms_norm=rms_norm,
            silu=lambda z: Tensor(Activation.SILU.apply(z.array.astype(np.float64))),
        )
    ),
    cummax=scan(np.maximum),
    cummin=scan(np.minimum),
    cumprod=scan(np.multiply),
    cumsum=scan(np.add),
    exp=lambda z: Tensor(Activation.EXP.apply(z.array.astype(np.float64))),
    clamp=Tensor.clamp,
    empty=lambda shape, *, dtype, device: Tensor(np.empty(shape, dtype)),
    linalg=SimpleNamespace(
        vecdot=lambda x, other, *, dim, out: reduction(np.sum)(x * other, dim=dim, out=out),
        vector_norm=reduction(lambda x, dim: np.sqrt(np.square(x).sum(dim))),
    ),
    mean=reduction(np.mean),
    flip=lambda x, axes: Tensor(np.flip(x.array, axes)),
    native_layer_norm=layer_norm,
    log_softmax=log_softmax,
    logsumexp=logsumexp,
    segment_reduce=segment_reduce,
    softmax=softmax,
    sum=reduction(np.sum),
    zeros_like=lambda x, *, dtype: Tensor(np.zeros(x.shape, dtype)),
)
