"""A trial from elsewhere is held against what operators can read and devices can do, before it replaces any other."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

from autotune.db import DatabaseError, DeviceRecord, MergeCounts, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.db.comparison import BaselineTimes
from autotune.db.exchange import from_document, to_document, write_document
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

SGEMM, SPEC = operator("sgemm"), named_device("h200")
TRANSPOSE = operator("transpose")
PROBLEM = SGEMM.problem_type(4096, 4096, 4096)
SCHEDULE = SGEMM.default(PROBLEM, SPEC)
GENUINE = Trial(
    device=DeviceRecord(SPEC.name, SPEC.compute_capability, asdict(SPEC)),
    problem=ProblemRecord("sgemm", PROBLEM.key, PROBLEM.to_dict()),
    schedule=SCHEDULE.to_dict(),
    schedule_digest=SCHEDULE.digest,
    status=Status.OK,
    time_source=TimeSource.MEASURED,
    samples=(2.7e-3,),
)


def small(seconds):
    problem = SGEMM.problem_type(1, 1, 1)
    record = ProblemRecord("sgemm", problem.key, problem.to_dict())
    schedule = SGEMM.default(problem, SPEC)
    own = {"schedule": schedule.to_dict(), "schedule_digest": schedule.digest, "samples": (seconds,)}
    return replace(GENUINE, problem=record, **own)


def scheduled(**changes):
    problem = TRANSPOSE.problem_type(64, 64)
    record = ProblemRecord("transpose", problem.key, problem.to_dict())
    schedule = TRANSPOSE.default(problem, SPEC).to_dict() | changes
    return replace(GENUINE, problem=record, schedule=schedule)


def of_limits(**changes):
    return replace(GENUINE, device=replace(GENUINE.device, limits={**GENUINE.device.limits, **changes}))


@pytest.fixture
def db(no_pretuned):
    with TuningDB("sqlite://") as database:
        yield database


FALSE = {
    "too fast": (replace(GENUINE, samples=(1e-12,)), "shorter than any launch"),
    "too fast for its size": (small(1e-12), "shorter than any launch"),
    "above the peak": (replace(GENUINE, samples=(1e-3,)), "137.4 TFLOP/s of FP32 .* is above the device's peak"),
    "above the peak of the model": (
        replace(of_limits(clock_hz=2.97e9, bandwidth=7.2e12), samples=(1e-3,)),
        "is above the device's peak of",
    ),
    "other limits than the model's": (
        of_limits(l2_bytes=10**12),
        "l2_bytes=1000000000000 .* has 62914560",
    ),
    "a faster clock than the model's": (of_limits(clock_hz=1e12), "clock_hz=1000000000000.0 of the device's limits"),
    "a slower memory than the model's": (of_limits(bandwidth=1e9), "bandwidth=1000000000.0 of the device's limits"),
    "other rates than the model's": (of_limits(rates={"fp32": 128, "tensor_fp16": 9999}), "rate of tensor_fp16=9999"),
    "a name that ends a comment": (
        replace(GENUINE, device=DeviceRecord("X */ int f", (9, 0), GENUINE.device.limits | {"name": "X */ int f"})),
        "expected a model as drivers name it",
    ),
    "a size below its range": (scheduled(tile_m=-1), "tile_m=-1 of the schedule: expected"),
    "a size above its range": (scheduled(tile_m=2**62), "tile_m=4611686018427387904 of the schedule: expected"),
    "baseline too fast": (replace(GENUINE, comparison=BaselineTimes(2.7e-3, {"cublas": 1e-9}, {})), "shorter than any"),
    "negative limits": (of_limits(sm_count=-132), "sm_count=-132 of the device's limits"),
    "limits of another": (of_limits(name="Tesla T4"), "the limits are of 'Tesla T4'"),
    "other fields": (replace(GENUINE, schedule=GENUINE.schedule | {"secret": 1}), "unknown field 'secret'"),
    "unknown operator": (
        replace(GENUINE, problem=ProblemRecord("nosuch", "n1", {})),
        r"trials\[0\]: unknown operator 'nosuch'",
    ),
    "escapes": (replace(GENUINE, compiler="NVRTC \x1b[2J"), r"compiler='NVRTC \\x1b\[2J': expected printable"),
    "the future": (replace(GENUINE, created_at=GENUINE.created_at + timedelta(days=9)), "is in the future"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_cannot_be_true_is_refused_and_replaces_nothing(db, name):
    false, complaint = FALSE[name]
    db.record(GENUINE)
    with pytest.raises(ValueError, match=complaint) as caught:
        db.merge(to_document([false]))
    assert "\n" not in str(caught.value)
    assert [one.samples for one in db.trials()] == [GENUINE.samples]


def test_limits_that_an_earlier_document_brought_are_not_believed_alone(db):
    """They may be true as far as the device file tells, and yet let pass what cannot be."""
    db.merge(to_document([of_limits(clock_hz=2.9e9, l2_bytes=90 << 20)]))
    copied = TRANSPOSE.problem_type(16384, 16384)
    record = ProblemRecord("transpose", copied.key, copied.to_dict())
    schedule = TRANSPOSE.default(copied, SPEC)
    own = {"schedule": schedule.to_dict(), "schedule_digest": schedule.digest}
    lie = replace(GENUINE, problem=record, samples=(2e-7,), **own)
    with pytest.raises(ValueError, match="is above the device's bandwidth"):
        db.merge(to_document([lie]))
    assert len(db.trials()) == 1


def test_without_a_known_device_its_model_counts(db):
    false, complaint = FALSE["above the peak of the model"]
    with pytest.raises(ValueError, match=f"{complaint} 100.4"):
        db.merge(to_document([false]))
    overclocked = of_limits(clock_hz=1.2 * SPEC.clock_hz)
    assert db.merge(to_document([replace(overclocked, samples=(1.9e-3,))])).added == 1


def test_what_may_be_true_is_taken(db):
    db.record(replace(GENUINE, samples=(3e-3,)))
    ahead = replace(small(2e-6), created_at=datetime.now(UTC) + timedelta(minutes=1))  # by another clock
    assert db.merge(to_document([GENUINE, ahead])) == MergeCounts(added=1, replaced=1)


def test_fields_that_contradict_their_key_are_refused():
    document = to_document([GENUINE])
    document["problems"][0]["fields"] |= {"m": 64}
    with pytest.raises(ValueError, match="key 'm4096-n4096-k4096-nn': its fields are those of m64-n4096-k4096-nn"):
        from_document(document)


def test_a_false_file_among_the_shipped_ones_is_named(db, no_pretuned):
    write_document(no_pretuned / "false.json", to_document([replace(GENUINE, samples=(1e-12,))]))
    with pytest.raises(DatabaseError, match=r"false\.json: trials\[0\]: .*: correct or remove this file"):
        db.best("sgemm", PROBLEM.key, SPEC.name)
