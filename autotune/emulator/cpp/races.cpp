// Races, by what the happens-before order of CUDA demands and not by what a run happens to show: each cell of
// memory remembers its last write and two of the reads since (after FastTrack, Flanagan and Freund, PLDI
// 2009).

#include "races.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "agents.hpp"
#include "order.hpp"

namespace autotune_emulator {

struct Cell {
  Stamp write, read, other_read;
};

namespace {

std::vector<Region*> tracked;
uint32_t visited[cluster_blocks];  // epochs in which other blocks last accessed the shared memory of each
uint32_t ended[cluster_blocks];    // the first epoch of the cluster as whose block it ended
constexpr int64_t most_refined_bytes = int64_t{1} << 30;
int cell_shift = 2;  // a cell is a word until a kernel accesses less than one, a byte from then on

int64_t cell_bytes(const Region& region, int shift) {
  return ((region.capacity >> shift) + 1) * static_cast<int64_t>(sizeof(Cell));
}

// Pages that cost nothing until they are touched.
Cell* new_cells(const Region& region) {
  const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* cells = mmap(nullptr, cell_bytes(region, cell_shift), protection, flags, -1, 0);
  if (cells == MAP_FAILED) fail("no addresses for the history of %s", region.name);
  return static_cast<Cell*>(cells);
}

// Words become bytes, each with the history of its word. A region that is too large to be gone through has
// none.
void refine_cells() {
  const int before = std::exchange(cell_shift, 0);
  for (Region* region : tracked) {
    Cell* words = std::exchange(region->cells, new_cells(*region));
    const int64_t bytes = region->capacity <= most_refined_bytes ? region->capacity : 0;
    for (int64_t byte = 0; byte < bytes; ++byte) region->cells[byte] = words[byte / 4];
    munmap(words, cell_bytes(*region, before));
  }
}

// How far another thread is: in this warp, in this block, or elsewhere.
enum class Distance { warp, block, cluster };

Distance distance(const Stamp& other) {
  if (other.rank != now.stamp.rank) return Distance::cluster;
  return other.thread / warp_threads == now.stamp.thread / warp_threads ? Distance::warp : Distance::block;
}

bool ordered(const Region& region, const Stamp& old, Access access) {
  if (old.tick < now.launch_epoch || (old.atomic && is_atomic(access))) return true;
  if (old.tick < now.first_epoch) return region.rank != none || ordered_across_clusters(old);
  if (old.pending) return false;  // a bulk copy reads; check_landed says more of writes
  return precedes(old);
}

void describe(const Stamp& stamp, Name& text) {
  if (by_agent(stamp)) {
    std::strcpy(text, agent_name(stamp.rank, stamp.thread - block_threads));
  } else {
    describe_thread(thread_of(stamp), text);
  }
}

void check_order(const Region& region, int64_t byte, const Stamp& old, Access access, const char* did) {
  if (ordered(region, old, access)) return;
  const bool elsewhere = old.tick < now.first_epoch;
  Name other = "another block";
  if (!elsewhere) describe(old, other);
  const char* missing = elsewhere                    ? "fence and atomic"
                        : old.rank != now.stamp.rank ? "cluster barrier"
                        : by_agent(old)              ? "wait for it"
                                                     : "barrier";
  fail("race: %s byte %lld of %s, which %s %s, with no %s between", verb(access), (long long)byte,
       region.name, other, did, missing);
}

void check_landed(const Region& region, int64_t byte, const Stamp& old, Access access) {
  if (!old.pending || old.tick < now.first_epoch) return;
  Name other;
  describe(old, other);
  fail("%s byte %lld of %s while the asynchronous copy of %s is not waited for", verb(access),
       (long long)byte, region.name, other);
}

void check_proxy(const Region& region, int64_t byte, const Stamp& old, Access access) {
  if (old.tick < now.first_epoch || by_agent(old) || proxy_sees(thread_of(old), old.tick)) return;
  Name other;
  describe(old, other);
  fail("%s %s byte %lld of %s, which %s wrote, with no proxy fence between",
       agent_name(now.agent_rank, now.agent - block_threads), verb(access), (long long)byte, region.name,
       other);
}

// A load may be under way past a barrier of its block, so that a bulk copy overtakes it: seen on an H200. A
// proxy fence waits for it, and so does an arrival at an mbarrier.
void check_read_ended(const Region& region, int64_t byte, const Stamp& old) {
  if (old.tick < now.first_epoch || by_agent(old) || proxy_sees(thread_of(old), old.tick) || told(old))
    return;
  Name other;
  describe(old, other);
  fail("race: %s overwrites byte %lld of %s, which %s read, with no proxy fence or mbarrier between",
       agent_name(now.agent_rank, now.agent - block_threads), (long long)byte, region.name, other);
}

// What a tensor copy wrote with a swizzle is read with the same one.
void check_layout(const Region& region, int64_t byte, const Stamp& old) {
  if (now.layout == 0 || old.layout == 0 || old.layout == now.layout || old.tick < now.first_epoch) return;
  fail("%s reads byte %lld of %s with a swizzle of %d bytes, which a bulk copy wrote with one of %d",
       agent_name(now.agent_rank, now.agent - block_threads), (long long)byte, region.name,
       swizzle_of_layout(now.layout), swizzle_of_layout(old.layout));
}

// Whether this launch has read it by __ldg since it was written.
bool read_as_constant(const Cell& cell) { return cell.read.tick >= now.launch_epoch && cell.read.constant; }

void check_constant(const Region& region, const Cell& cell, int64_t byte, Access access) {
  if (access == Access::constant_read && cell.write.tick >= now.launch_epoch)
    fail("reads byte %lld of %s by __ldg, and this launch wrote it", (long long)byte, region.name);
  if (!is_read(access) && read_as_constant(cell))
    fail("%s byte %lld of %s, and this launch read it by __ldg", verb(access), (long long)byte, region.name);
}

// Keeps two reads by different threads, as far from one another as there are: enough to convict any later
// write.
void add_read(Cell& cell, const Stamp& read) {
  if (!precedes(cell.read)) {
    const bool keep = !precedes(cell.other_read) && distance(cell.other_read) > distance(cell.read);
    if (!keep) cell.other_read = cell.read;
  }
  const bool constant = read.constant || read_as_constant(cell);
  cell.read = read;
  cell.read.constant = constant;
}

// A bulk copy of the running agent has read.
void end_read(Cell& cell, const Stamp& read) {
  const Stamp& other = cell.other_read;
  if (other.thread == read.thread && other.rank == read.rank) cell.other_read = {};
  add_read(cell, read);
}

// Another block's shared memory is there from the first barrier of the cluster until that block ends.
void check_alive(const Region& region, Access access) {
  if (now.cluster_epoch == now.first_epoch) fail("accesses %s before any cluster barrier", region.name);
  if (ended[region.rank] == now.first_epoch) fail("accesses %s, which has ended", region.name);
  // What was sent is waited for by the block itself.
  if (access != Access::async_begin && access != Access::bulk_begin) visited[region.rank] = now.epoch;
}

void record_cell(const Region& region, Cell& cell, int64_t byte, Access access, const Stamp& stamp) {
  if (access != Access::bulk_look) check_constant(region, cell, byte, access);
  // Ordinary: written by this cluster and before the last barrier.
  if (!before_barrier(cell.write) || cell.write.tick < now.first_epoch || cell.write.pending) {
    check_landed(region, byte, cell.write, access);
    if (cell.write.tick == 0 && region.use == Use::write_first && (is_read(access) || is_atomic(access)))
      fail("%s byte %lld of %s, an output, before it was written", verb(access), (long long)byte,
           region.name);
    check_order(region, byte, cell.write, access, "wrote");
  }
  if (access == Access::bulk_read_begin && region.rank != none) {
    check_proxy(region, byte, cell.write, access);
    check_layout(region, byte, cell.write);
  }
  if (access == Access::bulk_look) return;
  if (is_read(access)) return add_read(cell, stamp);
  check_order(region, byte, cell.read, access, "read");
  check_order(region, byte, cell.other_read, access, "read");
  if (access == Access::bulk_begin) {
    check_proxy(region, byte, cell.write, access);
    check_read_ended(region, byte, cell.read);
    check_read_ended(region, byte, cell.other_read);
  }
  cell = Cell{stamp, {}, {}};
}

}  // namespace

void track(Region& region) {
  region.cells = new_cells(region);
  tracked.push_back(&region);
}

void record(const Region& region, int64_t first, int64_t last, Access access) {
  if (region.rank != none && region.rank != static_cast<int>(now.stamp.rank)) check_alive(region, access);
  if (cell_shift > 0 && (first % 4 != 0 || last % 4 != 3)) refine_cells();
  Stamp stamp = now.stamp;
  stamp.constant = access == Access::constant_read;
  if (access > Access::write) {
    if (access == Access::async_end && by_agent(stamp)) stamp.layout = now.layout;
    if (access == Access::bulk_read_begin) {
      stamp.thread = now.agent;
      stamp.rank = now.agent_rank;
    }
    stamp.atomic = is_atomic(access);
    stamp.pending =
        access == Access::async_begin || access == Access::bulk_begin || access == Access::bulk_read_begin;
  }
  for (int64_t cell = first >> cell_shift; cell <= last >> cell_shift; ++cell) {
    if (access == Access::async_end) {
      region.cells[cell] = Cell{stamp, {}, {}};  // checked when it was issued
    } else if (access == Access::bulk_read_end) {
      end_read(region.cells[cell], stamp);
    } else {
      record_cell(region, region.cells[cell], cell << cell_shift, access, stamp);
    }
  }
}

void forget_accesses() {
  for (Region* region : tracked) madvise(region->cells, cell_bytes(*region, cell_shift), MADV_DONTNEED);
}

// In any order of the threads: what was accessed since the last barrier of the cluster might be gone.
void end_block(int rank) {
  ended[rank] = now.first_epoch;
  if (visited[rank] >= now.cluster_epoch)
    fail("ends while another block may access its shared memory, with no cluster barrier between");
}

}  // namespace autotune_emulator
