#pragma once
#include "attention/attention/online_softmax.cuh"
#include "attention/attention_decode/parts.cuh"
#if stages
#  include "cuda/async_copy.cuh"
#endif
#include "cuda/packed.cuh"
#include "cuda/products.cuh"
#include "cuda/shared_memory.cuh"
// Attention of 16 rows with keys and values in a cache, by the tensor cores of warps, each of which has keys
// of its own. Lanes load what they multiply, eight neighbouring elements at a time: a product stays the same
// if columns of one operand and rows of the other change places alike. With quad = lane / 4 and place =
// lane % 4,
//
// - of 32 elements of a head of q and k, a lane has eight, of rows quad and quad + 8, and of the keys quad of
// each eight: in one product it multiplies the first four, in the next one the others;
// - of 64 columns of values, a lane has eight from 8·quad on, of the keys 2·place, 2·place + 1, and of those
// 8 behind: product i of eight has their columns i.

using Element = Problem::Element;

constexpr int warps = Schedule::threads / 32;
// Warps have keys of their own, or all have the same ones and some elements of each head.
constexpr int key_warps = Schedule::share_keys ? 1 : warps;
constexpr int head_warps = warps / key_warps;
constexpr int tile_keys = key_warps * Schedule::warp_keys;
constexpr int key_tiles = Schedule::warp_keys / 16;
constexpr int products = Schedule::warp_keys / 8;  // along keys
// Of a warp: 32 elements of keys each, and 64 columns of values.
constexpr int chunks = (Problem::head_dim + 32 * head_warps - 1) / (32 * head_warps);
constexpr int column_groups = (Problem::value_dim + 64 * head_warps - 1) / (64 * head_warps);

// Elements and columns that there are products for.
constexpr int key_room = 32 * chunks * head_warps, value_room = 64 * column_groups * head_warps;

constexpr int key_vectors = products * chunks;  // of eight elements, which a lane has of a tile
constexpr int tile_vectors = key_vectors + 4 * key_tiles * column_groups;

#if cache == plain
using Factor = Element;  // what is multiplied
#else
using Factor = float16;
#endif

using StoredEight = Packed<Stored, 8>;  // neighbours of a head
using Eight = unsigned[4];              // the same as factors

__device__ __forceinline__ void make_factors(Eight& words, const Packed<Element, 8>& loaded) {
  words[0] = loaded.bits.x, words[1] = loaded.bits.y, words[2] = loaded.bits.z, words[3] = loaded.bits.w;
}

