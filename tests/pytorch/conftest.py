"""What tests of autotune.torch share."""

import pytest


@pytest.fixture
def problems(monkeypatch):
    """The problems of the calls that the dispatcher gets from now on, each one once."""
    pytest.importorskip("numpy")
    from autotune.dispatcher.calls import function, resolve

    found, plan_for = [], resolve.plan_for

    def plan(operator, problem, *rest):
        found.append(problem)
        return plan_for(operator, problem, *rest)

    function.clear()
    monkeypatch.setattr(resolve, "plan_for", plan)
    return found
