"""Follow the pages for newcomers, word for word, in an environment that has nothing but wheels.

    python benchmarks/fresh_environment.py result.txt
    python benchmarks/fresh_environment.py result.txt WHEELS

The wheel of this checkout is built and installed into a new virtual environment. Programs of the pages are saved in an
empty folder, under the names that the pages state, and their commands run there: a model is patched, a kernel and the
package of an operator are written and tuned. Where there is a GPU, commands that name one measure on it.

With WHEELS, a folder, nothing is fetched: all of it is installed, and packages that it lacks, such as PyTorch, are
those of the Python that runs this. It has pip, and setuptools, which builds packages.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parents[1]
# A page, the heading of its part, and the folder where its commands run.
PAGES = (
    (ROOT / "docs/transformers.md", "# Models of Hugging Face", ""),
    (ROOT / "docs/own-kernels.md", "# Your own kernel", ""),
    (ROOT / "docs/adding-an-operator.md", "### In a package of your own", ""),
    (Path("twice_it/README.md"), "# twice_it", "twice_it"),  # which the part before has written
)
PACKAGES = ("autotune", "torch", "transformers", "numpy", "cuda-core", "nvidia-cuda-nvrtc", "optuna", "pytest")
LIMIT = 300  # seconds of a command
LINES = 16  # of its output that are written, at most


class Environment:
    """A new environment, and an empty folder where commands run."""

    def __init__(self, folder: Path, wheels: Path | None) -> None:
        self._folder = folder / "work"
        self._folder.mkdir()
        home = folder / "venv"
        venv.create(home, with_pip=not wheels)
        kept = ("PATH", "LANG", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "PIP_CONFIG_FILE", "PIP_INDEX_URL")
        self._variables = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(folder),
            "COLUMNS": "120",
            "PIP_QUIET": "2",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }
        self._variables["PATH"] = f"{home / 'bin'}:{self._variables['PATH']}"
        if wheels:
            beside = Path(sysconfig.get_path("purelib"))
            self._variables |= {
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(wheels.resolve()),
                "LD_LIBRARY_PATH": ":".join(map(str, beside.glob("nvidia/*/lib"))),
            }
            packages = next(home.glob("lib/python*/site-packages"))
            (packages / "beside.pth").write_text(f"{beside}\n", encoding="utf-8")

    def run(self, command: str, folder: str | Path = "") -> tuple[int, str]:
        """A command's exit status, and what it prints."""
        try:
            ended = subprocess.run(
                ["bash", "-c", command],
                cwd=self._folder / folder,
                env=self._variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return 124, f"longer than {LIMIT} s"
        return ended.returncode, ended.stdout

    def steps(self, page: Path, heading: str) -> Iterator[str]:
        """The commands of a part of a page; each program is saved before those that follow it."""
        source = self._folder / page  # of ROOT's pages, the page itself
        for language, code, after in blocks(part(source.read_text(encoding="utf-8"), heading)):
            if language == "python" and (name := re.search(r"Save it as `([\w.]+)`", after)):
                (self._folder / name[1]).write_text(code, encoding="utf-8")
            elif language == "sh":
                yield from code.splitlines()


def part(page: str, heading: str) -> str:
    """What stands below a heading, up to the next one that is no lower."""
    _, found, below = page.partition(f"{heading}\n")
    if not found:
        sys.exit(f"no page has the heading {heading!r} any more: state the one that its part has now")
    level = heading.index(" ")
    return re.split(rf"^#{{1,{level}}} ", below, maxsplit=1, flags=re.MULTILINE)[0] if level > 1 else below


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The blocks of code: language, code, and the text up to the next block."""
    _, *parts = re.split(r"^```(\w+)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))


def shortened(output: str) -> str:
    """The last lines of an output that are not empty."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    left_out = len(lines) - LINES
    return "\n".join(([f"… {left_out} lines"] if left_out > 0 else []) + lines[-LINES:])


def main(result: Path, wheels: Path | None) -> None:
    """Write commands and their outputs, and end with the number of those that failed."""
    gpus = ""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        gpus = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    with TemporaryDirectory() as name, result.open("w", encoding="utf-8") as output:

        def write(text: str) -> None:
            print(text, flush=True)
            print(text.replace(name, "~"), file=output, flush=True)

        environment, failed = Environment(Path(name), wheels), 0
        write(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, GPU: {gpus or 'none'}")
        setup = [f"pip wheel --no-deps --wheel-dir wheel {ROOT}", "pip install wheel/autotune-*.whl pytest"]
        if wheels:
            pip = next(wheels.resolve().glob("pip-*.whl"))
            setup.insert(0, f"python {pip}/pip install --no-deps --ignore-installed {pip.parent}/*.whl")
        for command in setup:
            status, printed = environment.run(command)
            if status:
                sys.exit(f"{command}: {printed}")
        for page, heading, folder in PAGES:
            write(f"\n{page.relative_to(ROOT) if page.is_absolute() else page}\n")
            for command in environment.steps(page, heading):
                if gpus:
                    command = re.sub(r"--device h200\b", "--device 0", command)
                start = perf_counter()
                status, printed = environment.run(command, folder)
                failed += status != 0
                took = f"{perf_counter() - start:.1f} s" + (f", exit status {status}" if status else "")
                write(f"$ {command}    # {took}\n{shortened(printed)}".rstrip())
        listed = environment.run("PIP_QUIET=0 pip list --format=freeze")[1].splitlines()
        write("\n" + " ".join(one for one in listed if one.partition("==")[0] in PACKAGES))
    sys.exit(f"{failed} commands failed" if failed else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