// Eight pairs of two keys.
#if cache == plain
__device__ __forceinline__ void make_pairs(unsigned (&pairs)[8], const StoredEight& first,
                                           const StoredEight& second) {
  Eight a, b;
  make_factors(a, first), make_factors(b, second);
#  pragma unroll
  for (int i = 0; i < 8; ++i) pairs[i] = __byte_perm(a[i / 2], b[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}
#else
__device__ __forceinline__ void make_pairs(unsigned (&pairs)[8], const StoredEight& first,
                                           const StoredEight& second) {
  const unsigned a[2] = {first.bits.x, first.bits.y}, b[2] = {second.bits.x, second.bits.y};
#  pragma unroll
  for (int i = 0; i < 8; ++i)
    pairs[i] = pair_of_codes(__byte_perm(a[i / 4], b[i / 4], i % 4 < 2 ? 0x5140 : 0x7362), i % 2);
}

__device__ __forceinline__ void make_factors(Eight& words, const StoredEight& loaded) {
  const unsigned codes[2] = {loaded.bits.x, loaded.bits.y};
#  pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = pair_of_codes(codes[i / 2], i % 2);
}
#endif

#if cache != plain
// Numbers become float16 as multiples of a unit, by which the largest of them lies between 2^14 and 2^15:
// nothing is left out that is more than 2^-39 of it. `exponent` is that of the largest one, with the bias of
// floats.
constexpr int top = 14, bias = 127, least_exponent = top + 1, largest_exponent = 2 * bias - 1;

__device__ __forceinline__ float power_of(int exponent) { return __int_as_float(exponent << 23); }
__device__ __forceinline__ int exponent_of(float largest) {
  return min(max(__float_as_int(largest) >> 23 & 0xff, least_exponent), largest_exponent);
}
__device__ __forceinline__ float unit_of(int exponent) { return power_of(exponent - top); }
__device__ __forceinline__ float inverse_unit_of(int exponent) { return power_of(2 * bias + top - exponent); }

#endif
// Eight of the elements of a head, `offset` behind `first`, which is below `room`; zeros behind the last one,
// and where nothing is there.
template <int elements, int room, typename Number>
__device__ __forceinline__ Packed<Number, 8> load_eight(const Number* head, int first, int offset,
                                                        bool there) {
  constexpr int width = Schedule::vector_width < 8 ? Schedule::vector_width : 8;
  const Number* own = head + first;
  Packed<Number, 8> loaded;
  if (!there || (elements < room && first + offset >= elements)) {
    loaded.bits = {};
    return loaded;
  }
  if constexpr (width == 8) return load_global<width, false>(own + offset);
  loaded.bits = {};
#pragma unroll
  for (int i = 0; i < 8; i += width) {
    if (elements == room || first + offset + i < elements) {
      const Packed<Number, width> part = load_global<width, false>(own + offset + i);
#pragma unroll
      for (int j = 0; j < width; ++j) loaded.elements[i + j] = part.elements[j];
    }
  }
  return loaded;
}

// The first of a warp's elements of keys, or of its columns of values, if it has so many.
__device__ __forceinline__ int own_first(int elements) {
  return Schedule::share_keys ? static_cast<int>(threadIdx.x) / 32 * elements : 0;
}

// The first of the elements that a lane has of keys, eight of each chunk of 32.
__device__ __forceinline__ int first_element() {
  return own_first(32 * chunks) + static_cast<int>(threadIdx.x) % 4 * 8;
}

// Rows quad and quad + 8 of the block; those that are not there are like the last one, and stored nowhere.
struct OwnRows {
  Eight q[chunks][2];
#if scaled_rows
  float units[2];  // what float16 have been divided by
#endif

  __device__ __forceinline__ OwnRows(const Arguments& arguments, const Problem& problem,
                                     const BlockRows& rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = lane / 4 + 8 * half;
      const Element* of_row = rows.q(arguments, problem, min(row, rows.count - 1));
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
        make_factors(q[chunk][half],
                     load_eight<Problem::head_dim, key_room>(of_row, first_element(), 32 * chunk, true));
#if scaled_rows
      units[half] = rescaled(half);
#endif
    }
  }
#if scaled_rows

  // What a warp has of a row becomes multiples of the unit that is returned.
  __device__ __forceinline__ float rescaled(int half) {
    float largest = 0.0f;
#  pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#  pragma unroll
      for (const unsigned pair : q[chunk][half])
        largest = fmaxf(largest, fmaxf(fabsf(first_of<Element>(pair)), fabsf(second_of<Element>(pair))));
    }
    const int exponent = exponent_of(reduce_lanes<4>(largest, Max()));
    const float factor = inverse_unit_of(exponent);
#  pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
#  pragma unroll
      for (unsigned& pair : q[chunk][half])
        pair = pair_of<Factor>(factor * first_of<Element>(pair), factor * second_of<Element>(pair));
    }
    return unit_of(exponent);
  }
#endif
};

// Keys that rows quad and quad + 8 see.
__device__ __forceinline__ SeenKeys seen_of(const Problem& problem, const Sequence& sequence,
                                            const BlockRows& rows) {
  SeenKeys seen(sequence, 0);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = rows.query_of(problem, static_cast<int>(threadIdx.x) % 32 / 4 + 8 * half);
    seen.begin[half] = sequence.first_key(query);
    seen.end[half] = sequence.keys_end(query);
  }
  return seen;
}

using ValueSums = float[8 * column_groups][4];

// Some keys of a warp, and the pages of those that are there, each in the lane of its number.
struct WarpKeys {
  int first;
  int end;
  int page;

  __device__ __forceinline__ WarpKeys(const Problem& problem, const CachedKeys& cached, int first, int end)
      : first(first), end(end), page(0) {
    if (own_key() < end) page = cached.page_of(problem, own_key());
  }

  // That of the lane; `end`, if it has none.
  __device__ __forceinline__ int own_key() const {
    const int lane = threadIdx.x % 32;
    return lane < Schedule::warp_keys ? min(first + lane, end) : end;
  }

