#pragma once
#if narrow
#  include "cuda/narrow.cuh"
#endif
#if transport == bulk
#  include "cuda/shared_memory.cuh"
#  include "cuda/tensor_copy.cuh"
#endif
#include "streaming/elements.cuh"
#include "streaming/map/functions.cuh"
// y = (f(x + bias) u + r) scale, or its gradients, vector by vector. A block computes tiles: a thread loads
// its vectors of all arrays, computes in float, and stores.

using Input = Problem::Input;    // of x, u, r and bias
using Output = Problem::Output;  // of the forward pass's results
using Index = Problem::Index;    // of a column
using Tile = Problem::Tile;      // of a tile
constexpr int width = Schedule::vector_width;
constexpr int pairs = Problem::pairs;  // elements of x for each result

#if backward
using Target = Input;
constexpr int target_pairs = pairs;
#else
using Target = Output;
constexpr int target_pairs = 1;
#endif

#if load_policy == streaming
constexpr StreamedLoad streamed_load = StreamedLoad::streaming;
#elif load_policy == no_allocate
constexpr StreamedLoad streamed_load = StreamedLoad::no_allocate;
#else
constexpr StreamedLoad streamed_load = StreamedLoad::cached;
#endif

template <int count, typename Number>
__device__ __forceinline__ Elements<Number, count> load_operand(const Number* first, Span inside) {
  return load_elements<count, streamed_load, !Problem::skewed, Problem::partial>(first, inside);
}

template <typename Number, int count>
__device__ __forceinline__ void store_results(Number* first, const Elements<Number, count>& vector,
                                              Span inside) {
  store_elements<Schedule::streaming_stores, !Problem::skewed, Problem::partial>(first, vector, inside);
}

// Where a vector of results is. Of those that lie ahead of a row or beyond it, nothing is inside.
struct Place {
  long long row;
  Index column;
  Span columns;  // of a row
  Span inside;   // of a row that there is
};

#if !single_row
constexpr int rows_at_once = Schedule::threads / Schedule::threads_per_row;
#endif

// Results along a row that a block computes at once.
__device__ __forceinline__ constexpr int tile_columns() {
#if single_row
  return Schedule::items * Schedule::threads * width;
#else
  return Schedule::threads_per_row * width;
#endif
}

// Tiles along a row, which may begin within a vector.
__device__ __forceinline__ Tile tiles_along(const Problem& problem) {
  const Index reach = problem.columns + (Problem::skewed ? width - 1 : 0);
  return static_cast<Tile>((reach + (tile_columns() - 1)) / tile_columns());
}

__device__ __forceinline__ Place place_of(const Problem& problem, const Target* y, Tile tile, int item) {
#if single_row
  const long long row = 0;
  Index column = static_cast<Index>(tile) * tile_columns();
  column += (item * Schedule::threads + static_cast<int>(threadIdx.x)) * width;
#else
  const Tile along = tiles_along(problem), below = tile / along;
  const long long first = static_cast<long long>(below) * Schedule::items;
  const long long row = (first + item) * rows_at_once + threadIdx.x / Schedule::threads_per_row;
  Index column = static_cast<Index>(tile - below * along) * tile_columns();
  column += static_cast<int>(threadIdx.x % Schedule::threads_per_row) * width;
#endif
#if skewed
  // Vectors of y are aligned.
  const auto address = reinterpret_cast<unsigned long long>(y + row * problem.ldy);
  column -= static_cast<int>(address / (target_pairs * sizeof(Target)) % width);
  const int begin = column < 0 ? -static_cast<int>(column) : 0;
#else
  const int begin = 0;
#endif
  const Index left = problem.columns - column;
  const Span columns = {begin, left < width ? static_cast<int>(left) : width};
  return {row, column, columns, {begin, row < problem.rows ? columns.end : 0}};
}

// What is loaded for a vector of results.
struct Operands {
  Elements<Input, pairs * width> x;
#if gate == separate || gate == halves
  Elements<Input, width> u;
#endif
#if bias
  Elements<Input, width> bias;
#endif
#if residual
  Elements<Input, width> r;
#endif
#if backward
  Elements<Output, width> g;
#endif

