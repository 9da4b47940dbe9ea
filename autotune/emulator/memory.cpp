// Memory as a kernel sees it. g++ instruments every load and store of a kernel (-fsanitize=thread) with calls
// that this file answers: each access is checked for its bounds and alignment, and for races, by a stamp of
// the last write and of two reads of every byte that threads can share.

#include "runtime.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emulator.hpp"

extern "C" char __executable_start, _end;  // of the linker

namespace autotune_emulator {
namespace {

// Who touched a byte, and when. Epochs count the barriers of all blocks, so that no stamp is ever cleared in
// between.
struct Stamp {
  uint32_t epoch;  // 0: never
  uint32_t thread : 10, warp_epoch : 20, atomic : 1, pending : 1;
};

struct Cell {
  Stamp write, read, other_read;
};

struct Tracked : Region {
  Use use;
  bool shared;
  Cell* cells;  // one for each byte; null where nothing may be written
};

struct Block {
  uint32_t first_epoch, fence_epoch, released_epoch;  // what came up to released_epoch, other blocks may see
  bool acquired;
};

enum class Kind { read, write, atomic, async_begin, async_end };

// Every region has 4 GiB of addresses for itself, so that the address tells which region was meant.
constexpr int slot_bits = 32;
constexpr int64_t slot_bytes = int64_t{1} << slot_bits, page = 4096;
constexpr int warp_threads = 32;

char* arena;
std::vector<Tracked> slots;  // the first holds the fibers' stacks
std::vector<Block> blocks;   // of this launch, in the order of their runs
uint32_t epoch = 1;
Stamp now;

char* map(int64_t bytes, int64_t alignment) {
  if (bytes > slot_bytes / 4) fail("a buffer of %lld bytes is too large for the emulator", (long long)bytes);
  char* middle = arena + static_cast<int64_t>(slots.size()) * slot_bytes + slot_bytes / 2;
  // One alignment beyond a page: a multiple of the alignment and of no larger power of two.
  const int64_t mapped = (alignment + bytes + page - 1) / page * page;
  if (mprotect(middle, mapped, PROT_READ | PROT_WRITE) != 0)
    fail("no memory for %lld bytes", (long long)bytes);
  return middle + alignment;
}

Cell* new_cells(int64_t bytes) {
  // calloc's pages cost nothing until they are touched.
  return static_cast<Cell*>(std::calloc(std::max<int64_t>(bytes, 1), sizeof(Cell)));
}

const char* verb(Kind kind) {
  return kind == Kind::read ? "reads" : kind == Kind::atomic ? "updates" : "writes";
}

// Blocks run one after another; on a GPU only a fence and an atomic of the one, then an atomic of the other
// order them.
bool ordered_across_blocks(const Stamp& old) {
  if (!blocks.back().acquired) return false;
  if (old.atomic) return true;
  const auto next = std::upper_bound(blocks.begin(), blocks.end(), old.epoch,
                                     [](uint32_t at, const Block& block) { return at < block.first_epoch; });
  return old.epoch <= std::prev(next)->released_epoch;
}

bool ordered(const Tracked& region, const Stamp& old, Kind kind) {
  if (old.epoch == 0 || (old.atomic && kind == Kind::atomic)) return true;
  if (old.epoch < blocks.back().first_epoch) return region.shared || ordered_across_blocks(old);
  if (old.epoch != epoch || old.thread == now.thread) return true;
  return old.thread / warp_threads == now.thread / warp_threads && old.warp_epoch < now.warp_epoch;
}

[[noreturn]] void fail_race(const Tracked& region, int64_t byte, const Stamp& old, Kind kind,
                            const char* did) {
  if (old.epoch < blocks.back().first_epoch)
    fail("race: %s byte %lld of %s, which another block %s, with no fence and atomic between", verb(kind),
         (long long)byte, region.name, did);
  char other[64];
  describe_thread(old.thread, other);
  fail("race: %s byte %lld of %s, which %s %s, with no barrier between", verb(kind), (long long)byte,
       region.name, other, did);
}

[[noreturn]] void fail_pending(const Tracked& region, int64_t byte, const Stamp& old, Kind kind) {
  char other[64];
  describe_thread(old.thread, other);
  fail("%s byte %lld of %s while the asynchronous copy of %s is not waited for", verb(kind), (long long)byte,
       region.name, other);
}

void add_read(Cell& cell) {
  // Two reads by different threads, by different warps where there are such: enough to convict any later
  // write.
  if (cell.read.epoch == epoch && cell.read.thread != now.thread) {
    const bool keep = cell.other_read.epoch == epoch && cell.other_read.thread != now.thread &&
                      cell.other_read.thread / warp_threads != now.thread / warp_threads &&
                      cell.read.thread / warp_threads == now.thread / warp_threads;
    if (!keep) cell.other_read = cell.read;
  }
  cell.read = now;
}

void touch(const Tracked& region, int64_t byte, Kind kind) {
  Cell& cell = region.cells[byte];
  if (cell.write.pending && kind != Kind::async_end && cell.write.epoch >= blocks.back().first_epoch)
    fail_pending(region, byte, cell.write, kind);
  if (cell.write.epoch == 0 && region.use == Use::write_first && (kind == Kind::read || kind == Kind::atomic))
    fail("%s byte %lld of %s, an output, before it was written", verb(kind), (long long)byte, region.name);
  if (!ordered(region, cell.write, kind)) fail_race(region, byte, cell.write, kind, "wrote");
  if (kind == Kind::read) return add_read(cell);
  if (!ordered(region, cell.read, kind)) fail_race(region, byte, cell.read, kind, "read");
  if (!ordered(region, cell.other_read, kind)) fail_race(region, byte, cell.other_read, kind, "read");
  cell = Cell{now, {}, {}};
  cell.write.atomic = kind == Kind::atomic;
  cell.write.pending = kind == Kind::async_begin;
}

// Null for threadIdx and constants, which live in the program itself.
const Tracked* region_of(const char* address, int bytes, Kind kind) {
  const uint64_t slot = static_cast<uint64_t>(address - arena) >> slot_bits;
  if (slot < slots.size()) return &slots[slot];
  if (address >= &__executable_start && address < &_end) return nullptr;
  fail("%s %d bytes at address %p, which belongs to no buffer", verb(kind), bytes, (const void*)address);
}

// `whole`: one instruction moves all the bytes, so that they must be aligned.
void check(const void* pointer, int bytes, Kind kind, bool whole) {
  const char* address = static_cast<const char*>(pointer);
  const Tracked* found = region_of(address, bytes, kind);
  if (found == nullptr || found == &slots.front()) return;
  const Tracked& region = *found;
  const int64_t first = address - region.begin, last = first + bytes - 1;
  if (first < 0 || last >= region.bytes)
    fail("%s bytes %lld to %lld of %s, which has %lld bytes", verb(kind), (long long)first, (long long)last,
         region.name, (long long)region.bytes);
  if (whole && reinterpret_cast<uintptr_t>(address) % bytes != 0)
    fail("%s %d bytes at once at byte %lld of %s, which is not aligned to them", verb(kind), bytes,
         (long long)first, region.name);
  if (region.use == Use::read_only && kind != Kind::read)
    fail("%s byte %lld of %s, an input", verb(kind), (long long)first, region.name);
  if (region.cells != nullptr)
    for (int64_t byte = first; byte <= last; ++byte) touch(region, byte, kind);
}

}  // namespace

void reserve_memory(int buffers) {
  const int64_t bytes = (buffers + 2) * slot_bytes;
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    fail("%lld bytes of addresses cannot be reserved; raise ulimit -v", (long long)bytes);
  arena = static_cast<char*>(reserved);
}

char* map_stacks(int64_t bytes) {
  char* begin = map(bytes, page);
  slots.push_back({{"the stack", begin, bytes}, Use::read_write, false, nullptr});
  return begin;
}

Region map_shared(int64_t bytes) {
  slots.push_back({{"shared memory", map(bytes, 16), bytes}, Use::read_write, true, new_cells(bytes)});
  return slots.back();
}

Region map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use) {
  Cell* cells = use == Use::read_only ? nullptr : new_cells(bytes);
  slots.push_back({{name, map(bytes, alignment), bytes}, use, false, cells});
  return slots.back();
}

