"""What a command line brings."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def refusal(self) -> str:
        """What is said of bad input, which is all."""
        assert (self.code, self.stdout, self.stderr.count("\n")) == (2, "", 1), self
        return self.stderr.removeprefix("autotune: ").removesuffix("\n")


Command = Callable[..., Outcome]
