"""Few of many drawn cases that cover most pairs of what they have: what a bug takes is mostly one value, or two."""

from math import gcd

import numpy as np

from autotune.codegen.model.fields import FieldRole, field_specs

MOST = 30  # cases of an operator: each is compiled for the emulator and, unoptimised, for a GPU
_SHARE = 0.9  # of all pairs, after which more cases add little


def covering(drawn, always=lambda *_: None, most=MOST, small=lambda *_: True):
    """The cases that cover nine tenths of the pairs, or `most` cases: one by one that which adds the most pairs.

    First those that have words and flags which no other one has, however many that are. Each kernel has its own pairs,
    its own words, and an equal share of `most`; a word of a problem may be with any kernel.

    Args:
        drawn: cases to choose from.
        always: a relation between a problem and a schedule, of which each value gets a case before all else.
        most: cases.
        small: whether a case takes the emulator little; only those are chosen, and only they are asked.
    """
    kernels, chosen = {}, []
    for problem, schedule in drawn:
        kernels.setdefault(schedule.kernel, []).append((problem, schedule))
    for cases in kernels.values():
        had = {fact for problem, _ in chosen for fact in _problem_facts(problem)}
        chosen += _covering(cases, always, most // len(kernels), small, had)
    return chosen


def _covering(drawn, always, most, small, had):
    numbers = {}
    facts = np.array([[numbers.setdefault(one, len(numbers)) for one in enumerate(_facts(*case))] for case in drawn])
    first, second = np.triu_indices(facts.shape[1], 1)
    found, pairs = np.unique(facts[:, first] * len(numbers) + facts[:, second], return_inverse=True)
    pairs = pairs.reshape(len(drawn), -1)
    new, left = np.ones(len(found), bool), np.ones(len(drawn), bool)
    new_words = np.array([isinstance(fact[1], str | bool) and fact not in had for _, fact in numbers])
    values = [always(*case) for case in drawn]
    missing = set(values)
    chosen = []
    while left.any():
        words = new_words[facts].sum(axis=1)
        more = len(chosen) < most and (missing or new.mean() > 1 - _SHARE)
        if not more and not words[left].any():
            break
        wanted = left & [value in missing for value in values] if missing and more else left
        best = int(np.where(wanted, new[pairs].sum(axis=1) + pairs.shape[1] * words, -1).argmax())
        left[best] = False
        if not small(*drawn[best]):
            missing &= {value for value, there in zip(values, left, strict=True) if there}
            continue
        new[pairs[best]] = new_words[facts[best]] = False
        missing.discard(values[best])
        chosen.append(drawn[best])
    return chosen


def _facts(problem, schedule):
    """The fields; of sizes, how even they are, and of what lies in memory, whether it is as usual."""
    yield from schedule.to_dict().items()
    yield from _problem_facts(problem)


def _problem_facts(problem):
    for name, spec in field_specs(type(problem)).items():
        value = getattr(problem, name)
        if spec.role in (FieldRole.KIND, FieldRole.DATA):
            yield name, value
        elif spec.role is FieldRole.SIZE:
            yield name, value if value < 2 else (2, gcd(value, 64))
        else:
            yield f"{name} is usual", int(value == problem.usual(name))