  // Of the lane's key; the first one of the cache, if it has none.
  __device__ __forceinline__ CachePlace own_place() const {
    return own_key() < end ? CachePlace{page, CachedKeys::slot_of(own_key())} : CachePlace{0, 0};
  }

  __device__ __forceinline__ bool there(int number) const { return first + number < end; }
};

// That of another lane: a key's place is computed once.
__device__ __forceinline__ const Stored* head_of_lane(const Stored* own, int lane) {
  const long long address = reinterpret_cast<long long>(own);
  return reinterpret_cast<const Stored*>(__shfl_sync(0xffffffffu, address, lane));
}

// Number i of the keys of a warp of which a lane has values, beside the first.
__device__ __forceinline__ constexpr int value_key(int i) { return i / 4 * 16 + i % 2 + i % 4 / 2 * 8; }

#if token_scales
// Of keys and values in the columns that a lane has of each product.
struct TokenScales {
  float keys[products][2];
  float values[products][2];
};

__device__ __forceinline__ void multiply_columns(float (&s)[products][4],
                                                 const float (&scales)[products][2]) {
#  pragma unroll
  for (int i = 0; i < products; ++i) {
#  pragma unroll
    for (int j = 0; j < 4; ++j) s[i][j] *= scales[i][j % 2];
  }
}

// What weights multiplied by scales of values are multiples of: it follows from the largest scale so far.
struct ValueUnit {
  int exponent = least_exponent;

  // Scales of new keys become multiples; what is left of sums, `kept`, is that of multiples of the new unit.
  __device__ __forceinline__ void divide(float (&scales)[products][2], float (&kept)[2]) {
    float largest = 0.0f;
#  pragma unroll
    for (int i = 0; i < products; ++i) largest = fmaxf(largest, fmaxf(scales[i][0], scales[i][1]));
    const int before = exponent;
    exponent = max(exponent, exponent_of(reduce_lanes<4>(largest, Max())));
    const float left = power_of(max(0, bias + before - exponent)), inverse = inverse_unit_of(exponent);
    kept[0] *= left, kept[1] *= left;
#  pragma unroll
    for (int i = 0; i < products; ++i) scales[i][0] *= inverse, scales[i][1] *= inverse;
  }
};
#endif

#if !stages
#  if token_scales
// Those of keys that are there, else 0.
__device__ __forceinline__ void load_scales(TokenScales& scales, const Problem& problem,
                                            const CachedKeys& cached, const WarpKeys& keys) {
  float key = 0.0f, value = 0.0f;
  if (keys.own_key() < keys.end) {
    key = *cached.key_scale_at(problem, keys.own_place());
    value = *cached.value_scale_at(problem, keys.own_place());
  }
#    pragma unroll
  for (int i = 0; i < products; ++i) {
#    pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int number = 8 * i + static_cast<int>(threadIdx.x) % 4 * 2 + j;
      scales.keys[i][j] = __shfl_sync(0xffffffffu, key, number);
      scales.values[i][j] = __shfl_sync(0xffffffffu, value, number);
    }
  }
}
#  endif

// What a lane has of keys, and then of values.
__device__ __forceinline__ void load_tile(StoredEight (&loaded)[tile_vectors], const Problem& problem,
                                          const CachedKeys& cached, const WarpKeys& keys) {
  const int lane = threadIdx.x % 32;
  const Stored *own_k = cached.key_at(problem, keys.own_place()),
               *own_v = cached.value_at(problem, keys.own_place());
#  pragma unroll
  for (int i = 0; i < products; ++i) {
    const int number = 8 * i + lane / 4;
    const Stored* key = head_of_lane(own_k, number);
#  pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      loaded[i * chunks + chunk] =
          load_eight<Problem::head_dim, key_room>(key, first_element(), 32 * chunk, keys.there(number));
  }
#  pragma unroll
  for (int i = 0; i < 4 * key_tiles; ++i) {
    const int number = lane % 4 * 2 + value_key(i);
    const Stored* value = head_of_lane(own_v, number);
#  pragma unroll
    for (int group = 0; group < column_groups; ++group)
      loaded[key_vectors + i * column_groups + group] = load_eight<Problem::value_dim, value_room>(
          value, own_first(64 * column_groups) + lane / 4 * 8, 64 * group, keys.there(number));
  }
}
#else
constexpr int copied_together = Schedule::vector_width > 8 ? Schedule::vector_width / 8 : 1;  // vectors

