"""Command lines for fuzz.py: right ones, and wrong ones of which it is known that they are bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from random import Random

from fuzz_commands import commands
from fuzz_files import H200, RUN, Files, changed
from fuzz_values import BAD_INPUT, DONE, FAILED, NUMBERS, ODD, Case, Words

from autotune.db import Status
from autotune.search_spaces.contract.registry import OPERATORS


class Lines:
    """Random command lines.

    Args:
        random: where they come from.
        files: what they refer to.
    """

    def __init__(self, random: Random, files: Files) -> None:
        self._random, self._files = random, files
        self._count = 0
        listed = commands()
        random.shuffle(listed)
        self._commands = cycle(listed)

    def __iter__(self) -> Iterator[Case]:
        makers: list[Callable[[], Case]] = [
            self._show, self._emit, self._explain, self._database, self._database, self._convert, self._import,
            self._listing, self._replay, self._long, self._odd, self._flipped, self._runs, self._report,
            self._occupancy, self._upkeep, self._lock, *[self._any] * 8,
        ]  # fmt: skip
        while True:
            case = self._random.choice(makers)()
            yield self._spoilt(case) if self._random.random() < 0.15 else case

    def _any(self) -> Case:
        self._count += 1
        return next(self._commands).drawn(self._random, self._files, str(self._files.folder / f"out-{self._count}"))

    def _spoilt(self, case: Case) -> Case:
        """The line with an option that no command has, or without the name of its command."""
        if self._random.random() < 0.7:
            return Case([*case.words, f"--{self._random.choice(['nosuch', 'm-', 'jsonn', '1'])}"], (BAD_INPUT,))
        return Case([f"{case.words[0]}x", *case.words[1:]], (BAD_INPUT,))

    def _operator(self) -> str:
        return self._random.choice(list(OPERATORS))

    def _maybe(self, *words: str) -> Words:
        return list(words) if self._random.random() < 0.5 else []

    def _of(self, words: Words, *options: tuple[str, list[str], list[str]], codes: tuple[int, ...] = (DONE,)) -> Case:
        """The words and some options, each by its name, values that are right and values that are bad input.

        At most one of them is wrong.
        """
        wrong = self._random.random() < 0.3
        for name, right, bad in self._random.sample(options, self._random.randint(0, len(options))):
            if wrong and bad:
                return Case([*words, f"{name}={self._random.choice(bad)}"], (BAD_INPUT,))
            words += [f"{name}={self._random.choice(right)}"] if right else []
        return Case(words, codes)

    def _sizes(self) -> tuple[str, list[str], list[str]]:
        return "--m", [str(self._random.randint(1, 5000)), "0"], NUMBERS

    def _device(self) -> tuple[str, list[str], list[str]]:
        replays = [f"replay:{path}" for path in self._files.wrong]
        return "--device", ["h200", "t4", "auto"], ["h300", "-1", "99", "", "all,all", *replays]

    def _db(self) -> tuple[str, list[str], list[str]]:
        wrong = [str(path) for path in self._files.wrong if path.name] + ["", "x://y", "postgresql://a:b@c@d/e"]
        return "--db", [str(self._files.database), "sqlite://"], wrong

    def _output(self) -> tuple[str, list[str], list[str]]:
        self._count += 1
        files = self._files
        return "--output", [str(files.folder / f"out-{self._count}")], [str(files.missing), str(files.folder), ""]

    def _show(self) -> Case:
        return self._of(["show", self._operator(), *self._maybe("--json")], self._device())

    def _emit(self) -> Case:
        name = self._operator()
        schedule_type = self._random.choice(OPERATORS[name].schedule_types)
        fields = list(schedule_type().to_dict().items())
        words = []
        for field, value in self._random.sample(fields, self._random.randint(0, min(2, len(fields)))):
            words.append(f"{field}={self._random.choice([value, 1, 2, 64, 'shape', True, *ODD[:7], *NUMBERS[:8]])}")
        base = ["emit", name, *words, *self._maybe("--json")]
        case = self._of(base, self._device(), self._output(), codes=(DONE, BAD_INPUT) if words else (DONE,))
        return Case([*case.words, words[0]], (BAD_INPUT,)) if words and self._random.random() < 0.2 else case

    def _explain(self) -> Case:
        return self._of(["explain", self._operator(), *self._maybe("--json")], ("--device", ["h200"], []), self._db())

    def _database(self) -> Case:
        files = self._files
        command, codes, options = self._random.choice(
            [
                ("best", (DONE,), [("--problem", [*ODD, "m64-n64-e4"], [])]),
                ("trials", (DONE,), [("--limit", ["1", str(2**63 - 1)], ["0", "-1", "x", str(2**63), "9" * 40])]),
                ("trials", (DONE,), [("--status", list(Status), ["good", "", "OK"])]),
                ("problems", (DONE,), []),
                ("doctor", (DONE,), [("--device", ["h200", H200.name], ["h201", "\x1b[2J"])]),
                ("export", (DONE,), [self._output()]),
                ("ship", (DONE, FAILED), [("--folder", [f"{files.folder}/shipped"], [str(files.missing)])]),
            ]
        )  # fmt: skip
        operator = self._random.choice([[], [self._operator()]])
        return self._of(["db", command, *operator, *self._maybe("--json")], self._db(), *options, codes=codes)

    def _convert(self) -> Case:
        path = self._random.choice([self._files.recording, *self._files.wrong])
        codes = (DONE,) if path == self._files.recording else (BAD_INPUT,)
        words = ["convert", str(path), "--to", self._random.choice(["t4", "kernel-tuner"])]
        if self._random.random() < 0.2:
            return Case([*words, "--output", str(self._files.missing)], (BAD_INPUT,))
        self._count += 1
        return Case([*words, "--output", str(self._files.folder / f"out-{self._count}")], codes)

    def _import(self) -> Case:
        """A document with something in it changed, into a database of its own."""
        path = self._changed(self._files.export)
        return Case(["db", "import", path, "--db", str(self._files.other), *self._maybe("--json")], (DONE, BAD_INPUT))

    def _lock(self) -> Case:
        """What a lock names, or one with something in it changed; and a new lock."""
        path, output, files = self._changed(self._files.lock), self._output(), self._files
        right = Case(["warm", "--lock", str(files.lock), *self._maybe("--json")], (DONE,))
        wrong = Case(["warm", "--lock", path, *self._maybe("--json")], (DONE, FAILED, BAD_INPUT))
        suites = [f"transpose={one}" for one in (files.suite, *files.wrong)]
        suite = "--suite", suites[:1], ["", "transpose", "=", *suites[1:]]
        new = self._of(["lock", f"--output={output[1][0]}", f"--suite={suites[0]}", "--device=h200"], suite, output)
        return self._random.choice([right, wrong, wrong, new])

    def _changed(self, right: Path) -> str:
        """The path of a JSON document with something in it changed, or cut short."""
        self._count += 1
        path, document = self._files.folder / f"document-{self._count}.json", json.loads(right.read_text())
        changed(document, self._random)
        text = json.dumps(document)
        path.write_text(text if self._random.random() < 0.8 else text[: self._random.randrange(len(text))])
        return str(path)

    def _listing(self) -> Case:
        words = self._random.choice(
            [
                ["devices"],
                ["db", "devices"],
                ["db", "path"],
                ["bench", "model", "--recording", str(self._files.recording)],
            ]
        )
        return Case([*words, *self._maybe("--json")], (DONE,))

    def _replay(self) -> Case:
        path = str(self._random.choice([*self._files.wrong, self._files.export]))
        return Case([*self._random.choice([["replay"], ["bench", "model", "--recording"]]), path], (BAD_INPUT,))

    def _long(self) -> Case:
        """A command that would take long, with something wrong."""
        name = self._operator()
        device, output = self._device(), self._output()
        bad = self._random.choice(
            [
                ["tune", name, "--trials", self._random.choice(["0", "-1", "x", ""])],
                ["tune", name, "--seconds", self._random.choice(["0", "-1", "x", "nan", "-inf"])],
                ["tune", name, "--seed", self._random.choice(["-1", str(2**31), "9" * 40, "x"])],
                ["tune", name, "--sampler", self._random.choice(ODD[:9])],
                ["tune", name, f"--device={self._random.choice(device[2])}"],
                ["tune", name, "--db", "sqlite://"],
                ["tune", name, "--suite", str(self._random.choice(self._files.wrong))],
                ["tune", name, "--stale", "--untuned"],
                ["tune", "transpose", "--m", "65", "--device", f"replay:{self._files.recording}"],
                ["record", name, f"--output={self._random.choice(output[2])}"],
                ["record", name, "--output", output[1][0], "--trials", self._random.choice(["0", "x"])],
                ["record", name, "--output", output[1][0], "--db", ":memory:x://"],
                ["export", name, f"--output={self._random.choice(output[2])}"],
                ["export", name, "--output", output[1][0], self._random.choice(["--max-slowdown-pct=-1", "--nosuch"])],
                ["warm", name, "--suite", str(self._random.choice(self._files.wrong))],
                ["bench", name, "--rounds", self._random.choice(["3", "x", "-1"])],
                ["bench", "search", "--recording", str(self._random.choice(self._files.wrong))],
            ]
        )  # fmt: skip
        return Case(bad, (BAD_INPUT,))

    def _runs(self) -> Case:
        """The first digits of its id name a run."""
        named = [RUN, RUN[:3]], ["", "no", "0123abcde", "%", "_", *ODD[7:]]
        command = self._random.choice(["list", "show", "export", "best"])
        if command == "list":
            return self._of(["runs", *self._maybe("--json")], ("--limit", ["1"], ["0", "x"]), self._own_db())
        if command == "best":
            return self._of(["db", "best", *self._maybe("--json")], ("--run", *named), self._own_db())
        right = self._random.random() < 0.6
        words = ["runs", command, *self._maybe("--json"), "--", self._random.choice(named[not right])]
        words[2:2] = ["--optuna", str(self._files.folder / "run.journal")] if command == "export" else []
        return Case(words, (DONE,) if right else (BAD_INPUT,))

    def _report(self) -> Case:
        problem = "--problem", ["m64-n64-k64-nn", "m1", *ODD], []
        bench = "--bench", [], [str(path) for path in self._files.wrong]
        words = ["report", *self._random.choice([["sgemm"], [RUN], []]), *self._maybe("--json")]
        return self._of(words, problem, bench, self._output(), self._own_db(), codes=(DONE, FAILED, BAD_INPUT))

    def _occupancy(self) -> Case:
        device = "--device", ["h200", "t4", "a100"], ["h300", "-1", ""]
        if self._random.random() < 0.2:
            return self._of(["occupancy", self._operator(), *self._maybe("--json")], ("--nosuch", [], ["1"]))
        words = ["occupancy", f"--threads={self._random.choice([1, 33, 1024])}", "--registers=64"]
        shared = "--shared", ["0", "48K", "64K", "1"], ["x", "-1", "1.5K", "9" * 40, "K"]
        return self._of([*words, *self._maybe("--json")], device, shared, codes=(DONE, BAD_INPUT))

    def _upkeep(self) -> Case:
        self._count += 1
        copy, files = self._files.folder / f"copy-{self._count}", self._files
        cache = Case(["cache", self._random.choice(["info", "clear"]), *self._maybe("--json")], (DONE,))
        prune = ["db", "prune", *self._maybe("--yes"), "--db", str(files.other), *self._maybe("--json")]
        backup = Case(["db", "backup", str(copy), *self._maybe("--json")], (DONE,))
        wrong = Case(["db", "backup", str(self._random.choice([files.missing, files.database]))], (BAD_INPUT,))
        return self._random.choice([cache, Case(prune, (DONE,)), backup, wrong])

    def _own_db(self) -> tuple[str, list[str], list[str]]:
        name, _, wrong = self._db()
        return name, [str(self._files.database)], wrong

    def _flipped(self) -> Case:
        """A database or a recording of which some bytes are others, or that is cut short."""
        self._count += 1
        path = self._random.choice([self._files.database, self._files.recording])
        content = bytearray(path.read_bytes())
        for _ in range(self._random.randint(1, 40)):
            content[self._random.randrange(len(content))] = self._random.randrange(256)
        copy = self._files.folder / f"flipped-{self._count}"
        copy.write_bytes(content[: self._random.choice([len(content), self._random.randrange(len(content))])])
        if path == self._files.recording:
            words = self._random.choice(
                [["bench", "model", "--recording", str(copy)], ["show", "transpose", f"--device=replay:{copy}"]]
            )
            return Case(words, (DONE, BAD_INPUT))
        command = self._random.choice(
            [["trials"], ["best"], ["best", "--explain"], ["export"], ["problems"], ["doctor"]]
        )
        return Case(["db", *command, "--db", str(copy)], (DONE, FAILED, BAD_INPUT))

    def _odd(self) -> Case:
        """Words without any sense."""
        known = ["tune", "emit", "db", "best", "sgemm", "--db", "--m", "--json", "-o", "--device", "show", "export"]
        words = [self._random.choice([*known, *ODD, *NUMBERS]) for _ in range(self._random.randint(1, 4))]
        return Case(words, (DONE, FAILED, BAD_INPUT))
