"""c = a + b: the smallest kernel with something to tune."""

import autotune
from autotune import Input, Output, Value

SOURCE = """
__global__ void vector_add(float* c, const float* a, const float* b, int n) {
  const int first = (blockIdx.x * block_size + threadIdx.x) * per_thread;
  for (int i = first; i < first + per_thread && i < n; ++i) c[i] = a[i] + b[i];
}
"""

vector_add = autotune.kernel(
    source=SOURCE,
    entry="vector_add",
    arguments={
        "c": Output("float32", "n"),
        "a": Input("float32", "n"),
        "b": Input("float32", "n"),
        "n": Value("int"),
    },
    problem={"n": 10_000_000},
    parameters={"block_size": [32, 64, 128, 256, 512, 1024], "per_thread": [1, 2, 4]},
    block="block_size",
    grid="ceil_div(n, block_size * per_thread)",
    reference=lambda a, b: a + b,
)

if __name__ == "__main__":
    best = vector_add.tune(trials=12).best
    print(best and (best.schedule, best.seconds))
