"""Tune sgemm by plain Optuna calls, with autotune's sampler in a study of your own."""

from math import inf

import optuna

import autotune
from autotune.compiler import compile_kernel
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.tuner.search.schedule_sampler import ScheduleSampler

sgemm = autotune.operator("sgemm")
problem = sgemm.problem_type(64, 64, 64)

if __name__ == "__main__":
    with autotune.worker_device("h200") as device, device.session(sgemm, problem, seed=0) as session:
        space = TrialSpace(sgemm.space(problem, device.spec))
        study = optuna.create_study(sampler=ScheduleSampler(sgemm, problem, device.spec))
        for _ in range(4):
            trial = study.ask(space.distributions)
            schedule = space.schedule_of(trial.params)
            program = sgemm.program(problem, schedule, device.spec)
            found = session.evaluate(schedule, program, compile_kernel(program, device.spec.arch))
            study.tell(trial, found.seconds if found.status == "ok" else inf)
    print(f"{study.best_value * 1e6:.2f} µs with {study.best_params}")
