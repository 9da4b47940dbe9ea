// Memory as a kernel sees it. g++ instruments every load and store of a kernel (-fsanitize=thread) with calls
// that this file answers: each access is checked for its bounds and its alignment before it happens.

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "emulator.hpp"
#include "runtime.hpp"

extern "C" char __executable_start, _end;  // of the linker

namespace autotune_emulator {
namespace {

// Every region has 4 GiB of addresses for itself, so that the address tells which region was meant.
constexpr int slot_bits = 32;
constexpr int64_t slot_bytes = int64_t{1} << slot_bits, page = 4096;

char* arena;
std::vector<Region> slots;  // the stacks, shared memory, the buffers

Region& map(const char* name, int64_t bytes, int64_t alignment, Use use, bool shared) {
  if (bytes > slot_bytes / 4) fail("%s of %lld bytes is too large for the emulator", name, (long long)bytes);
  char* middle = arena + static_cast<int64_t>(slots.size()) * slot_bytes + slot_bytes / 2;
  const int64_t mapped = (alignment + bytes + page - 1) / page * page;
  if (mprotect(middle, mapped, PROT_READ | PROT_WRITE) != 0)
    fail("no memory for %lld bytes", (long long)bytes);
  // One alignment beyond a page: a multiple of the alignment and of no larger power of two.
  slots.push_back({name, middle + alignment, bytes, use, shared, nullptr});
  return slots.back();
}

// Null for threadIdx and constants, which live in the program itself.
const Region* region_of(const void* pointer, int bytes, Access access) {
  const char* address = static_cast<const char*>(pointer);
  const uint64_t slot = static_cast<uint64_t>(address - arena) >> slot_bits;
  if (slot < slots.size()) return &slots[slot];
  if (address >= &__executable_start && address < &_end) return nullptr;
  fail("%s %d bytes at address %p, which belongs to no buffer", verb(access), bytes, pointer);
}

}  // namespace

const char* verb(Access access) {
  return access == Access::read ? "reads" : access == Access::atomic ? "updates" : "writes";
}

void reserve_memory(int buffers) {
  const int64_t bytes = (buffers + 2) * slot_bytes;
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    fail("%lld bytes of addresses cannot be reserved; raise ulimit -v", (long long)bytes);
  arena = static_cast<char*>(reserved);
  slots.reserve(buffers + 2);  // so that regions stay where they are
}

char* map_stacks(int64_t bytes) { return map("the stack", bytes, page, Use::read_write, false).begin; }

void map_shared(int64_t bytes) { track(map("shared memory", bytes, 16, Use::read_write, true)); }

char* map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use) {
  Region& region = map(name, bytes, alignment, use, false);
  if (use != Use::read_only) track(region);
  return region.begin;
}

void poison_shared() { std::memset(slots[1].begin, 0xff, slots[1].bytes); }

void* dynamic_shared() { return slots[1].begin; }

// `at_once`: one instruction moves all the bytes, so that they must be aligned.
void check(const void* pointer, int bytes, Access access, bool at_once) {
  const Region* found = region_of(pointer, bytes, access);
  if (found == nullptr || found == &slots.front()) return;
  const Region& region = *found;
  const int64_t first = static_cast<const char*>(pointer) - region.begin, last = first + bytes - 1;
  if (first < 0 || last >= region.bytes)
    fail("%s bytes %lld to %lld of %s, which has %lld bytes", verb(access), (long long)first, (long long)last,
         region.name, (long long)region.bytes);
  if (at_once && reinterpret_cast<uintptr_t>(pointer) % bytes != 0)
    fail("%s %d bytes at once at byte %lld of %s, which is not aligned to them", verb(access), bytes,
         (long long)first, region.name);
  if (region.use == Use::read_only && access != Access::read)
    fail("%s byte %lld of %s, an input", verb(access), (long long)first, region.name);
  if (region.cells != nullptr) record(region, first, last, access);
}

void check_async_copy(void* shared, const void* global, int bytes) {
  const Region* region = region_of(shared, bytes, Access::async_begin);
  if (region != &slots[1])
    fail("an asynchronous copy writes %s, not shared memory",
         region != nullptr ? region->name : "a constant");
  if (reinterpret_cast<uintptr_t>(global) % bytes != 0)
    fail("an asynchronous copy of %d bytes reads address %p, which is not aligned to them", bytes, global);
}

void check_atomic(const void* address, int bytes) {
  record_atomic();
  check(address, bytes, Access::atomic, true);
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
void __tsan_read_range(void* address, long bytes) {
  check(address, static_cast<int>(bytes), Access::read, false);
}
void __tsan_write_range(void* address, long bytes) {
  check(address, static_cast<int>(bytes), Access::write, false);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
