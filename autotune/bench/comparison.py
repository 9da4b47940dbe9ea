"""Kernels and baselines on one problem: verified, sampled interleaved as CUDA graphs, verified again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import TYPE_CHECKING

from autotune.base.cuda_core import CUDAError
from autotune.base.markup import Bar, table
from autotune.compiler import compile_kernel
from autotune.db.states import Status
from autotune.devices.base import DeviceError, Evaluation
from autotune.devices.driver import reason
from autotune.devices.energy import Energy, Meter
from autotune.search_spaces.contract.baselines import NotTakenError
from autotune.search_spaces.machine.rates import duration
from autotune.search_spaces.machine.roofline import impossible_rate

from .baseline import BaselineRun, Launcher
from .graph import captured
from .interleave import interleaved
from .time_limit import within

if TYPE_CHECKING:
    from autotune.codegen.model.program import Program
    from autotune.devices.cuda_session import CudaSession

    from .baseline import Baseline

OWN = "autotune"
_BASELINE_SECONDS = 300.0  # until a baseline is ready; compilers that tune take minutes for one problem


@dataclass(frozen=True)
class Comparison:
    """The times of all contenders on one problem.

    Attributes:
        samples: seconds of each launch, by contender, in the order taken.
        failed: the baselines that failed, each with the reason.
        untaken: the baselines that have no such problem, each with what it says.
        energy: of a launch, by contender, where it was asked for and the device tells it.
    """

    samples: Mapping[str, tuple[float, ...]]
    failed: Mapping[str, str] = field(default_factory=dict)
    untaken: Mapping[str, str] = field(default_factory=dict)
    energy: Mapping[str, Energy] = field(default_factory=dict)

    def seconds(self, name: str) -> float:
        """The median of a contender's samples."""
        return median(self.samples[name])

    def spread(self, name: str) -> float:
        """The interquartile range of a contender's samples over their median."""
        low, _, high = quantiles(self.samples[name], n=4)
        return (high - low) / self.seconds(name)

    def ratio(self, name: str, to: str = OWN) -> float:
        """How many times as fast as the contender `name` the contender `to` is."""
        return self.seconds(name) / self.seconds(to)

    def ratios(self, names: Iterable[str]) -> dict[str, float]:
        """`ratio` of each of these contenders that was measured."""
        return {name: self.ratio(name) for name in names if name in self.samples}

    def _repr_html_(self) -> str:
        """The comparison in a notebook: each contender's time beside the longest one."""
        longest = max(map(self.seconds, self.samples), default=0.0)
        rows = [
            (
                name,
                Bar(self.seconds(name) / longest, duration(self.seconds(name))),
                f"{self.spread(name):.1%}",
                f"{self.ratio(name):.3f}×",
            )
            for name in self.samples
        ]
        return table("Medians", ("contender", "median", "spread", f"{OWN} is"), rows)


def compare(
    session: CudaSession,
    kernels: Mapping[str, Program],
    baselines: Mapping[str, Baseline],
    rounds: int,
    meter: Meter | None = None,
) -> Comparison:
    """Take `rounds` interleaved samples of each contender; before and after, verify those that state that they can be.

    A baseline that has no such problem, is wrong, hangs or cannot run is left out, and takes no figure from the
    others. With a meter, the energy of each contender is measured after that.

    Raises:
        CompileError: a kernel does not compile.
        DeviceError: a kernel is wrong or cannot run, or a call of CUDA failed; the message says of which contender.
    """
    verified = [*kernels, *(name for name, baseline in baselines.items() if baseline.verified)]
    replayed = [*kernels, *(name for name, baseline in baselines.items() if baseline.replayed)]
    failed: dict[str, str] = {}
    untaken: dict[str, str] = {}

    def judged(name: str) -> AbstractContextManager[None]:
        return _left_out(name, failed, untaken) if name in baselines else _blamed(name)

    with ExitStack() as stack:
        sampled: dict[str, Launcher] = {}
        launches = _launches(session, kernels, stack)
        for name, baseline in baselines.items():
            with judged(name):
                launches[name] = stack.enter_context(baseline.prepare(session))
        for name, contender in launches.items():
            launch = contender.launch
            with judged(name):
                evaluation = session.verify(contender.verifiable(launch))
                if name in verified:
                    _require(evaluation)
                sampled[name] = stack.enter_context(captured(session.stream, launch)) if name in replayed else launch
        with _blamed("sampling"):
            samples = interleaved(sampled, session.sample, rounds)
        for name in (name for name in verified if name in sampled):
            with judged(name):
                _require(session.verify(launches[name].verifiable(sampled[name])))
                _require_possible(session, median(samples[name]))
        samples = {name: taken for name, taken in samples.items() if name not in failed}
        energy = _energy(session, sampled, samples, meter) if meter else {}
    return Comparison(samples, failed, untaken, energy)


def _launches(session: CudaSession, kernels: Mapping[str, Program], stack: ExitStack) -> dict[str, BaselineRun]:
    """What launches each kernel, as long as the stack lasts."""
    launches: dict[str, BaselineRun] = {}
    for name, program in kernels.items():
        compiled = compile_kernel(program, session.spec.arch)
        with _blamed(name):
            launches[name] = BaselineRun(stack.enter_context(session.prepared(program, compiled)))
    return launches


def _energy(
    session: CudaSession, launches: Mapping[str, Launcher], samples: Mapping[str, tuple[float, ...]], meter: Meter
) -> dict[str, Energy]:
    """The energy of a launch of each contender that was sampled, where it is told."""
    energy: dict[str, Energy] = {}
    for name, taken in samples.items():
        with _blamed(name):
            if measured := meter.measure(launches[name], session.wait, median(taken)):
                energy[name] = measured
    return energy


def _require(evaluation: Evaluation) -> None:
    if evaluation.status is not Status.OK:
        raise DeviceError(f"{evaluation.status}, {evaluation.error}")


def _require_possible(session: CudaSession, seconds: float) -> None:
    error = impossible_rate(session.problem, seconds, session.spec)
    if error:
        raise DeviceError(f"wrong, {error}")


@contextmanager
def _left_out(name: str, failed: dict[str, str], untaken: dict[str, str]) -> Iterator[None]:
    """An error of a baseline inside is its reason in `failed`, unless CUDA may be of no use for the others either.

    That it has no such problem is its reason in `untaken`.

    To take longer than `_BASELINE_SECONDS` is an error, too.
    """
    try:
        with _blamed(name), within(_BASELINE_SECONDS):
            yield
    except DeviceError as error:
        if isinstance(error.__cause__, CUDAError):
            raise
        if isinstance(error.__cause__, NotTakenError):
            untaken[name] = str(error.__cause__)
            return
        failed[name] = str(error).removeprefix(f"{name}: ")


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """An error inside becomes a `DeviceError` of one line that begins with the contender's name.

    Baselines are other people's libraries: any exception may come of them.
    """
    try:
        yield
    except DeviceError as error:
        raise DeviceError(f"{name}: {error}") from error
    except CUDAError as error:
        raise DeviceError(f"{name}: {reason(error)}") from error
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        raise DeviceError(f"{name}: {type(error).__name__}: {first}") from error
