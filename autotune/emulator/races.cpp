// Races, by what the happens-before order of CUDA demands and not by what a run happens to show: each cell of
// memory remembers its last write and two of the reads since (after FastTrack, Flanagan and Freund, PLDI
// 2009). Threads are ordered by barriers of their block and of their warp, blocks of a cluster by its
// barriers, clusters by fences and atomics.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emulator.hpp"
#include "runtime.hpp"

namespace autotune_emulator {

// Who accessed a cell, and when. Epochs count the barriers of all blocks and clusters: no stamp needs to be
// cleared in between.
struct Stamp {
  uint32_t epoch;  // 0: never
  uint32_t thread : 10, rank : 4, warp_epoch : 16, atomic : 1, pending : 1;
};

struct Cell {
  Stamp write, read, other_read;
};

namespace {

struct Cluster {
  uint32_t first_epoch;
  // For each rank and thread: up to which epoch other clusters may see its accesses.
  std::vector<uint32_t> released[cluster_blocks];
};

// What a block of the running cluster has gone through.
struct Block {
  uint32_t epoch;
  bool acquired;                       // whether it may see what other clusters released
  bool ended;                          // all its threads
  uint32_t visited;                    // epoch in which another block last accessed its shared memory
  uint32_t last_fence[block_threads];  // epochs
};

std::vector<Region*> tracked;
std::vector<Cluster> clusters;  // of this launch, in the order of their runs
Block blocks[cluster_blocks];
uint32_t last_epoch;
uint32_t first_epoch, cluster_epoch;  // of this cluster: when it began, and since its last barrier
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

// How far another thread is: in this warp, in this block, or elsewhere.
enum class Distance { warp, block, cluster };

Distance distance(const Stamp& other) {
  if (other.rank != now.rank) return Distance::cluster;
  return other.thread / warp_threads == now.thread / warp_threads ? Distance::warp : Distance::block;
}

// Whether a barrier that this thread and the old one share lies between; or the old one's cluster has ended.
bool before_barrier(const Stamp& old) {
  return old.epoch < (old.rank == now.rank ? now.epoch : cluster_epoch);
}

// Clusters run one after another here; on a GPU a fence and an atomic of the one and then an atomic of the
// other do it.
bool ordered_across_clusters(const Stamp& old) {
  if (!blocks[now.rank].acquired) return false;
  if (old.atomic) return true;
  const auto next =
      std::upper_bound(clusters.begin(), clusters.end(), old.epoch,
                       [](uint32_t at, const Cluster& cluster) { return at < cluster.first_epoch; });
  const std::vector<uint32_t>& released = std::prev(next)->released[old.rank];
  return !released.empty() && old.epoch <= released[old.thread];
}

bool ordered(const Region& region, const Stamp& old, Access access) {
  if (old.epoch == 0 || (old.atomic && access == Access::atomic)) return true;
  if (old.epoch < first_epoch) return region.rank != none || ordered_across_clusters(old);
  if (before_barrier(old)) return true;
  if (old.rank == now.rank && old.thread == now.thread) return true;
  return distance(old) == Distance::warp && old.warp_epoch < now.warp_epoch;
}

void check_order(const Region& region, int64_t byte, const Stamp& old, Access access, const char* did) {
  if (ordered(region, old, access)) return;
  const bool elsewhere = old.epoch < first_epoch;
  char other[96] = "another block";
  if (!elsewhere) describe_thread(old.rank, old.thread, other);
  const char* missing = elsewhere ? "fence and atomic" : old.rank != now.rank ? "cluster barrier" : "barrier";
  fail("race: %s byte %lld of %s, which %s %s, with no %s between", verb(access), (long long)byte,
       region.name, other, did, missing);
}

void check_landed(const Region& region, int64_t byte, const Stamp& old, Access access) {
  if (!old.pending || old.epoch < first_epoch || access == Access::async_end) return;
  char other[96];
  describe_thread(old.rank, old.thread, other);
  fail("%s byte %lld of %s while the asynchronous copy of %s is not waited for", verb(access),
       (long long)byte, region.name, other);
}

// Keeps two reads by different threads, as far from one another as there are: enough to convict any later
// write.
void add_read(Cell& cell) {
  const bool same = cell.read.rank == now.rank && cell.read.thread == now.thread;
  if (!before_barrier(cell.read) && !same) {
    const bool keep = !before_barrier(cell.other_read) && distance(cell.other_read) > distance(cell.read);
    if (!keep) cell.other_read = cell.read;
  }
  cell.read = now;
}

// Another block's shared memory is there from the first barrier of the cluster until that block ends.
void check_alive(const Region& region) {
  Block& owner = blocks[region.rank];
  if (cluster_epoch == first_epoch) fail("accesses %s before any cluster barrier", region.name);
  if (owner.ended) fail("accesses %s, which has ended", region.name);
  owner.visited = now.epoch;
}

void record_cell(const Region& region, Cell& cell, int64_t byte, Access access) {
  // Ordinary: written by this cluster and before the last barrier.
  if (!before_barrier(cell.write) || cell.write.epoch < first_epoch || cell.write.pending) {
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
  if (region.rank != none && region.rank != static_cast<int>(now.rank)) check_alive(region);
  if (cell_shift > 0 && (first % 4 != 0 || last % 4 != 3)) refine_cells();
  for (int64_t cell = first >> cell_shift; cell <= last >> cell_shift; ++cell)
    record_cell(region, region.cells[cell], cell << cell_shift, access);
}

void begin_launch() {
  clusters.clear();
  for (Region* region : tracked)
    std::memset(static_cast<void*>(region->cells), 0, cell_count(*region) * sizeof(Cell));
}

void begin_cluster(int ranks) {
  first_epoch = last_epoch + 1;
  for (int rank = 0; rank < ranks; ++rank) blocks[rank] = Block{};
  begin_cluster_epoch(ranks);
  clusters.push_back({first_epoch, {}});
}

void begin_epoch(int rank) { blocks[rank].epoch = ++last_epoch; }

void begin_cluster_epoch(int ranks) {
  cluster_epoch = ++last_epoch;
  for (int rank = 0; rank < ranks; ++rank) blocks[rank].epoch = cluster_epoch;
}

void begin_turn(int rank, int thread, int warp_epoch) {
  now.epoch = blocks[rank].epoch;
  now.rank = rank;
  now.thread = thread;
  now.warp_epoch = warp_epoch;
}

// In any order of the threads: what was accessed since the last barrier of the cluster might be gone.
void end_block(int rank) {
  blocks[rank].ended = true;
  if (blocks[rank].visited >= cluster_epoch)
    fail("ends while another block may access its shared memory, with no cluster barrier between");
}

// Releases what the barriers put before this atomic and a fence follows: one of the thread that accessed, or
// one of this thread after the barrier. Of what this thread did since the barrier, its own fence alone
// decides.
void record_atomic() {
  Block& block = blocks[now.rank];
  block.acquired = true;
  std::vector<uint32_t>& released = clusters.back().released[now.rank];
  released.resize(blockDim.x * blockDim.y * blockDim.z);
  const uint32_t fence = block.last_fence[now.thread], before_fence = fence > 0 ? fence - 1 : 0;
  for (size_t thread = 0; thread < released.size(); ++thread)
    released[thread] =
        std::max({released[thread], std::min(block.last_fence[thread], now.epoch - 1), before_fence});
  released[now.thread] = std::max(released[now.thread], fence);
}

void fence() { blocks[now.rank].last_fence[now.thread] = now.epoch; }

}  // namespace autotune_emulator
