#pragma once
// Vectors of 1, 2 or 4 words.

template <int width>
struct VectorOf;
template <>
struct VectorOf<1> {
  using Type = float;
};
template <>
struct VectorOf<2> {
  using Type = float2;
};
template <>
struct VectorOf<4> {
  using Type = float4;
};

// Copies `width` consecutive words at once; both addresses are multiples of the vector's size.
template <int width>
__device__ __forceinline__ void copy_vector(float* target, const float* source) {
  using Vector = typename VectorOf<width>::Type;
  *reinterpret_cast<Vector*>(target) = *reinterpret_cast<const Vector*>(source);
}

// The same from global memory that no thread writes during the launch.
template <int width>
__device__ __forceinline__ void load_constant_vector(float* target, const float* source) {
  using Vector = typename VectorOf<width>::Type;
  *reinterpret_cast<Vector*>(target) = __ldg(reinterpret_cast<const Vector*>(source));
}

// The same in the L2 cache, which all blocks share.
template <int width>
__device__ __forceinline__ void load_vector_l2(float* target, const float* source) {
  using Vector = typename VectorOf<width>::Type;
  *reinterpret_cast<Vector*>(target) = __ldcg(reinterpret_cast<const Vector*>(source));
}
template <int width>
__device__ __forceinline__ void store_vector_l2(float* target, const float* source) {
  using Vector = typename VectorOf<width>::Type;
  __stcg(reinterpret_cast<Vector*>(target), *reinterpret_cast<const Vector*>(source));
}
