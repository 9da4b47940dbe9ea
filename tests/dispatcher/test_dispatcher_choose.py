"""Which records serve a problem, and in which order."""

import warnings
from dataclasses import replace
from math import log
from types import SimpleNamespace

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial

from autotune import dispatcher
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.db import Status, TimeSource, TuningDB, freshness
from autotune.db.comparison import BaselineTimes
from autotune.dispatcher.choice import records as module
from autotune.dispatcher.choice import snapshots
from autotune.dispatcher.choice.choose import choices, from_records, in_order
from autotune.dispatcher.choice.explanation import explain
from autotune.dispatcher.choice.modelled import TIE, preferred
from autotune.dispatcher.choice.records import Record, records
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.choice.transfer import DOUBT, alike, comparable, distance, doubt, loss, slowness
from autotune.search_spaces.contract.modelled_time import fastest_first, modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.roofline import roofline

H100 = named_device("h100")
FASTER = replace(H100, name="H100 at another clock", clock_hz=2 * H100.clock_hz)


def served(wanted, spec=H200):
    return list(choices(SGEMM, wanted, spec, records(SGEMM, spec)))


def chosen(wanted, spec=H200):
    """The numbers of the records that may serve."""
    return [found.schedule.raster_group - 100 for found in served(wanted, spec) if found.record]


def near(wanted):
    """The numbers of the records that may serve, nearest first."""
    found = from_records(SGEMM, wanted, H200, records(SGEMM, H200))
    return [choice.schedule.raster_group - 100 for choice in found if not choice.reason]


def tiled(number, wanted, tile):
    """A numbered schedule with square tiles."""
    return replace(schedule(number, wanted), block_m=tile, block_n=tile, warp_m=32, warp_n=32, thread_m=4, thread_n=8)


@pytest.fixture
def store(database):
    """Record trials of these problems, whose schedules are numbered in their order."""

    def stored(*problems, **changes):
        for number, known in enumerate(problems):
            database.record(trial(known, schedule(number, known), **changes))

    return stored


def test_the_own_record_comes_first_then_the_nearest_then_the_model_then_the_default(store):
    store(problem(512), problem(600), problem(1024), problem(600, align_a=8))
    assert chosen(problem(600)) == [1, 3]
    assert [choice.rule for choice in served(problem(600))] == [Rule.EXACT, Rule.NEAREST, Rule.MODEL, Rule.DEFAULT]
    assert [choice.rule for choice in served(problem(64, transpose_a=True))] == [Rule.MODEL, Rule.DEFAULT]
    assert served(problem(600))[-1].schedule == SGEMM.default(problem(600), H200)


def test_an_own_record_serves_its_problem_however_slow_and_changes_nothing_for_others(database):
    known, slow = problem(512), problem(768)
    database.record(trial(known, schedule(0, known), seconds=1e-5))
    assert chosen(slow) == chosen(problem(700)) == [0]
    database.record(trial(slow, schedule(1, slow), seconds=1e-2))
    assert served(slow)[0].rule is explain("sgemm", device="h200", **slow.sizes).chosen.rule is Rule.EXACT
    assert chosen(slow) == [1, 0]
    assert chosen(problem(700))[0] == 0


def test_a_kernel_for_one_shape_serves_that_alone_and_others_the_same_for_any(database):
    known, other = problem(512), problem(520)
    special = replace(schedule(0, known), specialize=Specialize.SHAPE)
    database.record(trial(known, special, seconds=1e-6))
    assert served(known)[0].schedule == special
    assert served(other)[0] == replace(served(other)[0], rule=Rule.NEAREST, schedule=schedule(0, known))
    assert all(choice.schedule.specialize is Specialize.NONE for choice in served(other))


def test_a_shape_generic_record_that_was_measured_needs_no_twin(database):
    known = problem(512)
    found = [replace(schedule(0, known), specialize=Specialize.SHAPE), schedule(1, known)]
    for number, chosen_schedule in enumerate(found, 1):
        database.record(trial(known, chosen_schedule, seconds=number * 1e-6))
    assert [record.schedule for record in records(SGEMM, H200)] == found


def test_at_most_two_records_are_tried(store):
    store(problem(512), problem(520), problem(528), problem(536))
    assert len(chosen(problem(516))) == 2
    assert len(chosen(problem(520))) == 2


