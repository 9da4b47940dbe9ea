// Races, by what the happens-before order of CUDA demands and not by what a run happens to show: each cell of
// memory remembers its last write and two of the reads since (after FastTrack, Flanagan and Freund, PLDI
// 2009). Threads are ordered by barriers of their block and of their warp, blocks by fences and atomics.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emulator.hpp"
#include "runtime.hpp"

namespace autotune_emulator {

// Who accessed a cell, and when. Epochs count the barriers of all blocks: no stamp needs to be cleared in
// between.
struct Stamp {
  uint32_t epoch;  // 0: never
  uint32_t thread : 10, warp_epoch : 20, atomic : 1, pending : 1;
};

struct Cell {
  Stamp write, read, other_read;
};

namespace {

struct Block {
  uint32_t first_epoch;
  std::vector<uint32_t> released;  // for each thread: up to which epoch other blocks may see its accesses
};

std::vector<Region*> tracked;
std::vector<Block> blocks;  // of this launch, in the order of their runs
uint32_t epoch, first_epoch;
bool acquired;                       // whether this block may see what others released
uint32_t last_fence[block_threads];  // epochs, of this block
Stamp now;
int cell_shift = 2;  // a cell is a word until a kernel accesses less than one, a byte from then on

int64_t cell_count(const Region& region) { return (region.bytes >> cell_shift) + 1; }

// calloc's pages cost nothing until they are touched.
Cell* new_cells(const Region& region) {
  return static_cast<Cell*>(std::calloc(cell_count(region), sizeof(Cell)));
}

// Words become bytes, each with the history of its word.
void refine_cells() {
  cell_shift = 0;
  for (Region* region : tracked) {
    Cell* words = region->cells;
    region->cells = new_cells(*region);
    for (int64_t byte = 0; byte < region->bytes; ++byte) region->cells[byte] = words[byte / 4];
    std::free(words);
  }
}

int warp(const Stamp& stamp) { return stamp.thread / warp_threads; }

// Blocks run one after another here; on a GPU a fence and an atomic of the one and then an atomic of the
// other do it.
bool ordered_across_blocks(const Stamp& old) {
  if (!acquired) return false;
  if (old.atomic) return true;
  const auto next = std::upper_bound(blocks.begin(), blocks.end(), old.epoch,
                                     [](uint32_t at, const Block& block) { return at < block.first_epoch; });
  const std::vector<uint32_t>& released = std::prev(next)->released;
  return !released.empty() && old.epoch <= released[old.thread];
}

bool ordered(const Region& region, const Stamp& old, Access access) {
  if (old.epoch == 0 || (old.atomic && access == Access::atomic)) return true;
  if (old.epoch < first_epoch) return region.shared || ordered_across_blocks(old);
  if (old.epoch != epoch || old.thread == now.thread) return true;
  return warp(old) == warp(now) && old.warp_epoch < now.warp_epoch;
}

void check_order(const Region& region, int64_t byte, const Stamp& old, Access access, const char* did) {
  if (ordered(region, old, access)) return;
  char other[64] = "another block";
  if (old.epoch >= first_epoch) describe_thread(old.thread, other);
  fail("race: %s byte %lld of %s, which %s %s, with no %s between", verb(access), (long long)byte,
       region.name, other, did, old.epoch < first_epoch ? "fence and atomic" : "barrier");
}

void check_landed(const Region& region, int64_t byte, const Stamp& old, Access access) {
  if (!old.pending || old.epoch < first_epoch || access == Access::async_end) return;
  char other[64];
  describe_thread(old.thread, other);
  fail("%s byte %lld of %s while the asynchronous copy of %s is not waited for", verb(access),
       (long long)byte, region.name, other);
}

// Keeps two reads by different threads, by different warps if there are such: enough to convict any later
// write.
void add_read(Cell& cell) {
  if (cell.read.epoch == epoch && cell.read.thread != now.thread) {
    const Stamp& other = cell.other_read;
    const bool keep = other.epoch == epoch && warp(other) != warp(now) && warp(cell.read) == warp(now);
    if (!keep) cell.other_read = cell.read;
  }
  cell.read = now;
}

void record_cell(const Region& region, Cell& cell, int64_t byte, Access access) {
  // Ordinary: written by this block and before its last barrier.
  if (cell.write.epoch == epoch || cell.write.epoch < first_epoch || cell.write.pending) {
    check_landed(region, byte, cell.write, access);
    if (cell.write.epoch == 0 && region.use == Use::write_first && access <= Access::atomic &&
        access != Access::write)
      fail("%s byte %lld of %s, an output, before it was written", verb(access), (long long)byte,
           region.name);
    check_order(region, byte, cell.write, access, "wrote");
  }
  if (access == Access::read) return add_read(cell);
  check_order(region, byte, cell.read, access, "read");
  check_order(region, byte, cell.other_read, access, "read");
  cell = Cell{now, {}, {}};
  cell.write.atomic = access == Access::atomic;
  cell.write.pending = access == Access::async_begin;
}

}  // namespace

void track(Region& region) {
  region.cells = new_cells(region);
  tracked.push_back(&region);
}

void record(const Region& region, int64_t first, int64_t last, Access access) {
  if (cell_shift > 0 && (first % 4 != 0 || last % 4 != 3)) refine_cells();
  for (int64_t cell = first >> cell_shift; cell <= last >> cell_shift; ++cell)
    record_cell(region, region.cells[cell], cell << cell_shift, access);
}

void begin_launch() {
  blocks.clear();
  for (Region* region : tracked)
    std::memset(static_cast<void*>(region->cells), 0, cell_count(*region) * sizeof(Cell));
}

void begin_block() {
  begin_epoch();
  first_epoch = epoch;
  acquired = false;
  blocks.push_back({epoch, {}});
  std::fill_n(last_fence, block_threads, 0);
}

void begin_epoch() { now.epoch = ++epoch; }

void begin_turn(int thread, int warp_epoch) {
  now.thread = thread;
  now.warp_epoch = warp_epoch;
}

// Releases what the barriers put before this atomic and a fence follows: one of the thread that accessed, or
// one of this thread after the barrier. Of what this thread did since the barrier, its own fence alone
// decides.
void record_atomic() {
  acquired = true;
  std::vector<uint32_t>& released = blocks.back().released;
  released.resize(blockDim.x * blockDim.y * blockDim.z);
  const uint32_t fence = last_fence[now.thread], before_fence = fence > 0 ? fence - 1 : 0;
  for (size_t thread = 0; thread < released.size(); ++thread)
    released[thread] = std::max({released[thread], std::min(last_fence[thread], epoch - 1), before_fence});
  released[now.thread] = std::max(released[now.thread], fence);
}

void fence() { last_fence[now.thread] = epoch; }

}  // namespace autotune_emulator
