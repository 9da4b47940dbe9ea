"""A two-dimensional filter: sizes as macros, and a choice between shared memory and the cache."""

import numpy as np

import autotune
from autotune import Input, Output

SOURCE = """
// Each thread computes tile_x × tile_y pixels, block_x and block_y apart. The sizes are macros, so that the loops over
// the filter are unrolled.
constexpr int wide = block_x * tile_x, high = block_y * tile_y;
constexpr int in_width = width + filter_width - 1;

__global__ void convolution(float* __restrict__ out, const float* __restrict__ image,
                            const float* __restrict__ filter) {
  const int left = blockIdx.x * wide, top = blockIdx.y * high;
#if use_shared
  constexpr int halo_wide = wide + filter_width - 1, halo_high = high + filter_height - 1;
  __shared__ float tile[halo_high][halo_wide + use_padding];
  for (int y = threadIdx.y; y < halo_high; y += block_y)
    for (int x = threadIdx.x; x < halo_wide; x += block_x) {
      const bool inside = left + x < in_width && top + y < height + filter_height - 1;
      tile[y][x] = inside ? image[(top + y) * in_width + left + x] : 0.0f;
    }
  __syncthreads();
#endif
  for (int i = 0; i < tile_y; ++i)
    for (int j = 0; j < tile_x; ++j) {
      const int own_x = threadIdx.x + j * block_x, own_y = threadIdx.y + i * block_y;
      if (left + own_x >= width || top + own_y >= height) continue;
      float sum = 0.0f;
#pragma unroll
      for (int y = 0; y < filter_height; ++y)
#pragma unroll
        for (int x = 0; x < filter_width; ++x) {
#if use_shared
          const float pixel = tile[own_y + y][own_x + x];
#else
          const float pixel = __ldg(&image[(top + own_y + y) * in_width + left + own_x + x]);
#endif
          sum += pixel * filter[y * filter_width + x];
        }
      out[(top + own_y) * width + left + own_x] = sum;
    }
}
"""


def reference(image, filter):
    """Each pixel of the filter's times a shifted image, and the same of absolute values."""
    height, width = (image.shape[axis] - filter.shape[axis] + 1 for axis in (0, 1))
    out, scale = np.zeros((2, height, width))
    for (y, x), weight in np.ndenumerate(filter):
        part = image[y : y + height, x : x + width]
        out += weight * part
        scale += abs(weight) * np.abs(part)
    return {"out": out, "out_scale": scale}


convolution = autotune.kernel(
    source=SOURCE,
    entry="convolution",
    arguments={
        "out": Output("float32", "height", "width"),
        "image": Input("float32", "height + filter_height - 1", "width + filter_width - 1"),
        "filter": Input("float32", "filter_height", "filter_width"),
    },
    problem={"width": 4096, "height": 4096, "filter_width": 15, "filter_height": 15},
    parameters={
        "block_x": [16, 32, 48, 64, 128],
        "block_y": [1, 2, 4, 8, 16],
        "tile_x": [1, 2, 4],
        "tile_y": [1, 2, 4],
        "use_shared": [True, False],
        "use_padding": [False, True],
    },
    constraints=[
        "32 <= block_x * block_y <= 1024",
        "use_shared or not use_padding",
        "not use_shared or 4 * (block_x * tile_x + filter_width) * (block_y * tile_y + filter_height - 1) <= 48 * 1024",
    ],
    block=("block_x", "block_y"),
    grid=("ceil_div(width, block_x * tile_x)", "ceil_div(height, block_y * tile_y)"),
    default={"block_x": 32, "block_y": 4},
    small={"width": 70, "height": 35, "filter_width": 5, "filter_height": 3},
    flops="2 * width * height * filter_width * filter_height",
    reference=reference,
    whole_numbers=True,
)

if __name__ == "__main__":
    best = convolution.tune(trials=50).best
    print(best and (best.schedule, best.seconds))