// Begins to copy some vectors of a head, or makes them zeros. `first` is below `room`.
template <int elements, int room>
__device__ __forceinline__ void copy_vectors(StoredEight* target, const Stored* head, int first, bool there) {
  constexpr int width = Schedule::vector_width, bytes = width * static_cast<int>(sizeof(Stored));
#  pragma unroll
  for (int i = 0; i < 8 * copied_together; i += width) {
    const bool inside = elements == room || first + i < elements;
    async_copy_guarded<bytes>(target->elements + i, head + (inside ? first + i : 0),
                              inside && there ? bytes : 0);
  }
}

// A warp's keys and values on their way. Rows of vectors are copied side by side; in which order a row has
// them depends on its number, so that lanes that read together meet no bank twice. Where values are elements
// of keys that the warps of a block share, they are read from what all warps have copied of keys.
struct Stages {
  static constexpr int key_row = 4 * chunks;  // vectors
  static constexpr int value_row = Problem::values_in_keys ? 0 : 8 * column_groups;
  static constexpr int key_pitch = (key_row + 7) / 8 * 8;
  static constexpr int scale_vectors = Problem::token_scales;  // of a key and its value
  static constexpr int stage_vectors = Schedule::warp_keys * (key_pitch + value_row + scale_vectors);
  static constexpr int all_vectors = warps * Schedule::stages * stage_vectors;  // of a block

  StoredEight* own;
  int copied;  // stages before it
  int read;

  __device__ __forceinline__ Stages()
      : own(dynamic_shared<StoredEight>() +
            static_cast<int>(threadIdx.x) / 32 * Schedule::stages * stage_vectors),
        copied(0),
        read(0) {}

  // What numbers of a row's vectors are changed by, two neighbours alike. Of vectors that lanes read
  // together, rows 2i and 2i + 1 of keys, and rows i, i + 2, i + 4, i + 6 of values differ. The swap of a sum
  // of rows that have no bits in common is that of both together, so that a lane's addresses differ by
  // constants.
  __device__ __forceinline__ static int swap(int row) { return (row & 6) ^ (row & 1) << 2; }

  // What a lane copies in a step.
  template <int row_vectors, int pitch>
  struct Step {
    static constexpr int copies = row_vectors / copied_together;  // of a row
    static constexpr int whole_rows = 32 % copies == 0 ? 32 / copies : 0;
    static constexpr int count = Schedule::warp_keys * copies / 32;
    int row, vector, place;

    __device__ __forceinline__ explicit Step(int number) {
      const int lane = threadIdx.x % 32;
      if constexpr (whole_rows > 0) {
        const int own_row = lane / copies, first = number * whole_rows;
        vector = lane % copies * copied_together;
        row = own_row + first;
        place = ((own_row * pitch + (vector ^ swap(own_row))) ^ swap(first)) + first * pitch;
      } else {
        row = (number * 32 + lane) / copies;
        vector = (number * 32 + lane) % copies * copied_together;
        place = row * pitch + (vector ^ swap(row));
      }
    }
  };

  using KeyStep = Step<key_row, key_pitch>;
#  if !values_in_keys
  using ValueStep = Step<value_row, value_row>;
#  endif

