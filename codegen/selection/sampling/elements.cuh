#pragma once
#include "selection/entries.cuh"

// Whether all elements of a vector are in the row, and the vector is in the part.
__device__ __forceinline__ bool is_inside(const RowPart& part, int vector) {
  const int column = part.row.column(vector);
  return vector < part.end && part.row.has(column) && part.row.has(column + width - 1);
}

// Takes all elements of a part with their columns, among so many neighbouring threads. Where a take is many
// instructions, those of a thread's first vector serve for all of its vectors, which move up; where it is
// few, only vectors at the ends of the part do that.
template <int lanes, bool few, class Take>
__device__ __forceinline__ void for_each_element(const RowPart& part, Take take) {
  constexpr int loads = Schedule::loads_in_flight, tile = lanes * loads;
  const Row& row = part.row;
  for (int tile_first = part.first; tile_first < part.end; tile_first += tile) {
    const int own = tile_first + threadIdx.x % lanes;
    const bool whole = tile_first + tile <= part.end && row.has(row.column(tile_first)) &&
                       row.has(row.column(tile_first + tile) - 1);
    Vector vectors[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int vector = own + i * lanes;
      if (whole || is_inside(part, vector)) vectors[i] = row.load(vector);
    }
    if (few && whole) {
#pragma unroll
      for (int i = 0; i < loads * width; ++i) {
        take(vectors[i / width].elements[i % width], row.column(own + i / width * lanes) + i % width);
      }
      continue;
    }
    const int end = tile_first + tile < part.end ? tile_first + tile : part.end;
#pragma unroll 1
    for (int vector = own; vector < end; vector += lanes) {
      const int column = row.column(vector);
      if (!whole && !is_inside(part, vector)) vectors[0] = row.load_inside(vector);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        if (whole || row.has(column + j)) take(vectors[0].elements[j], column + j);
      }
#pragma unroll
      for (int i = 1; i < loads; ++i) vectors[i - 1] = vectors[i];
    }
  }
}

// A part of a row as what is selected from (entries.cuh). Entries that pass a floor are few, and take little
// time; where all pass, which is rare, the code is to be short.
struct Tokens {
  const RowPart& part;

  __device__ __forceinline__ int count() const { return part.count(); }

  template <class Take>
  __device__ __forceinline__ void for_each(Entry floor, Take take) const {
    const int begin = part.begin_column();
    const float bound = value_of(key_of_entry(floor));
    const auto take_passing = [&](Element element, int column) {
      if (passes(element, bound)) {
        const Entry entry = entry_of(key_of(element), column);
        if (entry >= floor) take(entry, column - begin);
      }
    };
    if (floor == 1) {
      for_each_element<threads, false>(part, take_passing);
    } else {
      for_each_element<threads, true>(part, take_passing);
    }
  }

  __device__ __forceinline__ void sample(Entry (&entries)[sampled]) const { part.sample(entries); }
};
