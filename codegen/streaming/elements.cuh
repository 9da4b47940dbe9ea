#pragma once
#include "cuda/packed_pairs.cuh"
#include "cuda/packed.cuh"
#include "cuda/streamed.cuh"
// Neighbouring elements of an array that a thread has at once, in as few accesses as 16 bytes allow.

// Elements from `begin` to before `end`, counted from the first one of a vector.
struct Span {
  int begin, end;

  __device__ __forceinline__ bool has(int i) const { return begin <= i && i < end; }
  // Whether so many elements are all among them.
  __device__ __forceinline__ bool whole(int count) const { return begin <= 0 && end >= count; }
  // The same of pairs of elements.
  __device__ __forceinline__ Span of_pairs(int pairs) const { return {pairs * begin, pairs * end}; }
};

template <typename Number, int count>
struct Elements {
  static constexpr int of_access = count * sizeof(Number) > 16 ? 16 / sizeof(Number) : count;
  using Access = Packed<Number, of_access>;
  Access accesses[count / of_access];

  __device__ __forceinline__ Number& operator[](int i) {
    return accesses[i / of_access].elements[i % of_access];
  }
  __device__ __forceinline__ const Number& operator[](int i) const {
    return accesses[i / of_access].elements[i % of_access];
  }
};

// Elements as floats.
template <typename Number, int count>
__device__ __forceinline__ void numbers_of(float (&numbers)[count], const Elements<Number, count>& vector) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if constexpr (sizeof(Number) == 2 && count > 1) {
      if (i % 2 != 0) continue;
      const float2 pair = floats_of_pair(reinterpret_cast<const unsigned*>(vector.accesses)[i / 2], Number{});
      numbers[i] = pair.x;
      numbers[i + 1] = pair.y;
    } else {
      numbers[i] = to_float(vector[i]);
    }
  }
}

// Numbers as elements, each rounded once.
template <typename Number, bool saturate, int count>
__device__ __forceinline__ Elements<Number, count> elements_of(const float (&numbers)[count]) {
  Elements<Number, count> vector;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if constexpr (saturate) {
      vector[i] = from_float_saturated<Number>(numbers[i]);
    } else if constexpr (sizeof(Number) == 2 && count > 1) {
      if (i % 2 != 0) continue;
      reinterpret_cast<unsigned*>(vector.accesses)[i / 2] =
          pair_of_floats(numbers[i], numbers[i + 1], Number{});
    } else {
      vector[i] = from_float<Number>(numbers[i]);
    }
  }
  return vector;
}

// Whether accesses to elements from here on are aligned. `known` says that they are.
template <typename Vector, bool known, typename Number>
__device__ __forceinline__ bool is_aligned(const Number* first) {
  return known || reinterpret_cast<unsigned long long>(first) % sizeof(typename Vector::Access) == 0;
}

// Loads elements of which some are `inside`; the others are 0. `aligned` says that accesses are, `partial`
// that there may be vectors of which only a part is inside.
template <int count, StreamedLoad load, bool aligned, bool partial, typename Number>
__device__ __forceinline__ Elements<Number, count> load_elements(const Number* first, Span inside) {
  using Vector = Elements<Number, count>;
  Vector vector;
  if (inside.whole(count) && is_aligned<Vector, aligned>(first)) {
#pragma unroll
    for (int i = 0; i < count / Vector::of_access; ++i) {
      using Bits = typename Vector::Access::Bits;
      vector.accesses[i].bits =
          load_streamed<load>(reinterpret_cast<const Bits*>(first + i * Vector::of_access));
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      vector[i] = Number{};
      if (partial && inside.has(i)) vector[i] = first[i];
    }
  }
  return vector;
}

// Stores those elements that are inside.
template <bool streaming, bool aligned, bool partial, typename Number, int count>
__device__ __forceinline__ void store_elements(Number* first, const Elements<Number, count>& vector,
                                               Span inside) {
  using Vector = Elements<Number, count>;
  if (inside.whole(count) && is_aligned<Vector, aligned>(first)) {
#pragma unroll
    for (int i = 0; i < count / Vector::of_access; ++i) {
      store_global<streaming>(first + i * Vector::of_access, vector.accesses[i]);
    }
  } else if (partial) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (inside.has(i)) first[i] = vector[i];
    }
  }
}