def test_near_means_in_every_size_not_in_their_product(database):
    """Of two records of as many multiplications, at one rate and with equal tiles, the one of a like shape."""
    for number, known in enumerate((problem(512, 4096, 1024), problem(2048, 1024, 1024))):
        chosen_tile = tiled(number, known, 64)
        database.record(trial(known, chosen_tile, seconds=known.work.count(Unit.FP32) / 20e12))
    assert chosen(problem(1792, 1152, 1024)) == [1, 0]
    assert chosen(problem(576, 3584, 1024)) == [0, 1]


def test_near_means_with_few_empty_tiles_and_waves(database):
    """128² tiles serve 11 × 12 of them, which is one for each SM; of 11 × 13 tiles some SMs get a second one."""
    known, other = problem(11 * 128, 12 * 128), problem(12 * 128, 13 * 128)
    database.record(trial(known, tiled(0, known, 128), seconds=known.work.count(Unit.FP32) / 40e12))
    database.record(trial(other, tiled(1, other, 64), seconds=other.work.count(Unit.FP32) / 34e12))
    assert near(problem(11 * 128 - 8, 12 * 128 - 8))[0] == 0
    crowded = problem(11 * 128, 13 * 128 - 8)
    assert near(crowded) == [1, 0]
    wasteful = next(choice for choice in served(crowded) if choice.record == known.key)
    assert wasteful.seconds > 1.8 * known.work.count(Unit.FP32) / 40e12
    efficiency = roofline(crowded, H200) / wasteful.seconds
    assert wasteful.loss == pytest.approx(1 - efficiency / (40e12 / H200.peak(Unit.FP32)))


def test_a_time_is_transferred_by_the_ratio_of_the_modelled_times():
    known, wanted = problem(33 * 128, 128, 4096), problem(34 * 128, 128, 2048)
    clustered = replace(tiled(0, known, 128), cluster_k=4, min_blocks_per_sm=1)
    record = Record(known, clustered, 1e-3, TimeSource.MEASURED)
    here, there = (modelled_seconds(SGEMM, one, clustered, H200) for one in (wanted, known))
    (choice,) = from_records(SGEMM, wanted, H200, [record])
    assert choice.seconds == pytest.approx(1e-3 * here / there)
    assert choice.modelled == here
    (own,) = from_records(SGEMM, known, H200, [record])
    assert (own.seconds, own.loss) == (1e-3, 0)


def record(m):
    return Record(problem(m), schedule(0, problem(m)), 1e-5, TimeSource.MEASURED)


def test_of_records_that_promise_as_much_the_nearer_one_serves():
    wanted, seconds = problem(512), 1e-5
    far_off = [distance(wanted, record(m), H200, seconds) for m in (512, 520, 1024)]
    assert far_off[0] == slowness(wanted, seconds, H200) < far_off[1] < far_off[2]
    assert distance(wanted, record(256), H200, seconds) == pytest.approx(far_off[2])
    empty = problem(0)
    assert distance(empty, record(1), H200, seconds) == slowness(empty, seconds, H200)


def test_records_of_all_data_serve_and_those_of_the_same_data_are_nearer():
    even, long = (
        ReduceProblem(1, 1 << 20, axis=Axis.SEGMENTS, segments=64, spread=one) for one in (Spread.EVEN, Spread.LONG)
    )
    called = replace(even, spread=Spread.RANDOM)
    reduce = operator("reduce")
    known = {one: Record(one, reduce.default(one, H200), 1e-5, TimeSource.MEASURED) for one in (even, long, called)}
    assert all(comparable(called, one) for one in known.values())
    by_distance = {one: distance(even, known[one], H200, 1e-5) for one in known}
    assert by_distance[even] < by_distance[long] == by_distance[called]
    (chosen,) = from_records(reduce, called, H200, [known[long]])
    assert chosen.schedule == known[long].schedule


