#pragma once
// Where things lie: the operands' tiles in shared memory, and each thread's share of the block's tile.

// A tile of an operand in shared memory: block_k rows of `extent` words (M for A, N for B), so that the words
// that a thread multiplies at one k are neighbours. A copy that transposes writes `group` rows in turn, but
// several groups at once, and so read lanes that share a tile along k; padding each group, or permuting its
// columns by XOR, gives those groups banks of their own.
template <int extent_, int block_k, int pad, bool swizzle, int group>
struct TileLayout {
  static constexpr int extent = extent_;
  static constexpr int words = (block_k * extent + block_k / group * pad + 3) / 4 * 4;  // the next is aligned

  static __device__ __forceinline__ constexpr int index(int k, int column) {
    return k * extent + k / group * pad + (column ^ mask(k));
  }

  // Whether a step along k from any of `rows` rows, of a multiple of that many, leads as far from each.
  static __device__ __forceinline__ constexpr bool constant_steps(int rows) {
    return !swizzle && (pad == 0 || rows % group == 0 || group % rows == 0);
  }

 private:
  static constexpr int masks = block_k / group < 8 ? block_k / group : 8;
  static __device__ __forceinline__ constexpr int mask(int k) {
    return swizzle ? k / group % masks * (32 / masks) : 0;
  }
};

__device__ constexpr int strip_width(int thread_extent) {
  return thread_extent % 4 == 0 ? 4 : thread_extent % 2 == 0 ? 2 : 1;
}

// One dimension of a thread's tile: strips of 1, 2 or 4 words, `step` apart; the lanes of a warp take the
// strips in turn.
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
// Lanes, and warps, that share a thread's tile, each with its part of the steps along k.
constexpr int lanes_k = 32 / (StripsM::lanes * StripsN::lanes);
constexpr int k_parts = lanes_k * Schedule::warps_k;
constexpr int tile_threads =
    Schedule::block_m / Schedule::thread_m * (Schedule::block_n / Schedule::thread_n);
constexpr int threads = tile_threads * k_parts;
static_assert(StripsM::lanes * StripsN::lanes * lanes_k == 32, "the thread tiles of a warp cover its tile");

__device__ constexpr int row_group(bool along_k, int vector) {
  return lanes_k > 1 ? 4 : along_k ? vector : 1;
}

using LayoutA = TileLayout<Schedule::block_m, Schedule::block_k, Schedule::pad_a, Schedule::swizzle_a,
                           row_group(!Problem::transpose_a, Schedule::vector_a)>;
using LayoutB = TileLayout<Schedule::block_n, Schedule::block_k, Schedule::pad_b, Schedule::swizzle_b,
                           row_group(Problem::transpose_b, Schedule::vector_b)>;

struct Position {
  int m;
  int n;
};

// Position of a lane, of those with one part along k, among its warp's StripsM::lanes × StripsN::lanes.
__device__ __forceinline__ Position lane_position(int lane) {
  if constexpr (Schedule::lane_map == LaneMap::row_major) {
    return {lane / StripsN::lanes, lane % StripsN::lanes};
  } else {  // bits of n and m in turn while both have some left, so that neighbours share both operands
    Position position{0, 0};
#pragma unroll
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
  }
}

// Which part of the steps along k a thread has, among the lanes and among the warps.
__device__ __forceinline__ int lane_k() { return threadIdx.x % lanes_k; }
__device__ __forceinline__ int warp_k() {
  return Schedule::warps_k == 1 ? 0 : threadIdx.x / (tile_threads * lanes_k);
}

// The thread's number among those with the same part along k.
__device__ __forceinline__ int tile_thread() { return threadIdx.x % (tile_threads * lanes_k) / lanes_k; }

// The k, in the block's tile, of a step of a thread: its `first_k` and what all threads have in common. Lanes
// take 4 at a time in turn, so that those of a vector along k are one thread's.
constexpr int k_steps = Schedule::block_k / k_parts;
__device__ __forceinline__ int first_k() {
  return warp_k() * (Schedule::block_k / Schedule::warps_k) + lane_k() * 4;
}
__device__ __forceinline__ constexpr int k_of(int step) { return step / 4 * 4 * lanes_k + step % 4; }

// Position of a thread's first word of C in the block's tile.
__device__ __forceinline__ Position thread_position() {
  constexpr int warp_threads = 32 / lanes_k;
  const int warp = tile_thread() / warp_threads;
  const Position lane = lane_position(tile_thread() % warp_threads);
  return {warp / warps_n * Schedule::warp_m + lane.m * StripsM::width,
          warp % warps_n * Schedule::warp_n + lane.n * StripsN::width};
}