  __device__ __forceinline__ void copy(const Problem& problem, const CachedKeys& cached,
                                       const WarpKeys& keys) {
    const int lane = threadIdx.x % 32;
    StoredEight* stage = own + copied * stage_vectors;
    if (keys.first < keys.end) {
      const CachePlace place = keys.own_place();
      const Stored* own_k = cached.key_at(problem, place);
#  pragma unroll
      for (int number = 0; number < KeyStep::count; ++number) {
        const KeyStep step(number);
        copy_vectors<Problem::head_dim, key_room>(stage + step.place, head_of_lane(own_k, step.row),
                                                  own_first(32 * chunks) + 8 * step.vector,
                                                  keys.there(step.row));
      }
      stage += Schedule::warp_keys * key_pitch;
#  if !values_in_keys
      const Stored* own_v = cached.value_at(problem, place);
#    pragma unroll
      for (int number = 0; number < ValueStep::count; ++number) {
        const ValueStep step(number);
        copy_vectors<Problem::value_dim, value_room>(stage + step.place, head_of_lane(own_v, step.row),
                                                     own_first(64 * column_groups) + 8 * step.vector,
                                                     keys.there(step.row));
      }
#  endif
#  if token_scales
      if (lane < Schedule::warp_keys) {
        const bool there = keys.own_key() < keys.end;
        float* scales = reinterpret_cast<float*>(stage + Schedule::warp_keys * value_row) + lane;
        async_copy_guarded<4>(scales, cached.key_scale_at(problem, place), there ? 4 : 0);
        async_copy_guarded<4>(scales + Schedule::warp_keys, cached.value_scale_at(problem, place),
                              there ? 4 : 0);
      }
#  endif
    }
    async_commit();
    copied = copied + 1 == Schedule::stages ? 0 : copied + 1;
  }

#  if token_scales
  // Of the stage that was copied first.
  __device__ __forceinline__ void load_scales(TokenScales& scales) const {
    const StoredEight* stage = own + read * stage_vectors + Schedule::warp_keys * (key_pitch + value_row);
    const float2* pairs = reinterpret_cast<const float2*>(stage) + threadIdx.x % 4;
#    pragma unroll
    for (int i = 0; i < products; ++i) {
      const float2 of_keys = pairs[4 * i], of_values = pairs[Schedule::warp_keys / 2 + 4 * i];
      scales.keys[i][0] = of_keys.x, scales.keys[i][1] = of_keys.y;
      scales.values[i][0] = of_values.x, scales.values[i][1] = of_values.y;
    }
  }

#  endif
  // Likewise: a lane's keys.
  __device__ __forceinline__ void load_keys(StoredEight (&loaded)[tile_vectors]) const {
    const int quad = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
    const StoredEight* stage = own + read * stage_vectors;
    const int own_key = quad * key_pitch + (place ^ swap(quad));
#  pragma unroll
    for (int i = 0; i < key_vectors; ++i) {
      const int chunk = i % chunks;
      loaded[i].bits = stage[(own_key ^ chunk % 2 * 4) + chunk / 2 * 8 + i / chunks * 8 * key_pitch].bits;
    }
  }

#  if values_in_keys
  // Likewise its values, which any warp may have copied. What is behind all keys is stored nowhere.
  __device__ __forceinline__ void load_values(StoredEight (&loaded)[tile_vectors]) const {
    const int quad = threadIdx.x % 32 / 4, place = threadIdx.x % 4, warp = threadIdx.x / 32;
#    pragma unroll
    for (int group = 0; group < column_groups; ++group) {
      const int vector = own_first(8 * column_groups) + 8 * group + quad;
      const int owner = min(vector / key_row, head_warps - 1), column = vector - owner * key_row;
      const StoredEight* stage = own + ((owner - warp) * Schedule::stages + read) * stage_vectors;
#    pragma unroll
      for (int i = 0; i < 4 * key_tiles; ++i) {
        const int row = 2 * place + value_key(i);
        loaded[key_vectors + i * column_groups + group].bits =
            stage[row * key_pitch + (min(column, key_pitch - 1) ^ swap(row))].bits;
      }
    }
  }
#  else
  // Likewise its values.
  __device__ __forceinline__ void load_values(StoredEight (&loaded)[tile_vectors]) const {
    const int quad = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
    const StoredEight* stage = own + read * stage_vectors + Schedule::warp_keys * key_pitch;
    const int own_value = 2 * place * value_row + (quad ^ swap(2 * place));
#    pragma unroll
    for (int i = 0; i < 4 * key_tiles * column_groups; ++i) {
      const int row = value_key(i / column_groups);
      loaded[key_vectors + i].bits =
          stage[(own_value ^ swap(row)) + i % column_groups * 8 + row * value_row].bits;
    }
  }
#  endif

  __device__ __forceinline__ void advance() { read = read + 1 == Schedule::stages ? 0 : read + 1; }
};
#endif

