"""The views for people: what they show, and which ones a database may bring."""

import random
import sqlite3
import sys
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import pytest
from sqlalchemy import text
from test_db_open import refuses
from trial_factory import H200, T4, trial

from autotune.codegen.model.fields import tunable
from autotune.db import DatabaseError, ProblemRecord, Status, TimeSource, TuningDB, stored_trials, views
from autotune.db.best import _problem_of, first_ids
from autotune.db.models import TrialRow
from autotune.db.queries import ranked
from autotune.db.storing import newest
from autotune.search_spaces.contract.registry import OPERATORS

TRANSPOSE = OPERATORS["transpose"]


def rows(db, statement):
    with db._engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(statement)).mappings()]


def transposed(m, digest=None, **schedule):
    """A trial of a transposition."""
    problem = TRANSPOSE.problem_type(m, 8)
    chosen = TRANSPOSE.kernels[0].schedule_type(**schedule)
    record = ProblemRecord("transpose", problem.key, problem.to_dict())
    return trial(digest or chosen.digest, problem=record, schedule=chosen.to_dict())


def test_every_operator_has_a_view_with_its_fields(db):
    for name, operator in OPERATORS.items():
        assert rows(db, f"SELECT * FROM trials_{name}") == []
        columns = [column.name for column in views.field_columns(name)]
        assert {one.name for cls in (operator.problem_type, *operator.schedule_types) for one in fields(cls)} <= {
            *columns
        }
        assert len(columns) == len(set(columns))


def test_a_field_is_a_column_of_its_type(db):
    db.record(replace(transposed(16, swizzle=True, streaming=False), run=None))
    db.record(transposed(32, "old", pad=2))
    (first, second) = rows(db, "SELECT * FROM trials_transpose ORDER BY m")
    assert (first["m"], first["n"], first["swizzle"], first["streaming"], first["specialize"]) == (
        16, 8, True, False, "none"
    )  # fmt: skip
    assert (first["problem"], first["device"], first["status"], first["seconds"]) == (
        "m16-n8-e4", "NVIDIA H200", "ok", 1e-3
    )  # fmt: skip
    assert second["pad"] == 2
    assert rows(db, "SELECT count(*) AS many FROM trials_sgemm") == [{"many": 0}]


def test_a_field_that_holds_something_else_fails_no_query(db):
    odd = {"pad": "wide", "swizzle": 5, "tile_m": 10**18, "raster_group": 1.5}
    db.record(replace(transposed(16), schedule=odd, schedule_digest="odd"))
    db.record(transposed(32))
    found = rows(db, "SELECT m, pad, tile_n FROM trials_transpose ORDER BY m")
    assert [one["m"] for one in found] == [16, 32]
    assert found[0]["tile_n"] is None


def random_trials(count):
    """Schedules tried again, failed, modelled, lost to others, on two problems and devices."""
    chosen = random.Random(0)
    for minute in range(count):
        ok, digest = chosen.random() < 0.5, chosen.choice("abcdef")
        base = transposed(chosen.choice((16, 32)), digest)
        changes = {
            "device": chosen.choice((H200, T4)),
            "samples": (chosen.choice((1e-3, 2e-3, 3e-3, 4e-3)),) if ok else (),
            "status": Status.OK if ok else Status.WRONG,
            "time_source": chosen.choice(list(TimeSource)),
            "lost_to": chosen.choice(("", "a", "b")),
            "program_digest": f"{minute}",
            "compiler": chosen.choice(("A", "B")),
        }
        yield replace(trial(minutes=minute), problem=base.problem, schedule_digest=digest, **changes)


@pytest.mark.parametrize("installed", [None, "A", "B"])
def test_best_trials_are_the_best(db, monkeypatch, installed):
    monkeypatch.setattr(stored_trials, "installed_nvrtc", lambda: installed)
    db._store(list(random_trials(80)), newest)
    found = {(one["device"], one["operator"], one["problem"]): one for one in rows(db, "SELECT * FROM best_trials")}
    with db._read() as session:
        for compiler in (None, "A", "B", "C"):
            expected = ranked([], compiler, last=1).with_only_columns(TrialRow.id)
            assert first_ids(session, [], compiler) == [*session.scalars(expected)], "though found by an index"
        bests = {_problem_of(row.plain): row.plain for row in session.scalars(ranked([], installed, last=1))}
    assert found.keys() == bests.keys()
    assert len(found) == 4
    for name, best in bests.items():
        assert (found[name]["seconds"], found[name]["time_source"]) == (best.seconds, best.time_source)
        (row,) = rows(db, f"SELECT schedule_digest FROM trials WHERE id = {found[name]['id']}")
        assert row["schedule_digest"] == best.schedule_digest


