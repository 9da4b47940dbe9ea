#pragma once
#include "attention/attention/wgmma/boxes.cuh"
#include "attention/attention_decode/parts.cuh"
#include "cuda/cluster.cuh"
// Shared memory of a block: 64 rows of queries, two tiles of keys, and weights of a tile. Each is boxes of
// 64 rows of 128 bytes. The first boxes of keys are the values: each half is a consumer's.

constexpr int consumers = 2, stages = 2;
constexpr int tile_keys = 64;
constexpr int box_bytes = 64 * row_bytes;
constexpr int key_boxes = (Problem::head_dim + row_elements - 1) / row_elements;
constexpr int half_boxes = Problem::value_dim / consumers / row_elements;
constexpr int value_boxes = consumers * half_boxes;
constexpr int keys_bytes = key_boxes * box_bytes;
// Rows that a tensor copy brings: those of a page, if a tile has several.
constexpr int piece_rows = Problem::paged && Problem::page < tile_keys ? Problem::page : tile_keys;
constexpr int pieces = tile_keys / piece_rows;

// The tiles of a part, behind the parts and tiles that the block has had.
struct PartTiles {
  int begin;
  int end;  // of keys
  int count;
  int done;
  int parts;

  __device__ __forceinline__ int key(int tile) const { return begin + tile * tile_keys; }
  __device__ __forceinline__ int stage(int tile) const { return (done + tile) % stages; }
  __device__ __forceinline__ unsigned parity(int tile) const { return (done + tile) / stages % 2; }
};

// What is read of a tile: by each consumer's products with weights, and by those with queries alone.
enum Readers { first_half, second_half, queries_alone };

// Blocks of a cluster have the same keys. Each copies what some readers read to all of them.
constexpr int sharers = Schedule::multicast ? 2 : 1;
__device__ __forceinline__ constexpr int copier_of(Readers readers) {
  return sharers == 1 || readers == first_half ? 0 : 1;
}
__device__ __forceinline__ int own_rank() { return sharers == 1 ? 0 : blockIdx.x % sharers; }

struct Shared {
  Barrier queries_full;
  Barrier full[stages][key_boxes];
  Barrier empty[stages][3];  // of each of the readers
  float kept[64];            // what of a row's sums is left with the weights of a tile

  // Of the block, from its beginning on.
  template <typename T>
  static __device__ __forceinline__ T* memory() {
    return tile_memory<T>();
  }
  static __device__ __forceinline__ unsigned char* queries() { return memory<unsigned char>(); }
  static __device__ __forceinline__ unsigned char* tile(int stage) {
    return queries() + (1 + stage) * keys_bytes;
  }
  static __device__ __forceinline__ unsigned char* weights() { return tile(stages); }
  static __device__ __forceinline__ Shared& barriers() {
    return *reinterpret_cast<Shared*>(weights() + box_bytes);
  }

  // By one thread.
  __device__ __forceinline__ void init() {
    queries_full.init(1);
    for (int stage = 0; stage < stages; ++stage) {
      for (int box = 0; box < key_boxes; ++box) full[stage][box].init(1);
      for (int reader = 0; reader < 3; ++reader) empty[stage][reader].init(sharers * warpgroup_warps);
    }
    if constexpr (sharers > 1) barriers_fence();
    proxy_fence();
  }

  // By each warp that has read its part of a stage.
  __device__ __forceinline__ void release(int stage, Readers readers) {
    if (threadIdx.x % 32 == 0) {
      if constexpr (sharers > 1)
        arrive_at_rank(empty[stage][readers], copier_of(readers));
      else
        empty[stage][readers].arrive();
    }
  }

  // Waits for all threads that share tiles.
  static __device__ __forceinline__ void meet() {
    if constexpr (sharers > 1)
      cluster_barrier();
    else
      __syncthreads();
  }
};

// The boxes of a tile in the order in which they are copied and multiplied by queries: first those that are
// read as keys alone, which are needed for the shortest time.
__device__ __forceinline__ constexpr int box_at(int place) {
  return place < key_boxes - value_boxes ? value_boxes + place : place - (key_boxes - value_boxes);
}
__device__ __forceinline__ constexpr Readers readers_of(int box) {
  return box >= value_boxes ? queries_alone : box < half_boxes ? first_half : second_half;
}

// A warp that has tiles copied, one after the other. Lane i has piece i of each,
// whose page is looked up ahead. Pieces behind the last key are not copied.
class Copies {
 public:
  __device__ __forceinline__ Copies(const Arguments& arguments, const Problem& problem, const BlockRows& rows,
                                    const PartTiles& tiles)
      : arguments_(arguments),
        problem_(problem),
        cached_(arguments, problem, rows.request, rows.head),
        head_(rows.head),
        key_(tiles.begin + static_cast<int>(threadIdx.x) % 32 * piece_rows),
        page_(page_of_key(tiles)) {}

