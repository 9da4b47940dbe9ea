#pragma once
#include "cuda/opaque.cuh"
#include "cuda/vector.cuh"
#include "matmul/sgemm/multiply.cuh"
#include "matmul/sgemm/tile_scheduler.cuh"
// A thread's tile on its way to global memory: in vectors, a fragment of several at a time.

// The largest number of vectors, `most` or fewer, of which each of the partitions along k has whole
// fragments; 1 if there is none.
__device__ constexpr int largest_fragment(int most, int vectors, int k_partitions) {
  for (int size = most; size > 1; --size) {
    if (vectors % (size * k_partitions) == 0) return size;
  }
  return 1;
}

struct Output {
  static constexpr int width = Schedule::vector_c;
  static constexpr int vectors = Schedule::thread_m * Schedule::thread_n / width;  // those of a thread's tile
  // Threads that share a tile, in warps and in blocks. Each of them writes a part of it.
  static constexpr int k_partitions = Schedule::cluster_k * Schedule::warps_k;
#if staged_c
  // A fragment has whole rows of the thread's tile.
  static constexpr int rows = largest_fragment(32 / Schedule::thread_n, Schedule::thread_m, 1);
  static constexpr int fragment_vectors = rows * Schedule::thread_n / width;
#else
  static constexpr int fragment_vectors = largest_fragment(32 / width, vectors, k_partitions);
#endif

  struct Fragment {
    alignas(16) float elements[fragment_vectors][width];
  };

  // Row and column of a vector's first element in the thread's tile.
  static __device__ __forceinline__ constexpr Position position(int vector) {
    return {vector * width / Schedule::thread_n, vector * width % Schedule::thread_n};
  }
};

// Calls `visit` with the first vector of each fragment that this thread writes.
template <class Visit>
__device__ __forceinline__ void for_each_fragment(Visit visit) {
  constexpr int step = Output::fragment_vectors * Output::k_partitions;
#if lanes_k > 1
  if (lane_k() != 0) return;
#endif
#if cluster_k > 1 && warps_k > 1
  const int partition = cluster_rank() * Schedule::warps_k + warp_k();
#elif cluster_k > 1
  const int partition = cluster_rank();
#elif warps_k > 1
  const int partition = warp_k();
#endif
#pragma unroll
  for (int round = 0; round < (Output::vectors + step - 1) / step; ++round) {
#if k_partitions > 1
    const int first = round * step + partition * Output::fragment_vectors;
    if (Output::vectors % step == 0 || first < Output::vectors) visit(first);
#else
    visit(round * step);
#endif
  }
}

// A vector of the thread's sums.
__device__ __forceinline__ void get_vector(float (&elements)[Output::width], const Accumulators& sum,
                                           int vector) {
  const Position from = Output::position(vector);
#pragma unroll
  for (int i = 0; i < Output::width; ++i) elements[i] = sum.c[from.m][from.n + i];
}

// A vector on its way to memory occupies aligned registers. With stream-K ptxas would keep the sums
// themselves in such registers, in the same banks as the fragments of B: 51 % of all FFMAs then read two
// operands of one bank, and registers are spilled. The addition makes new values, which leaves 6 %.
__device__ __forceinline__ float scaled(float sum, float alpha) {
#if grid_blocks > 0
  return __fmul_rn(alpha, sum) + 0.0f;
#else
  return alpha * sum;
#endif
}

// The sums of a thread that shares its tile with no other.
class ThreadSums {
 public:
  explicit __device__ __forceinline__ ThreadSums(const Accumulators& sum) : sum_(sum) {}

  // alpha times the vectors from `first` on.
  __device__ __forceinline__ void get(Output::Fragment& fragment, int first, float alpha) const {
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
      get_vector(fragment.elements[i], sum_, first + i);
#pragma unroll
      for (int j = 0; j < Output::width; ++j)
        fragment.elements[i][j] = scaled(fragment.elements[i][j], alpha);
    }
  }

 private:
  Accumulators sum_;
};

// C = scaled + beta·C for a vector.
template <int width>
__device__ __forceinline__ void store_to_c(float* c, const float* scaled, float beta) {
  alignas(16) float elements[width];
#if beta_nonzero
  if (beta == 0.0f) {  // C is not read: it may hold NaN
#  pragma unroll
    for (int i = 0; i < width; ++i) elements[i] = scaled[i];
  } else {
    copy_vector<width>(elements, c);
#  pragma unroll
    for (int i = 0; i < width; ++i) elements[i] = fmaf(beta, elements[i], scaled[i]);
  }
#else
#  pragma unroll
  for (int i = 0; i < width; ++i) elements[i] = scaled[i];
#endif
  copy_vector<width>(c, elements);
}

// The rows and columns of C that a thread may write, counted from the first element of its tile.
struct Bounds {
  int end_m;
  int end_n;
#if overlap_last_m || overlap_last_n
  int begin_m;  // those before are left to the tile before
  int begin_n;
#endif
};

// A thread's tile of C.
struct OutputTile {
  float* c;                // its first element
  Problem::Index leading;  // elements from a row of C to the next
#if guard_m || guard_n || overlap_last_m || overlap_last_n
  Bounds bounds;
#endif
};

// C = scaled + beta·C for all that this thread writes. `load` sets a fragment to the vectors from an index
// on.
template <class Load>
__device__ __forceinline__ void store_tile(const OutputTile& tile, float beta, Load load) {
  constexpr int width = Output::width;
  for_each_fragment([&](int first) {
    Output::Fragment fragment;
    load(fragment, first);
    Problem::Index row_offset = 0;
#pragma unroll
    for (int i = 0; i < Output::fragment_vectors; ++i) {
      const Position from = Output::position(first + i);
      const int row = from.m / StripsM::width * StripsM::step + from.m % StripsM::width;
      if (i == 0 || from.n == 0) {
        row_offset = row * tile.leading;
        make_opaque(row_offset);
      }
      const int column = from.n / StripsN::width * StripsN::step + from.n % StripsN::width;
#if guard_m
      if (row >= tile.bounds.end_m) continue;
#endif
#if overlap_last_m
      if (row < tile.bounds.begin_m) continue;
#endif
#if overlap_last_n
      if (column < tile.bounds.begin_n) continue;  // vectors are on one side of it
#endif
      float* target = tile.c + row_offset + column;
#if guard_n
      if (column + width > tile.bounds.end_n) {
#  pragma unroll
        for (int j = 0; j < width; ++j) {
          if (column + j < tile.bounds.end_n) store_to_c<1>(target + j, &fragment.elements[i][j], beta);
        }
        continue;
      }
#endif
      store_to_c<width>(target, fragment.elements[i], beta);
    }
  });
}
