"""Trials and results in notebooks: tables with a bar, whose texts are text."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from factories import schedules, trials

from autotune.bench.comparison import Comparison
from autotune.db import Status, TuningDB
from autotune.tuner.options import TuneResult

FAST = replace(trials(schedules(1))[0], samples=(1e-4,), resources={"registers": 40, "spill_load_bytes": 0})


class Texts(HTMLParser):
    """The texts of a piece of HTML, whose elements must be closed."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.open = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, _attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.found.append(data)


def test_a_trial_is_a_table_with_its_share_as_a_bar():
    html = FAST._repr_html_()
    texts = Texts(html).found
    assert texts[0] == "transpose m4096-n4096-e4 on NVIDIA H200"
    assert {"100 µs measured", "28.0%", FAST.summary, "registers 40"} <= set(texts)
    assert "width: 28.0%" in html


def test_a_failure_says_why_as_text():
    texts = Texts(replace(FAST, status=Status.WRONG, samples=(), error="<b>5</b>")._repr_html_()).found
    assert "wrong: <b>5</b>" in texts
    assert "time" not in texts and "share of peak" not in texts


def test_a_list_shows_its_first_rows(tmp_path):
    with TuningDB(f"{tmp_path}/tuning.sqlite3") as db:
        for trial in trials(schedules(60)):
            db.record(trial)
        every, best = db.trials(), db.bests()
    assert Texts(best._repr_html_()).found[0] == "Trials"
    html = every._repr_html_()
    assert Texts(html).found[0] == "Trials, the first 50 of 60"
    assert html.count("<tr>") == 51


def test_a_result_has_its_counts_and_its_winner():
    by_status = {Status.OK: 3, Status.WRONG: 1}
    result = TuneResult(FAST, 4, 7, by_status, illegal=0, seconds=12.3, exhausted=False, interrupted=False)
    html = result._repr_html_()
    texts = Texts(html).found
    assert texts[0] == "4 evaluations in 12 s; 7 known before"
    assert texts[texts.index("wrong") + 1] == "1"
    assert re.findall(r"width: ([\d.]+%)", html) == ["75.0%", "25.0%", "28.0%"]
    assert FAST.summary in texts
    none = replace(result, best=None, evaluated=0, by_status={})
    assert Texts(none._repr_html_()).found == ["0 evaluations in 12 s; 7 known before"]


def test_a_comparison_has_a_bar_for_each_contender():
    samples = {"autotune": (1e-3, 1e-3, 1e-3), "copy": (2e-3, 2e-3, 2e-3)}
    html = Comparison(samples)._repr_html_()
    assert re.findall(r"width: ([\d.]+%)", html) == ["50.0%", "100.0%"]
    assert {"1 ms", "2 ms", "2.000×", "autotune is"} <= set(Texts(html).found)
