"""Which points are in a polygon: vectors of floats, and ways to compute the same as parameters."""

import numpy as np

import autotune
from autotune import Input, Output, Value

SOURCE = """
// The ray from a point towards +x crosses the edge between two corners. The ways differ in instructions alone.
__device__ bool crosses(float2 point, float2 from, float2 to, float slope) {
#if between == 0
  const bool spans = (from.y > point.y) != (to.y > point.y);
#elif between == 1
  const bool spans = (from.y <= point.y && to.y > point.y) || (to.y <= point.y && from.y > point.y);
#else
  const bool spans = (from.y - point.y > 0.0f) ^ (to.y - point.y > 0.0f);
#endif
#if !stored_slopes
  slope = (to.x - from.x) / (to.y - from.y);
#endif
  return spans && point.x < slope * (point.y - from.y) + from.x;
}

__global__ void pnpoly(int* __restrict__ inside, const float2* __restrict__ points,
                       const float2* __restrict__ corners, const float* __restrict__ slopes, int n) {
  const int first = blockIdx.x * block_size * per_thread + threadIdx.x;
  float2 own[per_thread];
  int crossed[per_thread] = {};
#pragma unroll
  for (int i = 0; i < per_thread; ++i) own[i] = points[min(first + i * block_size, n - 1)];
  float2 from = corners[edges - 1];
  for (int edge = 0; edge < edges; ++edge) {
    const float2 to = corners[edge];
    const float slope = stored_slopes ? slopes[edge] : 0.0f;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#if counting == 0
      if (crosses(own[i], from, to, slope)) crossed[i] = !crossed[i];
#elif counting == 1
      crossed[i] ^= crosses(own[i], from, to, slope);
#else
      crossed[i] += crosses(own[i], from, to, slope);
#endif
    }
    from = to;
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
    if (first + i * block_size < n) inside[first + i * block_size] = crossed[i] & 1;
}
"""


def polygon(edges):
    """The corners of a polygon with ragged sides, on whole numbers: each edge goes up or down by one."""
    half = edges // 2
    ragged = 40 + np.arange(half) * 7919 % 21
    x, y = np.concatenate([ragged, -ragged[::-1]]), np.concatenate([np.arange(half), np.arange(half)[::-1]])
    return np.stack([x, y], axis=1).astype(np.float64)


def slopes_of(corners):
    """By edge, from the corner before: how far x goes as y goes by one; 0 of level edges, which no ray crosses."""
    across, up = (corners - np.roll(corners, 1, axis=0)).T
    return np.divide(across, up, out=np.zeros(len(corners)), where=up != 0)


def points_around(random, shape):
    """Points a quarter away from all edges, so that no rounding decides."""
    x, y = random.integers(-80, 80, shape[0]) + 0.25, random.integers(-10, 310, shape[0]) + 0.5
    return np.stack([x, y], axis=1)


def reference(points, corners, slopes):
    """The parity of the edges that the ray from each point crosses."""
    (x, y), inside = points.T, np.zeros(len(points), bool)
    for before, corner, slope in zip(np.roll(corners, 1, axis=0), corners, slopes, strict=True):
        inside ^= ((before[1] > y) != (corner[1] > y)) & (x < slope * (y - before[1]) + before[0])
    return inside


pnpoly = autotune.kernel(
    source=SOURCE,
    entry="pnpoly",
    arguments={
        "inside": Output("int32", "n"),
        "points": Input("float2", "n", values=points_around),
        "corners": Input("float2", "edges", values=lambda _, shape: polygon(shape[0])),
        "slopes": Input("float32", "edges", values=lambda _, shape: slopes_of(polygon(shape[0]))),
        "n": Value("int"),
    },
    problem={"n": 2_000_000, "edges": 600},
    parameters={
        "block_size": [32, 64, 128, 256, 512, 1024],
        "per_thread": [1, 2, 3, 4, 6, 8, 10, 16],
        "between": [0, 1, 2],
        "counting": [0, 1, 2],
        "stored_slopes": [False, True],
    },
    block="block_size",
    grid="ceil_div(n, block_size * per_thread)",
    default={"block_size": 256},
    small={"n": 700, "edges": 600},
    reference=reference,
)

if __name__ == "__main__":
    best = pnpoly.tune(trials=50).best
    print(best and (best.schedule, best.seconds))
