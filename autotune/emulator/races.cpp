// Races, by what the happens-before order of CUDA demands and not by what a run happens to show: each cell of
// memory remembers its last write and two of the reads since (after FastTrack, Flanagan and Freund, PLDI
// 2009). Barriers of a block order all that its threads did, which epochs tell; barriers of some threads of a
// block order what those did and know, which vector clocks tell. Clusters are ordered by fences and atomics.

#include "races.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace autotune_emulator {

// Who accessed a cell, and when. Ticks never start again: no stamp needs to be cleared in between.
struct Stamp {
  uint32_t tick;                                            // 0: never
  uint32_t thread : 11, rank : 4, atomic : 1, pending : 1;  // thread: of the block; agents follow
};

struct Cell {
  Stamp write, read, other_read;
};

namespace {

struct Cluster {
  uint32_t first_epoch;
  // For each rank and thread: up to which tick other clusters may see its accesses.
  std::vector<uint32_t> released[cluster_blocks];
};

// What a block of the running cluster has gone through. An epoch is the tick of a barrier.
struct Block {
  uint32_t epoch;
  bool acquired;     // whether it may see what other clusters released
  bool ended;        // all its threads
  uint32_t visited;  // epoch in which another block last accessed its shared memory
};

struct Clock {
  uint32_t tick;
  uint32_t fence, fence_epoch;  // the tick of its last fence, and the epoch of its block then
  uint32_t proxy_fence, proxy_epoch;
  Knowledge proxy_knowledge;  // at its last proxy fence
  uint32_t learnt;            // the tick at which it last learnt of others
};

std::vector<Region*> tracked;
std::vector<Cluster> clusters;  // of this launch, in the order of their runs
Block blocks[cluster_blocks];
std::vector<Clock> clocks;  // of the threads of the cluster
uint32_t* known;            // for each thread of the cluster: its knowledge of its block
int known_rows, known_columns;
bool agents_act;  // in this cluster
uint32_t last_tick;
uint32_t launch_epoch, first_epoch, cluster_epoch;  // of this cluster: its start, and its last barrier
Stamp now;                                          // of the running thread
uint32_t own_epoch;                                 // of its block
const uint32_t* own_knowledge;  // null if it has learnt nothing since the last barrier of its block
int cell_shift = 2;             // a cell is a word until a kernel accesses less than one, a byte from then on

int64_t cell_count(const Region& region) { return (region.capacity >> cell_shift) + 1; }

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
    for (int64_t byte = 0; byte < region->capacity; ++byte) region->cells[byte] = words[byte / 4];
    std::free(words);
  }
}

int thread_of(const Stamp& stamp) { return static_cast<int>(stamp.rank) * block_size() + stamp.thread; }

bool by_agent(const Stamp& stamp) { return stamp.thread >= block_threads; }

int column(const Stamp& stamp) {
  return by_agent(stamp) ? block_size() + stamp.thread - block_threads : stamp.thread;
}

uint32_t* knowledge_of(int thread) { return known + static_cast<int64_t>(thread) * known_columns; }

uint32_t tick_of(int thread) { return std::max(clocks[thread].tick, blocks[rank_of(thread)].epoch); }

// What the running thread does from here on comes after what it did so far.
void next_tick() { now.tick = clocks[running_thread()].tick = ++last_tick; }

// How far another thread is: in this warp, in this block, or elsewhere.
enum class Distance { warp, block, cluster };

Distance distance(const Stamp& other) {
  if (other.rank != now.rank) return Distance::cluster;
  return other.thread / warp_threads == now.thread / warp_threads ? Distance::warp : Distance::block;
}

// Whether a barrier that this thread and the old one share lies between; or the old one's cluster has ended.
inline bool before_barrier(const Stamp& old) {
  return old.tick < (old.rank == now.rank ? own_epoch : cluster_epoch);
}

inline bool by_running_thread(const Stamp& old) { return old.thread == now.thread && old.rank == now.rank; }

inline bool learnt(const Stamp& old) {
  return own_knowledge != nullptr && old.rank == now.rank && old.tick <= own_knowledge[column(old)];
}

// In the same cluster.
inline bool precedes(const Stamp& old) {
  return before_barrier(old) || by_running_thread(old) || learnt(old);
}

// Clusters run one after another here; on a GPU a fence and an atomic of the one and then an atomic of the
// other do it.
bool ordered_across_clusters(const Stamp& old) {
  if (!blocks[now.rank].acquired) return false;
  if (old.atomic) return true;
  const auto next =
      std::upper_bound(clusters.begin(), clusters.end(), old.tick,
                       [](uint32_t at, const Cluster& cluster) { return at < cluster.first_epoch; });
  const std::vector<uint32_t>& released = std::prev(next)->released[old.rank];
  return !released.empty() && old.tick <= released[old.thread];
}