def test_a_record_that_the_model_finds_as_fast_goes_first_if_its_data_are_the_same():
    reduce = operator("reduce")
    wanted, even, long = (
        ReduceProblem(1, columns, axis=Axis.SEGMENTS, segments=64, spread=spread)
        for columns, spread in ((1 << 20, Spread.EVEN), (1 << 21, Spread.EVEN), (1 << 21, Spread.LONG))
    )
    schedule, _ = preferred(reduce, wanted, H200)
    for slow, rule in ((even, Rule.NEAREST), (long, Rule.MODEL)):
        known = [Record(slow, schedule, 1.0, TimeSource.MEASURED)]
        assert next(choices(reduce, wanted, H200, known)).rule is rule


def test_vectors_of_a_gemv_count_as_sizes_do():
    of_four = Record(GemvProblem(1024, 512, 4), FmaSchedule(), 1e-5, TimeSource.MEASURED)
    one, four = GemvProblem(512, 512), GemvProblem(512, 512, 4)
    assert doubt(four, of_four) == pytest.approx(DOUBT * log(2))
    assert doubt(one, of_four) == pytest.approx(DOUBT * (log(2) ** 2 + log(4) ** 2) ** 0.5)
    assert alike(four, of_four)
    assert not alike(one, of_four)


def test_what_runs_better_than_its_record_loses_nothing():
    own = record(512)
    assert loss(problem(512), own, H200, 2 * own.seconds) == pytest.approx(0.5)
    assert loss(problem(512), own, H200, own.seconds / 2) == 0


def test_ahead_of_calls_all_but_the_own_record_is_compiled_for_the_shape():
    (own,), (other,) = (from_records(SGEMM, problem(m), H200, [record(512)]) for m in (512, 600))
    assert own.shape_specialized == own
    assert other.shape_specialized.schedule == other.schedule.shape_specialized != other.schedule


def test_baselines_that_beat_a_record_are_those_of_its_own_problem():
    known = [record(512)._replace(faster_baselines=frozenset({"cublas"}))]
    (own,), (other,) = (from_records(SGEMM, problem(m), H200, known) for m in (512, 600))
    assert (own.faster_baselines, other.faster_baselines) == ({"cublas"}, frozenset())


def test_the_models_choice_goes_before_records_that_promise_less_but_not_before_the_own(database):
    known, fast, wanted = problem(512), problem(640), problem(600)
    database.record(trial(known, schedule(0, known), seconds=1e-3))
    assert [choice.rule for choice in served(wanted)] == [Rule.MODEL, Rule.NEAREST, Rule.DEFAULT]
    assert [choice.rule for choice in served(known)] == [Rule.EXACT, Rule.MODEL, Rule.DEFAULT]
    database.record(trial(fast, schedule(1, fast), seconds=1e-5))
    assert [choice.record for choice in served(wanted)] == [fast.key, None, known.key, None]
    explained = explain("sgemm", device="h200", m=600, n=512, k=512)
    assert list(explained.considered) == served(wanted)


def test_an_unconfirmed_record_competes_for_its_own_problem_as_a_neighbours_does(database):
    known, other = problem(512), {"program_digest": "0" * 64, "comparison": BaselineTimes(1e-3, {"cublas": 1e-6}, {})}
    database.record(trial(known, schedule(0, known), seconds=1e-3, **other))
    assert [choice.rule for choice in served(known)] == [Rule.MODEL, Rule.NEAREST, Rule.DEFAULT]
    database.record(trial(known, schedule(1, known), seconds=1e-6, **other))
    first, *_ = choices(SGEMM, known, H200, records(SGEMM, H200), "cublas")
    assert (first.rule, first.unconfirmed, first.schedule) == (Rule.NEAREST, True, schedule(1, known))
    found = explain("sgemm", device="h200", **known.sizes)
    assert f": nearest, unconfirmed record {known.key}, distance " in str(found)
    database.record(trial(known, schedule(2, known), seconds=1e-2))
    assert (served(known)[0].rule, chosen(known)) == (Rule.EXACT, [2, 1])


def test_a_snapshot_is_not_believed_once_the_generator_has_changed(store, monkeypatch):
    store(problem(512), program_digest="0" * 64)
    with monkeypatch.context() as patch:
        patch.setattr(freshness, "changed_program", lambda trial: "")
        for _ in range(3):
            assert served(problem(512))[0].rule is Rule.EXACT
    assert served(problem(512))[0].rule is Rule.EXACT
    monkeypatch.setattr(snapshots, "_generator", lambda: "another")
    assert served(problem(512))[0].rule is not Rule.EXACT