void begin_launch() {
  blocks.clear();
  for (const Tracked& region : slots)
    if (region.cells != nullptr)
      std::memset(static_cast<void*>(region.cells), 0, region.bytes * sizeof(Cell));
}

void begin_block() {
  begin_epoch();
  blocks.push_back({epoch, 0, 0, false});
  const Tracked& shared = slots[1];
  std::memset(shared.begin, 0xff, shared.bytes);
}

void begin_epoch() { now.epoch = ++epoch; }

void begin_turn(int thread, int warp_epoch) {
  now.thread = thread;
  now.warp_epoch = warp_epoch;
}

void check_read(const void* address, int bytes, bool whole) { check(address, bytes, Kind::read, whole); }
void check_write(const void* address, int bytes, bool whole) { check(address, bytes, Kind::write, whole); }

void begin_async_write(void* shared, int bytes) {
  const Tracked* region = region_of(static_cast<const char*>(shared), bytes, Kind::async_begin);
  if (region != &slots[1])
    fail("an asynchronous copy writes %s, not shared memory", region ? region->name : "a constant");
  check(shared, bytes, Kind::async_begin, true);
}

void end_async_write(void* shared, int bytes) { check(shared, bytes, Kind::async_end, true); }

void check_atomic(const void* address, int bytes) {
  Block& block = blocks.back();
  block.acquired = true;
  block.released_epoch = block.fence_epoch;
  check(address, bytes, Kind::atomic, true);
}