bool ordered(const Region& region, const Stamp& old, Access access) {
  if (old.tick < launch_epoch || (old.atomic && is_atomic(access))) return true;
  if (old.tick < first_epoch) return region.rank != none || ordered_across_clusters(old);
  return precedes(old);
}

void describe(const Stamp& stamp, Name& text) {
  if (by_agent(stamp)) {
    std::strcpy(text, "a bulk copy");
  } else {
    describe_thread(thread_of(stamp), text);
  }
}

void check_order(const Region& region, int64_t byte, const Stamp& old, Access access, const char* did) {
  if (ordered(region, old, access)) return;
  const bool elsewhere = old.tick < first_epoch;
  Name other = "another block";
  if (!elsewhere) describe(old, other);
  const char* missing = elsewhere              ? "fence and atomic"
                        : old.rank != now.rank ? "cluster barrier"
                        : by_agent(old)        ? "wait for it"
                                               : "barrier";
  fail("race: %s byte %lld of %s, which %s %s, with no %s between", verb(access), (long long)byte,
       region.name, other, did, missing);
}

void check_landed(const Region& region, int64_t byte, const Stamp& old, Access access) {
  if (!old.pending || old.tick < first_epoch) return;
  Name other;
  describe(old, other);
  fail("%s byte %lld of %s while the asynchronous copy of %s is not waited for", verb(access),
       (long long)byte, region.name, other);
}

void check_proxy(const Region& region, int64_t byte, const Stamp& old) {
  if (old.tick < first_epoch || by_agent(old) || proxy_sees(thread_of(old), old.tick)) return;
  Name other;
  describe(old, other);
  fail("a bulk copy writes byte %lld of %s, which %s wrote, with no proxy fence between", (long long)byte,
       region.name, other);
}

// Keeps two reads by different threads, as far from one another as there are: enough to convict any later
// write.
void add_read(Cell& cell, const Stamp& read) {
  if (!precedes(cell.read)) {
    const bool keep = !precedes(cell.other_read) && distance(cell.other_read) > distance(cell.read);
    if (!keep) cell.other_read = cell.read;
  }
  cell.read = read;
}

// Another block's shared memory is there from the first barrier of the cluster until that block ends.
void check_alive(const Region& region) {
  Block& owner = blocks[region.rank];
  if (cluster_epoch == first_epoch) fail("accesses %s before any cluster barrier", region.name);
  if (owner.ended) fail("accesses %s, which has ended", region.name);
  owner.visited = blocks[now.rank].epoch;
}

void record_cell(const Region& region, Cell& cell, int64_t byte, Access access, const Stamp& stamp) {
  // Ordinary: written by this cluster and before the last barrier.
  if (!before_barrier(cell.write) || cell.write.tick < first_epoch || cell.write.pending) {
    check_landed(region, byte, cell.write, access);
    if (cell.write.tick == 0 && region.use == Use::write_first && (is_read(access) || is_atomic(access)))
      fail("%s byte %lld of %s, an output, before it was written", verb(access), (long long)byte,
           region.name);
    check_order(region, byte, cell.write, access, "wrote");
  }
  if (is_read(access)) return add_read(cell, stamp);
  check_order(region, byte, cell.read, access, "read");
  check_order(region, byte, cell.other_read, access, "read");
  if (access == Access::bulk_begin) check_proxy(region, byte, cell.write);
  cell = Cell{stamp, {}, {}};
}

}  // namespace

void track(Region& region) {
  region.cells = new_cells(region);
  tracked.push_back(&region);
}

void record(const Region& region, int64_t first, int64_t last, Access access) {
  if (region.rank != none && region.rank != static_cast<int>(now.rank)) check_alive(region);
  if (cell_shift > 0 && (first % 4 != 0 || last % 4 != 3)) refine_cells();
  Stamp stamp = now;
  if (access > Access::write) {
    stamp.atomic = is_atomic(access);
    stamp.pending = access == Access::async_begin || access == Access::bulk_begin;
  }
  for (int64_t cell = first >> cell_shift; cell <= last >> cell_shift; ++cell) {
    if (access == Access::async_end) {
      region.cells[cell] = Cell{stamp, {}, {}};  // checked when it was issued
    } else {
      record_cell(region, region.cells[cell], cell << cell_shift, access, stamp);
    }
  }
}

void forget_accesses() {
  for (Region* region : tracked)
    std::memset(static_cast<void*>(region->cells), 0, cell_count(*region) * sizeof(Cell));
}

void begin_launch() {
  clusters.clear();
  launch_epoch = last_tick + 1;
  known_rows = ranks() * block_size();
  known_columns = block_size() + most_agents;
  std::free(known);
  known = static_cast<uint32_t*>(std::calloc(static_cast<size_t>(known_rows) * known_columns, sizeof *known));
}