  __device__ __forceinline__ void load(const Arguments& arguments, const Problem& problem,
                                       const Place& place) {
    const Input* row = arguments.x + place.row * problem.ldx;
    x = load_operand<pairs * width>(row + pairs * place.column, place.inside.of_pairs(pairs));
#if gate == separate
    u = load_operand<width>(arguments.u + place.row * problem.ldu + place.column, place.inside);
#elif gate == halves
    u = load_operand<width>(row + problem.columns + place.column, place.inside);
#endif
#if bias
    bias = load_elements<width, StreamedLoad::constant, false, true>(arguments.bias + place.column,
                                                                     place.columns);
#endif
#if residual
    r = load_operand<width>(arguments.r + place.row * problem.ldr + place.column, place.inside);
#endif
#if backward
    g = load_operand<width>(arguments.g + place.row * problem.ldg + place.column, place.inside);
#endif
  }
};

// What is computed with for a vector of results: arguments of the function, factors, and others.
struct Numbers {
  float z[width];
#if gate != none
  float u[width];
#endif
#if residual
  float r[width];
#endif
#if backward
  float g[width];
#endif

  __device__ __forceinline__ explicit Numbers(const Operands& operands) {
#if gate == interleaved
    float both[2 * width];
    numbers_of(both, operands.x);
#  pragma unroll
    for (int i = 0; i < width; ++i) {
      z[i] = both[2 * i];
      u[i] = both[2 * i + 1];
    }
#else
    numbers_of(z, operands.x);
#endif
#if gate == separate || gate == halves
    numbers_of(u, operands.u);
#endif
#if bias
    float b[width];
    numbers_of(b, operands.bias);
#  pragma unroll
    for (int i = 0; i < width; ++i) z[i] += b[i];
#endif
#if residual
    numbers_of(r, operands.r);
#endif
#if backward
    numbers_of(g, operands.g);
#endif
  }
};

#if !backward
__device__ __forceinline__ void store(const Arguments& arguments, const Problem& problem, const Place& place,
                                      const Numbers& numbers, float scale) {
  float results[width];
#  pragma unroll
  for (int i = 0; i < width; ++i) {
    float result = result_of(numbers.z[i]);
#  if gate != none
    result *= numbers.u[i];
#  endif
#  if residual
    result += numbers.r[i];
#  endif
    results[i] = result * scale;
  }
  store_results(arguments.y + place.row * problem.ldy + place.column,
                elements_of<Target, Problem::saturate>(results), place.inside);
}
#else
__device__ __forceinline__ void store(const Arguments& arguments, const Problem& problem, const Place& place,
                                      const Numbers& numbers, float /*scale*/) {
  Target* row = arguments.y + place.row * problem.ldy;
  float gradients[pairs * width];
#  if gate == separate || gate == halves
  float of_factors[width];
#  endif
#  pragma unroll
  for (int i = 0; i < width; ++i) {
    const float z = numbers.z[i], g = numbers.g[i];
#  if gate == none
    gradients[i] = gradient_of(z, g);
#  else
    gradients[pairs * i] = gradient_of(z, g * numbers.u[i]);
    const float of_factor = result_of(z) * g;
#    if gate == interleaved
    gradients[2 * i + 1] = of_factor;
#    else
    of_factors[i] = of_factor;
#    endif
#  endif
  }
  store_results(row + pairs * place.column, elements_of<Target, false>(gradients),
                place.inside.of_pairs(pairs));
#  if gate == separate
  store_results(row + problem.rows * problem.ldy + place.column, elements_of<Target, false>(of_factors),
                place.inside);
#  elif gate == halves
  store_results(row + problem.columns + place.column, elements_of<Target, false>(of_factors), place.inside);
#  endif
}
#endif

__device__ __forceinline__ void map_tile(const Arguments& arguments, const Problem& problem, Tile tile,
                                         float scale) {
  Place places[Schedule::items];
  Operands operands[Schedule::items];
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    places[item] = place_of(problem, arguments.y, tile, item);
    operands[item].load(arguments, problem, places[item]);
  }
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    store(arguments, problem, places[item], Numbers(operands[item]), scale);
  }
}

#if transport == bulk
// The tiles of a block on their way through shared memory. A stage holds the vectors of all arrays.
class Stages {
 public:
  __device__ __forceinline__ explicit Stages(const Arguments& arguments)
      : arguments_(arguments), landed_(dynamic_shared<Barrier>()) {
    if (threadIdx.x == 0) {
#  pragma unroll
      for (int stage = 0; stage < Schedule::stages; ++stage) landed_[stage].init(1);
      proxy_fence();
    }
    __syncthreads();
  }