def test_what_was_the_best_nearby_goes_before_what_the_model_promises_as_much_of(database):
    known, wanted = problem(512), problem(600)
    promising, unpromising = in_order(SGEMM, wanted, H200, [])[0].schedule, tiled(0, known, 64)
    database.record(trial(known, unpromising, seconds=1e-3))
    assert served(wanted)[0].rule is Rule.MODEL
    database.record(trial(known, promising, seconds=9e-4))
    assert (served(wanted)[0].rule, served(wanted)[0].schedule) == (Rule.NEAREST, promising)


def test_no_record_serves_sizes_that_differ_by_more_than_8(store):
    store(problem(512))
    assert chosen(problem(512 * 8)) == [0]
    assert chosen(problem(512 * 8 + 1)) == []
    assert chosen(problem(512, batch=9)) == []
    assert chosen(problem(0)) == []


def test_no_record_of_another_kind_serves(store):
    store(problem(512, transpose_a=True), problem(512, transpose_b=True), problem(512, beta_nonzero=True))
    assert chosen(problem(512)) == [2]
    assert chosen(problem(512, transpose_b=True)) == [1]


def test_no_record_of_another_architecture_serves(store):
    store(problem(512), spec=named_device("a100"))
    assert chosen(problem(512)) == []
    assert chosen(problem(512), named_device("a100")) == [0]


def test_measured_records_of_kin_serve_by_a_rule_of_their_own(store, database):
    wanted = problem(4096, 4096, 4096)
    store(wanted, spec=H100, seconds=2.3e-3)
    database.record(trial(wanted, schedule(7, wanted), spec=named_device("h200"), time_source=TimeSource.MODELLED))
    (first, *others) = [choice for choice in served(wanted, FASTER) if choice.record]
    assert (first.rule, first.device, first.time_source, others) == (Rule.KIN, H100.name, TimeSource.MEASURED, [])
    here, there = (modelled_seconds(SGEMM, wanted, first.schedule, spec) for spec in (FASTER, H100))
    assert first.seconds == pytest.approx(2.3e-3 * here / there) != pytest.approx(2.3e-3)
    assert first.distance == pytest.approx(slowness(wanted, first.seconds, FASTER))
    store(wanted, spec=FASTER)
    assert [choice.rule for choice in served(wanted, FASTER)][:2] == [Rule.EXACT, Rule.KIN]


def test_a_record_of_kin_is_named_with_its_device(store):
    store(problem(512), spec=H100)
    found = str(explain("sgemm", device="h200", m=512, n=512, k=512))
    assert f"kin, record {problem(512).key} on {H100.name} (here: bandwidth 1.4" in found


def test_a_time_of_kin_never_falls_below_the_roofline(store):
    wanted = problem(4096, 4096, 4096)
    store(wanted, spec=H100, seconds=0.9 * roofline(wanted, H100))
    (kin,) = [choice for choice in from_records(SGEMM, wanted, FASTER, records(SGEMM, FASTER)) if choice.record]
    assert kin.seconds == roofline(wanted, FASTER)


def test_what_is_illegal_here_is_passed_over(store):
    store(problem(512), problem(600, lda=513, ldb=513, ldc=513))
    assert chosen(problem(512)) == [0, 1]
    assert chosen(problem(512, align_b=4)) == [1]


def test_what_is_illegal_here_is_not_modelled_and_comes_last():
    """Tensor copies have no workload for rows that begin between multiples of 16 bytes, which they cannot take."""
    gemm = operator("gemm")
    even, odd = (GemmProblem(512, n, 512) for n in (64, 60))
    default = gemm.default(odd, H200)
    copied = next(seed for seed in gemm.seeds(even, H200) if seed.tensor_store)
    known = [Record(even, copied, 1e-6, TimeSource.MEASURED), Record(odd, default, 1e-5, TimeSource.MEASURED)]
    other = GemmProblem(480, 60, 512)
    near = from_records(gemm, other, H200, known)
    assert [choice.record for choice in near] == [odd.key, even.key]
    assert "tensor copies" in near[1].reason
    assert (near[1].seconds, near[1].distance, near[1].modelled) == (None, None, None)
    assert next(choices(gemm, other, H200, known)).schedule != copied


