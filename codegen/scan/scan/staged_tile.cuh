#pragma once
#include "scan/scan/carry.cuh"
#include "scan/scan/tile_span.cuh"
#if flags
#  include "scan/scan/staged_flags.cuh"
#elif offsets
#  include "scan/scan/staged_offsets.cuh"
#endif
// A tile in shared memory. Each thread has consecutive vectors of it; an odd number of them puts what a warp
// accesses at once in different banks.

struct StagedTile {
  alignas(16) Element elements[tile_elements];
#if result_bits != element_bits
  Result results[tile_elements];
#endif
#if segmented
  StagedHeads heads;
#endif

  // Results take the place of elements that have as many bits.
  __device__ __forceinline__ Result* results_begin() {
#if result_bits != element_bits
    return results;
#else
    return reinterpret_cast<Result*>(elements);
#endif
  }
};

// Offset in memory of a thread's vector, of which `round` come before in the order of the scan.
__device__ __forceinline__ int staged_offset(int round) {
  const int vector = threadIdx.x * Schedule::rounds + round;
#if reverse
  return tile_elements - width - vector * width;
#else
  return vector * width;
#endif
}

// A vector in the order of the scan.
struct StagedVector {
  Elements elements;
#if segmented
  unsigned heads;  // a bit for each element
#endif

  // Elements behind the row's last one change nothing; a whole tile has none.
  __device__ __forceinline__ StagedVector(const StagedTile& tile, const TileSpan& span, int offset,
                                          bool whole) {
    const Element* source = tile.elements + offset;
    if (whole || offset + width <= span.count) {
      elements.bits = *reinterpret_cast<const Elements::Bits*>(source);
    } else {
#pragma unroll
      for (int i = 0; i < width; ++i) {
        elements.elements[i] = offset + i < span.count ? source[i] : neutral();
      }
    }
#if segmented
    heads = tile.heads.of_vector(span, offset, whole);
#endif
  }

  __device__ __forceinline__ Number number_at(int i) const {
    return number_of(elements.elements[in_memory(i)]);
  }

  __device__ __forceinline__ bool is_head(int i) const {
#if segmented
    return heads >> i & 1;
#else
    return false;
#endif
  }

  // Its elements joined.
  __device__ __forceinline__ Carry carry() const {
    Number number = number_at(0);
#pragma unroll
    for (int i = 1; i < width; ++i) number = is_head(i) ? number_at(i) : combine(number, number_at(i));
#if segmented
    return {number, heads != 0};
#else
    return {number};
#endif
  }

  // The results; `running` is what precedes them, and then what precedes the next vector. A scan and each of
  // its segments begin with `first`.
  __device__ __forceinline__ Results scanned(Number& running, Number first) const {
    Results results;
#pragma unroll
    for (int i = 0; i < width; ++i) {
#if exclusive
      results.elements[in_memory(i)] = rounded(is_head(i) ? first : running);
#endif
#if init
      running = combine(is_head(i) ? first : running, number_at(i));
#else
      running = is_head(i) ? number_at(i) : combine(running, number_at(i));
#endif
#if !exclusive
      results.elements[in_memory(i)] = rounded(running);
#endif
    }
    return results;
  }
};

__device__ __forceinline__ void put_results(StagedTile& tile, const TileSpan& span, int offset,
                                            const Results& vector, bool whole) {
  Result* target = tile.results_begin() + offset;
  if (whole || offset + width <= span.count) {
    *reinterpret_cast<Results::Bits*>(target) = vector.bits;
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (offset + i < span.count) target[i] = vector.elements[i];
    }
  }
}
