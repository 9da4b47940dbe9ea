#pragma once
#include "cuda/tensor_copy.cuh"
#include "rows/row.cuh"
// A row held in shared memory, to which one thread has its whole vectors copied: a bulk copy for each round.
// Copies by all threads take a tenth of the instructions of a cross-entropy.

class RowValues {
 public:
  // `first` is the thread's first element of the row; from there on, those `inside` are read, and others
  // count as `fill`.
#if partial
  __device__ __forceinline__ RowValues(const Element* first, Span /*columns*/, Span inside, Element fill)
#else
  __device__ __forceinline__ RowValues(const Element* first, Span /*columns*/, Span inside, Element /*fill*/)
#endif
      : vectors_(reinterpret_cast<Vector*>(dynamic_shared<unsigned char>() + Problem::held_at) + threadIdx.x),
        end_(inside.end) {
    Barrier* landed = reinterpret_cast<Barrier*>(dynamic_shared<unsigned char>() + Problem::held_at - 16);
    if (threadIdx.x == 0) {
      landed->init(1);
      proxy_fence();
#if partial
      int bytes = 0;
      for (int begin = 0; begin < end_; begin += row_step) bytes += bytes_of(of_round(inside.from(begin)));
      landed->arrive_and_expect(bytes);
      for (int begin = 0; begin < end_; begin += row_step) {
        const Span whole = of_round(inside.from(begin));
        Vector* target = vectors_ + begin / row_step * Schedule::threads;
        target += whole.begin / Schedule::vector_width;
        if (whole.begin < whole.end) {
          bulk_copy(target, first + begin + whole.begin, bytes_of(whole), *landed);
        }
      }
#else
      int bytes = 0;
      for (int begin = 0; begin < end_; begin += row_step) bytes += bytes_from(begin);
      landed->arrive_and_expect(bytes);
      for (int begin = 0; begin < end_; begin += row_step) {
        bulk_copy(vectors_ + begin / row_step * Schedule::threads, first + begin, bytes_from(begin), *landed);
      }
#endif
    }
#if partial
    // What the row begins and ends within is loaded by the threads that read it.
    const int last = (end_ - 1) / row_step * row_step;
    if (end_ > 0) load_part(0, first, inside, fill);
    if (last > 0) load_part(last, first, inside, fill);
#endif
    __syncthreads();
    landed->wait(0);
  }

  // Calls `visit` with each vector of the row and its offset from the first element.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) {
#pragma unroll 4
    for (int offset = 0; offset < end_; offset += row_step) {
      Vector vector;
      vector.bits = vectors_[offset / row_step * Schedule::threads].bits;
      visit(vector, offset);
    }
  }

  // The same for the last time; `visit` may store to the row.
  template <class Visit>
  __device__ __forceinline__ void for_each_last(Visit visit) {
    for_each(visit);
  }

 private:
#if partial
  // The whole vectors that the block has of a round, of which those `inside` are of the row; both are counted
  // from the first thread's element on.
  static __device__ __forceinline__ Span of_round(Span inside) {
    constexpr int width = Schedule::vector_width;
    const int end = min(inside.end, Schedule::threads * width);
    return {(max(inside.begin, 0) + width - 1) / width * width, end / width * width};
  }

  static __device__ __forceinline__ int bytes_of(Span whole) {
    return max(whole.end - whole.begin, 0) * static_cast<int>(sizeof(Element));
  }

  __device__ __forceinline__ void load_part(int offset, const Element* first, Span inside, Element fill) {
    const Span part = inside.from(offset);
    if (part.whole()) return;
    Vector* target = vectors_ + offset / row_step * Schedule::threads;
    target->bits = load_row_vector<true>(first + offset, part, fill).bits;
  }
#else
  // What the block has of a round, from the first thread's element on.
  __device__ __forceinline__ int bytes_from(int begin) const {
    return min(end_ - begin, Schedule::threads * Schedule::vector_width) * static_cast<int>(sizeof(Element));
  }
#endif

  Vector* vectors_;
  int end_;
};

// `reduce_over_row` of a value that each warp has, in all of its lanes, of rows of several warps.
template <int reduction, typename Value, class Combine>
__device__ __forceinline__ Value reduce_warps_over_row(Value value, Combine combine) {
  constexpr int warps = Schedule::threads_per_row / 32;
  Value* scratch = reinterpret_cast<Value*>(slots_of(reduction));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = reduce_lanes<warps>(scratch[threadIdx.x / 32 / warps * warps + threadIdx.x % warps], combine);
#if cluster > 1
  if (reduction == 0) cluster_wait();
  Value* of_blocks = scratch + Schedule::threads / 32;
  value = reduce_cluster<Schedule::cluster>(value, combine, of_blocks, *barrier_of(reduction));
#endif
  return value;
}
