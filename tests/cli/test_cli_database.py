"""db: lists, filters, export and import."""

import re
from dataclasses import asdict, replace

import pytest

from autotune.compiler import compiler_version
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.db.exchange import to_document, write_document
from autotune.db.freshness import JUDGE, OTHER_JUDGE, judge
from autotune.db.pretuned import file_name
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device


def trial(name, key, device, seconds):
    status = Status.WRONG if seconds is None else Status.OK
    chosen, spec = operator(name), named_device(device)
    problem = chosen.problem_type(**{size: int(number) for size, number in re.findall(r"([mnk])(\d+)", key)})
    assert problem.key == key
    schedule = chosen.kernels[0].schedule_type()
    if chosen.violations(problem, schedule, spec):
        schedule = chosen.default(problem, spec)
    if seconds is None:
        schedule = replace(schedule, raster_group=2 * schedule.raster_group)
    return Trial(
        device=DeviceRecord(spec.name, spec.compute_capability, asdict(spec)),
        problem=ProblemRecord(name, key, problem.to_dict()),
        schedule=schedule.to_dict(),
        schedule_digest=schedule.digest,
        status=status,
        time_source=TimeSource.MODELLED,
        compiler=compiler_version(),
        program_digest=chosen.program(problem, schedule, spec).digest if seconds else "",
        samples=() if seconds is None else (seconds,),
        environment={} if seconds else {JUDGE: judge(chosen, problem)},
        error="" if seconds else "wrong: C[3] is 1, expected 2",
    )


@pytest.fixture
def filled(environment):
    with TuningDB() as database:
        for record in (
            trial("sgemm", "m1-n1-k1-nn", "h200", 2e-6),
            trial("sgemm", "m1-n1-k1-nn", "h200", None),
            trial("sgemm", "m1-n1-k1-nn", "t4", 3e-3),
            trial("transpose", "m1-n1-e4", "h200", 1.5),
        ):
            database.record(record)
    return environment


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ("best", 3),
        ("best sgemm", 2),
        ("best sgemm --device h200", 1),
        ("best --problem m1-n1-e4", 1),
        ("best --device a100", 0),
        ("best sgemm --explain", 2),
        ("doctor", 0),
        ("trials", 4),
        ("trials --status wrong", 1),
        ("trials sgemm --limit 2", 2),
        ("problems", 2),
        ("problems transpose", 1),
        ("devices", 2),
    ],
)
def test_lists_and_filters(autotune, filled, arguments, count):
    assert len(autotune("db", *arguments.split(), "--json").json) == count
    assert autotune("db", *arguments.split()).code == 0


def test_a_device_is_a_model_or_an_offline_name(autotune, filled):
    by_model = autotune("db", "best", "--device", "NVIDIA H200", "--json")
    assert by_model.stdout == autotune("db", "best", "--device", "h200", "--json").stdout


def test_a_trial_has_stable_keys(autotune, filled):
    (found,) = autotune("db", "best", "transpose", "--json").json
    assert set(found) == {
        "operator", "problem", "device", "seconds", "schedule", "schedule_digest", "status", "time_source", "samples",
        "error", "max_error", "resources", "environment", "conditions", "lost_to", "comparison", "compiler",
        "program_digest", "machine_code_digest", "run", "created_at",
    }  # fmt: skip
    assert found["seconds"] == 1.5
    assert found["device"] == "NVIDIA H200"


def test_tables_are_whole_where_there_is_no_terminal(autotune, filled):
    table = autotune("db", "trials").stdout
    assert "wrong: C[3] is 1, expected 2" in table
    assert "BM=" in table
    assert "tile_m=32 tile_n=32" in table
    assert "2 µs" in table and "3 ms" in table and "1.5 s" in table


