#pragma once
// Layouts: the operands' tiles in shared memory, and the position of each thread in the block's tile.

// The tile of an operand in shared memory: block_k rows of `extent` elements (M for A, N for B). A thread
// multiplies neighbours of a row. A copy that transposes writes `group` rows one after the other, and several
// groups at once; so read lanes that share a tile along k. Padding after each group, or an XOR of its
// columns, gives these groups different banks.
template <int extent_, int block_k, int pad, bool swizzle, int group>
struct TileLayout {
  static constexpr int extent = extent_;
  // A multiple of 4, so that the next tile is aligned.
  static constexpr int elements = (block_k * extent + block_k / group * pad + 3) / 4 * 4;

#if swizzle_a || swizzle_b
  static __device__ __forceinline__ constexpr int index(int k, int column) {
    return k * extent + k / group * pad + (column ^ mask(k));
  }

  // True if advancing k has the same address increment from each of `rows` aligned rows.
  static __device__ __forceinline__ constexpr bool constant_steps(int rows) {
    return !swizzle && (pad == 0 || rows % group == 0 || group % rows == 0);
  }

 private:
  static constexpr int masks = block_k / group < 8 ? block_k / group : 8;
  static __device__ __forceinline__ constexpr int mask(int k) {
    return swizzle ? k / group % masks * (32 / masks) : 0;
  }
#else
  static __device__ __forceinline__ constexpr int index(int k, int column) {
    return k * extent + k / group * pad + column;
  }

  // True if advancing k has the same address increment from each of `rows` aligned rows.
  static __device__ __forceinline__ constexpr bool constant_steps(int rows) {
    return pad == 0 || rows % group == 0 || group % rows == 0;
  }
#endif
};

#if k_major_a || k_major_b

// The tile of an operand that lies in shared memory as it does in global memory: `extent` rows of block_k
// elements. A thread reads vectors along k of the rows of its strips. Padding after each group of rows, a
// strip, gives the lanes beside each other different banks.
template <int extent_, int block_k, int pad, int group>
struct KMajorLayout {
  static constexpr int extent = extent_;
  static constexpr int elements = extent * block_k + extent / group * pad;

  static __device__ __forceinline__ constexpr int index(int k, int column) {
    return column * block_k + column / group * pad + k;
  }

  // True if advancing by `columns` has the same address increment from each of the first `columns`.
  static __device__ __forceinline__ constexpr bool constant_steps(int columns) {
    return pad == 0 || columns % group == 0 || group % columns == 0;
  }
};
#endif

__device__ constexpr int strip_width(int thread_extent) {
  return thread_extent % 4 == 0 ? 4 : thread_extent % 2 == 0 ? 2 : 1;
}

// One dimension of a thread's tile: strips of 1, 2 or 4 elements. The strips of a warp's lanes alternate, so
// those of one thread are `step` apart.
template <int thread_extent, int lanes_>
struct Strips {
  static constexpr int lanes = lanes_;
  static constexpr int extent = thread_extent;
  static constexpr int width = strip_width(thread_extent);
  static constexpr int count = thread_extent / width;
  static constexpr int step = lanes * width;
};

using StripsM = Strips<Schedule::thread_m, Schedule::warp_m / Schedule::thread_m>;
using StripsN = Strips<Schedule::thread_n, Schedule::warp_n / Schedule::thread_n>;

constexpr int warps_n = Schedule::block_n / Schedule::warp_n;
#if lanes_k > 1

// Lanes that share a thread's tile, each with its part of the steps along k.
constexpr int lanes_k = 32 / (StripsM::lanes * StripsN::lanes);
#endif

// Threads that compute different parts of the block's tile.
constexpr int tile_threads =
    Schedule::block_m / Schedule::thread_m * (Schedule::block_n / Schedule::thread_n);

#if lanes_k > 1
constexpr int threads = tile_threads * lanes_k * Schedule::warps_k;
#elif warps_k > 1
constexpr int threads = tile_threads * Schedule::warps_k;
#else
constexpr int threads = tile_threads;
#endif

__device__ constexpr int row_group(bool along_k, int vector) {
#if lanes_k > 1
  return 4;
#else
  return along_k ? vector : 1;
#endif
}

