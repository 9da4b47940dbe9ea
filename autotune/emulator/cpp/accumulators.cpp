#include "accumulators.hpp"

#include <algorithm>
#include <vector>

#include "emulator.hpp"
#include "position.hpp"

namespace autotune_emulator {

bool accumulators_exist;

namespace {

struct Registers {
  const char* begin;
  int bytes;
  const char* what;
  int products;   // under way
  bool accessed;  // since the last fence
};

struct Owner {
  std::vector<Registers> taken;
  bool fenced;  // ever
};

std::vector<Owner> owners;  // by thread of the cluster

Owner& owner(int thread) {
  if (owners.empty()) owners.resize(positions.size());
  return owners[thread];
}

}  // namespace

void drop_accumulators() {
  owners.clear();
  accumulators_exist = false;
}

void check_accumulators(const void* address, int64_t bytes, Access access) {
  const char* begin = static_cast<const char*>(address);
  for (Registers& own : owner(running_thread()).taken) {
    if (begin + bytes <= own.begin || begin >= own.begin + own.bytes) continue;
    if (own.products > 0)
      fail("%s %s %d of a wgmma that is not waited for", verb(access), own.what,
           std::max(0, static_cast<int>(begin - own.begin)) / 4);
    own.accessed = true;
  }
}

void fence_accumulators() {
  Owner& own = owner(running_thread());
  own.fenced = true;
  for (Registers& registers : own.taken) registers.accessed = false;
}

void take_registers(const void* address, int bytes, const char* what, int line) {
  accumulators_exist = true;
  Owner& own = owner(running_thread());
  if (!own.fenced) fail("line %d: wgmma with no wgmma_fence before", line);
  const char* begin = static_cast<const char*>(address);
  for (Registers& registers : own.taken) {
    if (registers.begin == begin && registers.bytes == bytes) {
      if (registers.accessed)
        fail("line %d: wgmma takes %ss that were accessed since the last wgmma_fence", line, what);
      ++registers.products;
      return;
    }
    if (registers.products > 0 && begin < registers.begin + registers.bytes &&
        registers.begin < begin + bytes)
      fail("line %d: wgmma takes %ss of a wgmma of another size that is not waited for", line, what);
  }
  own.taken.push_back({begin, bytes, what, 1, false});
}

void check_sums(const void* address, int bytes, int line) {
  const char* begin = static_cast<const char*>(address);
  for (const Registers& own : owner(running_thread()).taken)
    if (own.products > 0 && own.begin < begin + bytes && begin < own.begin + own.bytes)
      fail("line %d: waits for sums of which a wgmma is under way", line);
}

void return_registers(int thread, const void* address) {
  for (Registers& own : owner(thread).taken)
    if (own.begin == address && own.products > 0) --own.products;
}

}  // namespace autotune_emulator
