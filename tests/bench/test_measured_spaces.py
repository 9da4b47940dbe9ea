"""Spaces that others measured: what is read of their files, how searches run on them, and how they are scored."""

import gzip
import json
from itertools import islice, product
from math import inf

import numpy as np
import pytest

from autotune.bench.search import SPACE_SEARCHERS, measured_spaces
from autotune.bench.search.compare_spaces import EARLY, run_on, space_result
from autotune.bench.search.measured_space import Outcome, read_space
from autotune.bench.search.protocol import Protocol
from autotune.search_spaces.contract.space import Parameter

SIZES, TILES, WAYS = [1, 2, 4, 8, 16, 32], [1, 2, 3, 4, 5, 6], ["row", "column"]
RUNTIMES = 3


def time_of(size, tile, way):
    """Milliseconds, infinite for a failure; one is the fastest."""
    return inf if size * tile > 128 else 1 + abs(size - 8) / 8 + abs(tile - 4) / 4 + (way == "row")


def configurations():
    """Those that satisfy the constraint."""
    return [draw for draw in product(SIZES, TILES, WAYS) if draw[0] * draw[1] != 6]


def t4(*, unit="milliseconds"):
    def result(size, tile, way):
        time = time_of(size, tile, way)
        known = time < inf
        return {
            "configuration": {"tile": tile, "size": size, "way": way, "fixed": 7},
            "times": {"compilation": 100.0, "runtimes": RUNTIMES * [time if known else 0.0], "search_algorithm": 5.0},
            "invalidity": "correct" if known else "runtime",
            "measurements": [{"name": "time", "value": time if known else "RuntimeFailedConfig", "unit": ""}],
        }

    return {"metadata": {"timeunit": unit}, "results": [result(*one) for one in configurations()]}


def cache():
    def entry(size, tile, way):
        time = time_of(size, tile, way)
        known = time < inf
        draw = {"tile": tile, "size": size, "way": way, "fixed": 7}
        timings = {"compile_time": 100.0, "benchmark_time": RUNTIMES * time if known else 0, "strategy_time": 5.0}
        return draw | {"time": time if known else "RuntimeFailedConfig"} | timings

    return {
        "tune_params_keys": ["tile", "size", "way", "fixed"],
        "cache": {str(one): entry(*one) for one in configurations()},
    }


