"""How few kernels serve all problems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trial_factory import trial

from autotune.db import ProblemRecord, Status, TimeSource
from autotune.db.reduction import reduced


def on(problem, digest, seconds, **changes):
    return trial(digest, seconds, problem=ProblemRecord("sgemm", problem, {}), **{"program_digest": digest} | changes)


def chosen(trials, within):
    """The problems that each kernel serves."""
    return {one.trials[0].schedule_digest: {t.problem.key for t in one.trials} for one in reduced(trials, within)}


def test_one_schedule_that_is_nearly_best_everywhere_takes_the_place_of_two():
    trials = [on("p", "a", 1.0), on("q", "b", 1.0), on("p", "c", 1.04), on("q", "c", 1.04)]
    assert chosen(trials, 0.05) == {"c": {"p", "q"}}
    assert chosen(trials, 0.03) == {"a": {"p"}, "b": {"q"}}


def test_a_schedule_that_is_specialised_for_shapes_is_several_kernels():
    trials = [on("p", "a", 1.0, program_digest="for p"), on("q", "a", 1.0, program_digest="for q")]
    assert len(reduced(trials, 0.05)) == 2


def test_a_problem_gets_the_fastest_of_those_kept():
    trials = [on("p", "a", 1.0), on("p", "b", 1.01), on("q", "b", 1.0), on("r", "b", 1.0), on("s", "a", 1.0)]
    assert chosen(trials, 0.05) == {"a": {"p", "s"}, "b": {"q", "r"}}


def test_losses_are_those_against_the_best():
    (only,) = reduced([on("p", "a", 1.0), on("p", "c", 1.04), on("q", "c", 2.0)], 0.05)
    assert only.losses == pytest.approx((0.04, 0))


def test_failures_and_modelled_times_do_not_serve_and_the_newest_verdict_counts():
    trials = [
        on("p", "a", 1.0, status=Status.WRONG, samples=()),
        on("p", "b", 3.0),
        on("p", "b", 1.0, minutes=-1),
        on("p", "c", 0.1, time_source=TimeSource.MODELLED),
        on("p", "d", 2.0),
        on("q", "a", 1.0, status=Status.WRONG, samples=()),
    ]
    assert chosen(trials, 0.05) == {"d": {"p"}}
    modelled = [on("p", "c", 0.1, time_source=TimeSource.MODELLED)]
    assert chosen(modelled, 0.05) == {"c": {"p"}}
    assert reduced([], 0.05) == []


@given(
    st.dictionaries(st.tuples(st.sampled_from("pqrstu"), st.sampled_from("abcdef")), st.floats(1, 2), min_size=1),
    st.floats(0, 0.5),
)
def test_every_problem_is_served_once_and_within_what_is_allowed(times, within):
    kept = reduced([on(problem, digest, seconds) for (problem, digest), seconds in times.items()], within)
    assert sorted(t.problem.key for one in kept for t in one.trials) == sorted({problem for problem, _ in times})
    served = [len(one.trials) for one in kept]
    assert served == sorted(served, reverse=True)
    for one in kept:
        for served, loss in zip(one.trials, one.losses, strict=True):
            best = min(seconds for (problem, _), seconds in times.items() if problem == served.problem.key)
            assert served.seconds == pytest.approx(best * (1 + loss))
            assert loss <= within + 1e-9


def test_trials_of_another_compiler_serve_only_problems_that_have_no_other():
    trials = [
        on("p", "a", 1.0, compiler="old"),
        on("p", "b", 2.0, compiler="new"),
        on("q", "a", 1.0, compiler="old"),
        on("q", "b", 1.0, compiler="new", status=Status.WRONG, samples=()),
    ]
    kept = reduced(trials, 0.05, compiler="new")
    assert {t.problem.key: t.schedule_digest for one in kept for t in one.trials} == {"p": "b", "q": "a"}
