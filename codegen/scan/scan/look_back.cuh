#pragma once
#include "cuda/status_words.cuh"
#include "cuda/warp_scan.cuh"
#include "scan/scan/carry.cuh"
// What precedes a tile, from what the blocks of earlier tiles left in global memory, after Merrill and
// Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. They add up whatever is there
// first, so that rounding depends on time. Here the sum always has the same shape: 32 tiles are a group, and
// 32 groups a section. Each tile leaves its own carry, the last one of a group that of the group, and the
// last one of a section that of all before the next section. A tile joins the section's, those of up to 31
// groups and those of up to 31 tiles, in this order.

constexpr int window = 32;

using Status = StatusWord<Number>;

class LookBack {
 public:
  // `words` are those of a row: of its tiles, then its groups, then its sections.
  __device__ __forceinline__ LookBack(Status* words, unsigned tiles, unsigned epoch)
      : tiles_(words),
        groups_(words + tiles),
        sections_(groups_ + (tiles + window - 1) / window),
        epoch_(epoch) {}

  // The words of rows follow each other in memory.
  __device__ __forceinline__ static LookBack of_row(void* memory, unsigned row, unsigned tiles,
                                                    unsigned epoch) {
    const unsigned groups = (tiles + window - 1) / window, sections = (groups + window - 1) / window;
    Status* words = static_cast<Status*>(memory);
    return LookBack(words + row * static_cast<size_t>(tiles + groups + sections), tiles, epoch);
  }

  // Called by one thread, before anyone looks for what precedes the tile.
  __device__ __forceinline__ void publish(unsigned tile, Carry own) const { leave(tiles_ + tile, own); }

  // Called by all lanes of one warp with the tile's own carry. Lane 0 gets what precedes the tile.
  __device__ __forceinline__ Carry preceding(unsigned tile, Carry own) const {
    const unsigned lane = threadIdx.x % 32;
    const unsigned group = tile / window, section = group / window;
    const unsigned tiles_before = tile % window, groups_before = group % window;
    const bool takes_tile = lane < tiles_before, takes_group = lane < groups_before;
    const bool takes_section = lane == 0 && section > 0;
    // All first looks are on their way at once.
    const Status* of_tile = tiles_ + tile - tiles_before + lane;
    const Status* of_group = groups_ + group - groups_before + lane;
    const Status* of_section = sections_ + section - 1;
    const Status tile_status = look(of_tile, takes_tile);
    const Status group_status = look(of_group, takes_group);
    const Status section_status = look(of_section, takes_section);

    const Carry of_tiles = fold_lanes(wait(of_tile, takes_tile, tile_status), Join());
    const bool ends_group = tiles_before == window - 1;
    if (lane == 0 && ends_group) leave(groups_ + group, Join()(of_tiles, own));
    const Carry of_groups = fold_lanes(wait(of_group, takes_group, group_status), Join());
    const Carry of_sections = wait(of_section, takes_section, section_status);
    const Carry before = Join()(Join()(of_sections, of_groups), of_tiles);
    if (lane == 0 && ends_group && groups_before == window - 1) {
      leave(sections_ + section, Join()(before, own));
    }
    return before;
  }

 private:
  __device__ __forceinline__ void leave(Status* address, Carry carry) const {
#if segmented
    store_status(address, {carry.number, epoch_ << 1 | carry.has_head});
#else
    store_status(address, {carry.number, epoch_ << 1});
#endif
  }
  __device__ __forceinline__ bool is_there(Status status) const { return status.mark >> 1 == epoch_; }

  __device__ __forceinline__ static Status look(const Status* address, bool wanted) {
    return wanted ? load_status(address) : Status{};
  }

  // What is left at each lane's address, after a first look at it; nothing where it is not wanted.
  __device__ __forceinline__ Carry wait(const Status* address, bool wanted, Status status) const {
    while (!__all_sync(0xffffffffu, !wanted || is_there(status))) {
#if delay > 0
      __nanosleep(Schedule::delay);
#endif
      if (wanted && !is_there(status)) status = load_status(address);
    }
    if (!wanted) return nothing();
#if segmented
    return {status.number, status.mark & 1};
#else
    return {status.number};
#endif
  }

  Status *tiles_, *groups_, *sections_;
  unsigned epoch_;
};
