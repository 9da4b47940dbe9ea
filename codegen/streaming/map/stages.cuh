#pragma once
#include "streaming/map/tile.cuh"

// The tiles of a block on their way through shared memory. A stage holds the vectors of all arrays.
class Stages {
 public:
  __device__ __forceinline__ explicit Stages(const Arguments& arguments)
      : arguments_(arguments), landed_(dynamic_shared<Barrier>()) {
    if (threadIdx.x == 0) {
#pragma unroll
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
#if gate == separate
    target = copy(target, arguments_.u + column, 1, stage);
#elif gate == halves
    target = copy(target, arguments_.x + problem.columns + column, 1, stage);
#endif
#if residual
    target = copy(target, arguments_.r + column, 1, stage);
#endif
#if backward
    target = copy(target, arguments_.g + column, 1, stage);
#endif
  }

  __device__ __forceinline__ void wait(int stage, unsigned parity) { landed_[stage].wait(parity); }

  // What this thread has of a stage.
  __device__ __forceinline__ void take(Operands& operands, int stage, int item) {
    const unsigned char* source = memory(stage);
    const int vector = item * Schedule::threads + threadIdx.x;
    source = take(operands.x, source, vector);
#if gate == separate || gate == halves
    source = take(operands.u, source, vector);
#endif
#if residual
    source = take(operands.r, source, vector);
#endif
#if backward
    source = take(operands.g, source, vector);
#endif
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
#pragma unroll
    for (unsigned i = 0; i < sizeof(Vector) / sizeof(Access); ++i) vector.accesses[i].bits = accesses[i].bits;
    return source + sizeof(Vector) * Schedule::items * Schedule::threads;
  }

  const Arguments& arguments_;
  Barrier* landed_;
};