@dataclass(frozen=True)
class Later(TRANSPOSE.kernels[0].schedule_type):
    status: int = tunable(1)
    brand_new: int = tunable(3)


def test_a_new_field_remakes_the_view_and_a_new_operator_has_one(url, monkeypatch):
    with TuningDB(url) as db:
        db.record(transposed(16))
    monkeypatch.setitem(OPERATORS, "transpose", TRANSPOSE.with_kernels(schedule_type=Later))
    with TuningDB(url) as db:
        assert "brand_new" not in rows(db, "SELECT * FROM trials_transpose")[0]
        db.record(replace(transposed(16), schedule=asdict(Later(brand_new=5)), schedule_digest="later"))
        found = rows(db, "SELECT * FROM trials_transpose ORDER BY id")
        assert [(one["status"], one["brand_new"], one["schedule_status"]) for one in found] == [
            ("ok", None, None),
            ("ok", 5, 1),
        ]
        monkeypatch.setitem(OPERATORS, "toy", replace(TRANSPOSE, name="toy"))
        db.record(replace(transposed(16), problem=ProblemRecord("toy", "k", {"m": 7})))
        assert [one["m"] for one in rows(db, "SELECT * FROM trials_toy")] == [7]
    monkeypatch.delitem(OPERATORS, "toy")
    with TuningDB(url) as db:
        assert len(rows(db, "SELECT * FROM trials_toy")) == 1, "it is ours though nobody knows the operator"


FORGED = [
    "CREATE VIEW best_trials AS SELECT * FROM trials",
    "CREATE VIEW trials_toy AS SELECT randomblob(1 << 30)",
    views._text("trials_transpose", "sqlite").replace("'$.m'", "'$.m') || load_extension('x'"),
    views._text("trials_transpose", "sqlite").replace("= 'transpose'", "= 'sgemm'"),
    views._text("trials_transpose", "sqlite") + " UNION SELECT 1",
]


@pytest.mark.parametrize("statement", FORGED)
def test_a_view_of_our_name_with_another_text_is_refused(path, statement):
    TuningDB(str(path)).close()
    name = statement.split()[2]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DROP VIEW IF EXISTS {name}")
        connection.execute(statement)
    refuses(path, f"has a view, '{name}'", "nothing was changed")


def test_a_migration_drops_what_it_finds_and_makes_the_views_anew(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "released" / "0004.sql").read_text())
        connection.execute(FORGED[0])
    with TuningDB(str(path)) as db, TuningDB("sqlite://") as new:
        asked = "SELECT sql FROM sqlite_master WHERE name = 'best_trials'"
        assert rows(db, asked) == rows(new, asked)


def test_a_user_who_may_make_no_views_stores_trials(postgres, monkeypatch):
    url = postgres.new_database()
    TuningDB(url).close()
    with TuningDB(url) as db:
        monkeypatch.setattr(views, "_make", lambda connection, *_: connection.exec_driver_sql("SELECT 1 FROM nowhere"))
        monkeypatch.setitem(OPERATORS, "transpose", TRANSPOSE.with_kernels(schedule_type=Later))
        db.record(transposed(16))
        assert [one["m"] for one in rows(db, "SELECT m FROM trials_transpose")] == [16]


def test_a_dataframe_has_the_columns_of_the_view(db):
    db.record(transposed(16, swizzle=True))
    db.record(replace(transposed(32), schedule={"pad": 2}, schedule_digest="old"))
    frame = db.dataframe("transpose").set_index("m").sort_index()
    (row, *_) = rows(db, "SELECT * FROM trials_transpose")
    assert {"m", *frame.columns} == row.keys()
    assert frame.loc[16, "swizzle"] and frame["swizzle"].isna().sum() == 1
    assert (frame["pad"].sum(), frame["seconds"].mean()) == (TRANSPOSE.kernels[0].schedule_type().pad + 2, 1e-3)
    assert frame["created_at"].iloc[0] == trial().created_at
    assert len(db.dataframe("sgemm")) == 0
    with pytest.raises(ValueError, match="unknown operator 'gem'"):
        db.dataframe("gem")


def test_a_dataframe_without_pandas_is_one_line(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with TuningDB(path) as db, pytest.raises(DatabaseError, match=r"needs pandas: pip install 'autotune\[pandas\]'$"):
        db.dataframe("sgemm")
