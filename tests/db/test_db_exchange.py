"""Exports round-trip, merges keep the better record, and a wrong document changes nothing."""

import copy
import json
from datetime import UTC, datetime

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trial_factory import H200, LARGE, SMALL, T4, TRANSPOSE, trial

from autotune.db import MergeCounts, Status, TimeSource, TuningDB
from autotune.db.comparison import BaselineTimes
from autotune.db.exchange import from_document, read_document, to_document

pytestmark = pytest.mark.usefixtures("made_up_trials")

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
json_values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=3)
objects = st.dictionaries(st.text(max_size=5), json_values, min_size=1, max_size=3)
seconds = st.floats(min_value=0, max_value=1e6, exclude_min=True, exclude_max=True)
trials = st.builds(
    trial,
    digest=names,
    device=st.sampled_from([H200, T4]),
    problem=st.sampled_from([SMALL, LARGE, TRANSPOSE]),
    schedule=objects,
    status=st.sampled_from(Status),
    time_source=st.sampled_from(TimeSource),
    samples=st.lists(seconds, min_size=1, max_size=3).map(tuple),
    max_error=st.none() | st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    error=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    resources=objects,
    environment=objects,
    compiler=st.sampled_from(["c1", "c2"]),
    program_digest=st.sampled_from(["p1", "p2"]),
    conditions=objects,
    lost_to=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
    comparison=st.none()
    | st.builds(BaselineTimes, seconds, st.dictionaries(names, seconds), st.just({"cuBLAS": "13"})),
    created_at=st.datetimes(min_value=datetime(2000, 1, 1), timezones=st.just(UTC)),
)


def repr_key(one):
    made = (one.time_source, one.program_digest, one.compiler)
    return repr((one.device.model, one.problem.key, one.schedule_digest, *made))


@pytest.fixture(scope="module")
def scratch():
    """A function that empties and returns one of a few databases in memory: migrating anew takes most of the time."""
    opened = [TuningDB("sqlite://") for _ in range(2)]

    def emptied(index):
        with opened[index]._engine.begin() as connection:
            for table in ("trials", "problems", "devices"):
                connection.exec_driver_sql(f"DELETE FROM {table}")
        return opened[index]

    yield emptied
    for database in opened:
        database.close()


quick = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # shrinking takes minutes, and the documents are small as drawn
)


@quick
@given(many=st.lists(trials, max_size=5, unique_by=repr_key))
def test_an_export_merged_elsewhere_is_the_same_database(scratch, many):
    first, second = scratch(0), scratch(1)
    for one in many:
        first.record(one)
    document = first.export()
    assert second.merge(json.loads(json.dumps(document, allow_nan=False))) == MergeCounts(added=len(many))
    assert sorted(second.trials(), key=repr_key) == sorted(many, key=repr_key)
    before = second.export()
    assert second.merge(document) == MergeCounts(kept=len(many))
    assert second.export() == before


@quick
@given(outcomes=st.lists(st.tuples(st.sampled_from([Status.OK, *Status]), seconds), min_size=2, max_size=2))
def test_a_merge_keeps_the_better_of_one_key_in_any_order(scratch, outcomes):
    pair = [trial("one", time, status=status, minutes=i) for i, (status, time) in enumerate(outcomes)]
    ok = [one.seconds for one in pair if one.status is Status.OK]
    for index, order in enumerate([pair, pair[::-1]]):
        database = scratch(index)
        for one in order:
            database.merge(to_document([one]))
        (kept,) = database.trials()
        assert kept.status is Status.OK if ok else kept == order[0]
        if ok:
            assert kept.seconds == min(ok)


def test_a_better_record_replaces_the_whole_of_the_worse(db):
    db.record(trial("a", 2e-3))
    better = trial("a", 1e-3, minutes=-5, error="quick", resources={"registers": 40})
    assert db.merge(to_document([better, trial("b", 3e-3), trial("b", 4e-3)])) == MergeCounts(
        added=1, replaced=1, kept=1
    )
    assert better in db.trials()
    assert db.best(SMALL.operator, SMALL.key, H200.model) == better


def test_a_known_device_and_a_known_problem_stay_as_they_are(db):
    db.record(trial())
    document = to_document([trial("b")])
    document["devices"][0]["limits"] = {"sm_count": 1}
    document["problems"][0]["fields"] = {}
    db.merge(document)
    assert db.devices() == [H200]
    assert db.problems() == [SMALL]


def test_an_export_is_filtered(db):
    for device in (H200, T4):
        for problem in (SMALL, TRANSPOSE):
            for digest, time in (("slow", 2e-3), ("fast", 1e-3)):
                db.record(trial(digest, time, device=device, problem=problem))
    assert len(from_document(db.export())) == 8
    assert [one.device for one in from_document(db.export(device=T4.model))] == [T4] * 4
    bests = from_document(db.export("transpose", T4.model, best_only=True))
    assert bests == db.bests("transpose", T4.model)
    assert [one.schedule_digest for one in bests] == ["fast"]
    assert db.export("transpose", T4.model)["problems"] == [
        {"operator": "transpose", "key": "8x8", "fields": {"rows": 8, "columns": 8}}
    ]


