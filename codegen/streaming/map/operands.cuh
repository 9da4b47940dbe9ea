#pragma once
#include "streaming/map/place.cuh"

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
