"""The lines that a change touches, by git."""

import re
import subprocess
from collections import defaultdict

from tests.mutants.mutant import ROOT, sources


def changed_lines(base: str) -> dict[str, set[int]]:
    """Lines of the working tree that are not in a commit, by their file; only of files that bugs are planted in.

    Of files that git does not track, all lines.

    Raises:
        LookupError: one line, if there is no such commit here.
    """
    done = _git("diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--")
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
    for new in _git("ls-files", "--others", "--exclude-standard").stdout.splitlines():
        lines[new].update(range(1, (ROOT / new).read_bytes().count(b"\n") + 1))
    return {file: found for file, found in lines.items() if found and file in sources()}


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