def test_an_export_is_written_to_a_file(db, tmp_path):
    db.record(trial())
    db.write_export(tmp_path / "export.json")
    assert read_document(tmp_path / "export.json") == json.loads(json.dumps(db.export()))


def test_a_file_that_is_not_json(tmp_path):
    (tmp_path / "wrong.json").write_text("{")
    with pytest.raises(ValueError, match=r"wrong\.json is not a JSON file"):
        read_document(tmp_path / "wrong.json")


def valid():
    return json.loads(json.dumps(to_document([trial("a"), trial("b", device=T4, problem=TRANSPOSE)])))


WRONG = [
    ((), [], "version None, expected 2"),
    (("version",), 3, "version 3, expected 2"),
    (("more",), 1, "got 'version'.*'more'"),
    (("trials",), {}, "trials={}: expected a list"),
    (("trials", 0), None, r"trials\[0\]: a trial has .*got None"),
    (("trials", 1, "status"), "fine", r"trials\[1\]: 'fine' is none of ok, illegal"),
    (("trials", 1, "status"), [], r"\[\] is none of ok"),
    (("trials", 1, "time_source"), "guessed", "none of measured, modelled"),
    (("trials", 1, "samples"), [], "at least one sample"),
    (("trials", 1, "samples"), [-1.0], "sample -1.0"),
    (("trials", 1, "samples"), [float("nan")], "sample nan"),
    (("trials", 1, "samples"), [float("inf")], "sample inf"),
    (("trials", 1, "samples"), [10**400], "sample 1000"),
    (("trials", 1, "samples"), "1.0", "samples='1.0'"),
    (("trials", 1, "device"), "unknown", "not among the document's devices"),
    (("trials", 1, "device"), {}, "not among the document's devices"),
    (("trials", 1, "key"), "unknown", "not among the document's problems"),
    (("trials", 1, "schedule"), [], r"schedule=\[\]: expected an object"),
    (("trials", 1, "resources"), {"registers": float("nan")}, "resources="),
    (("trials", 1, "created_at"), "yesterday", "ISO 8601"),
    (("trials", 1, "created_at"), "2026-11-21T12:00:00", "time zone"),
    (("trials", 1, "created_at"), "0001-01-01T00:00:00+10:00", "year from 1"),
    (("trials", 1, "created_at"), 5, "ISO 8601"),
    (("trials", 1, "comparison"), {"own": 1.0}, "comparison=.*own, others, libraries"),
    (("trials", 1, "lost_to"), None, "lost_to=None: expected text"),
    (("trials", 1, "error"), None, "error=None: expected text"),
    (("devices", 0, "compute_capability"), [9, 2**70], "two whole numbers"),
    (("devices", 0, "model"), "", "device model is empty"),
    (("problems", 0, "operator"), 1, r"problems\[0\]: operator=1: expected text"),
]


@pytest.mark.parametrize(("place", "value", "complaint"), WRONG)
def test_a_wrong_document_is_refused_as_a_whole(db, place, value, complaint):
    db.record(trial("before"))
    with pytest.raises(ValueError, match=complaint) as caught:
        db.merge(changed(valid(), place, value))
    assert "\n" not in str(caught.value)
    assert [one.schedule_digest for one in db.trials()] == ["before"]


def changed(document, place, value):
    if not place:
        return value
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return document


def places(value, prefix=()):
    """The paths of everything in a document."""
    yield prefix
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield from places(inner, (*prefix, step))


anything = json_values | st.floats() | st.text(st.characters(categories=["Cs"]), min_size=1) | st.integers(2**62)


@settings(quick, max_examples=120)
@given(place=st.sampled_from(list(places(valid()))), value=anything)
def test_whatever_a_document_holds_it_is_stored_as_a_whole_or_not_at_all(scratch, place, value):
    database = scratch(0)
    document = changed(copy.deepcopy(valid()), place, value)
    try:
        counts = database.merge(document)
    except ValueError as error:
        assert "\n" not in str(error)
        assert database.devices() == database.problems() == database.trials() == []
    else:
        assert counts.added == len(database.trials()) == len(document["trials"])
        json.dumps(database.export(), allow_nan=False)


@settings(quick, max_examples=100)
@given(content=st.binary(max_size=50) | json_values.map(lambda value: json.dumps(value).encode()))
def test_whatever_a_file_holds_it_is_a_document_or_one_line_that_says_why_not(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "drawn.json"
    file.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        from_document(read_document(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["[" * 100_000, "1" * 5000, '{"version": 1e999}', "\0"])
def test_files_that_are_made_to_break_a_reader(tmp_path, content):
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(ValueError) as caught:
        from_document(read_document(tmp_path / "odd.json"))
    assert "\n" not in str(caught.value)