void begin_cluster() {
  first_epoch = last_tick + 1;
  agents_act = false;
  std::fill(std::begin(blocks), std::end(blocks), Block{});
  clocks.assign(known_rows, {});
  begin_cluster_epoch();
  clusters.push_back({first_epoch, {}});
}

void begin_epoch(int rank) { blocks[rank].epoch = ++last_tick; }

void begin_cluster_epoch() {
  cluster_epoch = ++last_tick;
  for (Block& block : blocks) block.epoch = cluster_epoch;
}

void begin_turn() {
  const int thread = running_thread();
  now = {};
  now.tick = tick_of(thread);
  now.rank = rank_of(thread);
  now.thread = thread_in_block(thread);
  own_epoch = blocks[now.rank].epoch;
  own_knowledge = clocks[thread].learnt > own_epoch ? knowledge_of(thread) : nullptr;
}

void join_lanes(const std::vector<int>& threads) {
  const int warp = thread_in_block(threads.front()) / warp_threads * warp_threads;
  const int begin = agents_act ? 0 : warp;  // of the others nothing is known
  const int end = agents_act ? known_columns : std::min(warp + warp_threads, known_columns);
  static Knowledge joined;
  joined.assign(known_columns, 0);
  for (const int thread : threads)
    for (int i = begin; i < end; ++i) joined[i] = std::max(joined[i], knowledge_of(thread)[i]);
  for (const int thread : threads) joined[thread_in_block(thread)] = tick_of(thread);
  ++last_tick;
  for (const int thread : threads) {
    std::copy(joined.begin() + begin, joined.begin() + end, knowledge_of(thread) + begin);
    clocks[thread].tick = clocks[thread].learnt = last_tick;
  }
}

// In any order of the threads: what was accessed since the last barrier of the cluster might be gone.
void end_block(int rank) {
  blocks[rank].ended = true;
  if (blocks[rank].visited >= cluster_epoch)
    fail("ends while another block may access its shared memory, with no cluster barrier between");
}

void look_around() { blocks[now.rank].acquired = true; }

// Releases what the barriers put before this atomic and a fence follows: one of the thread that accessed, or
// one of this thread after the barrier. Of what this thread did since the barrier, its own fence alone
// decides.
void publish() {
  std::vector<uint32_t>& released = clusters.back().released[now.rank];
  released.resize(block_size());
  const uint32_t before_barrier = blocks[now.rank].epoch - 1;
  const Clock& own = clocks[running_thread()];
  const uint32_t before_fence = own.fence > 0 ? own.fence_epoch - 1 : 0;
  const Clock* clock = &clocks[now.rank * block_size()];
  for (size_t thread = 0; thread < released.size(); ++thread)
    released[thread] =
        std::max({released[thread], std::min(clock[thread].fence, before_barrier), before_fence});
  released[now.thread] = std::max(released[now.thread], own.fence);
}

void fence() {
  Clock& clock = clocks[running_thread()];
  clock.fence = now.tick;
  clock.fence_epoch = blocks[now.rank].epoch;
  next_tick();
}

void release(Knowledge& knowledge) {
  const uint32_t* own = knowledge_of(running_thread());
  knowledge.resize(known_columns);
  for (int i = 0; i < known_columns; ++i) knowledge[i] = std::max(knowledge[i], own[i]);
  knowledge[now.thread] = now.tick;
  next_tick();
}

void acquire(const Knowledge& knowledge) {
  uint32_t* own = knowledge_of(running_thread());
  for (size_t i = 0; i < knowledge.size(); ++i) own[i] = std::max(own[i], knowledge[i]);
  clocks[running_thread()].learnt = ++last_tick;
  begin_turn();
}

void begin_agent_turn(int agent, Knowledge& knowledge) {
  agents_act = true;
  now.tick = ++last_tick;
  now.thread = block_threads + agent;
  knowledge.resize(known_columns);
  knowledge[block_size() + agent] = now.tick;
}

void proxy_fence() {
  Clock& clock = clocks[running_thread()];
  clock.proxy_fence = now.tick;
  clock.proxy_epoch = own_epoch;
  if (own_knowledge != nullptr) clock.proxy_knowledge.assign(own_knowledge, own_knowledge + known_columns);
  next_tick();
}

bool proxy_sees(int thread, uint32_t tick) {
  if (tick <= clocks[thread].proxy_fence) return true;
  const Clock& clock = clocks[running_thread()];
  if (tick < clock.proxy_epoch) return true;
  return !clock.proxy_knowledge.empty() && tick <= clock.proxy_knowledge[thread_in_block(thread)];
}

bool knows(int thread, uint32_t tick) {
  Stamp stamp{};
  stamp.tick = tick;
  stamp.rank = rank_of(thread);
  stamp.thread = thread_in_block(thread);
  return precedes(stamp);
}

uint32_t current_tick() { return now.tick; }

}  // namespace autotune_emulator
