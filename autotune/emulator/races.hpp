#pragma once
// Who accessed what, and what of that each thread may rely on.

#include <cstdint>
#include <vector>

#include "position.hpp"
#include "region.hpp"

namespace autotune_emulator {

// Checks and remembers the accesses of the running thread.
void track(Region& region);
void record(const Region& region, int64_t first, int64_t last, Access access);
void forget_accesses();

// What orders accesses.
void begin_launch();                               // after all that was launched before
void begin_cluster();                              // whose blocks start; clusters of a launch are not ordered
void begin_cluster_epoch();                        // after a barrier of the whole cluster
void begin_epoch(int rank);                        // after a barrier of the whole block
void end_block(int rank);                          // by the last of its threads
void join_lanes(const std::vector<int>& threads);  // after a barrier of these threads of one warp
void begin_turn();                                 // the running thread goes on
void publish();                                    // to other clusters, by an atomic: what a fence follows
void look_around();                                // learn what other clusters published, by an atomic

// A thread's time is a tick; all that it does after a release has a later one. Knowledge says, for each
// thread of a block and then for each of its agents, up to which tick what it did is known.
using Knowledge = std::vector<uint32_t>;
constexpr int most_agents = 64;
void release(Knowledge& knowledge);        // of the running thread: what it did and knows
void acquire(const Knowledge& knowledge);  // by the running thread

// Agents write shared memory in the place of threads: one for each mbarrier of a block.
void begin_agent_turn(int agent, Knowledge& knowledge);  // what it does until begin_turn() is known there

// Whether the running thread may rely on what a thread of its cluster did at a tick.
bool knows(int thread, uint32_t tick);
// Whether the asynchronous proxy sees what it wrote then: it has fenced since, or the running thread has
// since it knows.
bool proxy_sees(int thread, uint32_t tick);
uint32_t current_tick();

}  // namespace autotune_emulator
