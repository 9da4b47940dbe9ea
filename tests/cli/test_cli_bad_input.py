"""Bad input gets one line that says what is allowed, exit code 2, and nothing on stdout."""

import pytest

from autotune.devices import select
from autotune.devices.base import DeviceLostError

SUITES = {
    "not-json": "{",
    "no-list": '{"m": 1}',
    "empty": "[]",
    "unknown-field": '[{"m": 1}, {"q": 1}]',
    "negative": '[{"m": -1}]',
}


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ("tun", "--help"),
        ("tune", "--help"),
        ("tune sgem", "sgemm, transpose"),
        ("tune sgemm --m -1", "expected 0"),
        ("tune sgemm --m many", "integer"),
        ("tune sgemm --mm 1", "--help"),
        ("tune sgemm --lda 5", "4096"),
        ("tune sgemm --device h300", "auto, a GPU's number, replay:FILE, or one of a100"),
        ("tune sgemm --device 99", "device"),
        ("tune sgemm --sampler best", "tpe, random"),
        ("tune sgemm --trials 0", "1 or more"),
        ("tune sgemm --seconds 0", "more than 0"),
        ("tune sgemm --objective energy --device h200", "which device h200 is not"),
        ("tune sgemm --suite no-such-file", "JSON list"),
        ("tune sgemm --suite .", "JSON list"),
        ("tune sgemm --device h200 --db http://localhost/db", "sqlite:///"),
        ("tune sgemm --study night", "a study needs --db postgresql+psycopg://"),
        ("tune sgemm --study= --db postgresql+psycopg://host/db", "1 to 100 characters"),
        ("bench search --searchers random --recording no-such-file", "no-such-file: No such file or directory"),
        ("bench model --recording no-such-file", "no-such-file: No such file or directory"),
        ("convert no-such-file --to t4 -o t4.json", "no-such-file: No such file or directory"),
        ("convert no-such-file -o t4.json", "expected --to FORMAT for a recording, or --from FORMAT"),
        ("convert no-such-file --from t4 -o a.jsonl.gz", "--from: expected --operator"),
        (
            "convert no-such-file --from t4 --operator sgemm --problem m -o a.jsonl.gz",
            "--problem m: expected NAME=VALUE",
        ),
        ("convert no-such-file --from t4 --operator sgemm --problem m=big -o a.jsonl.gz", "m='big'"),
        ("emit sgemm BM=100", "not a multiple"),
        ("emit sgemm BM=big", "whole number"),
        ("emit sgemm M=-1", "block_m"),
        ("emit sgemm swizzle_a=2", "0, 1, false or true"),
        ("emit sgemm lane_map=diagonal", "row_major, z_order"),
        ("emit sgemm --preset fast", "naive, coalesced"),
        ("emit sgemm --preset Tile1D", "did you mean tile_1d? known: naive"),
        ("emit sgemm BLOCK_M=64", "did you mean block_m? expected NAME=VALUE"),
        ("emit sgemm BM", "'BM' has no value: expected one, such as BM="),
        ("explain sgemm --m 2147483647 --n 2147483647", "m2147483647-n2147483647-k4096-nn has no legal schedule on"),
        ("tune sgemm --objective speed", "'--objective': 'speed' is not one of 'time', 'energy' (see"),
        ("tune sgemm --m 1e3", "valid integer, unable to parse string as an integer: '1e3' (see"),
        ("bench sgemm --ladder --device h200 --m 0", "sgemm m0-n4096-k4096-nn has nothing to compute"),
        ("emit sgemm --preset naive BM=64", "exclude each other"),
        ("emit transpose --element-bytes 3", "1, 2, 4, 8, 16"),
        ("show nosuch", "sgemm, transpose"),
        ("bench nosuch", "sgemm, transpose"),
        ("bench sgemm --device h200", "a number such as 0"),
        ("bench sgemm --against cublas,mkl", "unknown baseline 'mkl' of sgemm; known: cublas, cublaslt, triton"),
        ("bench sgemm --rounds 3", "4"),
        ("bench sgemm --ladder --suite suite.json", "exclude each other"),
        ("bench sgemm --plot ratios.pdf", ".svg or .png"),
        ("bench sgemm --suite no-such-file", "JSON list"),
        ("db", "--help"),
        ("db best nosuch", "sgemm, transpose"),
        ("db best --device h300", "h200"),
        ("db trials --status good", "'ok'"),
        ("db trials --limit 0", "1"),
        ("db import no-such-file", "db export"),
        ("db path --db nosuch://host/db", "sqlite:///"),
        ("db path --db=", "an empty name is no database"),
        ("db path --db /", "/ is no file"),
        (f"db path --db {__file__}", "is not a SQLite database"),
        (f"db trials --limit {2**63}", str(2**63 - 1)),
        ("tune sgemm --db sqlite://", "sqlite:// is in memory and would keep nothing"),
        ("record transpose -o recording --db sqlite://", "is in memory and would keep nothing"),
        ("db import document --db sqlite://", "is in memory and would keep nothing"),
        ("emit sgemm BM=128 block_m=64", "block_m=64: block_m is given more than once"),
        ("emit sgemm -o /no/x.cu", "/no/x.cu: there is no folder /no"),
        ("emit sgemm -o /", "/: it is a folder"),
        ("export sgemm -o /no/folder", "/no/folder: there is no folder /no"),
        ("db ship --folder /no/folder", "/no/folder: there is no folder /no"),
        ("calibrate --device h200", "calibrate needs a GPU, which device h200 is not: expected a number such as 0"),
        ("calibrate --json show", "show has options of its own: write them after it"),
        ("explain sgemm --m -1", "m=-1: expected 0 … 2147483647"),
        ("record sgemm --m 0 -o recording", "nothing to record: sgemm m0-n4096-k4096-nn"),
    ],
)
def test_one_line_says_what_is_allowed(autotune, arguments, allowed):
    outcome = autotune(*arguments.split())
    assert allowed in outcome.refusal
    assert outcome.stderr.startswith("autotune: ")


def test_a_device_that_is_lost_at_its_start_is_no_bad_input(autotune, monkeypatch):
    def killed(selector, **_):
        raise DeviceLostError("the process for measuring ended by SIGKILL while it started")

    monkeypatch.setattr(select, "worker_device", killed)
    outcome = autotune("tune", "sgemm", "--device", "h200")
    assert (outcome.code, outcome.stderr.count("SIGKILL")) == (1, 1)


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_that_is_none_is_named(autotune, tmp_path, name):
    suite = tmp_path / name
    suite.write_text(SUITES[name])
    assert str(suite) in autotune("tune", "sgemm", "--device", "h200", "--suite", str(suite)).refusal


def test_a_document_that_is_no_export_is_refused(autotune, tmp_path):
    document = tmp_path / "export.json"
    document.write_text('{"version": 99}')
    outcome = autotune("db", "import", str(document))
    assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
    assert autotune("db", "trials", "--json").json == []
