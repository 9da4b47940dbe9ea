#pragma once
#include "cuda/packed.cuh"
#include "epilogue/finish.cuh"
#include "matmul/gemm/wgmma/tiles.cuh"
#if result == int32
#  include "matmul/gemm/integer_result.cuh"
#endif
// The sums of consumers, and what becomes of them.

using Result = Problem::Result;

constexpr int warpgroup_threads = 128;
constexpr int consumer_rows = Schedule::block_m / (Schedule::pingpong ? 1 : Schedule::consumers);
constexpr int products_m = consumer_rows / product_rows;
constexpr int consumer_threads = Schedule::consumers * warpgroup_threads;
constexpr int sums_barrier = 1 + Schedule::consumers;  // of all consumers; those before are their own

// Columns of a tile that a block stores: of blocks that share k, as many store a part each as divide it
// evenly, into whole boxes of a tensor store.
constexpr int row_results = row_bytes / static_cast<int>(sizeof(Result));
constexpr int store_unit = parts * (Schedule::tensor_store && sizeof(Result) == 4 ? row_results : 8);
__device__ constexpr int storing_of(int blocks) {
  return Schedule::block_n % (store_unit * blocks) == 0 ? blocks : storing_of(blocks / 2);
}
constexpr int storing_blocks = Schedule::cluster_k > 1 ? storing_of(Schedule::cluster_k) : 1;
constexpr int stored_columns = Schedule::block_n / storing_blocks;

// The sums of a thread in so many columns: see cuda/wgmma.cuh.
template <int columns>
struct Sums {
  Problem::Sum d[products_m][columns / 2];
};
using Accumulators = Sums<Schedule::block_n>;
using StoredSums = Sums<stored_columns>;

// A warpgroup that multiplies: its number, and the first row of its sums in a tile. All lanes of a warp have
// them from one, so that the compiler keeps them in uniform registers.
struct Consumer {
  int number;
  int row;

  __device__ __forceinline__ Consumer()
      : number(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup_threads - 1, 0)),
        row(Schedule::pingpong ? 0 : number * consumer_rows) {}
};

// Elements from a column of D and C, or of Z, to the next: with `swap`, these are stored by columns.
__device__ __forceinline__ long long step_d(const Problem& problem) {
  return Schedule::swap ? problem.ldd : 1;
}
__device__ __forceinline__ long long step_z(const Problem& problem) { return Schedule::swap ? problem.m : 1; }

#if scales == row_scales
// The factors of rows, and those of columns.
__device__ __forceinline__ const float* row_factors(const Arguments& arguments) {
  return Schedule::swap ? arguments.scale_b : arguments.scale_a;
}
__device__ __forceinline__ const float* column_factors(const Arguments& arguments) {
  return Schedule::swap ? arguments.scale_a : arguments.scale_b;
}
#elif scaled_columns
__device__ __forceinline__ const float* column_factors(const Arguments& arguments) {
  return arguments.scale_b;
}
#endif

// Two neighbours of a row, of which so many columns are in the matrix.
struct Pair {
  Packed<Result, 2> packed;

  // `step`: elements from a column to the next.
  __device__ __forceinline__ void load(const Result* source, int columns_left, long long step) {
    if (Schedule::vector_d >= 2 && (!Problem::edge_n || columns_left >= 2)) {
      packed.bits = *reinterpret_cast<const typename Packed<Result, 2>::Bits*>(source);
    } else {
      packed.elements[0] = source[0];
      if (!Problem::edge_n || columns_left >= 2) packed.elements[1] = source[step];
    }
  }
  __device__ __forceinline__ void store(Result* target, int columns_left, long long step) const {
    if (Schedule::vector_d >= 2 && (!Problem::edge_n || columns_left >= 2)) {
      store_global<false>(target, packed);
    } else {
      target[0] = packed.elements[0];
      if (!Problem::edge_n || columns_left >= 2) target[step] = packed.elements[1];
    }
  }
};

// The rows of a thread's sums of a product, `row` and the one 8 below: element 4·j + 2·half + i of the sums
// is in row `half` of these, and in column 8·j + `column()` + i of the tile.
struct SumRows {
  int m[2];
  long long offset[2];  // that in D and C
#if preactivation
  long long offset_z[2];
#endif
#if kept_boxes
  bool of_z = false;  // whether sums become elements of Z
#endif
  float bias[2];
  float scale[2];
#if held_columns
  int n;
  const HeldColumns* held;
#endif

