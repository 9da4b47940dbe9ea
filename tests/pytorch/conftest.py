"""A dispatcher for tensors without a GPU."""

import numpy as np
import pytest

from autotune import dispatcher
from autotune.search_spaces.registry import OPERATORS


@pytest.fixture
def emulated(monkeypatch):
    """A dispatcher that computes CPU tensors as NumPy arrays; and the shapes that it was given."""
    torch = pytest.importorskip("torch")
    computed = []

    def replaced(compute):
        def call(*tensors, **options):
            given = [one for one in (*tensors, *options.values()) if isinstance(one, torch.Tensor)]
            computed.append(tuple(tuple(tensor.shape) for tensor in given))
            tensors = [one.numpy() if isinstance(one, torch.Tensor) else one for one in tensors]
            options = {n: one.numpy() if isinstance(one, torch.Tensor) else one for n, one in options.items()}
            returned = compute(*tensors, **options)
            if isinstance(returned, tuple):
                return tuple(map(torch.from_numpy, returned))
            return torch.from_numpy(np.asarray(returned))

        return call

    for name in [name for name, stated in OPERATORS.items() if stated.call]:
        monkeypatch.setattr(dispatcher, name, replaced(getattr(dispatcher, name)))
    return computed