  // The next one, if there is one: each box as soon as nobody reads what was in its place.
  __device__ __forceinline__ void next(const PartTiles& tiles) {
    if (tile_ >= tiles.count) return;
    Shared& shared = Shared::barriers();
    const int lane = threadIdx.x % 32, stage = tiles.stage(tile_);
    const int copied = min(pieces, (tiles.end - tiles.key(tile_) + piece_rows - 1) / piece_rows);
    if (lane < key_boxes) shared.full[stage][lane].arrive_and_expect(copied * piece_rows * row_bytes);
    __syncwarp();
#pragma unroll
    for (int place = 0; place < key_boxes; ++place) {
      const int box = box_at(place);
      const Readers readers = readers_of(box);
      if (copier_of(readers) != own_rank()) continue;
      if (place == 0 || readers != readers_of(box_at(place - 1)))
        shared.empty[stage][readers].wait(tiles.parity(tile_) ^ 1);
      if (lane < copied) {
        unsigned char* target = Shared::tile(stage) + box * box_bytes + lane * piece_rows * row_bytes;
        const int at[] = {page_, CachedKeys::slot_of(key_), head_, box * row_elements};
        if constexpr (sharers > 1)
          tensor_copy_to_ranks(target, arguments_.map_k, at, shared.full[stage][box], (1 << sharers) - 1);
        else
          tensor_copy(target, arguments_.map_k, at, shared.full[stage][box]);
      }
    }
    ++tile_, key_ += tile_keys, page_ = page_of_key(tiles);
  }

 private:
  __device__ __forceinline__ int page_of_key(const PartTiles& tiles) const {
    return static_cast<int>(threadIdx.x) % 32 < pieces && key_ < tiles.end ? cached_.page_of(problem_, key_)
                                                                           : 0;
  }

  const Arguments& arguments_;
  const Problem& problem_;
  const CachedKeys cached_;
  const int head_;
  int tile_ = 0;
  int key_;
  int page_;
};

#if one_query
// Begins to copy the queries of 64 heads, by one thread. What is behind the last head is zeros; rows of other
// heads are stored nowhere.
__device__ __forceinline__ void copy_queries(const Arguments& arguments, const Problem& problem,
                                             const BlockRows& rows) {
  Barrier& full = Shared::barriers().queries_full;
  full.arrive_and_expect(keys_bytes);
#  pragma unroll
  for (int box = 0; box < key_boxes; ++box) {
    const int at[] = {rows.request, 0, rows.head_of(problem, 0), box * row_elements};
    tensor_copy(Shared::queries() + box * box_bytes, arguments.map_q, at, full);
  }
}
#else
// Puts queries to shared memory, by all consumers. Rows that are not there are like the last one.
__device__ __forceinline__ void store_queries(const Arguments& arguments, const Problem& problem,
                                              const BlockRows& rows) {
  constexpr int vector = 8, vectors = Problem::head_dim / vector;
#  pragma unroll 4
  for (int i = threadIdx.x; i < 64 * vectors; i += consumers * warpgroup_threads) {
    const int row = i / vectors, column = i % vectors * vector;
    const Element* q = rows.q(arguments, problem, min(row, rows.count - 1)) + column;
    const unsigned place = row * row_bytes + column % row_elements * sizeof(Element);
    *reinterpret_cast<uint4*>(Shared::queries() + column / row_elements * box_bytes +
                              swizzled(place, row_bytes)) = *reinterpret_cast<const uint4*>(q);
  }
  proxy_fence();
}
#endif

// Places of a tile behind its last key become zeros, in the boxes of a consumer: there may
// be anything, and even a weight of 0 makes NaN of NaN.
__device__ __forceinline__ void clear_behind(const PartTiles& tiles, int tile, int consumer) {
  constexpr int units = row_bytes / 16;
  const int there = tiles.end - tiles.key(tile), thread = threadIdx.x % warpgroup_threads;
  unsigned char* boxes = Shared::tile(tiles.stage(tile)) + consumer * half_boxes * box_bytes;
#pragma unroll 1
  for (int i = thread; i < half_boxes * (tile_keys - there) * units; i += warpgroup_threads) {
    const int unit = i % units, row = there + i / units / half_boxes, box = i / units % half_boxes;
    *reinterpret_cast<uint4*>(boxes + box * box_bytes + row * row_bytes + unit * 16) = {};
  }
  proxy_fence();
}