def test_failed_trials_and_unknown_fields_are_passed_over(database):
    known = problem(512)
    database.record(trial(known, schedule(0, known), status=Status.WRONG, samples=()))
    strange = schedule(1, known).to_dict() | {"block_q": 1}
    database.record(trial(problem(513), schedule(1, known), schedule=strange))
    assert chosen(known) == []


def test_a_modelled_record_never_goes_before_a_measured_one(database):
    known, near = problem(512), problem(600)
    database.record(trial(known, schedule(0, known), time_source=TimeSource.MODELLED, seconds=1e-6))
    assert chosen(known) == [0]
    database.record(trial(near, schedule(1, near)))
    assert chosen(known) == [1, 0]


def test_the_faster_of_two_records_serves(database):
    known = problem(512)
    database.record(trial(known, schedule(0, known), seconds=2e-3))
    database.record(trial(known, schedule(1, known), seconds=1e-3))
    assert chosen(known) == [1]


def test_a_new_record_is_seen(store, database):
    assert chosen(problem(512)) == []
    store(problem(512))
    assert chosen(problem(512)) == [0]


def test_a_database_is_read_once_until_it_changes(store, monkeypatch):
    store(problem(512))
    reads = []
    read = module._plain
    monkeypatch.setattr(module, "_plain", lambda *args: reads.append(args) or read(*args))
    for _ in range(3):  # the first one leaves the log behind in the file, which changes it
        assert chosen(problem(512)) == [0]
    before = len(reads)
    assert chosen(problem(600)) == [0]
    assert len(reads) == before < 3
    store(problem(600))
    assert chosen(problem(600)) == [0, 0]
    assert len(reads) == before + 1


