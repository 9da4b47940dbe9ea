// One fiber for each thread of a cluster. A thread runs until it must wait for others.

#include "threads.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "memory.hpp"
#include "order.hpp"
#include "position.hpp"
#include "races.hpp"

namespace autotune_emulator {
namespace {

// No power of two: the tops of all stacks would compete for the same lines of the cache.
constexpr int64_t stack_bytes = (128 << 10) - 1088;
constexpr uint64_t poison = ~uint64_t{0};

enum class State { ready, at_cluster_barrier, at_barrier, at_warp, asleep, ended };
enum class Collective { barrier, ballot, shuffle, match, joint };

// Where a thread goes on. Apart from what others look at, which stays small.
struct Fiber {
  ucontext_t start;
  jmp_buf resume;
  bool started = false;
};

struct Thread {
  State state = State::ended;
  int line = 0;          // where it waits
  bool arrived = false;  // at a barrier of the cluster that it has not waited for
  // What it brings to its warp or block, and what it gets.
  Collective collective;
  unsigned int mask;
  uint64_t value, result;
  int source_lane;
  Joint joint;
  // What it sleeps on, and what says so if nobody wakes it.
  const void* awaited;
  Complaint complain;
};

std::vector<Thread> threads;                  // those of the largest cluster
std::vector<Fiber> fibers;                    // theirs
int count;                                    // how many the running cluster has
std::vector<int> at_cluster_barrier;          // the threads that wait for the whole cluster
std::vector<int> at_barrier[cluster_blocks];  // for each rank, those that wait for the whole block
jmp_buf scheduler;
void (*kernel)();
uint32_t seed;
std::mt19937 random_bits;

// The threads of the thread's warp, from the first to the one before `end`.
struct Warp {
  int first, end;
  explicit Warp(int thread)
      : first(thread - lane_of(thread)),
        end(std::min(first + warp_threads, (rank_of(thread) + 1) * block_size())) {}
};

void leave() {
  if (_setjmp(fibers[running_thread()].resume) == 0) _longjmp(scheduler, 1);
}

void enter(int index) {
  Fiber& own = fibers[index];
  select_thread(index);
  begin_turn();
  if (_setjmp(scheduler) == 0) {
    if (own.started) _longjmp(own.resume, 1);
    own.started = true;
    setcontext(&own.start);
  }
  select_thread(none);
}

bool same_rendezvous(const Thread& a, const Thread& b) {
  return a.collective == b.collective && a.mask == b.mask && a.line == b.line;
}

// The lanes that say what `says` says, as bits.
template <typename Says>
uint64_t votes(const std::vector<int>& lanes, Says says) {
  uint64_t bits = 0;
  for (const int lane : lanes) bits |= static_cast<uint64_t>(says(threads[lane])) << lane_of(lane);
  return bits;
}

// What each lane gets of what all bring.
void give_results(Collective collective, const std::vector<int>& lanes) {
  const uint64_t all = votes(lanes, [](const Thread& other) { return other.value != 0; });
  const uint64_t present = votes(lanes, [](const Thread&) { return true; });
  const int first = lanes[0] - lane_of(lanes[0]);
  for (const int lane : lanes) {
    Thread& own = threads[lane];
    if (collective == Collective::ballot) own.result = all;
    if (collective == Collective::match)
      own.result = votes(lanes, [&](const Thread& other) { return other.value == own.value; });
    if (collective == Collective::shuffle) {  // who takes no part has no value to give
      const bool takes_part =
          own.source_lane >= 0 && own.source_lane < warp_threads && present >> own.source_lane & 1;
      own.result = takes_part ? threads[first + own.source_lane].value : poison;
    }
  }
}

void act(const std::vector<int>& lanes) {
  const Thread& any = threads[lanes[0]];
  if (lanes.size() != warp_threads)
    fail("line %d: %s by %zu lanes of a warp", any.line, any.joint.name, lanes.size());
  void* brought[warp_threads];
  for (const int lane : lanes) brought[lane_of(lane)] = reinterpret_cast<void*>(threads[lane].value);
  any.joint.act(brought);
}

// Whether a lane that takes part, and has not ended, is still under way to the rendezvous of `thread`.
bool misses(const Thread& thread, const Thread& other, int lane) {
  return thread.mask >> lane & 1 && other.state != State::ended &&
         (other.state != State::at_warp || !same_rendezvous(thread, other));
}

// Lets the lanes of `mask` that have not ended go on if none of them is missing.
void complete_warp(int thread) {
  const Warp warp(thread);
  const Thread& any = threads[thread];
  // Lanes mostly come one after the other: if another is missing, a neighbour is, and the rest is not looked
  // at.
  for (const int other : {thread + 1, thread - 1})
    if (warp.first <= other && other < warp.end && misses(any, threads[other], other - warp.first)) return;
  static std::vector<int> lanes;
  lanes.clear();
  for (int other = warp.first; other < warp.end; ++other) {
    if (misses(any, threads[other], other - warp.first)) return;
    if (any.mask >> (other - warp.first) & 1 && threads[other].state != State::ended) lanes.push_back(other);
  }
  for (const int lane : lanes) threads[lane].state = State::ready;
  if (any.collective == Collective::barrier) return join_lanes(lanes);
  if (any.collective == Collective::joint) return act(lanes);
  give_results(any.collective, lanes);
}

uint64_t meet_warp(Collective collective, unsigned int mask, uint64_t value, int source_lane, int line) {
  Thread& thread = threads[running_thread()];
  if (!(mask >> lane() & 1)) fail("line %d: the mask 0x%08x leaves out the lane itself", line, mask);
  thread.state = State::at_warp;
  thread.line = line;
  thread.collective = collective;
  thread.mask = mask;
  thread.value = value;
  thread.source_lane = source_lane;
  complete_warp(running_thread());
  if (thread.state == State::at_warp) leave();
  begin_turn();
  return thread.result;
}

// Joins those who wait at a barrier; true if all `count` do, who may go on then.
bool meet(State state, std::vector<int>& waiting, int expected, int line) {
  threads[running_thread()].state = state;
  threads[running_thread()].line = line;
  waiting.push_back(running_thread());
  const int first = waiting.front();
  if (threads[first].line != line) {
    Name name;
    describe_thread(first, name);
    fail("divergent: waits at the barrier of line %d, but %s waits at line %d", line, name,
         threads[first].line);
  }
  if (static_cast<int>(waiting.size()) < expected) return false;
  const auto says_yes = [](int thread) { return threads[thread].value != 0; };
  const bool any = std::any_of(waiting.begin(), waiting.end(), says_yes);
  for (const int thread : waiting) {
    threads[thread].state = State::ready;
    threads[thread].result = any;
  }
  waiting.clear();
  return true;
}

void end_thread() {
  if (threads[running_thread()].arrived) fail("ends before a barrier of the cluster at which it has arrived");
  threads[running_thread()].state = State::ended;
  const Warp warp(running_thread());
  for (int other = warp.first; other < warp.end; ++other)
    if (threads[other].state == State::at_warp) complete_warp(other);
  const auto block = threads.begin() + running_rank() * block_size();
  if (std::all_of(block, block + block_size(), [](const Thread& t) { return t.state == State::ended; }))
    end_block(running_rank());
}

[[noreturn]] void fiber() {
  for (;;) {
    kernel();
    end_thread();
    leave();
  }
}

bool waits_for(const Thread& waiting, int other) {
  const int thread = static_cast<int>(&waiting - threads.data());
  if (waiting.state == State::at_cluster_barrier) return threads[other].state != waiting.state;
  if (waiting.state == State::at_barrier)
    return rank_of(other) == rank_of(thread) && threads[other].state != waiting.state;
  const Warp warp(thread);
  return warp.first <= other && other < warp.end && misses(waiting, threads[other], other - warp.first);
}

[[noreturn]] void fail_divergent(int waiting) {
  for (int other = 0; other < count; ++other) {
    if (!waits_for(threads[waiting], other)) continue;
    select_thread(waiting);
    Name name;
    describe_thread(other, name);
    const char* where = threads[waiting].state == State::at_warp ? "for its warp" : "at the barrier";
    if (threads[other].state == State::ended)
      fail("divergent: waits %s of line %d, but %s has ended", where, threads[waiting].line, name);
    fail("divergent: waits %s of line %d, but %s waits at line %d", where, threads[waiting].line, name,
         threads[other].line);
  }
  fail("deadlock");
}

void check_all_ended() {
  const auto first = threads.begin(), end = threads.begin() + count;
  const auto in_state = [&](State state) {
    return std::find_if(first, end, [=](const Thread& thread) { return thread.state == state; });
  };
  const auto asleep = in_state(State::asleep);
  if (asleep != end) {
    select_thread(static_cast<int>(asleep - first));
    asleep->complain(asleep->awaited, asleep->line);
  }
  for (int thread = 0; thread < count; ++thread)
    if (threads[thread].state != State::ended) fail_divergent(thread);
}

}  // namespace

void make_threads(void (*entry)(), int most, uint32_t order_seed) {
  kernel = entry;
  seed = order_seed;
  random_bits.seed(seed);
  threads.resize(most);
  fibers.resize(most);
  char* stack = map_stacks(most * stack_bytes);
  for (Fiber& own : fibers) {
    getcontext(&own.start);
    own.start.uc_stack.ss_sp = stack;
    own.start.uc_stack.ss_size = stack_bytes;
    makecontext(&own.start, fiber, 0);
    stack += stack_bytes;
  }
}

void arrange(std::vector<int>& order) {
  std::iota(order.begin(), order.end(), 0);
  if (seed == 1) std::reverse(order.begin(), order.end());
  if (seed > 1) std::shuffle(order.begin(), order.end(), random_bits);
}

void run_threads() {
  count = ranks() * block_size();
  for (int thread = 0; thread < count; ++thread) threads[thread].state = State::ready;
  std::vector<int> order(count);
  for (bool progress = true; progress;) {
    progress = false;
    arrange(order);
    for (const int thread : order) {
      if (threads[thread].state != State::ready) continue;
      enter(thread);
      progress = true;
    }
  }
  check_all_ended();
}

void sleep_on(const void* awaited, int line, Complaint complain) {
  Thread& thread = threads[running_thread()];
  thread.state = State::asleep;
  thread.line = line;
  thread.awaited = awaited;
  thread.complain = complain;
  leave();
}

void wake(const void* awaited) {
  for (int thread = 0; thread < count; ++thread)
    if (threads[thread].state == State::asleep && threads[thread].awaited == awaited)
      threads[thread].state = State::ready;
}

void cluster_barrier(int line) {
  if (meet(State::at_cluster_barrier, at_cluster_barrier, count, line)) begin_cluster_epoch();
  leave();
}

void cluster_arrive() {
  if (std::exchange(threads[running_thread()].arrived, true))
    fail("arrives twice at the barrier of the cluster");
  arrive_in_cluster();
}

void cluster_wait(int line) {
  if (!std::exchange(threads[running_thread()].arrived, false))
    fail("line %d: waits for the barrier of the cluster, at which it has not arrived", line);
  if (meet(State::at_cluster_barrier, at_cluster_barrier, count, line)) begin_arrived_epoch();
  leave();
}

void block_barrier(int line) { block_vote(false, line); }

bool block_vote(bool predicate, int line) {
  threads[running_thread()].value = predicate;
  const int rank = running_rank();
  if (meet(State::at_barrier, at_barrier[rank], block_size(), line)) begin_epoch(rank);
  leave();
  return threads[running_thread()].result;
}

void warp_barrier(unsigned int mask, int line) { meet_warp(Collective::barrier, mask, 0, 0, line); }

unsigned int ballot(unsigned int mask, bool predicate, int line) {
  return static_cast<unsigned int>(meet_warp(Collective::ballot, mask, predicate, 0, line));
}

unsigned int match_any(unsigned int mask, unsigned long long value, int line) {
  return static_cast<unsigned int>(meet_warp(Collective::match, mask, value, 0, line));
}

unsigned long long shuffle(unsigned int mask, unsigned long long value, int source_lane, int line) {
  return meet_warp(Collective::shuffle, mask, value, source_lane, line);
}

void meet_whole_warp(const Joint& joint, void* own, int line) {
  threads[running_thread()].joint = joint;
  meet_warp(Collective::joint, 0xffffffffu, reinterpret_cast<uint64_t>(own), 0, line);
}

}  // namespace autotune_emulator