def test_an_export_is_imported_elsewhere(autotune, filled, tmp_path):
    document, other = tmp_path / "export.json", str(tmp_path / "other.sqlite3")
    assert autotune("db", "export", "sgemm", "-o", str(document), "--json").json == {"path": str(document)}
    counts = autotune("db", "import", str(document), "--db", other, "--json").json
    assert counts == {"added": 3, "replaced": 0, "kept": 0}
    exported = autotune("db", "export", "sgemm").json
    assert autotune("db", "export", "--db", other).json["trials"] == exported["trials"]
    assert len(autotune("db", "export", "--best").json["trials"]) == 3


def test_path_names_the_database(autotune, environment):
    assert autotune("db", "path").stdout == f"{environment}\n"
    assert autotune("db", "path", "--json").json == {"location": str(environment)}


def test_a_file_that_is_no_database_is_bad_input_and_stays(autotune, environment):
    environment.write_bytes(b"not a database" * 100)
    outcome = autotune("db", "best")
    assert (outcome.code, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    assert environment.read_bytes() == b"not a database" * 100


# ---- what stands behind a record -------------------------------------------------------------------------------------


@pytest.fixture
def stale(filled):
    """An old record of the transpose, and a slower one of the same schedule; a schedule that failed."""
    new = trial("transpose", "m2-n2-e4", "h200", 2e-3)
    with TuningDB() as database:
        old = replace(new, program_digest="0" * 64)
        database.record(replace(old, compiler="NVRTC 12.0", environment={"limits": "0", "uuid": "1"}))
        database.record(replace(old, compiler="NVRTC 12.0", schedule_digest="other", samples=(3e-3, 3e-3)))
        database.record(trial("transpose", "m2-n2-e4", "h200", None))


@pytest.mark.usefixtures("stale")
def test_doctor_names_stale_records_and_why(autotune):
    (found,) = autotune("db", "doctor", "--json").json
    assert found["problem"] == "m2-n2-e4"
    assert found["stale"] == [
        "unconfirmed: emits another program today",
        f"compiler NVRTC 12.0, now {compiler_version()}",
        f"limits 0, now {named_device('h200').digest}",
    ]
    outcome = autotune("db", "doctor")
    assert "m2-n2-e4" in outcome.stdout
    assert outcome.stderr == (
        "1 of 4 records are stale, 1 of them unconfirmed, which autotune db stamp may confirm; "
        "autotune tune OPERATOR --stale renews them\n"
        "1 other trials can never serve again; autotune db prune lists them\n"
    )


def test_doctor_names_what_another_reference_found_wrong(autotune, filled):
    failed = trial("sgemm", "m1-n1-k1-nn", "h200", None)
    with TuningDB() as database:
        database.record(replace(failed, environment={JUDGE: "of another"}))
        database.record(replace(failed, environment={}, program_digest="0" * 64))  # nothing to judge anew
    (found,) = autotune("db", "doctor", "--json").json
    assert (found["status"], found["stale"]) == ("wrong", [OTHER_JUDGE])
    assert autotune("db", "doctor").stderr == (
        "0 of 3 records are stale, and 1 trials were found wrong by another reference or tolerance; "
        "autotune tune OPERATOR --stale renews them\n"
    )


@pytest.mark.usefixtures("stale")
def test_explain_shows_the_trials_behind_a_record(autotune):
    (found,) = autotune("db", "best", "--problem", "m2-n2-e4", "--explain", "--json").json
    assert [(one["seconds"], one["status"]) for one in found["behind"]] == [(3e-3, "ok"), (None, "wrong")]
    assert len(found["stale"]) == 3
    table = autotune("db", "best", "--problem", "m2-n2-e4", "--explain").stdout
    assert "3 trials: 2 ok, 1 wrong" in table
    assert "1.500" in table
    assert str(operator("transpose").kernels[0].schedule_type()) in table


@pytest.mark.parametrize("by", ["--db", "AUTOTUNE_DB"])
@pytest.mark.parametrize(
    "command",
    [
        *(
            f"db {name}"
            for name in ("best", "trials", "problems", "devices", "export", "path", "doctor", "reduce sgemm")
        ),
        "explain sgemm",
        "warm transpose",
        "export sgemm -o {folder}/out",
        "bench dispatch",
    ],
)
def test_a_database_that_the_user_names_must_be_there_to_be_read(autotune, tmp_path, monkeypatch, command, by):
    typo = tmp_path / "typo.sqlite3"
    words = command.format(folder=tmp_path).split()
    if by == "--db":
        words += ["--db", str(typo)]
    else:
        monkeypatch.setenv("AUTOTUNE_DB", str(typo))
    assert (
        autotune(*words).refusal == f"{typo}: there is no such database; autotune tune and autotune db import make one"
    )
    assert not typo.exists()


def test_the_users_own_database_is_made_when_it_is_read(autotune, tmp_path, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    outcome = autotune("db", "path")
    assert (outcome.code, outcome.stdout) == (0, f"{tmp_path}/autotune/tuning.sqlite3\n")


def test_a_narrow_terminal_gets_schedules_below_and_a_screen_of_rows(autotune, filled, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in autotune("db", "best").stdout.splitlines()]
    assert max(map(len, narrow)) <= 80
    assert [line.split()[:6] for line in narrow if line[:1] in ("s", "t")] == [
        ["sgemm", "m1-n1-k1-nn", "NVIDIA", "H200", "2", "µs"],
        ["sgemm", "m1-n1-k1-nn", "Tesla", "T4", "3", "ms"],
        ["transpose", "m1-n1-e4", "NVIDIA", "H200", "1.5", "s"],
    ]
    assert all("modelled" in line for line in narrow if line[:1] in ("s", "t"))
    assert sum(line.startswith("    BM=") for line in narrow) == 2
    monkeypatch.setenv("LINES", "8")
    assert "… 2 more; --all shows them" in autotune("db", "best").stdout
    assert "more;" not in autotune("db", "best", "--all").stdout


def test_bests_are_sorted_by_numbers_and_printed_as_csv(autotune, filled):
    with TuningDB() as database:
        database.record(trial("transpose", "m128-n1-e4", "h200", 1e-3))
        database.record(trial("transpose", "m16-n1-e4", "h200", 2e-3))
    rows = [line.split(",") for line in autotune("db", "best", "transpose", "--csv").stdout.splitlines()]
    assert rows[0][:6] == ["operator", "problem", "device", "status", "seconds", "time_source"]
    assert [row[1] for row in rows[1:]] == ["m1-n1-e4", "m16-n1-e4", "m128-n1-e4"]
    by_time = autotune("db", "best", "transpose", "--sort", "time", "--json").json
    assert [one["seconds"] for one in by_time] == [1e-3, 2e-3, 1.5]
    assert autotune("db", "best", "--csv", "--json").code == 2


def test_what_can_never_serve_is_listed_and_removed_if_told_so(autotune, filled, tmp_path):
    with TuningDB() as database:
        slower = trial("transpose", "m1-n1-e4", "h200", 1.6)
        database.record(replace(slower, program_digest="0" * 64, schedule_digest="other"))
    outcome = autotune("db", "prune")
    assert "emits another program today" in outcome.stdout
    assert outcome.stdout.endswith("1 trials can go; autotune db prune --yes removes them\n")
    assert autotune("db", "backup", str(tmp_path / "copy")).stdout == f"wrote {tmp_path}/copy\n"
    document = autotune("db", "prune", "--yes", "--json").json
    assert document["removed"]
    assert [(one["operator"], one["status"], one["trials"]) for one in document["trials"]] == [("transpose", "ok", 1)]
    assert autotune("db", "prune").stdout == "0 trials can go\n"
    counts = [len(autotune("db", "trials", *to, "--json").json) for to in ((), ("--db", str(tmp_path / "copy")))]
    assert counts == [4, 5]


def test_a_backup_over_the_database_itself_is_bad_input(autotune, filled):
    outcome = autotune("db", "backup", str(filled))
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.endswith("is the database itself: name another file for the backup\n")


def test_reduce_writes_what_import_reads(autotune, filled, tmp_path):
    few = tmp_path / "few.json"
    outcome = autotune("db", "reduce", "sgemm", "--device", "h200", "-o", str(few))
    assert "1 kernels serve 1 problems of sgemm on NVIDIA H200" in outcome.stdout
    (kept,) = autotune("db", "reduce", "sgemm", "--device", "h200", "--json").json
    assert (kept["problems"], kept["losses"], kept["mean_loss"]) == (["m1-n1-k1-nn"], [0.0], 0.0)
    assert autotune("db", "import", str(few), "--db", str(tmp_path / "other.sqlite3"), "--json").json["added"] == 1


def test_nothing_to_reduce_is_one_line(autotune, filled):
    outcome = autotune("db", "reduce", "sgemm", "--device", "a100")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("autotune: there is no ok trial of sgemm on NVIDIA A100")


def test_a_server_that_is_not_there_is_one_line_without_the_password(autotune):
    outcome = autotune("db", "best", "--db", "postgresql+psycopg://me:s3cret@127.0.0.1:1/tuning")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr.count("\n") == 1
    assert outcome.stderr.startswith("autotune: postgresql+psycopg://me:***@127.0.0.1:1/tuning: ")
    assert outcome.stderr.endswith(
        "Connection refused: start its server, or correct the host and the port in the URL\n"
    )


def test_ship_writes_a_file_for_each_device_operator_and_compiler(autotune, filled, tmp_path, monkeypatch):
    folder = tmp_path / "shipped"
    outcome = autotune("db", "ship", "--folder", str(folder))
    assert (outcome.code, outcome.stderr) == (
        1,
        "autotune: no measured trials: run autotune tune on a GPU first\n",
    )
    with TuningDB() as database:
        for one in database.trials():
            database.record(replace(one, time_source=TimeSource.MEASURED))
    paths = autotune("db", "ship", "--folder", str(folder), "--json").json["paths"]
    assert paths == [
        str(folder / model / file_name(operator, compiler_version()))
        for model, operator in (("nvidia_h200", "sgemm"), ("nvidia_h200", "transpose"), ("tesla_t4", "sgemm"))
    ]
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(folder))
    elsewhere = str(tmp_path / "elsewhere.sqlite3")
    TuningDB(elsewhere).close()
    assert len(autotune("db", "best", "sgemm", "--db", elsewhere, "--json").json) == 2


def test_no_terminal_is_controlled_by_what_a_database_holds(autotune, filled):
    said = "wrong \x1b[2J\x9b2J\u202e\x07\r\nC[3]"
    with TuningDB() as database:
        one = trial("sgemm", "m2-n2-k2-nn", "h200", None)
        database.record(replace(one, error=said, compiler=said, schedule=one.schedule | {said: said}))
    table, document = autotune("db", "trials").stdout, autotune("db", "trials", "--json")
    assert r"wrong \u001b[2J\u009b2J\u202e\u0007\r" in table
    assert not set(said) & set("\x1b\x9b\u202e\x07\r") & set(table + document.stdout)
    assert said in (found["error"] for found in document.json)
    outcome = autotune("db", "best", "--device", "h200\x1b[2J")
    assert (outcome.code, "\x1b" in outcome.stderr) == (2, False)


@pytest.mark.parametrize("words", ["db export -o", "db backup", "report sgemm -o"])
def test_no_terminal_is_controlled_by_the_name_of_a_file(autotune, filled, tmp_path, words):
    outcome = autotune(*words.split(), str(tmp_path / "a\x1b[2J"))
    assert (outcome.code, "\x1b" in outcome.stdout, r"a\u001b[2J" in outcome.stdout) == (0, False, True)


def test_what_cannot_be_true_is_not_imported(autotune, filled, tmp_path):
    document = tmp_path / "false.json"
    with TuningDB() as database:
        genuine = database.trials()
        write_document(document, to_document([replace(genuine[0], samples=(1e-12,))]))
    refusal = autotune("db", "import", str(document)).refusal
    assert refusal == f"{document}: trials[0]: 1e-12 s is shorter than any launch takes"
    with TuningDB() as database:
        assert database.trials() == genuine