@pytest.mark.parametrize("place", ["folder", "not a database"])
def test_without_a_database_there_is_one_warning_and_no_record(place, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("no database " * 999)
    monkeypatch.setenv("AUTOTUNE_DB", str(file / "tuning.sqlite3" if place == "folder" else file))
    with pytest.warns(RuntimeWarning, match="schedules are chosen without records: .*file") as caught:
        assert chosen(problem(512)) == []
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chosen(problem(600)) == []


def test_where_no_database_can_be_made_what_ships_serves(tmp_path, monkeypatch):
    from autotune.db.exchange import to_document, write_document

    known = problem(512)
    write_document(tmp_path / "pretuned" / "h200.json", to_document([trial(known, schedule(7, known))]))
    (tmp_path / "file").touch()
    monkeypatch.delenv("AUTOTUNE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="AUTOTUNE_DB names another; a temporary database") as caught:
        assert chosen(known) == [7]
    assert chosen(replace(known, m=500)) == [7]
    assert len(caught) == 1


def test_a_database_that_breaks_later_is_no_error(store, tmp_path):
    store(problem(512))
    assert chosen(problem(512)) == [0]
    for path in tmp_path.glob("tuning.sqlite3*"):
        path.write_bytes(b"broken" * 9999)
    with pytest.warns(RuntimeWarning, match="schedules are chosen without records"):
        assert chosen(problem(512)) == []


def test_shipped_records_serve(tmp_path):
    from autotune.db.exchange import to_document, write_document

    known = problem(512)
    write_document(tmp_path / "pretuned" / "h200.json", to_document([trial(known, schedule(7, known))]))
    assert chosen(known) == [7]
    assert TuningDB().best("sgemm", known.key, H200.name)
    assert chosen(replace(known, m=500)) == [7]


@pytest.fixture
def known(database):
    for number, m in enumerate((512, 600, 5000)):
        database.record(trial(problem(m), schedule(number, problem(m)), seconds=8e-6 * m / 512))


def test_the_chosen_one_is_what_a_call_gets(known):
    found = dispatcher.explain("sgemm", device="h200", m=520, n=512, k=512)
    assert found.chosen.rule is Rule.NEAREST
    assert found.chosen.record == "m512-n512-k512-nn"
    assert found.chosen.schedule == schedule(0, problem(512))
    assert found.chosen.seconds == pytest.approx(8e-6)
    assert [choice.rule for choice in found.considered] == [Rule.NEAREST, Rule.NEAREST, Rule.MODEL, Rule.DEFAULT]
    assert str(found).startswith("sgemm m520-n512-k512-nn on NVIDIA H200: nearest, record m512-n512-k512-nn, distance ")


def test_what_cannot_serve_says_why(known):
    found = dispatcher.explain("sgemm", device="h200", m=512, n=512, k=512, align_b=4)
    assert found.chosen.rule is Rule.MODEL
    illegal = "vector_b 4 over the 1 elements that B is aligned for"
    assert [choice.reason for choice in found.considered] == ["", illegal, illegal, ""]


def test_without_records_the_model_chooses():
    found = dispatcher.explain("transpose", device="h200", m=512, n=512)
    assert found.chosen.rule is Rule.MODEL
    assert found.chosen.seconds > 0
    assert "schedule tile_m=" in str(found)


@pytest.mark.parametrize("m", [0, 1, 7, 4096, 100000])
def test_the_models_choice_is_legal(m):
    found = dispatcher.explain("sgemm", device="t4", m=m, n=512, k=512, transpose_a=True)
    assert SGEMM.violations(found.problem, found.chosen.schedule, found.spec) == []
    assert found.spec != H200


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [("sgem", {}, "unknown operator 'sgem'; did you mean sgemm"), ("sgemm", {"m": 5}, "field 'n' of")],
)
def test_bad_arguments_get_one_line(name, fields, message):
    with pytest.raises(ValueError, match=message):
        dispatcher.explain(name, **fields)


def test_a_device_is_named_by_a_string():
    with pytest.raises(TypeError, match="device=0: expected a string, such as 'auto', '0' or 'h200'"):
        dispatcher.explain("sgemm", device=0, m=5, n=5, k=5)


WANTED = problem(512)


@pytest.fixture
def prefer(monkeypatch):
    """The number of the seed that is preferred, of seeds with these times; those in `special` are for one shape."""

    def number(*times, special=()):
        seeds = [schedule(number, WANTED) for number in range(len(times))]
        for one in special:
            seeds[one] = replace(seeds[one], specialize=Specialize.SHAPE)
        asked = []

        def forecast(operator, wanted, one, spec):
            asked.append(one)
            return SimpleNamespace(seconds=times[one.raster_group - 100])

        monkeypatch.setattr(type(SGEMM), "forecast", forecast)
        found, time = preferred(
            replace(SGEMM, default=lambda *_: seeds[0]).with_kernels(candidates=lambda *_: seeds), WANTED, H200
        )
        assert sorted(asked, key=str) == sorted((one.shape_generic for one in seeds), key=str)  # each once
        assert found.specialize is Specialize.NONE
        assert time == times[found.raster_group - 100]
        return found.raster_group - 100

    return number


def test_of_times_that_are_alike_the_first_guess_is_preferred(prefer):
    assert prefer(2.0, 1.0 + (TIE - 1) / 2, 1.0) == 1
    assert prefer(1.0, 1.0, 1.0) == 0
    assert prefer(1.0 + (TIE - 1) * 2, 1.0 + (TIE - 1) * 2, 1.0) == 2


def test_shape_generic_seeds_are_preferred_to_shape_specialized_ones(prefer):
    assert prefer(1.0, 1.0, 1.0, special=[0]) == 1
    assert prefer(1.0, 1.0, 1.0, special=[0, 1, 2]) == 0
    assert prefer(1.0, 2.0, 2.0, special=[0]) == 0


def test_of_schedules_that_nobody_counted_the_default_is_preferred():
    """Occupancy alone would take another one."""
    merge_sort = operator("merge_sort")
    wanted = merge_sort.problem_type(1 << 20)
    default = merge_sort.default(wanted, H200).shape_generic
    first = fastest_first(merge_sort, wanted, merge_sort.seeds(wanted, H200), H200)[0]
    assert first.shape_generic != default
    assert preferred(merge_sort, wanted, H200)[0] == default


@pytest.mark.parametrize("size", [4096, 10000])
def test_of_transposes_whatever_moves_their_bytes_is_alike(size):
    transpose = operator("transpose")
    wanted = transpose.problem_type(size, size)
    assert preferred(transpose, wanted, H200)[0] == transpose.seeds(wanted, H200)[0].shape_generic
