// bar.sync and bar.arrive of some threads of a block.

#include "named_barriers.hpp"

#include <bitset>

#include "emulator.hpp"
#include "order.hpp"
#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

struct NamedBarrier {
  std::bitset<block_threads> came;
  int expected, arrived;  // threads; expected: 0 before the first arrives
  uint32_t phase;
  Knowledge arriving, complete;  // what threads that arrive bring, and what waiters get
};

constexpr int barriers_of_block = 16;
NamedBarrier barriers[cluster_blocks][barriers_of_block];

void fail_at_barrier(const void* address, int line) {
  const NamedBarrier& barrier = *static_cast<const NamedBarrier*>(address);
  fail("waits for ever at line %d: the named barrier %d lacks %d of %d threads", line,
       static_cast<int>(&barrier - barriers[running_rank()]), barrier.expected - barrier.arrived,
       barrier.expected);
}

}  // namespace

void named_barrier(int number, int count, bool waits, int line) {
  if (number < 1 || number >= barriers_of_block)
    fail("line %d: a named barrier %d, expected 1 to %d", line, number, barriers_of_block - 1);
  if (count < warp_threads || count > block_size() || count % warp_threads != 0)
    fail("line %d: a named barrier of %d threads, expected a multiple of %d up to %d", line, count,
         warp_threads, block_size());
  NamedBarrier& barrier = barriers[running_rank()][number];
  if (barrier.arrived > 0 && barrier.expected != count)
    fail("line %d: the named barrier %d of %d threads, at which others come as %d", line, number, count,
         barrier.expected);
  if (barrier.came[thread_in_block(running_thread())])
    fail("line %d: comes twice to the named barrier %d before others have come once", line, number);
  barrier.came.set(thread_in_block(running_thread()));
  barrier.expected = count;
  release(barrier.arriving);
  const uint32_t phase = barrier.phase;
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    barrier.came.reset();
    ++barrier.phase;
    barrier.complete = barrier.arriving;
    wake(&barrier);
  }
  if (!waits) return;
  while (barrier.phase == phase) sleep_on(&barrier, line, fail_at_barrier);
  acquire(barrier.complete);
}

void drop_named_barriers() {
  for (auto& of_block : barriers)
    for (NamedBarrier& barrier : of_block) barrier = {};
}

}  // namespace autotune_emulator
