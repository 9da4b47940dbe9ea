#pragma once
#include "cuda/numbers.cuh"
#include "cuda/packed.cuh"
#include "rows/row_floats.cuh"
#include "streaming/dropout/dropping.cuh"
#if stored_mask && packed_mask
#  include "cuda/kept_bits.cuh"
#endif
// y = kept ? (x + bias) / (1 - p) : 0, + residual. A block has consecutive vectors, of which a thread loads
// several before it computes the first one.

using Element = Problem::Element;
using Index = Problem::Index;
using Offset = Problem::Offset;
constexpr int width = Schedule::vector_width;
using Vector = Packed<Element, width>;

// A vector that begins anywhere has elements of so many quads, each of which has four random words.
constexpr int quads = Problem::straddles ? (width + 6) / 4 : (width + 3) / 4;

struct Place {
  Offset row, column;  // the first element's
  Offset inside;       // elements from there to the end of the row; none if not more than 0
};

__device__ __forceinline__ Index vectors_of_row(const Problem& problem) {
#if by_rows
  return static_cast<Index>((problem.columns + width - 1) / width);
#else
  return static_cast<Index>((problem.rows * problem.columns + width - 1) / width);
#endif
}

__device__ __forceinline__ Place place_of(const Problem& problem, Index row, Index vector) {
  const Offset column = static_cast<Offset>(vector) * width;
#if by_rows
  const Offset inside = static_cast<Offset>(row) < problem.rows ? problem.columns - column : 0;
  return {static_cast<Offset>(row), column, inside};
#else
  return {0, column, problem.rows * problem.columns - column};
#endif
}

// Not by __ldg: the output may be the input.
__device__ __forceinline__ Vector load_vector(const Element* source, const Place& place) {
  Vector vector = {};
  if (place.inside >= width) {
    const Vector::Bits* address = reinterpret_cast<const Vector::Bits*>(source);
#if streaming
    vector.bits = __ldcs(address);
#else
    vector.bits = *address;
#endif
  }
#if ragged
  else {
#  pragma unroll
    for (int i = 0; i < width; ++i) {
      if (i < place.inside) vector.elements[i] = source[i];
    }
  }
#endif
  return vector;
}

template <bool whole, typename Number>
__device__ __forceinline__ void store_vector(Number* target, const Packed<Number, width>& vector,
                                             const Place& place) {
  if (whole && place.inside >= width) {
    store_global<Schedule::streaming>(target, vector);
    return;
  }
  if constexpr (!whole || Problem::ragged) {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (i < place.inside) target[i] = vector.elements[i];
    }
  }
}

#if bias
__device__ __forceinline__ void add_bias(float (&values)[width], const Arguments& arguments,
                                         const Problem& problem, const Place& place) {
#  if bias_vectors
  if (place.inside < width) return;
  const Vector bias = load_global<width, false>(arguments.bias + place.column);
#    pragma unroll
  for (int i = 0; i < width; ++i) values[i] = __fadd_rn(values[i], to_float(bias.elements[i]));
#  elif wraps
#    if few_elements
  const unsigned columns = static_cast<unsigned>(problem.columns);
  unsigned column = static_cast<unsigned>(place.column) % columns;
#    else
  const long long columns = problem.columns;
  long long column = place.column % columns;
#    endif
  const Element* first = arguments.bias + column;
  // There is an element for each column, whether or not the array ends before. Most vectors end in their row.
  if (column + width <= columns) {
#    pragma unroll
    for (int i = 0; i < width; ++i)
      values[i] = __fadd_rn(values[i], to_float(load_global<1, false>(first + i).elements[0]));
    return;
  }
#    pragma unroll
  for (int i = 0; i < width; ++i) {
    const Element* element = arguments.bias + column;
    values[i] = __fadd_rn(values[i], to_float(load_global<1, false>(element).elements[0]));
    ++column;
    if (column == columns) column = 0;
  }
#  else
#    pragma unroll
  for (int i = 0; i < width; ++i) {
    const Element* element = arguments.bias + (place.column + i);
    if (i < place.inside)
      values[i] = __fadd_rn(values[i], to_float(load_global<1, false>(element).elements[0]));
  }
#  endif
}
#endif

// The random words of a vector's elements, of which the first one has the number `index`.
__device__ __forceinline__ void random_words(unsigned (&words)[width], const Dropping& dropping,
                                             Offset index) {
  unsigned all[4 * quads];
#pragma unroll
  for (int quad = 0; quad < quads; ++quad) {
    unsigned four[4];
#if counter_words == 1
    dropping.random(four, static_cast<unsigned>(index / 4) + quad);
#else
    dropping.random(four, static_cast<unsigned long long>(index) / 4 + quad);
#endif
#pragma unroll
    for (int i = 0; i < 4; ++i) all[4 * quad + i] = four[i];
  }
  if constexpr (4 * quads > width) {
    // Two selections rather than an index, which would move the words to memory.
    const bool odd = index % 2 != 0, upper = index % 4 >= 2;
#pragma unroll
    for (int i = 0; i + 1 < 4 * quads; ++i) all[i] = odd ? all[i + 1] : all[i];
#pragma unroll
    for (int i = 0; i + 2 < 4 * quads; ++i) all[i] = upper ? all[i + 2] : all[i];
  }
#pragma unroll
  for (int i = 0; i < width; ++i) words[i] = all[i];
}

