"""Records for the database that the dispatcher reads."""

from dataclasses import asdict, replace

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

SGEMM = operator("sgemm")
H200 = named_device("h200")  # which the emulator stands for


def schedule(number, problem, spec=H200):
    """A legal schedule that is told by its raster_group, and is no default."""
    return replace(SGEMM.default(problem, spec), raster_group=100 + number)


def trial(problem, chosen, *, spec=H200, seconds=1e-5, **changes):
    values = {
        "device": DeviceRecord(spec.name, spec.compute_capability, asdict(spec)),
        "problem": ProblemRecord("sgemm", problem.key, problem.to_dict()),
        "schedule": chosen.to_dict(),
        "schedule_digest": chosen.digest,
        "status": Status.OK,
        "time_source": TimeSource.MEASURED,
        "samples": (seconds,),
    }
    return Trial(**(values | changes))


def problem(m, n=512, k=512, **fields):
    return SgemmProblem(m, n, k, **fields)
