"""A GPU without a GPU: sessions whose launches take the time that a test says, and baselines to go with them."""

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

from autotune.bench import OWN, Baseline, BaselineRun
from autotune.db import Status
from autotune.devices.base import Evaluation
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.machine.devices import named_device

SPEC = replace(named_device("h200"), name="Test GPU")  # which no shipped record is for


class Launch:
    """A launch that only knows whose it is."""

    def __init__(self, name, graph=False):
        self.name, self.graph = name, graph

    def __call__(self):
        raise AssertionError("the session launches")


class Session:
    """Stands for `CudaSession`.

    Attributes:
        log: (what was done, whose launch), in order.
        seconds: of each sample, by contender, 1 ms unless said otherwise.
        verdicts: what verification says, by contender, one by one; right where there are no more.
        replayed: the contenders whose graph was sampled.
    """

    stream = 0
    spec = SPEC

    def __init__(self, problem, presets=()):
        self.problem = problem
        self.replayed = set()
        self._names = {preset(problem): name for name, preset in dict(presets).items()}
        self.log = []
        self.seconds = {}
        self.verdicts = defaultdict(list)

    @contextmanager
    def prepared(self, source, compiled):
        name = self._names.get(source, OWN)
        yield Launch(name)
        self.log.append(("freed", name))

    def verify(self, launch):
        self.log.append(("verify", launch.name))
        verdicts = self.verdicts[launch.name]
        return verdicts.pop(0) if verdicts else Evaluation(Status.OK)

    def wait(self): ...

    def sample(self, launch):
        self.log.append(("sample", launch.name))
        self.replayed |= {launch.name} if launch.graph else set()
        return self.seconds.get(launch.name, 1e-3)


@contextmanager
def captured(stream, launch):
    """Stands for `graph.captured`."""
    yield Launch(launch.name, graph=True)


def baseline(name, *, verified=True, replayed=True, missing="", error=None):
    @contextmanager
    def prepare(session):
        if error:
            raise error
        yield BaselineRun(Launch(name))

    return Baseline(f"what {name} does", verified, replayed, lambda: missing, lambda: {f"lib{name}": "1.2"}, prepare)


class Gpu(CudaDevice):
    """A device whose sessions are `Session`.

    Attributes:
        prepare_session: may change each one.
        ladder: whether sessions tell presets from other kernels.
        looked_after: how often somebody asked whether the context was lost.
    """

    def __init__(self):
        self.selector = "0"
        self.spec = SPEC
        self.environment = {"driver": "580"}
        self.conditions = SimpleNamespace(joules=lambda: None)
        self.prepare_session = lambda session: None
        self.looked_after = 0
        self.ladder = False

    @contextmanager
    def session(self, operator, problem, seed):
        session = Session(problem, operator.presets if self.ladder else {})
        self.prepare_session(session)
        yield session

    def check_context(self):
        self.looked_after += 1
        return False
