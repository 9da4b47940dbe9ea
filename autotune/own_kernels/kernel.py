"""`kernel`: anybody's CUDA kernel as an operator."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import DECLARED, OPERATORS

from .arguments import Entry, KernelArgument, axes
from .declaration import Choice, Declaration
from .expression import Expression, Stated
from .operator import operator_of
from .origin import Origin
from .problem import OwnProblem, reference_names
from .program import as_function_once
from .source import read_source

if TYPE_CHECKING:
    from autotune.tuner.options import TuneResult


class OwnKernel:
    """A user's kernel; `kernel` makes it.

    Attributes:
        operator: the `Operator`, for all that takes one.
        declaration: what the user stated.
    """

    def __init__(self, own: Declaration) -> None:
        self.declaration = own
        self.operator: Operator[Any, Any] = operator_of(own, restored)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the best known kernel on arrays, as ``autotune.dispatcher.<name>`` does."""
        from autotune.dispatcher.calls.function import dispatched

        return dispatched(self.operator.name).function(*arguments, **options)

    def problem(self, **sizes: int) -> OwnProblem:
        """The problem of some sizes; those that are left out are the examples.

        Raises:
            ValueError: there is no such size.
        """
        problem: OwnProblem = self.operator.problem_type.from_dict({**self.declaration.problem, **sizes})
        return problem

    def tune(
        self,
        device: str = "auto",
        *,
        trials: int = 200,
        seconds: float | None = None,
        db: str | None = None,
        **sizes: int,
    ) -> TuneResult:
        """Find the fastest schedule for a problem, and store every trial; see `autotune.tune`.

        Args:
            device: a GPU's number, the name of an offline device such as ``h200``, or ``auto``.
            trials, seconds: how many new schedules to try at most, and for how long.
            db: the database; by default the user's.
            sizes: of the problem; those that are left out are the examples.
        """
        from autotune.db import TuningDB
        from autotune.devices.select import worker_device
        from autotune.tuner.loop import tune
        from autotune.tuner.options import TuneOptions

        options = TuneOptions(trials=trials, seconds=seconds)
        with worker_device(device) as target, TuningDB(db) as database:
            return tune(self.operator, self.problem(**sizes), target, database, options)


def kernel(
    *,
    source: str | Path,
    entry: str,
    arguments: Mapping[str, KernelArgument],
    problem: Mapping[str, int],
    parameters: Mapping[str, Sequence[Choice]],
    block: Stated | Sequence[Stated],
    grid: Stated | Sequence[Stated],
    reference: Callable[..., Any] | Entry,
    constraints: Iterable[Stated] = (),
    shared_bytes: Stated = 0,
    flops: Stated = 0,
    default: Mapping[str, Choice] | None = None,
    small: Mapping[str, int] | None = None,
    whole_numbers: bool = False,
    name: str = "",
) -> OwnKernel:
    """Make a CUDA kernel an operator: to be tuned, verified, stored, reported and served as those of this package.

    The source is compiled with a macro for each parameter, and for each size that is none of the kernel's arguments.
    Numbers such as `grid` are whole numbers, texts such as ``"ceil_div(n, block_size)"`` of sizes and parameters
    (`Expression`), or functions that take these by name.

    Args:
        source: CUDA C++, or a file, relative to the one that calls this.
        entry: the name of the ``__global__`` function, or an instance of a template.
        arguments: what its parameters are, in its order: `Input`, `Output`, `InOut`, `Value`, `Scalar`.
        problem: the sizes, and an example of each.
        parameters: what is searched: for each parameter the values that it may have.
        block, grid: threads of a block, and blocks, along x, or along x, y and z.
        reference: computes the outputs in NumPy. It takes arrays, scalars and sizes by name; arrays of floats are
            float64. It returns the output, a tuple of outputs, or a dictionary, which may hold scales of errors, too
            (`Output`). Or an `Entry`: another kernel of the source.
        constraints: what a legal schedule fulfils.
        shared_bytes: dynamic shared memory of a block.
        flops: operations of FP32 that a problem asks for, by its sizes, for the rate that is shown; a fused
            multiply-add counts as two.
        default: the schedule to begin with, which also serves while nothing is tuned; by default the first one.
        small: the sizes at which the emulator verifies kernels, for devices that are not here.
        whole_numbers: whether results for small whole numbers are whole numbers, as those of sums of products are.
            Then kernels have to compute them without any error, too.
        name: of the operator, by default that of the entry.

    Raises:
        TypeError, ValueError: one line that says what is wrong.
        OSError: the source cannot be read.
    """
    origin = Origin.of(sys._getframe(1).f_globals)
    headers, text = read_source(source, origin.folder)
    declared = Declaration(
        name or entry.partition("<")[0],
        f"the kernel {entry} of {Path(origin.path).name or 'an interactive session'}",
        entry,
        headers,
        text,
        dict(arguments),
        dict(problem),
        {one: tuple(values) if not isinstance(values, str) else values for one, values in parameters.items()},
        tuple(map(Expression, constraints)),
        axes(block),
        axes(grid),
        Expression(shared_bytes),
        Expression(flops),
        reference,
        origin,
        dict(default or {}),
        dict(small or {}),
        whole_numbers,
    )
    for called in (entry, reference.entry) if isinstance(reference, Entry) else (entry,):
        as_function_once(text, called.partition("<")[0])
    reference_names(declared)
    own = OwnKernel(declared)
    _register(own)
    return own


_own: dict[str, OwnKernel] = {}  # by name


def own_kernels(path: Path) -> list[OwnKernel]:
    """The kernels that a file declares which has been imported, in their order."""
    return [one for one in _own.values() if one.declaration.origin.path == str(path.resolve())]


def _register(own: OwnKernel) -> None:
    name, origin = own.operator.name, own.declaration.origin
    before = _own.get(name)
    if name in OPERATORS and (before is None or before.declaration.origin.path != origin.path):
        of = f"that of {before.declaration.origin.path}" if before else "an operator of this package"
        raise ValueError(f"the name {name} is {of}: expected another one, as name={name}_of_mine")
    if before:
        from autotune.dispatcher.calls.function import forget

        forget(name)
    _own[name] = own
    OPERATORS[name] = own.operator
    if origin.path:
        DECLARED[name] = origin.load


def restored(origin: Origin, name: str, is_schedule: bool, values: Mapping[str, Any]) -> Any:
    """A problem or a schedule that another process of this user has sent."""
    if name not in _own:
        origin.load()
    if name not in _own:
        raise ValueError(f"{origin.path} declares no kernel {name}")
    operator = _own[name].operator
    return operator.schedule(values) if is_schedule else operator.problem_type.from_dict(values)
