"""A call with all that a call may state: optional arrays, options, several outputs, one that may be an input."""

from types import SimpleNamespace

from autotune.dispatcher.calls import resolve
from autotune.dispatcher.calls.function import Dispatched
from autotune.search_spaces.contract.call import ArrayType, Binding, Call


def shifted(x, mask=None, dim=-1, *, by=1.0, seed=0, out=None, index=None, total=None, stream=None):
    """x moved along an axis.

    Args:
        x: float32.
    """


def types(x, mask, dim):
    if x.dtype != "float32":
        raise TypeError(f"x has dtype {x.dtype}: shifted takes float32")
    rows = x.shape[:-1]
    return {
        "out": ArrayType(x.shape, "float32"),
        "index": ArrayType(rows, "int64"),
        "total": ArrayType(rows, "float32"),
    }


def bind(x, mask, dim, out, index, total):
    problem = SimpleNamespace(key=f"{x.shape} dim{dim}", masked=mask is not None, total=total is not None)
    return Binding(problem, {"x": "source", "mask": "mask", "out": "y", "index": "where", "total": "sums"})


CALL = Call(
    declaration=shifted,
    inputs=("x", "mask"),
    outputs=("out", "index", "total"),
    types=types,
    bind=bind,
    scalars=("by", "seed"),
    optional=("mask", "total"),
    in_place=(("out", "x"),),
)


class Launches:
    """Plans that only remember what they launch: the stream, and the kernel's arguments by name."""

    def __init__(self, monkeypatch):
        self.made, self.launched = [], []
        monkeypatch.setattr(resolve, "plan_for", self.plan_for)
        monkeypatch.setattr(resolve, "bound", lambda call, arrays, options: call.bind(**arrays, **options))

    def plan_for(self, operator, problem, device, stream):
        self.made.append(problem)
        return SimpleNamespace(launcher=self._launcher, unmeasured=False)

    def _launcher(self, names):
        def launch(stream, values):
            self.launched.append((stream, dict(zip(names, values, strict=True))))

        return SimpleNamespace(launch=launch)


def toy(call=CALL):
    return Dispatched(SimpleNamespace(name=call.name), call)