  __device__ __forceinline__ SumRows(const Arguments& arguments, const Problem& problem, const Tile& tile,
                                     int first) {
#if held_columns
    n = tile.n + column(), held = tile.held;
#endif
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      m[half] = tile.m + first + row() + 8 * half;
#if phased
      offset[half] = place_of_row(problem, tile.batch, m[half]);
#else
      offset[half] = Schedule::swap ? m[half] : tile.batch * problem.stride_d + m[half] * problem.ldd;
#endif
#if preactivation
      offset_z[half] =
          Schedule::swap ? m[half] : (static_cast<long long>(tile.batch) * problem.m + m[half]) * problem.n;
#endif
#if bias == column
      bias[half] = inside(problem, half) ? to_float(arguments.bias[m[half]]) : 0.0f;
#else
      bias[half] = 0.0f;
#endif
#if scales == tensor_scales
      scale[half] = arguments.scale_a[0] * arguments.scale_b[0];
#elif scales == row_scales
      scale[half] = inside(problem, half) ? row_factors(arguments)[m[half]] : 0.0f;
#else
      scale[half] = 1.0f;
#endif
    }
  }

  static __device__ __forceinline__ int row() {
    return threadIdx.x % warpgroup_threads / 32 * 16 + threadIdx.x % 32 / 4;
  }
  static __device__ __forceinline__ int column() { return threadIdx.x % 4 * 2; }
  __device__ __forceinline__ bool inside(const Problem& problem, int half) const {
#if phased
    return offset[half] >= 0;
#else
    return !Problem::edge_m || m[half] < problem.m;
#endif
  }
};

#if result != int32
// Rounds to the type of D.
__device__ __forceinline__ void to_pair(Pair& pair, float first, float second) {
#  if result_bytes == 1
  pair.packed.elements[0] = from_float_saturated<Result>(first);
  pair.packed.elements[1] = from_float_saturated<Result>(second);
#  else
  const float both[] = {first, second};
  from_floats(pair.packed.elements, both);
#  endif
}

#endif
#if by_column
// The factors and biases of columns n and n + 1 of D; of what is outside of it, 0.
struct ColumnFactors {
  float scale[parts][2];
  float bias[parts][2];

  __device__ __forceinline__ void load(const Arguments& arguments, const Problem& problem, int n) {
#  pragma unroll
    for (int i = 0; i < 2 * parts; ++i) {
      const bool there = !Problem::edge_n || n + i % 2 < problem.n / parts;
      const int column = product_column(problem, n + i % 2, i / 2);
#  if scaled_columns
      scale[i / 2][i % 2] = there ? column_factors(arguments)[column] : 0.0f;
#  else
      scale[i / 2][i % 2] = 1.0f;
#  endif
#  if bias == row
      bias[i / 2][i % 2] = there ? to_float(arguments.bias[column]) : 0.0f;
#  else
      bias[i / 2][i % 2] = 0.0f;
#  endif
    }
  }
};

#endif
#if held_columns
// A number for each column that a block stores of a tile: lane l of each warp holds those of columns 2·l and
// 2·l + 1 of each 64.
template <typename Number>
struct HeldNumbers {
  Number own[(stored_columns - 1) / 64 + 1][2];

  __device__ __forceinline__ HeldNumbers(const Number* source, const Problem& problem, int first) {
#  pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(own) / sizeof(Number)); ++i) {
      const int n = first + i / 2 * 64 + threadIdx.x % 32 * 2 + i % 2;
      own[i / 2][i % 2] = n < problem.n ? source[n] : Number{};
    }
  }

  // Those of the thread's two columns of a group of 8, for all lanes of a warp.
  __device__ __forceinline__ void get(float (&numbers)[2], int group) const {
    constexpr int words = sizeof(own[0]) / sizeof(unsigned);
    union {
      Number numbers[2];
      unsigned bits[words];
    } pair;
    pair.numbers[0] = own[group / 8][0], pair.numbers[1] = own[group / 8][1];
#  pragma unroll
    for (int i = 0; i < words; ++i)
      pair.bits[i] = __shfl_sync(0xffffffffu, pair.bits[i], group % 8 * 4 + threadIdx.x % 4);
    numbers[0] = to_float(pair.numbers[0]), numbers[1] = to_float(pair.numbers[1]);
  }
};