def written(path, document):
    text = json.dumps(document).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a space of each kind, and what has no results."""
    folder = tmp_path_factory.mktemp("spaces")
    written(folder / "ours_T4.json.gz", t4())
    written(folder / "theirs.json", cache())
    written(folder / "ours-T1.json", {"ConfigurationSpace": {"TuningParameters": []}})
    (folder / "README.md").write_text("about it")
    return folder


@pytest.fixture(scope="module")
def space(folder):
    return measured_spaces(folder)[folder / "ours_T4.json.gz"]


def test_both_kinds_of_files_say_the_same(folder, space):
    spaces = measured_spaces(folder)
    assert [one.name for one in spaces.values()] == ["ours_T4", "theirs"]
    for one in spaces.values():
        ways = Parameter("way", ("column", "row"))
        assert one.parameters == (Parameter("tile", tuple(TILES)), Parameter("size", tuple(SIZES)), ways)
        assert one.outcomes.keys() == {(tile, size, way) for size, tile, way in configurations()}
        for (tile, size, way), outcome in one.outcomes.items():
            time = time_of(size, tile, way)
            assert outcome.time == time
            assert outcome.seconds == pytest.approx(1e-3 * (100 + (RUNTIMES * time if time < inf else 0)))
    assert space.optimum == 1.0


def test_durations_are_in_the_unit_that_the_file_states(tmp_path, space):
    other = read_space(written(tmp_path / "s.json", t4(unit="seconds")))
    assert other.outcomes[4, 8, "column"].seconds == pytest.approx(1e3 * space.outcomes[4, 8, "column"].seconds)


def changed(document, **members):
    document["results"][3] |= members
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            changed(t4(), configuration={"tile": 1}),
            "parameters tile: the first configuration has tile, size, way, fixed",
        ),
        (changed(t4(), configuration=t4()["results"][0]["configuration"]), "1 configurations are there twice"),
        (
            changed(t4(), configuration={"tile": [1]}),
            r"result 3: tile=\[1\]: expected a whole number, true, false or a",
        ),
        (changed(t4(), times=3), "result 3: no result of T4"),
        (t4(unit="fortnights"), "timeunit 'fortnights': expected milliseconds or seconds"),
        ({"results": t4()["results"][-1:]}, "its 1 configurations have fewer than two different times"),
        ({"cache": {}}, "it has no list tune_params_keys"),
        ({"cache": {"1": 3}, "tune_params_keys": ["size"]}, "configuration 1: expected an object"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path, document, message):
    path = written(tmp_path / "s.json", document)
    with pytest.raises(ValueError, match=rf"^{path} is no measured space: {message}[^\n]*$"):
        read_space(path)


def test_a_file_that_is_cut_short_or_too_long_is_refused(tmp_path):
    path = written(tmp_path / "s.json.gz", t4())
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="no whole gzip file"):
        read_space(path)
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(ValueError, match="bytes after decompression"):
        read_space(path)
    with pytest.raises(ValueError, match="has no measured space: expected T4 files or caches of Kernel Tuner"):
        measured_spaces(written(tmp_path / "s.json.gz", {}).parent)


@pytest.mark.parametrize("name", ["bayes", "random"])
def test_a_search_tries_each_configuration_once_and_depends_on_its_seed(space, name):
    def times(seed, count):
        return [outcome.time for outcome in islice(SPACE_SEARCHERS[name](space, seed, inf), count)]

    assert sorted(times(0, 100)) == sorted(outcome.time for outcome in space.outcomes.values())
    assert times(0, 8) == times(0, 8) != times(1, 8)


def test_the_search_finds_the_optimum_soon_without_any_model(space):
    runs = [run_on(space, "bayes", seed) for seed in range(6)]
    assert all(run[-1].time == 1.0 for run in runs)
    assert np.mean([len(run) for run in runs]) < len(space.outcomes) / 4, "at random it takes half of them"


@pytest.mark.parametrize("name", ["kernel_tuner.genetic_algorithm", "kernel_tuner.adaptive_tabu_greywolf"])
def test_kernel_tuner_searches_the_same_space_within_the_time(space, name):
    pytest.importorskip("kernel_tuner")
    found = list(SPACE_SEARCHERS[name](space, 0, limit := 1.0))
    assert 10 < len(found) <= len(space.outcomes)
    assert sum(outcome.seconds for outcome in found) > limit
    assert {outcome.time for outcome in found} <= {outcome.time for outcome in space.outcomes.values()}
    assert all(outcome.seconds >= 0.1 for outcome in found), "each has its own seconds, and those of the search"


def test_the_end_is_where_random_search_has_gained_most_of_what_there_is(space):
    ok = sorted(outcome.time for outcome in space.outcomes.values() if outcome.time < inf)
    fast = sum(time <= 1 + 0.04 * (np.median(ok) - 1) for time in ok)
    assert fast == 1, "the optimum alone, for which the second best stands"
    slower = len(ok) - 2
    assert Protocol(space).evaluations == np.ceil(slower / (len(ok) + 1 - slower))
    assert Protocol(space, 0.5).seconds < Protocol(space).seconds


def test_the_optimum_at_once_scores_one_random_search_none_and_nothing_found_less(space):
    protocol, best = Protocol(space), Outcome(1.0, 0.01)
    assert protocol.curve([[best], [best]]) == pytest.approx(1.0)
    slow = Outcome(max(outcome.time for outcome in space.outcomes.values() if outcome.time < inf), 0.01)
    assert protocol.curve([[slow], [slow]]).max() < 0
    runs = [run_on(space, "random", seed) for seed in range(200)]
    assert abs(protocol.curve(runs).mean()) < 0.25, "by the expected rank, which is not the expected time"


def test_what_takes_longer_scores_less(space):
    def score(seconds):
        return Protocol(space).curve([[Outcome(2.0, seconds), Outcome(1.0, seconds)]] * 2).mean()

    assert score(0.01) > score(0.5) > score(1.0)


def test_what_is_counted_of_the_runs(space):
    runs = [[Outcome(inf, 0.1), Outcome(3.0, 0.1), Outcome(1.005, 0.1)], [Outcome(2.0, 0.1)] * 3]
    result = space_result(space, "mine", runs)
    assert result.near == (3, inf)
    assert result.after == dict.fromkeys(EARLY, pytest.approx((1.005 + 2) / 2))
    assert result.score == pytest.approx(np.mean(result.curve))


def test_a_tiny_space_has_a_score_too(tmp_path):
    tiny = read_space(written(tmp_path / "s.json", t4() | {"results": t4()["results"][:4]}))
    runs = [run_on(tiny, "random", seed) for seed in range(4)]
    assert np.isfinite(Protocol(tiny).curve(runs)).all()
