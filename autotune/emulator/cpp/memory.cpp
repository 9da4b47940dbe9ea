// Memory as a kernel sees it. g++ instruments every load and store of a kernel (-fsanitize=thread) with calls
// that this file answers: each access is checked for its bounds and its alignment before it happens.

#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accumulators.hpp"
#include "order.hpp"
#include "position.hpp"
#include "races.hpp"

namespace autotune_emulator {
namespace {

constexpr int64_t page = 4096, most_shared_alignment = 1024;
constexpr int64_t most_bytes = int64_t{1} << 30;  // that a buffer stores

// Every region has as many addresses for itself, 4 GiB or more, so that the address tells which region was
// meant.
int slot_bits = 32;
int64_t slot_bytes() { return int64_t{1} << slot_bits; }

char* arena;
std::vector<Region> slots;                        // the stacks, shared memory of each rank, the buffers
const char *constants, *constants_end;            // the kernel library's
std::unordered_map<char*, Region> static_shared;  // by where it begins, of each library that has any
Region* own_static;                               // the running kernel's; null if it has none
int most_ranks;
int64_t shared_alignment;  // what the running launch asks for

// Acquiring and relaxed loads since any thread's last atomic, and how many show that a wait has no end.
int loads_since_store;
std::unordered_map<const void*, uint32_t> stored_in_launch;  // words that blocks wait for
constexpr int most_loads_of_a_wait = 1 << 15;

// Whole pages.
void allow(char* begin, int64_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(begin) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(begin) + bytes + page - 1) / page * page;
  if (mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE) != 0)
    fail("no memory for %lld bytes", (long long)bytes);
}

Region& map(const char* name, int64_t bytes, int64_t alignment, Use use, int rank = none,
            const Pieces* pieces = nullptr) {
  // One alignment beyond a page: a multiple of the alignment and of no larger power of two.
  char* begin = arena + static_cast<int64_t>(slots.size()) * slot_bytes() + slot_bytes() / 2 + alignment;
  if (pieces == nullptr) {
    allow(begin, bytes);
  } else {
    for (const int64_t offset : pieces->offsets) allow(begin + offset, pieces->bytes);
  }
  slots.push_back({name, begin, bytes, bytes, use, rank, nullptr, pieces});
  return slots.back();
}

void check_stored(const char* name, int64_t bytes, Use use) {
  if (bytes > most_bytes && use != Use::workspace)
    fail("%s of %lld bytes is too large for the emulator", name, (long long)bytes);
}

bool exists(const Pieces& pieces, int64_t first, int64_t last) {
  const auto next = std::upper_bound(pieces.offsets.begin(), pieces.offsets.end(), first);
  return next != pieces.offsets.begin() && last < *std::prev(next) + pieces.bytes;
}

// Null for threadIdx and constants, which live in the runtime and in the kernel's library.
const Region* region_of(const void* pointer, int64_t bytes, Access access) {
  const char* address = static_cast<const char*>(pointer);
  const uint64_t slot = static_cast<uint64_t>(address - arena) >> slot_bits;
  if (slot < slots.size()) return &slots[slot];
  if (own_static != nullptr && address >= own_static->begin &&
      address < own_static->begin + own_static->bytes)
    return own_static;
  if (address >= &__ehdr_start && address < &_end) return nullptr;
  if (address >= constants && address < constants_end) {
    if (is_read(access)) return nullptr;
    fail("%s %lld bytes of a constant, or beside static shared memory", verb(access), (long long)bytes);
  }
  fail("%s %lld bytes at address %p, which belongs to no buffer", verb(access), (long long)bytes, pointer);
}

}  // namespace

void allow_constants(const char* begin, const char* end) {
  constants = begin;
  constants_end = end;
}

void use_static_shared(char* begin, const char* end) {
  own_static = nullptr;
  if (begin == end) return;
  if (ranks() > 1) fail("has static shared memory in a cluster: expected dynamic");
  const auto [found, is_new] = static_shared.try_emplace(
      begin,
      Region{"static shared memory", begin, end - begin, end - begin, Use::read_write, 0, nullptr, nullptr});
  own_static = &found->second;
  if (is_new) track(*own_static);
}

