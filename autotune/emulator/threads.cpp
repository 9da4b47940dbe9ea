// One fiber for each thread of a cluster, one cluster at a time: a block, where nothing else is asked for. A
// thread runs until it must wait for others.

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <random>
#include <unistd.h>
#include <vector>

#include "emulator.hpp"
#include "runtime.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace autotune_emulator {
namespace {

constexpr int64_t stack_bytes = 128 << 10;
constexpr uint64_t poison = ~uint64_t{0};

enum class State { ready, at_cluster_barrier, at_barrier, at_warp, ended };
enum class Collective { barrier, ballot, shuffle, match };

struct Thread {
  ucontext_t start;
  jmp_buf resume;
  bool started = false;
  State state = State::ended;
  int line = 0;  // where it waits
  int warp_epoch = 0;
  // What it brings to its warp or block, and what it gets.
  Collective collective;
  unsigned int mask;
  uint64_t value, result;
  int source_lane;
};

std::vector<Thread> threads;  // block by block
int ranks, block_size;        // blocks of a cluster, threads of a block
int first_block;              // of the running cluster
int running = -1;
std::vector<int> at_cluster_barrier;          // the threads that wait for the whole cluster
std::vector<int> at_barrier[cluster_blocks];  // for each rank, those that wait for the whole block
jmp_buf scheduler;
void (*kernel)();
uint32_t seed;
std::mt19937 random_bits;

// Seed 0 goes up, seed 1 down, and every other one at random.
void arrange(std::vector<int>& order) {
  std::iota(order.begin(), order.end(), 0);
  if (seed == 1) std::reverse(order.begin(), order.end());
  if (seed > 1) std::shuffle(order.begin(), order.end(), random_bits);
}

uint3 coordinates(int index, const dim3& extent) {
  const unsigned int i = static_cast<unsigned int>(index);
  return {i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y};
}

int rank_of(int thread) { return thread / block_size; }

// The threads of the thread's warp, from the first to the one before `end`.
struct Warp {
  int first, end;
  explicit Warp(int thread)
      : first(thread - thread % block_size % warp_threads),
        end(std::min(first + warp_threads, (rank_of(thread) + 1) * block_size)) {}
};

void select(int thread) {
  running = thread;
  threadIdx = coordinates(thread % block_size, blockDim);
  blockIdx = coordinates(first_block + rank_of(thread), gridDim);
}

void turn(int thread) { begin_turn(rank_of(thread), thread % block_size, threads[thread].warp_epoch); }

void describe(int thread, char (&text)[96]) { describe_thread(rank_of(thread), thread % block_size, text); }

void leave() {
  if (_setjmp(threads[running].resume) == 0) _longjmp(scheduler, 1);
}

void enter(int index) {
  Thread& thread = threads[index];
  select(index);
  turn(index);
  if (_setjmp(scheduler) == 0) {
    if (thread.started) _longjmp(thread.resume, 1);
    thread.started = true;
    setcontext(&thread.start);
  }
  running = -1;
}

bool same_rendezvous(const Thread& a, const Thread& b) {
  return a.collective == b.collective && a.mask == b.mask && a.line == b.line;
}

// The lanes of `mask` in the thread's warp that have not ended.
std::vector<int> participants(int thread) {
  std::vector<int> lanes;
  const Warp warp(thread);
  for (int other = warp.first; other < warp.end; ++other)
    if (threads[thread].mask >> (other - warp.first) & 1 && threads[other].state != State::ended)
      lanes.push_back(other);
  return lanes;
}

uint64_t collective_result(const Thread& thread, const std::vector<int>& lanes) {
  uint64_t votes = 0, shuffled = poison;  // a lane that does not take part has no value to give
  for (const int other : lanes) {
    const int lane = other % block_size % warp_threads;
    const uint64_t value = threads[other].value;
    const bool vote = thread.collective == Collective::match ? value == thread.value : value != 0;
    votes |= static_cast<uint64_t>(vote) << lane;
    if (lane == thread.source_lane) shuffled = value;
  }
  return thread.collective == Collective::shuffle ? shuffled : votes;
}

// Lets the lanes that wait with this thread go on if none is missing.
void complete_warp(int thread) {
  const std::vector<int> lanes = participants(thread);
  for (const int other : lanes)
    if (threads[other].state != State::at_warp || !same_rendezvous(threads[thread], threads[other])) return;
  for (const int lane : lanes) threads[lane].result = collective_result(threads[lane], lanes);
  for (const int lane : lanes) {
    threads[lane].state = State::ready;
    threads[lane].warp_epoch += threads[lane].collective == Collective::barrier;
  }
}

uint64_t meet_warp(Collective collective, unsigned int mask, uint64_t value, int source_lane, int line) {
  Thread& thread = threads[running];
  if (!(mask >> lane() & 1)) fail("line %d: the mask 0x%08x leaves out the lane itself", line, mask);
  thread.state = State::at_warp;
  thread.line = line;
  thread.collective = collective;
  thread.mask = mask;
  thread.value = value;
  thread.source_lane = source_lane;
  complete_warp(running);
  if (thread.state == State::at_warp) leave();
  turn(running);
  return thread.result;
}

// Joins those who wait at a barrier; true if all `count` do, who may go on then.
bool meet(State state, std::vector<int>& waiting, int count, int line) {
  threads[running].state = state;
  threads[running].line = line;
  waiting.push_back(running);
  const int first = waiting.front();
  if (threads[first].line != line) {
    char name[96];
    describe(first, name);
    fail("divergent: waits at the barrier of line %d, but %s waits at line %d", line, name,
         threads[first].line);
  }
  if (static_cast<int>(waiting.size()) < count) return false;
  const auto says_yes = [](int thread) { return threads[thread].value != 0; };
  const bool any = std::any_of(waiting.begin(), waiting.end(), says_yes);
  for (const int thread : waiting) {
    threads[thread].state = State::ready;
    threads[thread].warp_epoch = 0;
    threads[thread].result = any;
  }
  waiting.clear();
  return true;
}

void end_thread() {
  threads[running].state = State::ended;
  const Warp warp(running);
  for (int other = warp.first; other < warp.end; ++other)
    if (threads[other].state == State::at_warp) complete_warp(other);
  const auto block = threads.begin() + rank_of(running) * block_size;
  if (std::all_of(block, block + block_size, [](const Thread& t) { return t.state == State::ended; }))
    end_block(rank_of(running));
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
  return warp.first <= other && other < warp.end && waiting.mask >> (other - warp.first) & 1 &&
         threads[other].state != State::ended &&
         (threads[other].state != State::at_warp || !same_rendezvous(waiting, threads[other]));
}

[[noreturn]] void fail_divergent(int waiting) {
  for (int other = 0; other < static_cast<int>(threads.size()); ++other) {
    if (!waits_for(threads[waiting], other)) continue;
    select(waiting);
    char name[96];
    describe(other, name);
    const char* where = threads[waiting].state == State::at_warp ? "for its warp" : "at the barrier";
    if (threads[other].state == State::ended)
      fail("divergent: waits %s of line %d, but %s has ended", where, threads[waiting].line, name);
    fail("divergent: waits %s of line %d, but %s waits at line %d", where, threads[waiting].line, name,
         threads[other].line);
  }
  fail("deadlock");
}

void run_cluster() {
  begin_cluster(ranks);
  poison_shared();
  drop_async_copies(threads.size());
  for (Thread& thread : threads) {
    thread.state = State::ready;
    thread.warp_epoch = 0;
  }
  std::vector<int> order(threads.size());
  for (bool progress = true; progress;) {
    progress = false;
    arrange(order);
    for (const int thread : order) {
      if (threads[thread].state != State::ready) continue;
      enter(thread);
      progress = true;
    }
  }
  for (int thread = 0; thread < static_cast<int>(threads.size()); ++thread)
    if (threads[thread].state != State::ended) fail_divergent(thread);
}

}  // namespace

