"""Trials to store, and a database without shipped records."""

from datetime import UTC, datetime, timedelta

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial

H200 = DeviceRecord("NVIDIA H200", (9, 0), {"sm_count": 132, "clock_hz": 1.98e9})
T4 = DeviceRecord("Tesla T4", (7, 5), {"sm_count": 40})
SMALL = ProblemRecord("sgemm", "m64_n64_k64", {"m": 64, "n": 64, "k": 64})
LARGE = ProblemRecord("sgemm", "m4096_n4096_k4096", {"m": 4096, "n": 4096, "k": 4096})
TRANSPOSE = ProblemRecord("transpose", "8x8", {"rows": 8, "columns": 8})
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def trial(digest="a", seconds=1e-3, *, minutes=0, **changes):
    """A trial of the schedule `digest`, ok and measured unless `changes` say otherwise."""
    values = {
        "device": H200,
        "problem": SMALL,
        "schedule": {"block_m": 64, "name": digest},
        "schedule_digest": digest,
        "status": Status.OK,
        "time_source": TimeSource.MEASURED,
        "samples": (seconds,),
        "resources": {"registers": 128, "spill_store_bytes": 0},
        "environment": {"driver": "580.159"},
        "compiler": "NVRTC 13.0",
        "program_digest": "5" * 64,
        "max_error": 1e-6,
        "created_at": NOON + timedelta(minutes=minutes),
    }
    return Trial(**(values | changes))