void reserve_memory(int buffers, int blocks_of_a_cluster, int64_t bytes_of_a_buffer) {
  most_ranks = blocks_of_a_cluster;
  const int regions = 1 + most_ranks + buffers;
  while (bytes_of_a_buffer + most_bytes > slot_bytes() / 2) ++slot_bits;
  const int64_t bytes = regions * slot_bytes();
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    fail("%lld bytes of addresses cannot be reserved; raise ulimit -v", (long long)bytes);
  arena = static_cast<char*>(reserved);
  slots.reserve(regions);  // so that regions stay where they are
}

// Those of a cluster of 16 blocks of 1024 threads have nearly the bytes of half a slot.
char* map_stacks(int64_t bytes) { return map("the stack", bytes, page, Use::read_write).begin; }

void map_shared(int64_t most_bytes) {
  static char names[cluster_blocks][32];
  for (int rank = 0; rank < most_ranks; ++rank) {
    std::snprintf(names[rank], sizeof names[rank],
                  most_ranks > 1 ? "shared memory of rank %d" : "shared memory", rank);
    track(map(names[rank], most_bytes, most_shared_alignment, Use::read_write, rank));
  }
}

void set_shared_bytes(int64_t bytes) {
  shared_alignment = 0;
  for (int rank = 0; rank < most_ranks; ++rank) slots[1 + rank].bytes = bytes;
}

char* map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use) {
  check_stored(name, bytes, use);
  Region& region = map(name, bytes, alignment, use);
  if (use != Use::read_only) track(region);
  return region.begin;
}

char* map_sparse_buffer(const char* name, int64_t bytes, int64_t alignment, Use use, const Pieces& pieces) {
  check_stored(name, pieces.bytes * (int64_t)pieces.offsets.size(), use);
  return map(name, bytes, alignment, use, none, &pieces).begin;
}

void poison_shared() {
  for (int rank = 0; rank < ranks(); ++rank) std::memset(slots[1 + rank].begin, 0xff, slots[1 + rank].bytes);
  if (own_static != nullptr) std::memset(own_static->begin, 0xff, own_static->bytes);
}

void* dynamic_shared(int alignment) {
  shared_alignment = std::max<int64_t>(shared_alignment, alignment);
  return slots[1 + running_rank()].begin;
}

const void* shared_of_rank(const void* shared, int rank) {
  const Region* region = region_of(shared, 1, Access::read);
  if (region == nullptr || region->rank != running_rank())
    fail("maps an address that is not in the block's shared memory");
  if (rank < 0 || rank >= ranks()) fail("asks for rank %d of a cluster of %d blocks", rank, ranks());
  return static_cast<const char*>(shared) + (rank - running_rank()) * slot_bytes();
}

char* own_shared(int64_t alignment) {
  if (alignment > shared_alignment)
    fail("needs shared memory aligned to %lld bytes, and the kernel asks for %lld", (long long)alignment,
         (long long)shared_alignment);
  return slots[1 + running_rank()].begin;
}

unsigned int shared_address(const void* shared) {
  check_shared("an operand of wgmma", shared, 1, 16);
  return static_cast<unsigned int>(static_cast<const char*>(shared) - slots[1 + running_rank()].begin);
}

char* in_shared_of_rank(void* shared, int rank) {
  return static_cast<char*>(const_cast<void*>(shared_of_rank(shared, rank)));
}

void check(const void* pointer, int64_t bytes, Access access, bool at_once) {
  const Region* found = region_of(pointer, bytes, access);
  if (found == nullptr) return;
  if (found == &slots.front()) {
    if (accumulators_exist) check_accumulators(pointer, bytes, access);
    return;
  }
  const Region& region = *found;
  const int64_t first = static_cast<const char*>(pointer) - region.begin, last = first + bytes - 1;
  if (first < 0 || last >= region.bytes)
    fail("%s bytes %lld to %lld of %s, which has %lld bytes", verb(access), (long long)first, (long long)last,
         region.name, (long long)region.bytes);
  if (region.pieces != nullptr && !exists(*region.pieces, first, last))
    fail("%s bytes %lld to %lld of %s, which lie in a gap", verb(access), (long long)first, (long long)last,
         region.name);
  if (at_once && (reinterpret_cast<uintptr_t>(pointer) & (bytes - 1)) != 0)  // bytes: a power of two
    fail("%s %lld bytes at once at byte %lld of %s, which is not aligned to them", verb(access),
         (long long)bytes, (long long)first, region.name);
  if (region.use == Use::read_only && !is_read(access))
    fail("%s byte %lld of %s, an input", verb(access), (long long)first, region.name);
  if (region.cells != nullptr) record(region, first, last, access);
}

