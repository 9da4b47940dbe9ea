"""Try mutants: ``python -m tests.mutants``, or those whose file or bug has one of the given words."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tests.mutants.mutant import Mutant, mutants
from tests.mutants.run import failing, verdict


def main() -> int:
    """Zero if every mutant was caught."""
    parser = argparse.ArgumentParser("python -m tests.mutants", description="Plant bugs and see whether a test fails.")
    parser.add_argument("words", nargs="*", help="only mutants whose file or bug has one of these words")
    parser.add_argument("-j", type=int, default=2, dest="jobs", help="mutants, or clean tests, at a time (2)")
    parser.add_argument("--json", type=Path, help="write the verdicts to this file, too")
    arguments = parser.parse_args()
    listed = [one for one in mutants() if any(word in str(one) for word in arguments.words or [""])]
    if not listed:
        parser.error(f"no mutant has one of {', '.join(arguments.words)}")
    if stale := [f"{one}: {why} ({one.listed})" for one in listed if (why := one.stale())]:
        print(*stale, f"{len(stale)} mutants are stale", sep="\n")
        return 1
    for one in listed:
        if one.lacks:
            print(f"skipped, for want of {', '.join(one.lacks)}: {one}")
    tried = [one for one in listed if one.cases and not one.lacks]
    if said := failing(tried, arguments.jobs):
        print(f"a test fails without a mutant: {said}")
        return 1
    return _try(tried, sum(not one.cases for one in listed), arguments.jobs, arguments.json)


def _try(tried: list[Mutant], equivalent: int, jobs: int, path: Path | None) -> int:
    counts: Counter[str] = Counter()
    document = []
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, found in zip(tried, pool.map(verdict, tried), strict=True):
            print(f"{found.status:8} {found.seconds:5.1f} s  {mutant}", flush=True)
            counts[found.status] += 1
            document.append(asdict(mutant) | found._asdict())
    print(", ".join(f"{count} {status}" for status, count in counts.items()), f"and {equivalent} equivalent")
    if path:
        path.write_text(json.dumps(document, indent=1))
    return int(counts["caught"] != len(tried))


if __name__ == "__main__":
    sys.exit(main())
