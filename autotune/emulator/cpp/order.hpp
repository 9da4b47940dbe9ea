#pragma once
// When threads did what, and what of that each may rely on.

#include <cstdint>
#include <vector>

#include "agents.hpp"
#include "position.hpp"

namespace autotune_emulator {

// What orders accesses.
void begin_launch();         // after all that was launched before
void begin_cluster();        // whose blocks start; clusters of a launch are not ordered
void begin_cluster_epoch();  // after a barrier of the whole cluster
// The same in two steps: what the running thread does from its arrival on is ordered by nothing.
void arrive_in_cluster();
void begin_arrived_epoch();                        // after all have waited
void begin_epoch(int rank);                        // after a barrier of the whole block
void join_lanes(const std::vector<int>& threads);  // after a barrier of these threads of one warp
void begin_turn();                                 // the running thread goes on
void release_fence();                              // what the running thread did can be published
void publish();                                    // to other clusters, by an atomic: what a fence follows
void observe();                                    // what other clusters published, by an atomic
void acquire_observed();                           // learn it, by a fence

// A thread's time is a tick; all that it does after a release has a later one. Knowledge says, for each
// block of the cluster and each of its threads and then each of its agents, up to which tick what it did is
// known.
using Knowledge = std::vector<uint32_t>;
void release(Knowledge& knowledge);        // what the running thread did and knows
void acquire(const Knowledge& knowledge);  // by the running thread

// From here on, threads of a block may learn what those of other blocks did without a barrier of the cluster.
void begin_remote_order();

void begin_agent_turn(int agent, Knowledge& knowledge);  // what it does until begin_turn() is known there
// The running thread issues what an agent does, to or from a tile of a layout.
void begin_bulk(int rank, int agent, uint32_t layout = 0);

// Whether the running thread may rely on what a thread of its cluster did at a tick.
bool knows(int thread, uint32_t tick);
// Whether the asynchronous proxy sees what it wrote then: it has fenced since, or the running thread has
// since it knows.
bool proxy_sees(int thread, uint32_t tick);

// When something was done, and by whom. Ticks never start again: no stamp needs to be cleared in between.
struct Stamp {
  uint32_t tick;                   // 0: never
  uint32_t thread : 11, rank : 4;  // thread: of the block; agents follow
  uint32_t atomic : 1, pending : 1, constant : 1;
  uint32_t layout : 3;  // the layout of what a tensor copy wrote
};

// The layout of a tile in shared memory by the bytes of its swizzle; 0 is none in particular.
inline uint32_t layout_of_swizzle(int bytes) {
  return bytes == 0 ? 1 : bytes == 32 ? 2 : bytes == 64 ? 3 : 4;
}
inline int swizzle_of_layout(uint32_t layout) { return layout < 2 ? 0 : 8 << layout; }

struct Present {
  Stamp stamp;                 // the running thread's
  uint32_t agent, agent_rank;  // for which it issues a bulk copy, as the thread of a stamp
  uint32_t layout;             // the layout of what it copies or multiplies
  uint32_t epoch;              // its block's
  // Null if it has learnt nothing since the last barrier of its block.
  const uint32_t* knowledge;
  // The first epoch of the launch and of the cluster, and the cluster's last barrier.
  uint32_t launch_epoch, first_epoch, cluster_epoch;
};
extern Present now;

inline bool by_agent(const Stamp& stamp) { return stamp.thread >= block_threads; }
inline int thread_of(const Stamp& stamp) {
  return static_cast<int>(stamp.rank) * block_size() + stamp.thread;
}

// Whether a barrier that this thread and the old one share lies between; or the old one's cluster has ended.
inline bool before_barrier(const Stamp& old) {
  return old.tick < (old.rank == now.stamp.rank ? now.epoch : now.cluster_epoch);
}

// Whether the running thread may rely on what was done in its cluster.
bool learnt(const Stamp& old);
// The same, whatever barriers of its block order.
bool told(const Stamp& old);
inline bool precedes(const Stamp& old) {
  return before_barrier(old) || (old.thread == now.stamp.thread && old.rank == now.stamp.rank) ||
         (now.knowledge != nullptr && learnt(old));
}
// And on what was done in an earlier cluster of the launch.
bool ordered_across_clusters(const Stamp& old);

}  // namespace autotune_emulator