// The factors and biases of a tile's columns, loaded before its products: loads for each box of D took 2 % of
// a product of 4096 terms, while nothing was multiplied.
struct HeldColumns {
#  if scaled_columns
  HeldNumbers<float> scales;
#  endif
#  if bias == row
  HeldNumbers<Result> biases;
#  endif

  __device__ __forceinline__ HeldColumns(const Arguments& arguments, const Problem& problem, int first)
#  if scaled_columns && bias == row
      : scales(column_factors(arguments), problem, first),
        biases(arguments.bias, problem, first){}
#  elif bias == row
      : biases(arguments.bias, problem, first){}
#  else
      : scales(column_factors(arguments), problem, first) {
  }
#  endif

        __device__ __forceinline__ void get(ColumnFactors & columns, int group) const {
#  if scaled_columns
    scales.get(columns.scale[0], group);
#  else
    columns.scale[0][0] = columns.scale[0][1] = 1.0f;
#  endif
#  if bias == row
    biases.get(columns.bias[0], group);
#  else
    columns.bias[0][0] = columns.bias[0][1] = 0.0f;
#  endif
  }
};

#endif
// The elements of D in columns n and n + 1 that the sums of both rows become; of what is outside of D,
// anything. Sums of factors are those of the second half of a tile's columns. Where C comes by stages,
// results are its elements before.
#if by_column
__device__ __forceinline__ void finish_sums(Pair (&results)[2], const Arguments& arguments,
                                            const Problem& problem, const Problem::Sum* sums,
                                            const SumRows& rows, int n, const ColumnFactors& columns) {
#else
__device__ __forceinline__ void finish_sums(Pair (&results)[2], const Arguments& arguments,
                                            const Problem& problem, const Problem::Sum* sums,
                                            const SumRows& rows, int n) {
#endif
#if result == int32
#  pragma unroll
  for (int i = 0; i < 4; ++i)
    results[i / 2].packed.elements[i % 2] = finished_integer(arguments, problem, sums[i]);
#else
  constexpr int part_sums = stored_columns / 4;
  const int columns_left = problem.n / parts - n;
  float biases[parts][2] = {}, scales[parts][2];
#  pragma unroll
  for (int i = 0; i < 2 * parts; ++i) {
#  if by_column
    scales[i / 2][i % 2] = columns.scale[i / 2][i % 2];
    biases[i / 2][i % 2] = columns.bias[i / 2][i % 2];
#  else
    const bool there = !Problem::edge_n || i % 2 < columns_left;
    scales[i / 2][i % 2] = 1.0f;
#  endif
  }
#  pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool inside = rows.inside(problem, half) && (!Problem::edge_n || columns_left > 0);
    float z[2][parts];
#  pragma unroll
    for (int part = 0; part < parts; ++part) {
#  pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float sum =
            rows.scale[half] * scales[part][i] * static_cast<float>(sums[part * part_sums + 2 * half + i]);
        z[i][part] = before_activation(arguments, problem, sum, biases[part][i] + rows.bias[half]);
      }
#  if preactivation && !kept_boxes
      Pair kept;
      to_pair(kept, z[0][part], z[1][part]);
      if (inside)
        kept.store(arguments.z + rows.offset_z[half] + product_column(problem, n, part) * step_z(problem),
                   columns_left, step_z(problem));
#  endif
    }
    Pair before = {};
    if constexpr (Problem::residual_stages) before = results[half];
#  if beta_nonzero && !residual_stages
    if (inside)
      before.load(arguments.c + rows.offset[half] + n * step_d(problem), columns_left, step_d(problem));
#  endif
    float finished[2];
#  pragma unroll
    for (int i = 0; i < 2; ++i)
      finished[i] = after_activation(arguments, z[i], to_float(before.packed.elements[i]));
#  if kept_boxes
    if (rows.of_z) finished[0] = z[0][0], finished[1] = z[1][0];
#  endif
    to_pair(results[half], finished[0], finished[1]);
  }
#endif
}

#if by_column
__device__ __forceinline__ void finish_sums(Pair (&results)[2], const Arguments& arguments,
                                            const Problem& problem, const Problem::Sum* sums,
                                            const SumRows& rows, int n) {
  ColumnFactors columns;
  columns.load(arguments, problem, n);
  finish_sums(results, arguments, problem, sums, rows, n, columns);
}
#endif
