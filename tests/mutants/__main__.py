"""Plant bugs, and say which of them no test catches: ``python -m tests.mutants``.

Without options, those that are kept (kept.py). ``--changed BASE`` plants generic ones (bugs.py) in the lines that are
not in a commit, ``--sample N`` so many anywhere. Words leave out all mutants that have none of them in their line.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from time import monotonic

from tests.mutants.bugs import bugs_of
from tests.mutants.changed import changed_lines
from tests.mutants.kept import kept
from tests.mutants.mutant import TESTS, Mutant, sources
from tests.mutants.run import Trees, Verdict, failing

_CAUGHT, _SURVIVED, _WRONG = range(3)  # exit codes


def main() -> int:
    """Zero if every mutant was caught, 1 if any survived, 2 if none could be tried."""
    parser = argparse.ArgumentParser("python -m tests.mutants", description="Plant bugs and see whether a test fails.")
    parser.add_argument("words", nargs="*", help="only mutants that have one of these words in their line")
    parser.add_argument("--changed", metavar="BASE", help="generic bugs in the lines that are not in this commit")
    parser.add_argument("--sample", type=int, metavar="N", help="so many generic bugs, of all or of those of --changed")
    parser.add_argument("--seed", type=int, default=0, help="which ones the sample has (0)")
    parser.add_argument("--seconds", type=float, help="plant no more after that, and run no test before")
    parser.add_argument("-j", type=int, default=2, dest="jobs", help="mutants at a time (2)")
    arguments = parser.parse_args()
    sys.path.append(str(TESTS))  # as pytest has it
    try:
        listed = _listed(arguments)
    except (LookupError, ValueError) as error:
        print(error)
        return _WRONG
    if not listed:
        print("nothing to plant")
        return _CAUGHT
    if arguments.seconds is None and (said := failing(listed, arguments.jobs)):
        print(f"a test fails without a mutant: {said}")
        return _WRONG
    return _try(listed, arguments.jobs, arguments.seconds)


def _listed(arguments: argparse.Namespace) -> list[Mutant]:
    """What is asked for.

    Raises:
        LookupError: there is no such commit.
        ValueError: a kept mutant does not fit the tree.
    """

    def asked_for(one: object) -> bool:
        return any(word in str(one) for word in arguments.words or [""])

    if arguments.changed is None and arguments.sample is None:
        return [one.mutant for one in kept() if asked_for(one) and not one.lacks]
    lines = changed_lines(arguments.changed) if arguments.changed else dict.fromkeys(sources())
    listed = [one for file, inside in lines.items() for one in bugs_of(file, inside) if asked_for(one)]
    Random(arguments.seed).shuffle(listed)
    return listed[: arguments.sample]


def _try(listed: Sequence[Mutant], jobs: int, seconds: float | None) -> int:
    counts: Counter[str] = Counter()
    end = monotonic() + seconds if seconds else None
    with Trees(jobs) as trees, ThreadPoolExecutor(jobs) as pool:

        def tried(mutant: Mutant) -> Verdict | None:
            left = end - monotonic() if end else 600
            return trees.verdict(mutant, left) if left > 1 else None

        for mutant, found in zip(listed, pool.map(tried, listed), strict=True):
            if found is None or (end and found.status == "hung"):
                counts["not tried for want of time"] += 1
                continue
            counts[found.status] += 1
            print(f"{found.status:8} {found.seconds:5.1f} s  {mutant}", flush=True)
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return _SURVIVED if counts["survived"] or counts["text"] or counts["hung"] else _CAUGHT


if __name__ == "__main__":
    sys.exit(main())
