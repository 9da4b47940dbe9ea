"""A device for calibrations that computes in the emulator, where every launch takes a millisecond."""

from dataclasses import replace

import numpy as np

from autotune.codegen.calibration import programs
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role, Tensor
from autotune.emulator import run
from autotune.search_spaces.machine.devices import named_device

SPEC = replace(named_device("h200"), sm_count=1, threads_per_sm=1024, l2_bytes=1 << 15)
SECONDS = 1e-3
SUMS_BYTES = 1 << 14
_SAME_MEMORY = {"chain": "y", "end": "sums"}
_NUMBERS = {"uint4": DType.UINT32, "unsigned": DType.UINT32, "float": DType.FLOAT32}


class EmulatedInstrument:
    """Stands for `Instrument`.

    Attributes:
        timed: the programs whose time was asked for, with their scalars and options.
    """

    spec = SPEC
    bytes_x = 1 << 18
    bytes_y = 1 << 17

    def __init__(self):
        self.timed = []
        sizes = {"x": self.bytes_x, "y": self.bytes_y, "tiles": 4 * programs.TILE_WORDS, "sums": SUMS_BYTES}
        self.arrays = {name: np.zeros(size // 8, np.uint64) for name, size in sizes.items()}
        self.arrays["x"].view(np.uint32)[:] = np.arange(self.bytes_x // 4)

    def launch(self, program, scalars, x="x"):
        if program.name == "follow_chain":  # addresses are those of one run
            program = replace(program, steps=self._linked + program.steps)
        self._linked = program.steps
        arrays = {}
        for argument in program.arguments:
            if argument.pointer:
                element = argument.cuda_type.removeprefix("const ").removesuffix("*")
                name = x if argument.name == "x" else _SAME_MEMORY.get(argument.name, argument.name)
                dtype = {"long long": DType.INT64, "unsigned long long": DType.UINT64} | _NUMBERS
                arrays[argument.name] = (self.arrays[name].view(dtype[element].numpy), dtype[element])
        tensors = [Tensor.flat(name, dtype, array.size, Role.IN_OUT, 16) for name, (array, dtype) in arrays.items()]
        run(program, tensors, {name: array for name, (array, _) in arrays.items()}, scalars)

    def seconds(self, program, scalars, **options):
        self.timed.append((program.name, dict(scalars), options))
        return SECONDS

    def clear(self, name):
        self.arrays[name].fill(2**64 - 1)

    def upload(self, name, values):
        self.arrays[name].view(values.dtype)[:] = values

    def download(self, name, dtype, count):
        return self.arrays[_SAME_MEMORY.get(name, name)].view(dtype)[:count].copy()