void fence() { blocks.back().fence_epoch = epoch; }

void* dynamic_shared() { return slots[1].begin; }

}  // namespace autotune_emulator

// What -fsanitize=thread calls.
extern "C" {
using autotune_emulator::check_read;
using autotune_emulator::check_write;

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read1(void* address) { check_read(address, 1, true); }
void __tsan_read2(void* address) { check_read(address, 2, true); }
void __tsan_read4(void* address) { check_read(address, 4, true); }
void __tsan_read8(void* address) { check_read(address, 8, true); }
void __tsan_read16(void* address) { check_read(address, 16, true); }
void __tsan_write1(void* address) { check_write(address, 1, true); }
void __tsan_write2(void* address) { check_write(address, 2, true); }
void __tsan_write4(void* address) { check_write(address, 4, true); }
void __tsan_write8(void* address) { check_write(address, 8, true); }
void __tsan_write16(void* address) { check_write(address, 16, true); }
// Objects that are wider than their alignment, which a GPU moves in pieces.
void __tsan_unaligned_read2(void* address) { check_read(address, 2, false); }
void __tsan_unaligned_read4(void* address) { check_read(address, 4, false); }
void __tsan_unaligned_read8(void* address) { check_read(address, 8, false); }
void __tsan_unaligned_read16(void* address) { check_read(address, 16, false); }
void __tsan_unaligned_write2(void* address) { check_write(address, 2, false); }
void __tsan_unaligned_write4(void* address) { check_write(address, 4, false); }
void __tsan_unaligned_write8(void* address) { check_write(address, 8, false); }
void __tsan_unaligned_write16(void* address) { check_write(address, 16, false); }
void __tsan_read_range(void* address, long bytes) { check_read(address, static_cast<int>(bytes), false); }
void __tsan_write_range(void* address, long bytes) { check_write(address, static_cast<int>(bytes), false); }
}
