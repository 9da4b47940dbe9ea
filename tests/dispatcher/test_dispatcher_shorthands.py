"""Functions beside an operator's call are that call with some arguments, for NumPy arrays too."""

import inspect

import numpy as np
import pytest

from autotune import dispatcher
from autotune.dispatcher.calls.shorthand import shorthands
from autotune.search_spaces.contract.registry import operator

X = np.linspace(-4, 4, 64, dtype=np.float32).reshape(4, 16)
CALLS = {
    "gelu": ("gelu", {}),
    "silu": ("silu", {}),
    "relu": ("relu", {}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "exp": ("exp", {}),
    "swiglu": ("silu", {"packed": "halves"}),
    "geglu": ("gelu", {"packed": "halves"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_shorthand_is_the_call(name: str) -> None:
    function, options = CALLS[name]
    np.testing.assert_array_equal(getattr(dispatcher, name)(X), dispatcher.map(X, function, **options))


def test_arguments_go_where_they_belong() -> None:
    out, residual, scale = np.empty_like(X), 2 * X, np.float32([0.5])
    assert dispatcher.gelu(X, "tanh", out=out) is out
    np.testing.assert_array_equal(out, dispatcher.map(X, "gelu_tanh"))
    np.testing.assert_array_equal(dispatcher.swiglu(X, out), dispatcher.map(X, "silu", factors=out))
    np.testing.assert_array_equal(
        dispatcher.cast(X, np.int8, scale=scale, saturate=True), np.rint(X / 2).astype(np.int8)
    )
    assert dispatcher.residual_add(X, residual, out=residual) is residual
    np.testing.assert_array_equal(residual, 3 * X)


def test_every_one_is_listed_and_documented() -> None:
    for name, stated in shorthands():
        function = getattr(dispatcher, stated.__name__)
        call = operator(name).call
        assert call is not None
        assert stated.__name__ in dir(dispatcher)
        assert function.__module__ == "autotune.dispatcher"
        assert function.__doc__ == stated.__doc__
        parameters = inspect.signature(function).parameters
        assert all(f"{parameter}" in function.__doc__ for parameter in parameters if parameter != "stream")
        assert set(stated(*(name for name, one in parameters.items() if one.default is one.empty))) <= set(
            call.signature.parameters
        )


def test_a_name_that_nothing_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'gelo'"):
        dispatcher.gelo  # noqa: B018