  // Has a whole tile copied to a stage that all threads are done with.
  __device__ __forceinline__ void copy(Tile tile, int stage, const Problem& problem) {
    if (threadIdx.x != 0) return;
    const Index column = static_cast<Index>(tile) * tile_columns();
    unsigned char* target = memory(stage);
    landed_[stage].arrive_and_expect(stage_bytes);
    target = copy(target, arguments_.x + pairs * column, pairs, stage);
#  if gate == separate
    target = copy(target, arguments_.u + column, 1, stage);
#  elif gate == halves
    target = copy(target, arguments_.x + problem.columns + column, 1, stage);
#  endif
#  if residual
    target = copy(target, arguments_.r + column, 1, stage);
#  endif
#  if backward
    target = copy(target, arguments_.g + column, 1, stage);
#  endif
  }

  __device__ __forceinline__ void wait(int stage, unsigned parity) { landed_[stage].wait(parity); }

  // What this thread has of a stage.
  __device__ __forceinline__ void take(Operands& operands, int stage, int item) {
    const unsigned char* source = memory(stage);
    const int vector = item * Schedule::threads + threadIdx.x;
    source = take(operands.x, source, vector);
#  if gate == separate || gate == halves
    source = take(operands.u, source, vector);
#  endif
#  if residual
    source = take(operands.r, source, vector);
#  endif
#  if backward
    source = take(operands.g, source, vector);
#  endif
  }

 private:
  static constexpr int stage_bytes = Problem::vector_bytes * Schedule::threads * Schedule::items;

  __device__ __forceinline__ unsigned char* memory(int stage) const {
    return dynamic_shared<unsigned char>() + Problem::barrier_bytes + stage * stage_bytes;
  }

  template <typename Number>
  __device__ __forceinline__ unsigned char* copy(unsigned char* target, const Number* source, int of_result,
                                                 int stage) {
    const int bytes = tile_columns() * of_result * static_cast<int>(sizeof(Number));
    bulk_copy(target, source, bytes, landed_[stage]);
    return target + bytes;
  }

  template <typename Vector>
  __device__ __forceinline__ const unsigned char* take(Vector& vector, const unsigned char* source,
                                                       int index) {
    using Access = typename Vector::Access;
    const Access* accesses = reinterpret_cast<const Access*>(source + index * sizeof(Vector));
#  pragma unroll
    for (unsigned i = 0; i < sizeof(Vector) / sizeof(Access); ++i) vector.accesses[i].bits = accesses[i].bits;
    return source + sizeof(Vector) * Schedule::items * Schedule::threads;
  }

  const Arguments& arguments_;
  Barrier* landed_;
};

__device__ __forceinline__ void map_block(const Arguments& arguments) {
  const Problem problem(arguments);
#  if scaled
  const float scale = __ldg(arguments.scale);
#  else
  constexpr float scale = 1.0f;
#  endif
  Stages stages(arguments);
  const Tile whole = static_cast<Tile>(problem.columns / tile_columns());
#  pragma unroll
  for (int stage = 0; stage < Schedule::stages; ++stage) {
    const Tile tile = blockIdx.x + stage * gridDim.x;
    if (tile < whole) stages.copy(tile, stage, problem);
  }
  int stage = 0;
  unsigned parity = 0;
#  pragma unroll 1
  for (Tile tile = blockIdx.x; tile < whole; tile += gridDim.x) {
    Operands operands[Schedule::items];
    stages.wait(stage, parity);
#  pragma unroll
    for (int item = 0; item < Schedule::items; ++item) stages.take(operands[item], stage, item);
    __syncthreads();
    const Tile next = tile + Schedule::stages * gridDim.x;
    if (next < whole) stages.copy(next, stage, problem);
#  pragma unroll
    for (int item = 0; item < Schedule::items; ++item) {
      store(arguments, problem, place_of(problem, arguments.y, tile, item), Numbers(operands[item]), scale);
    }
    stage = stage + 1 < Schedule::stages ? stage + 1 : 0;
    parity ^= stage == 0;
  }
  // What is left is less than a tile.
  if (whole % gridDim.x == blockIdx.x) map_tile(arguments, problem, whole, scale);
}
#else
__device__ __forceinline__ void map_block(const Arguments& arguments) {
  const Problem problem(arguments);
#  if scaled
  const float scale = __ldg(arguments.scale);
#  else
  constexpr float scale = 1.0f;
#  endif
#  if grid_blocks > 0
#    if single_row
  const Tile tiles = tiles_along(problem);
#    else
  constexpr int tile_rows = Schedule::items * rows_at_once;
  const Tile tiles = tiles_along(problem) * static_cast<Tile>((problem.rows + tile_rows - 1) / tile_rows);
#    endif
#    pragma unroll 1
  for (Tile tile = blockIdx.x; tile < tiles; tile += gridDim.x) map_tile(arguments, problem, tile, scale);
#  else
  map_tile(arguments, problem, blockIdx.x, scale);
#  endif
}
#endif
