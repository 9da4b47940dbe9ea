// c = a · b of row-major matrices, by blocks of block_x × block_y threads. Each thread has tile_x × tile_y
// elements of c, block_x and block_y apart, and all tiles of a and b go through shared memory. The sizes are
// multiples of the tiles.

constexpr int rows = block_y * tile_y, columns = block_x * tile_x, depth = block_x;

__global__ void matmul(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int n,
                       int k) {
  __shared__ float tile_of_a[rows][depth];
  __shared__ float tile_of_b[depth][columns];
  const int x = blockIdx.x * columns + threadIdx.x, y = blockIdx.y * rows + threadIdx.y;
  float sums[tile_y][tile_x] = {};

  for (int begin = 0; begin < k; begin += depth) {
#pragma unroll
    for (int i = 0; i < tile_y; ++i)
      tile_of_a[threadIdx.y + i * block_y][threadIdx.x] = a[(y + i * block_y) * k + begin + threadIdx.x];
    for (int row = threadIdx.y; row < depth; row += block_y)
#pragma unroll
      for (int j = 0; j < tile_x; ++j)
        tile_of_b[row][threadIdx.x + j * block_x] = b[(begin + row) * n + x + j * block_x];
    __syncthreads();
#pragma unroll
    for (int step = 0; step < depth; ++step)
#pragma unroll
      for (int i = 0; i < tile_y; ++i)
#pragma unroll
        for (int j = 0; j < tile_x; ++j)
          sums[i][j] +=
              tile_of_a[threadIdx.y + i * block_y][step] * tile_of_b[step][threadIdx.x + j * block_x];
    __syncthreads();
  }

  for (int i = 0; i < tile_y; ++i)
    for (int j = 0; j < tile_x; ++j) c[(y + i * block_y) * n + x + j * block_x] = sums[i][j];
}
