"""Every form of wgmma: a kernel of one warpgroup, which multiplies tiles that tensor copies bring."""

from dataclasses import dataclass

import numpy as np
from tensor_programs import tensor_program

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.wgmma import K_BYTES, ROWS, wgmma_source

UNIT_BYTES = 16
B_AT, BARRIER_AT = 16384, 49152  # bytes of shared memory

BODY = """
  Barrier& full = *reinterpret_cast<Barrier*>(tile + BARRIER_AT);
  if (t == 0) {
    full.init(1);
    proxy_fence();
    full.arrive_and_expect(BYTES);
COPIES
  }
  __syncthreads();
  full.wait(0);
FRAGMENTS
  KIND d[SUMS];
  wgmma_fence(d);
PRODUCTS
  wgmma_commit();
  wgmma_wait<0>(d);
  const int lane = t % 32, first = t / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    const int r = first + i / 2 % 2 * 8, c = i / 4 * 8 + lane % 4 * 2 + i % 2;
    arguments.z[r * COLUMNS + c] = d[i];
  }
"""

# A of 32 or 16 bits from its tile to registers.
FRAGMENTS = """
  unsigned a[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int r = t / 32 * 16 + t % 32 / 4 + i % 2 * 8, c = i / 4 * 8 + t % 4 + i / 2 % 2 * 4;
    a[i / 4][i % 4] = *reinterpret_cast<const unsigned*>(tile + swizzled(128 * r + 4 * c, 128));
  }
"""


