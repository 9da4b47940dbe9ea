// The happens-before order. Barriers of a block order all that its threads did, which epochs tell; barriers
// of some threads of a block order what those did and know, which vector clocks tell. Clusters are ordered by
// fences and atomics.

#include "order.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace autotune_emulator {

Present now;

namespace {

struct Cluster {
  uint32_t first_epoch;
  // For each rank: up to which tick other clusters may see the accesses of each thread and each agent.
  std::vector<uint32_t> released[cluster_blocks];
};

// What a block of the running cluster has gone through. An epoch is the tick of a barrier.
struct Block {
  uint32_t epoch;
  bool observed;  // whether an atomic of it found what other clusters released
  bool acquired;  // and whether it may see that
  bool fenced;    // whether a thread of it has something to release
};

struct Clock {
  uint32_t tick;
  uint32_t fence, fence_epoch;  // the tick of its last fence, and the epoch of its block then
  uint32_t proxy_fence, proxy_epoch, proxy_cluster_epoch;
  Knowledge proxy_knowledge;  // at its last proxy fence
  uint32_t learnt;            // the tick at which it last learnt of others
  bool observed;              // whether it was this thread whose atomic found something
};

std::vector<Cluster> clusters;  // this launch's, in the order of their runs
Block blocks[cluster_blocks];
std::vector<Clock> clocks;  // one for each thread of the cluster
uint32_t* known;            // for each thread of the cluster: its knowledge of its block
int known_rows, known_columns;
int columns_of_rank;
bool agents_act;    // in this cluster
bool remote_order;  // whether threads may know what those of other blocks did
uint32_t last_tick;
uint32_t first_arrival;  // at the barrier of the cluster that is not waited for yet; 0 if there is none

int column_in_rank(const Stamp& stamp) {
  return by_agent(stamp) ? block_size() + stamp.thread - block_threads : stamp.thread;
}

int column(const Stamp& stamp) { return stamp.rank * columns_of_rank + column_in_rank(stamp); }

// The columns of which a thread may know more than barriers of its block tell.
struct Span {
  int begin, end;
  explicit Span(int rank)
      : begin(remote_order ? 0 : rank * columns_of_rank),
        end(remote_order ? known_columns : (rank + 1) * columns_of_rank) {}
};

uint32_t* knowledge_of(int thread) { return known + static_cast<int64_t>(thread) * known_columns; }

uint32_t tick_of(int thread) { return std::max(clocks[thread].tick, blocks[rank_of(thread)].epoch); }

void begin_cluster_epoch_at(uint32_t tick) {
  now.cluster_epoch = tick;
  for (Block& block : blocks) block.epoch = std::max(block.epoch, tick);
}

// What the running thread does from here on comes after what it did so far.
void next_tick() { now.stamp.tick = clocks[running_thread()].tick = ++last_tick; }

}  // namespace

bool told(const Stamp& old) { return old.tick <= knowledge_of(running_thread())[column(old)]; }

bool learnt(const Stamp& old) { return old.tick <= now.knowledge[column(old)]; }

// Clusters run one after another here; on a GPU a fence and an atomic of the one, then an atomic and a fence
// of the other do it.
bool ordered_across_clusters(const Stamp& old) {
  const Block& block = blocks[now.stamp.rank];
  if (old.atomic) return block.observed;
  if (!block.acquired) return false;
  const auto next =
      std::upper_bound(clusters.begin(), clusters.end(), old.tick,
                       [](uint32_t at, const Cluster& cluster) { return at < cluster.first_epoch; });
  const std::vector<uint32_t>& released = std::prev(next)->released[old.rank];
  return !released.empty() && old.tick <= released[column_in_rank(old)];
}

void begin_launch() {
  clusters.clear();
  now.launch_epoch = last_tick + 1;
  known_rows = ranks() * block_size();
  columns_of_rank = block_size() + most_agents;
  known_columns = ranks() * columns_of_rank;
  std::free(known);
  known = static_cast<uint32_t*>(std::calloc(static_cast<size_t>(known_rows) * known_columns, sizeof *known));
}

void begin_cluster() {
  now.first_epoch = last_tick + 1;
  agents_act = remote_order = false;
  first_arrival = 0;
  std::fill(std::begin(blocks), std::end(blocks), Block{});
  clocks.assign(known_rows, {});
  begin_cluster_epoch();
  clusters.push_back({now.first_epoch, {}});
}

// What threads of the block know of other blocks, all of them know then.
void begin_epoch(int rank) {
  blocks[rank].epoch = ++last_tick;
  if (!remote_order) return;
  Knowledge joined(known_columns);
  const int first = rank * block_size();
  for (int thread = first; thread < first + block_size(); ++thread)
    for (int i = 0; i < known_columns; ++i) joined[i] = std::max(joined[i], knowledge_of(thread)[i]);
  for (int thread = first; thread < first + block_size(); ++thread) {
    std::copy(joined.begin(), joined.end(), knowledge_of(thread));
    clocks[thread].learnt = last_tick + 1;
  }
  ++last_tick;
}

void begin_cluster_epoch() { begin_cluster_epoch_at(++last_tick); }

void begin_arrived_epoch() { begin_cluster_epoch_at(std::exchange(first_arrival, 0)); }

void arrive_in_cluster() {
  next_tick();
  if (first_arrival == 0) first_arrival = last_tick;
}

void begin_turn() {
  const int thread = running_thread();
  now.stamp = {};
  now.stamp.tick = tick_of(thread);
  now.stamp.rank = rank_of(thread);
  now.stamp.thread = thread_in_block(thread);
  now.epoch = blocks[now.stamp.rank].epoch;
  now.knowledge = clocks[thread].learnt > now.epoch ? knowledge_of(thread) : nullptr;
}