__device__ __forceinline__ void multiply_keys(float (&s)[products][4], const OwnRows& own,
                                              const StoredEight (&loaded)[tile_vectors]) {
#pragma unroll
  for (int i = 0; i < products; ++i) {
    s[i][0] = s[i][1] = s[i][2] = s[i][3] = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Eight &first = own.q[chunk][0], &second = own.q[chunk][1];
      Eight key;
      make_factors(key, loaded[i * chunks + chunk]);
#pragma unroll
      for (int word = 0; word < 4; word += 2) {
        const unsigned a[4] = {first[word], second[word], first[word + 1], second[word + 1]};
        const unsigned b[2] = {key[word], key[word + 1]};
        add_product_anywhere<Factor>(s[i], a, b);
      }
    }
  }
}

#if share_keys
// Adds the products of all warps, each of which has some elements of the same heads, always in their order.
// `sums` has room for two tiles, which take turns: a warp that is ahead waits at the next one's barrier.
__device__ __forceinline__ void add_warps(float (&s)[products][4], float4* sums, int turn) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float4* tile = sums + turn * warps * products * 32 + lane;
#  pragma unroll
  for (int i = 0; i < products; ++i)
    tile[(warp * products + i) * 32] = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
  __syncthreads();
#  pragma unroll
  for (int i = 0; i < products; ++i) {
    float4 all = tile[i * 32];
#  pragma unroll
    for (int other = 1; other < warps; ++other) {
      const float4 part = tile[(other * products + i) * 32];
      all.x += part.x, all.y += part.y, all.z += part.z, all.w += part.w;
    }
    s[i][0] = all.x, s[i][1] = all.y, s[i][2] = all.z, s[i][3] = all.w;
  }
}
#endif

// Weights as an operand of products with values.
__device__ __forceinline__ void make_factors(unsigned (&p)[key_tiles][4], const float (&s)[products][4]) {
#pragma unroll
  for (int i = 0; i < key_tiles; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float (&pair)[4] = s[2 * i + j / 2];
      p[i][j] = pair_of<Factor>(pair[j % 2 * 2], pair[j % 2 * 2 + 1]);
    }
  }
}

__device__ __forceinline__ void multiply_values(ValueSums& o, const unsigned (&p)[key_tiles][4],
                                                const StoredEight (&loaded)[tile_vectors]) {
#pragma unroll
  for (int tile = 0; tile < key_tiles; ++tile) {
#pragma unroll
    for (int group = 0; group < column_groups; ++group) {
      const StoredEight* values = loaded + key_vectors + 4 * tile * column_groups + group;
      unsigned first[8], second[8];
      make_pairs(first, values[0], values[column_groups]);
      make_pairs(second, values[2 * column_groups], values[3 * column_groups]);
#pragma unroll
      for (int column = 0; column < 8; ++column) {
        const unsigned b[2] = {first[column], second[column]};
        add_product_anywhere<Factor>(o[8 * group + column], p[tile], b);
      }
    }
  }
}

// Leaves what a warp has of `count` rows; `scale` is that of all values.
__device__ __forceinline__ void store_state(const States& state, const ValueSums& o, const RowPair& rows,
                                            int count, float scale) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    const float sum = reduce_lanes<4>(rows.sum[half], Sum());
    if (row >= count) continue;
    if (lane % 4 == 0 && own_first(1) == 0) state.tops[row] = make_float2(rows.largest[half], sum);
#pragma unroll
    for (int group = 0; group < column_groups; ++group) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = own_first(64 * column_groups) + 64 * group + (lane % 4 * 2 + j) * 8;
        float4* target = reinterpret_cast<float4*>(state.values + row * state_pitch + column);
        const auto value = [&](int i) { return scale * o[8 * group + i][2 * half + j]; };
#pragma unroll
        for (int i = 0; i < 8; i += 4)
          if (columns == value_room || column + i < columns)
            target[i / 4] = make_float4(value(i), value(i + 1), value(i + 2), value(i + 3));
      }
    }
  }
}

