// cp.async. A copy's bytes land when its thread waits for its group; until then their place holds poison.

#include "async_copies.hpp"

#include <cstring>
#include <vector>

#include "memory.hpp"
#include "position.hpp"

namespace autotune_emulator {
namespace {

struct Copy {
  int group;
  void* shared;
  const void* global;
  int bytes, valid_bytes;
  bool late;  // reads its source when it lands, not when it is issued
  unsigned char data[16];
};

struct Queue {
  int committed = 0;  // groups so far
  std::vector<Copy> copies;
};

std::vector<Queue> queues;  // one for each thread of the cluster
uint32_t issued;

void read_source(Copy& copy) {
  if (copy.valid_bytes == 0) return;
  check(copy.global, copy.valid_bytes, Access::read, false);
  std::memcpy(copy.data, copy.global, copy.valid_bytes);
}

void land(Copy& copy) {
  if (copy.late) read_source(copy);
  check(copy.shared, copy.bytes, Access::async_end, true);
  std::memcpy(copy.shared, copy.data, copy.bytes);
}

}  // namespace

void async_copy(void* shared, const void* global, int bytes, int valid_bytes) {
  if (valid_bytes < 0 || valid_bytes > bytes)
    fail("an asynchronous copy of %d bytes has %d valid ones", bytes, valid_bytes);
  check_shared("the target of an asynchronous copy", shared, bytes, bytes);
  if (reinterpret_cast<uintptr_t>(global) % bytes != 0)
    fail("an asynchronous copy of %d bytes reads address %p, which is not aligned to them", bytes, global);
  Queue& queue = queues[running_thread()];
  // Every other copy reads late: both extremes of what the hardware may do.
  Copy copy{queue.committed, shared, global, bytes, valid_bytes, issued++ % 2 != 0, {}};
  if (!copy.late) read_source(copy);
  check(shared, bytes, Access::async_begin, true);
  std::memset(shared, 0xff, bytes);
  queue.copies.push_back(copy);
}

void async_commit() { ++queues[running_thread()].committed; }

void async_wait(int pending_groups) {
  Queue& queue = queues[running_thread()];
  size_t landed = 0;
  for (; landed < queue.copies.size() && queue.copies[landed].group < queue.committed - pending_groups;
       ++landed)
    land(queue.copies[landed]);
  queue.copies.erase(queue.copies.begin(), queue.copies.begin() + static_cast<std::ptrdiff_t>(landed));
}

void drop_async_copies() { queues.assign(ranks() * block_size(), {}); }

}  // namespace autotune_emulator