#if stored_mask && packed_mask
// Which elements of a vector are kept, as the mask has them: a bit of each.
struct Kept {
  unsigned bits = 0;

  // `Dropping::applied`, which sets the bit of what is kept.
  __device__ __forceinline__ float applied(const Dropping& dropping, float value, unsigned word, int i) {
    const float scaled = __fmul_rn(value, dropping.factor);
    return kept_with_bit(scaled, word, dropping.threshold, dropping.everything, 1u << i, bits);
  }

  // All threads of a warp take part.
  __device__ __forceinline__ void store(const Arguments& arguments, Offset index, const Place& place) {
    constexpr int lanes = 8 / width;  // that share a byte
    if ((Problem::ragged || lanes > 1) && place.inside < width)
      bits &= (1u << max(static_cast<int>(place.inside), 0)) - 1;
    bits <<= threadIdx.x % lanes * width;
#  pragma unroll
    for (int step = 1; step < lanes; step *= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, step);
    if (threadIdx.x % lanes == 0 && place.inside > 0) {
      arguments.mask[index / 8] = static_cast<unsigned char>(bits);
    }
  }
};
#elif stored_mask
// Which elements of a vector are kept, as the mask has them: a byte of each.
struct Kept {
  Packed<unsigned char, width> bytes;

  __device__ __forceinline__ void set(int i, bool kept) { bytes.elements[i] = kept; }

  __device__ __forceinline__ void store(const Arguments& arguments, Offset index, const Place& place) {
    store_vector<Problem::mask_vectors>(arguments.mask + index, bytes, place);
  }
};
#endif

__device__ __forceinline__ void dropout_tile(const Arguments& arguments, const Problem& problem,
                                             const Dropping& dropping, Index first) {
  Place places[Schedule::items];
  Vector x[Schedule::items];
#if residual
  Vector residual[Schedule::items];
#endif
  const Index of_row = vectors_of_row(problem);
  Index row = 0, vector = first;
#if by_rows
  row = first / of_row;
  vector = first % of_row;
  const Index rows_ahead = Schedule::threads / of_row, vectors_ahead = Schedule::threads % of_row;
#endif
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    const Place place = place_of(problem, row, vector);
    places[item] = place;
    x[item] = load_vector(arguments.x + (place.row * problem.ldx + place.column), place);
#if residual
    residual[item] = load_vector(arguments.r + (place.row * problem.ldr + place.column), place);
#endif
#if by_rows
    row += rows_ahead;
    vector += vectors_ahead;
    if (vector >= of_row) {
      vector -= of_row;
      ++row;
    }
#else
    vector += Schedule::threads;
#endif
  }
#pragma unroll
  for (int item = 0; item < Schedule::items; ++item) {
    const Place& place = places[item];
    const Offset index = place.row * problem.columns + place.column;
    unsigned words[width];
    random_words(words, dropping, index);
    float values[width];
#if half
    row_floats(values, x[item]);  // by words: ptxas spills halves
#else
    to_floats(values, x[item].elements);
#endif
#if bias
    add_bias(values, arguments, problem, place);
#endif
#if residual && half
    float of_residual[width];
    row_floats(of_residual, residual[item]);
#endif
#if stored_mask
    Kept kept;
#endif
#pragma unroll
    for (int i = 0; i < width; ++i) {
#if stored_mask && packed_mask
      values[i] = kept.applied(dropping, values[i], words[i], i);
#else
      const bool keep = dropping.keeps(words[i]);
      values[i] = dropping.applied(values[i], keep);
#endif
#if stored_mask && !packed_mask
      kept.set(i, keep);
#endif
#if residual && half
      values[i] = __fadd_rn(values[i], of_residual[i]);
#elif residual
      values[i] = __fadd_rn(values[i], to_float(residual[item].elements[i]));
#endif
    }
    Vector y;
#if half && vector_width > 1
    unsigned* pairs = reinterpret_cast<unsigned*>(&y);
#  pragma unroll
    for (int i = 0; i < width; i += 2) pairs[i / 2] = pair_of_floats(values[i], values[i + 1], Element{});
#else
    from_floats(y.elements, values);
#endif
    store_vector<true>(arguments.y + (place.row * problem.ldy + place.column), y, place);
#if stored_mask
    kept.store(arguments, index, place);
#endif
  }
}

__device__ __forceinline__ void dropout_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Dropping dropping(arguments);
  constexpr int tile = Schedule::threads * Schedule::items;
  dropout_tile(arguments, problem, dropping, static_cast<Index>(blockIdx.x) * tile + threadIdx.x);
}