@dataclass(frozen=True)
class Side:
    """An operand in global memory, (rows, terms) or with k not adjacent (terms, rows), and its tile."""

    name: str
    dtype: DType
    rows: int
    terms: int
    k_adjacent: bool
    swizzle: Swizzle
    at: int

    @property
    def shape(self):
        return (self.rows, self.terms) if self.k_adjacent else (self.terms, self.rows)

    @property
    def row_bytes(self):
        return self.swizzle.bytes or UNIT_BYTES

    @property
    def box(self):
        """Whole rows of the swizzle, as high as the operand."""
        return self.shape[0], self.row_bytes // self.dtype.bytes

    @property
    def tensor_map(self):
        return TensorMap(self.name, self.dtype, self.shape, (self.shape[1], 1), self.box, self.swizzle)

    @property
    def bytes(self):
        return self.rows * self.terms * self.dtype.bytes

    @property
    def box_bytes(self):
        return self.shape[0] * self.row_bytes

    def copies(self):
        return "".join(
            f"    tensor_copy(tile + {self.at + index * self.box_bytes}, arguments.map_{self.name}, "
            f"{{0, {index * self.box[1]}}}, full);\n"
            for index in range(self.shape[1] // self.box[1])
        )

    def descriptor(self, step):
        """Of the terms of a product."""
        group = 8 * self.row_bytes
        if self.k_adjacent:
            first = step * K_BYTES
            offset = first // self.row_bytes * self.box_bytes + first % self.row_bytes
            leading, stride = (0, group) if self.swizzle.bytes else (self.box_bytes, group)
        else:
            offset = step * K_BYTES // self.dtype.bytes * self.row_bytes
            leading, stride = (self.box_bytes, group) if self.swizzle.bytes else (group, self.box_bytes)
        return f"matrix_descriptor<{self.swizzle.bytes}>(tile + {self.at + offset}, {leading}, {stride})"


@dataclass(frozen=True)
class Form:
    """A form of wgmma, of 128 bytes along k."""

    a: DType
    b: DType
    columns: int
    m_adjacent: bool = False
    n_adjacent: bool = False
    swizzle: Swizzle = Swizzle.B128
    registers_a: bool = False

    def __str__(self):
        adjacent = " m" * self.m_adjacent + " n" * self.n_adjacent + " registers" * self.registers_a
        return f"{self.a} {self.b} {self.columns}{adjacent} {self.swizzle}"

    @property
    def sides(self):
        terms = 128 // self.a.bytes
        return (
            Side("x", self.a, ROWS, terms, not self.m_adjacent, self.swizzle, 0),
            Side("y", self.b, self.columns, terms, not self.n_adjacent, self.swizzle, B_AT),
        )

    @property
    def result(self):
        return DType.FLOAT32 if self.a.is_float else DType.INT32

    def program(self):
        a, b = self.sides
        products = "".join(
            f"  wgmma(d, {f'a[{step}]' if self.registers_a else a.descriptor(step)}, {b.descriptor(step)}, "
            f"{int(step > 0)});\n"
            for step in range(128 // K_BYTES)
        )
        words = {
            "BARRIER_AT": BARRIER_AT,
            "BYTES": a.bytes + b.bytes,
            "COPIES": a.copies() + b.copies(),
            "FRAGMENTS": FRAGMENTS if self.registers_a else "",
            "PRODUCTS": products,
            "KIND": self.result.cuda,
            "SUMS": self.columns // 2,
            "COLUMNS": self.columns,
        }
        body = BODY
        for word, value in words.items():
            body = body.replace(word, str(value))
        return tensor_program(
            body,
            {"map_x": a.tensor_map, "map_y": b.tensor_map},
            {"z": f"{self.result.cuda}*"},
            threads=128,
            shared_bytes=BARRIER_AT + 8,
            headers=("wgmma", "swizzle"),
            declared=wgmma_source(
                self.columns,
                self.a,
                self.b,
                m_adjacent=self.m_adjacent,
                n_adjacent=self.n_adjacent,
                registers_a=self.registers_a,
            ),
        )

    def arrays(self, seed=0, *, small=True):
        """Operands of small whole numbers, whose sums are exact, or of random ones."""
        random = np.random.default_rng(seed)
        drawn = {}
        for side in self.sides:
            most = 1 if side.dtype.bits == 8 and side.dtype.is_float else 2
            values = random.integers(-most, most + 1, side.shape) if small else random.standard_normal(side.shape) * 8
            if side.dtype is DType.UINT8:
                values = abs(values)
            drawn[side.name] = values.astype(side.dtype.numpy).ravel()
        return drawn | {"z": np.zeros(ROWS * self.columns, self.result.numpy)}

    def expected(self, arrays):
        operands = []
        for side in self.sides:
            values = arrays[side.name].reshape(side.shape).astype(np.float64)
            operands.append(values if side.k_adjacent else values.T)
        return operands[0] @ operands[1].T


_BF16, _F16, _TF32 = DType.BFLOAT16, DType.FLOAT16, DType.FLOAT32
_E4M3, _E5M2, _S8, _U8 = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8, DType.UINT8
FORMS = [
    Form(_BF16, _BF16, 8),
    Form(_BF16, _BF16, 256),
    Form(_F16, _F16, 72),
    Form(_BF16, _BF16, 64, swizzle=Swizzle.B64),
    Form(_BF16, _BF16, 32, swizzle=Swizzle.B32),
    Form(_F16, _F16, 96, swizzle=Swizzle.NONE),
    Form(_BF16, _BF16, 128, m_adjacent=True, n_adjacent=True),
    Form(_F16, _F16, 192, n_adjacent=True),
    Form(_BF16, _BF16, 96, m_adjacent=True, n_adjacent=True, swizzle=Swizzle.B64),
    Form(_BF16, _BF16, 48, m_adjacent=True, n_adjacent=True, swizzle=Swizzle.B32),
    Form(_BF16, _BF16, 24, m_adjacent=True, n_adjacent=True, swizzle=Swizzle.NONE),
    Form(_TF32, _TF32, 56),
    Form(_TF32, _TF32, 40, registers_a=True),
    Form(_BF16, _BF16, 64, n_adjacent=True, registers_a=True),
    Form(_F16, _F16, 48, registers_a=True),
    Form(_E4M3, _E4M3, 128),
    Form(_E4M3, _E5M2, 48, swizzle=Swizzle.B64),
    Form(_E5M2, _E4M3, 16),
    Form(_S8, _S8, 96),
    Form(_U8, _S8, 32, swizzle=Swizzle.B32),
]
