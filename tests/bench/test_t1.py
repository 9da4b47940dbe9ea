"""A recording's search space in the T1 format."""

from ast import literal_eval
from pathlib import Path

from recording_factory import recording

from autotune.bench.search.t1 import t1_document
from autotune.devices.recording import load

TYPES = {"bool": bool, "int": int, "string": str}


def test_the_space_and_the_fastest_kernel_are_described(tmp_path: Path) -> None:
    loaded = load(recording(tmp_path / "recording.jsonl.gz", 8))
    document = t1_document(loaded)
    space = loaded.operator.space(loaded.problem, loaded.spec)
    described = document["ConfigurationSpace"]["TuningParameters"]
    assert [one["Name"] for one in described] == [parameter.name for parameter in space.parameters]
    for one, parameter in zip(described, space.parameters, strict=True):
        values = literal_eval(one["Values"])
        assert values == list(parameter.values)
        assert {type(value) for value in values} == {TYPES[one["Type"]]}
    fastest = min(loaded.seconds, key=lambda schedule: loaded.seconds[schedule])
    (launch,) = loaded.operator.program(loaded.problem, fastest, loaded.spec).launches
    kernel = document["KernelSpecification"]
    assert kernel["KernelName"] == launch.entry
    assert kernel["GlobalSize"] == dict(zip("XYZ", map(str, launch.grid), strict=True))
    assert kernel["LocalSize"] == dict(zip("XYZ", map(str, launch.block), strict=True))
    assert {"Language", "KernelName", "KernelFile", "GlobalSize", "LocalSize"} <= set(kernel)  # which T1 requires