// Attention of rows of a block with some of the keys that they see.
__device__ __forceinline__ void attend_part(const Arguments& arguments, const Problem& problem, Scores scores,
                                            const BlockRows& block, const Sequence& sequence,
                                            const Part& part) {
  const OwnRows own(arguments, problem, block);
  const CachedKeys cached(arguments, problem, block.request, block.head);
  float scale_of_values = 1.0f;
#if head_scales
  scale_products(scores, *cached.key_scale_at(problem, {}));
  scale_of_values = *cached.value_scale_at(problem, {});
#elif token_scales
  ValueUnit value_unit;
#endif
  const SeenKeys seen = seen_of(problem, sequence, block);
  ValueSums o = {};
  RowPair rows;
  const int key_warp = threadIdx.x / 32 % key_warps, first = part.begin + key_warp * Schedule::warp_keys;
  WarpKeys next(problem, cached, first, part.end);
#if stages
  Stages stages;
#endif
#if values_in_keys
#  pragma unroll 1
  for (int i = 0; i < Schedule::stages - 1; ++i) {
    stages.copy(problem, cached, next);
    next = WarpKeys(problem, cached, next.first + tile_keys, part.end);
  }
  const int begin = first;
#else
  const int begin = first - max(0, Schedule::stages - 1) * tile_keys;  // of tiles that are only copied
#endif
#if share_keys
  float4* products_of_warps = dynamic_shared<float4>();
#  if stages
  products_of_warps += Stages::all_vectors * sizeof(StoredEight) / sizeof(float4);
#  endif
  int turn = 0;
#endif
#pragma unroll 1
  for (int key = begin; key < part.end; key += tile_keys) {
    StoredEight loaded[tile_vectors];
#if token_scales
    TokenScales scales;
#endif
#if stages
    async_wait<Schedule::stages - 2>();
    __syncwarp();  // all lanes' copies have landed, and all have read the stage that is copied to
#  if !values_in_keys
    stages.copy(problem, cached, next);
    next = WarpKeys(problem, cached, next.first + tile_keys, part.end);
    if (key < first) continue;
#  endif
#  if token_scales
    stages.load_scales(scales);
#  endif
    stages.load_keys(loaded);
#  if !values_in_keys
    stages.load_values(loaded);
    stages.advance();
#  endif
#else
#  if token_scales
    load_scales(scales, problem, cached, next);
#  endif
    load_tile(loaded, problem, cached, next);
    next = WarpKeys(problem, cached, next.first + tile_keys, part.end);
#endif
    float s[products][4], kept[2];
    unsigned p[key_tiles][4];
    multiply_keys(s, own, loaded);
#if scaled_rows
    rescale(s, own.units);
#endif
#if share_keys
    add_warps(s, products_of_warps, turn);
    turn = 1 - turn;
#endif
#if values_in_keys
    // All warps have come this far: their copies are there, and none reads the stage ahead any more.
    stages.copy(problem, cached, next);
    next = WarpKeys(problem, cached, next.first + tile_keys, part.end);
    stages.load_values(loaded);
    stages.advance();
#endif
#if token_scales
    multiply_columns(s, scales.keys);
#endif
    apply_softcap(s, scores);
    mask_unseen(s, seen, key);
    add_weights(s, rows, scores.factor, kept);
#if token_scales
    value_unit.divide(scales.values, kept);
    multiply_columns(s, scales.values);
#elif cache != plain
    const float inverse = inverse_unit_of(bias), inverses[2] = {inverse, inverse};
    rescale(s, inverses);  // weights are no more than 1
#endif
    // Few tiles have a key whose logit is the largest so far.
    if (__any_sync(0xffffffffu, kept[0] != 1.0f || kept[1] != 1.0f)) rescale(o, kept);
    make_factors(p, s);
    multiply_values(o, p, loaded);
  }
#if stages || share_keys
  __syncthreads();  // states take the place of what was there
#endif
#if token_scales
  scale_of_values = unit_of(value_unit.exponent);
#elif cache != plain
  scale_of_values *= unit_of(bias);
#endif
  const States states(dynamic_shared<float>(), key_warps);
  store_state(states.from(key_warp), o, rows, block.count, scale_of_values);
  finish_part(arguments, problem, block, part, states, key_warps, scores.factor,
              reinterpret_cast<float*>(states.from(key_warps).tops));
}

__device__ __forceinline__ void decode_mma_sync_block(const Arguments& arguments) {
  const Problem problem(arguments);
  const Scores scores(arguments);
  for_each_part<tile_keys>(arguments, problem,
                           [&](const BlockRows& rows, const Sequence& sequence, const Part& part) {
                             attend_part(arguments, problem, scores, rows, sequence, part);
                           });
}
