"""The lines that a change touches, by git."""

import re
import subprocess
from collections import defaultdict

from tests.mutants.mutant import ROOT, sources


def changed_lines(base: str) -> dict[str, set[int]]:
    """Lines of the working tree that are not in a commit, by their file; only of files that bugs are planted in.

    Raises:
        LookupError: one line, if there is no such commit here.
    """
    command = ["git", "diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LookupError(f"git knows no {base} here: {done.stderr.strip().partition(chr(10))[0]}")
    lines: dict[str, set[int]] = defaultdict(set)
    file = ""
    for line in done.stdout.splitlines():
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(found[1]), int(found[2] or 1)
            lines[file].update(range(first, first + count))
    return {file: found for file, found in lines.items() if found and file in sources()}