#if k_major_a
using LayoutA = KMajorLayout<Schedule::block_m, Schedule::block_k, Schedule::pad_a, StripsM::width>;
#else
using LayoutA = TileLayout<Schedule::block_m, Schedule::block_k, Schedule::pad_a, Schedule::swizzle_a,
                           row_group(!Problem::transpose_a, Schedule::vector_a)>;
#endif

#if k_major_b
using LayoutB = KMajorLayout<Schedule::block_n, Schedule::block_k, Schedule::pad_b, StripsN::width>;
#else
using LayoutB = TileLayout<Schedule::block_n, Schedule::block_k, Schedule::pad_b, Schedule::swizzle_b,
                           row_group(Problem::transpose_b, Schedule::vector_b)>;
#endif

struct Position {
  int m;
  int n;
};

// Position of a lane among the StripsM::lanes × StripsN::lanes of its warp that have the same part along k.
__device__ __forceinline__ Position lane_position(int lane) {
#if lane_map == row_major
  return {lane / StripsN::lanes, lane % StripsN::lanes};
#else
  // Z-order: bits of n and m alternate while both have some left, so that neighbours share both operands.
  Position position{0, 0};
#  pragma unroll
  for (int bit = 1, m = 1, n = 1; bit < StripsM::lanes * StripsN::lanes; bit *= 2) {
    if (n < StripsN::lanes && (n <= m || m == StripsM::lanes)) {
      position.n += lane & bit ? n : 0;
      n *= 2;
    } else {
      position.m += lane & bit ? m : 0;
      m *= 2;
    }
  }
  return position;
#endif
}

// Steps along k of a thread in a tile.
#if lanes_k > 1
constexpr int k_steps = Schedule::block_k / (lanes_k * Schedule::warps_k);

// Which part of the steps along k a thread has among the lanes, and among the warps.
__device__ __forceinline__ int lane_k() { return threadIdx.x % lanes_k; }

__device__ __forceinline__ int warp_k() { return threadIdx.x / (tile_threads * lanes_k); }

// The thread's index among those with the same part along k.
__device__ __forceinline__ int tile_thread() { return threadIdx.x % (tile_threads * lanes_k) / lanes_k; }

// A thread's step is row first_k() + k_of(step) of the tile. Lanes take 4 rows in turn, so that the elements
// of a vector along k belong to one thread.
__device__ __forceinline__ int first_k() {
#  if warps_k > 1
  return warp_k() * (Schedule::block_k / Schedule::warps_k) + lane_k() * 4;
#  else
  return lane_k() * 4;
#  endif
}

__device__ __forceinline__ constexpr int k_of(int step) { return step / 4 * 4 * lanes_k + step % 4; }
#elif warps_k > 1
constexpr int k_steps = Schedule::block_k / Schedule::warps_k;

// Which part of the steps along k a warp has.
__device__ __forceinline__ int warp_k() { return threadIdx.x / tile_threads; }

// The thread's index among those with the same part along k.
__device__ __forceinline__ int tile_thread() { return threadIdx.x % tile_threads; }

// A thread's step is row first_k() + k_of(step) of the tile.
__device__ __forceinline__ int first_k() { return warp_k() * (Schedule::block_k / Schedule::warps_k); }

__device__ __forceinline__ constexpr int k_of(int step) { return step; }
#else
constexpr int k_steps = Schedule::block_k;

__device__ __forceinline__ int tile_thread() { return threadIdx.x % tile_threads; }

__device__ __forceinline__ constexpr int first_k() { return 0; }

__device__ __forceinline__ constexpr int k_of(int step) { return step; }
#endif

// Position of a thread's first element of C in the block's tile.
__device__ __forceinline__ Position thread_position() {
#if lanes_k > 1
  constexpr int warp_threads = 32 / lanes_k;
#else
  constexpr int warp_threads = 32;
#endif
  const int warp = tile_thread() / warp_threads;
  const Position lane = lane_position(tile_thread() % warp_threads);
  return {warp / warps_n * Schedule::warp_m + lane.m * StripsM::width,
          warp % warps_n * Schedule::warp_n + lane.n * StripsN::width};
}