void make_threads(void (*entry)(), uint32_t order_seed, int blocks_of_a_cluster) {
  kernel = entry;
  ranks = blocks_of_a_cluster;
  block_size = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  seed = order_seed;
  random_bits.seed(seed);
  threads.resize(ranks * block_size);
  char* stacks = map_stacks(static_cast<int64_t>(threads.size()) * stack_bytes);
  for (size_t i = 0; i < threads.size(); ++i) {
    getcontext(&threads[i].start);
    threads[i].start.uc_stack.ss_sp = stacks + i * stack_bytes;
    threads[i].start.uc_stack.ss_size = stack_bytes;
    makecontext(&threads[i].start, fiber, 0);
  }
}

void run_grid() {
  begin_launch();
  std::vector<int> order(gridDim.x * gridDim.y * gridDim.z / ranks);
  arrange(order);
  for (const int cluster : order) {
    first_block = cluster * ranks;
    run_cluster();
  }
}

int running_thread() { return running; }

int running_rank() { return rank_of(running); }

void describe_thread(int rank, int thread, char (&text)[96]) {
  const uint3 at = coordinates(thread, blockDim), block = coordinates(first_block + rank, gridDim);
  const int length = std::snprintf(text, sizeof text, "thread (%u, %u, %u)", at.x, at.y, at.z);
  if (rank != running_rank())
    std::snprintf(text + length, sizeof text - length, " of block (%u, %u, %u)", block.x, block.y, block.z);
}

void fail(const char* format, ...) {
  if (running >= 0) {
    char thread[96];
    describe(running, thread);
    std::fprintf(stderr, "block (%u, %u, %u) %s: ", blockIdx.x, blockIdx.y, blockIdx.z, thread);
  }
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
  _exit(2);
}

int lane() { return running % block_size % warp_threads; }

void cluster_barrier(int line) {
  if (meet(State::at_cluster_barrier, at_cluster_barrier, ranks * block_size, line))
    begin_cluster_epoch(ranks);
  leave();
}

void block_barrier(int line) { block_vote(false, line); }

bool block_vote(bool predicate, int line) {
  threads[running].value = predicate;
  const int rank = running_rank();
  if (meet(State::at_barrier, at_barrier[rank], block_size, line)) begin_epoch(rank);
  leave();
  return threads[running].result;
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

}  // namespace autotune_emulator
