"""A GPU, its kernels and tensors on it that only remember what is asked of them."""

import ctypes
from dataclasses import dataclass

from dispatcher.records import H200, SGEMM

from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES
from autotune.compiler import CompileError
from autotune.dispatcher.targets.base import LaunchError


class FakeGpu:
    """Remembers what was loaded and launched; refuses the kernels whose text has one of these words.

    Those of `problems` were compiled ahead.
    """

    spec, libraries = H200, ("cublas",)

    def __init__(self):
        self.kernels = []  # of each launch, the text
        self.loaded, self.launched, self.refused, self.problems = [], [], {}, []
        self.before_launch = lambda: None
        self.needs_code = False
        self.now = 0.0  # seconds that all launches took that were timed
        self.takes = {}  # seconds of a launch whose kernel's text has a word, or of a library; of all others 1e-5

    def load(self, problem, program, code):
        self.loaded.append(program)
        self.refuse(program, CompileError)
        if self.needs_code:
            code(program, self.spec.arch)
        return FakeKernel(self, program)

    def compiled(self, program):
        return any(f"for {problem.key}\n" in program.source for problem in self.problems)

    def substitute(self, problem, substitute):
        self.loaded.append(substitute.library)
        if substitute.library in self.refused:
            raise self.refused[substitute.library]
        return FakeKernel(self, SGEMM.program(problem, SGEMM.default(problem, H200), H200), substitute.library)

    def refuse(self, program, kind):
        for word, error in self.refused.items():
            if word in program.source and isinstance(error, kind):
                raise error

    def encoder(self, tensor_map, memory):
        def encode(address):
            text = f"{tensor_map.tensor}@{address:#x}".encode().ljust(TENSOR_MAP_BYTES)
            ctypes.memmove(memory, text, TENSOR_MAP_BYTES)

        return encode

    def seconds(self, launch, stream):
        before = len(self.kernels)
        launch()
        seconds = sum(
            next((took for word, took in self.takes.items() if word in text), 1e-5) for text in self.kernels[before:]
        )
        self.now += seconds
        return seconds

    def synchronize(self, stream):
        self.launched.append((stream, "synchronized"))

    def capturing(self, stream):
        return stream == CAPTURED


@dataclass
class FakeKernel:
    gpu: FakeGpu
    program: Program
    text: str = ""

    def bound(self, packed):
        def launch(stream):
            self.gpu.refuse(self.program, LaunchError)
            self.gpu.before_launch()
            self.gpu.kernels.append(self.text or self.program.source)
            self.gpu.launched.append((stream, {a.name: getattr(packed, a.name) for a in self.program.arguments}))

        return launch


class FakeDtype(str):
    is_complex = False


class FakeTensor:
    """As much of a torch.Tensor on a GPU as the dispatcher looks at."""

    __module__ = "torch"
    is_cuda, requires_grad, itemsize, dtype = True, False, 4, FakeDtype("torch.float32")

    def __init__(self, pointer, shape, stride=None, device=0):
        self.shape, self.device = shape, device
        self._pointer, self._stride = pointer, stride or (*(shape[-2] * shape[-1] for _ in shape[2:]), shape[-1], 1)

    def data_ptr(self):
        return self._pointer

    def stride(self):
        return self._stride

    def get_device(self):
        return self.device if self.is_cuda else -1

    def is_conj(self):
        return False

    is_neg = is_conj


CAPTURED = 0xC0
A, B, C = 0x1000000, 0x2000000, 0x3000000