void join_lanes(const std::vector<int>& threads) {
  const int rank = rank_of(threads.front()), first = rank * columns_of_rank;
  const int warp = first + thread_in_block(threads.front()) / warp_threads * warp_threads;
  const Span all(rank);
  const int begin = agents_act ? all.begin : warp;  // nothing is known of the others
  const int end = agents_act ? all.end : std::min(warp + warp_threads, first + columns_of_rank);
  static Knowledge joined;
  joined.assign(known_columns, 0);
  for (const int thread : threads)
    for (int i = begin; i < end; ++i) joined[i] = std::max(joined[i], knowledge_of(thread)[i]);
  for (const int thread : threads) joined[first + thread_in_block(thread)] = tick_of(thread);
  ++last_tick;
  for (const int thread : threads) {
    std::copy(joined.begin() + begin, joined.begin() + end, knowledge_of(thread) + begin);
    clocks[thread].tick = clocks[thread].learnt = last_tick;
  }
}

void observe() { blocks[now.stamp.rank].observed = clocks[running_thread()].observed = true; }

void acquire_observed() { blocks[now.stamp.rank].acquired |= clocks[running_thread()].observed; }

// Releases what comes before this atomic and a fence: of what barriers of the block put before, a fence of
// the thread that accessed, or one of this thread after the barrier; of what this thread knows of others by
// barriers of some, and of what it did itself, its own fence alone decides.
void publish() {
  if (!blocks[now.stamp.rank].fenced) return;
  std::vector<uint32_t>& released = clusters.back().released[now.stamp.rank];
  released.resize(columns_of_rank);
  const uint32_t before_barrier = blocks[now.stamp.rank].epoch - 1;
  const Clock& own = clocks[running_thread()];
  const uint32_t before_fence = own.fence > 0 ? own.fence_epoch - 1 : 0;
  const Clock* clock = &clocks[now.stamp.rank * block_size()];
  for (int thread = 0; thread < block_size(); ++thread)
    released[thread] = std::max(released[thread], std::min(clock[thread].fence, before_barrier));
  const uint32_t* known_here = knowledge_of(running_thread()) + now.stamp.rank * columns_of_rank;
  for (int i = 0; i < columns_of_rank; ++i)
    released[i] = std::max({released[i], before_fence, std::min(own.fence, known_here[i])});
  released[now.stamp.thread] = std::max(released[now.stamp.thread], own.fence);
}

void release_fence() {
  Clock& clock = clocks[running_thread()];
  next_tick();  // later than what this thread knows of others
  clock.fence = now.stamp.tick;
  clock.fence_epoch = blocks[now.stamp.rank].epoch;
  blocks[now.stamp.rank].fenced = true;
  next_tick();
}

void fence() {
  release_fence();
  acquire_observed();
}

void release(Knowledge& knowledge) {
  const uint32_t* own = knowledge_of(running_thread());
  const int rank = now.stamp.rank, first = rank * columns_of_rank;
  knowledge.resize(known_columns);
  const Span all(rank);
  for (int i = all.begin; i < all.end; ++i) knowledge[i] = std::max(knowledge[i], own[i]);
  if (remote_order)  // it knows what the last barrier ordered in its block
    for (int i = first; i < first + columns_of_rank; ++i)
      knowledge[i] = std::max(knowledge[i], now.epoch - 1);
  knowledge[column(now.stamp)] = now.stamp.tick;
  next_tick();
}

void acquire(const Knowledge& knowledge) {
  uint32_t* own = knowledge_of(running_thread());
  if (knowledge.empty()) return;
  const Span all(now.stamp.rank);
  for (int i = all.begin; i < all.end; ++i) own[i] = std::max(own[i], knowledge[i]);
  clocks[running_thread()].learnt = ++last_tick;
  begin_turn();
}

void begin_remote_order() { agents_act = remote_order = true; }

void begin_bulk(int rank, int agent, uint32_t layout) {
  now.agent = block_threads + agent;
  now.agent_rank = rank;
  now.layout = layout;
}

void begin_agent_turn(int agent, Knowledge& knowledge) {
  agents_act = true;
  now.stamp.tick = ++last_tick;
  now.stamp.thread = block_threads + agent;
  knowledge.resize(known_columns);
  knowledge[column(now.stamp)] = now.stamp.tick;
}

void proxy_fence() {
  Clock& clock = clocks[running_thread()];
  clock.proxy_fence = now.stamp.tick;
  clock.proxy_epoch = now.epoch;
  clock.proxy_cluster_epoch = now.cluster_epoch;
  if (now.knowledge != nullptr) clock.proxy_knowledge.assign(now.knowledge, now.knowledge + known_columns);
  next_tick();
}

bool proxy_sees(int thread, uint32_t tick) {
  if (tick <= clocks[thread].proxy_fence) return true;
  const Clock& clock = clocks[running_thread()];
  const int rank = rank_of(thread);
  if (tick < (rank == static_cast<int>(now.stamp.rank) ? clock.proxy_epoch : clock.proxy_cluster_epoch))
    return true;
  const int place = rank * columns_of_rank + thread_in_block(thread);
  return !clock.proxy_knowledge.empty() && tick <= clock.proxy_knowledge[place];
}

bool knows(int thread, uint32_t tick) {
  Stamp stamp{};
  stamp.tick = tick;
  stamp.rank = rank_of(thread);
  stamp.thread = thread_in_block(thread);
  return precedes(stamp);
}

}  // namespace autotune_emulator