void check_shared(const char* what, const void* shared, int64_t bytes, int64_t alignment) {
  const Region* region = region_of(shared, bytes, Access::async_begin);
  if (region == nullptr || region->rank != running_rank())
    fail("%s lies in %s, not in the block's shared memory", what,
         region != nullptr ? region->name : "a constant");
  const int64_t offset = static_cast<const char*>(shared) - region->begin;
  if (offset % alignment != 0)
    fail("%s lies at byte %lld of %s, which is not aligned to %lld bytes", what, (long long)offset,
         region->name, (long long)alignment);
  if (alignment > shared_alignment)
    fail("%s needs shared memory aligned to %lld bytes, and the kernel asks for %lld", what,
         (long long)alignment, (long long)shared_alignment);
}

void check_shared_store(const void* address, int bytes) {
  loads_since_store = 0;
  check(address, bytes, Access::atomic, true);
}

void check_constant(const void* address, int bytes) { check(address, bytes, Access::constant_read, true); }

// Other clusters cannot see one in shared memory.
void check_atomic(const void* address, int bytes) {
  const Region* region = region_of(address, bytes, Access::atomic);
  if (region != nullptr && region->rank == none) {
    observe();
    publish();
  }
  check_shared_store(address, bytes);
}

void check_acquire(const void* address, int bytes) {
  check_relaxed_load(address, bytes);
  observe();
  acquire_observed();
}

void check_release(const void* address, int bytes) {
  release_fence();
  publish();
  check_shared_store(address, bytes);
}

// Blocks run one after the other: what none of them has stored by then is never there.
void check_relaxed_load(const void* address, int bytes) {
  check(address, bytes, Access::atomic_read, true);
  if (++loads_since_store < most_loads_of_a_wait) return;
  const Region& region = *region_of(address, bytes, Access::atomic_read);
  const int64_t first = static_cast<const char*>(address) - region.begin;
  fail("waits for ever for bytes %lld to %lld of %s, which no block that has begun stores", (long long)first,
       (long long)first + bytes - 1, region.name);
}

// Blocks run one after the other here, and at once on a GPU: of two stores, a block that waits may find
// either.
void check_relaxed_store(const void* address, int bytes) {
  check_shared_store(address, bytes);
  const uint32_t launch = std::exchange(stored_in_launch[address], now.launch_epoch);
  if (launch != now.launch_epoch) return;
  const Region& region = *region_of(address, bytes, Access::atomic);
  const int64_t first = static_cast<const char*>(address) - region.begin;
  fail("stores bytes %lld to %lld of %s again, which another block may have read before", (long long)first,
       (long long)first + bytes - 1, region.name);
}

}  // namespace autotune_emulator

// What -fsanitize=thread calls. Objects that are wider than their alignment are unaligned: a GPU moves them
// in pieces.
extern "C" {
using autotune_emulator::Access;
using autotune_emulator::check;

#define AUTOTUNE_ACCESS(bytes)                                                                     \
  void __tsan_read##bytes(void* address) { check(address, bytes, Access::read, true); }            \
  void __tsan_write##bytes(void* address) { check(address, bytes, Access::write, true); }          \
  void __tsan_unaligned_read##bytes(void* address) { check(address, bytes, Access::read, false); } \
  void __tsan_unaligned_write##bytes(void* address) { check(address, bytes, Access::write, false); }
AUTOTUNE_ACCESS(1)
AUTOTUNE_ACCESS(2)
AUTOTUNE_ACCESS(4)
AUTOTUNE_ACCESS(8)
AUTOTUNE_ACCESS(16)
void __tsan_read_range(void* address, long bytes) { check(address, bytes, Access::read, false); }
void __tsan_write_range(void* address, long bytes) { check(address, bytes, Access::write, false); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
