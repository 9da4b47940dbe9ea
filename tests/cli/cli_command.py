"""What a command line brings."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)

    @property
    def refusal(self):
        """What is said of bad input, which is all."""
        assert (self.code, self.stdout, self.stderr.count("\n")) == (2, "", 1), self
        return self.stderr.removeprefix("autotune: ").removesuffix("\n")
