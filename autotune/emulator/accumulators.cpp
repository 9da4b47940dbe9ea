#include "accumulators.hpp"

#include <algorithm>
#include <vector>

#include "emulator.hpp"
#include "position.hpp"

namespace autotune_emulator {

bool accumulators_exist;

namespace {

struct Sums {
  const char* begin;
  int bytes;
  int products;   // under way
  bool accessed;  // since the last fence
};

struct Owner {
  std::vector<Sums> sums;
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
  for (Sums& sums : owner(running_thread()).sums) {
    if (begin + bytes <= sums.begin || begin >= sums.begin + sums.bytes) continue;
    if (sums.products > 0)
      fail("%s sum %d of a wgmma that is not waited for", verb(access),
           std::max(0, static_cast<int>(begin - sums.begin)) / 4);
    sums.accessed = true;
  }
}

void fence_accumulators() {
  Owner& own = owner(running_thread());
  own.fenced = true;
  for (Sums& sums : own.sums) sums.accessed = false;
}

void begin_accumulating(const void* address, int bytes, int line) {
  accumulators_exist = true;
  Owner& own = owner(running_thread());
  if (!own.fenced) fail("line %d: wgmma with no wgmma_fence before", line);
  const char* begin = static_cast<const char*>(address);
  for (Sums& sums : own.sums) {
    if (sums.begin == begin && sums.bytes == bytes) {
      if (sums.accessed)
        fail("line %d: wgmma takes sums that were accessed since the last wgmma_fence", line);
      ++sums.products;
      return;
    }
    if (sums.products > 0 && begin < sums.begin + sums.bytes && sums.begin < begin + bytes)
      fail("line %d: wgmma takes sums of a wgmma of another size that is not waited for", line);
  }
  own.sums.push_back({begin, bytes, 1, false});
}

void check_sums(const void* address, int bytes, int line) {
  const char* begin = static_cast<const char*>(address);
  for (const Sums& sums : owner(running_thread()).sums)
    if (sums.products > 0 && sums.begin < begin + bytes && begin < sums.begin + sums.bytes)
      fail("line %d: waits for sums of which a wgmma is under way", line);
}

void end_accumulating(int thread, const void* address) {
  for (Sums& sums : owner(thread).sums)
    if (sums.begin == address && sums.products > 0) --sums.products;
}

}  // namespace autotune_emulator
