#pragma once
// A region of memory that a kernel may access, and the ways of accessing it.

#include <cstdint>
#include <vector>

namespace autotune_emulator {

// How a kernel may use a buffer.
enum class Use : int32_t {
  read_only,
  write_first,  // holds poison until it is written
  read_write,
  workspace,  // zeroed at first, then kept from run to run
};

enum class Access {
  read,
  constant_read,  // through the cache that does not see what the launch writes
  write,
  atomic,
  atomic_read,
  async_begin,      // an asynchronous copy is issued: until it lands, nobody may access its target
  bulk_begin,       // the same by the asynchronous proxy, which sees ordinary writes after a proxy fence only
  async_end,        // it lands
  bulk_add,         // or is added to what is there, as by an atomic
  bulk_read_begin,  // a bulk copy that is issued may read until it lands
  bulk_read_end,
  bulk_look,  // a thread issues, with others, what reads there
};

inline bool is_read(Access access) {
  return access <= Access::constant_read || access == Access::atomic_read ||
         access >= Access::bulk_read_begin;
}
inline bool is_atomic(Access access) {
  return access == Access::atomic || access == Access::atomic_read || access == Access::bulk_add;
}
inline const char* verb(Access access) {
  return is_read(access) ? "reads" : is_atomic(access) ? "updates" : "writes";
}

// The parts of a sparse region that exist: as many bytes at each offset, in ascending order.
struct Pieces {
  std::vector<int64_t> offsets;
  int64_t bytes;
};

struct Cell;

struct Region {
  const char* name;
  char* begin;
  int64_t bytes;     // that the running launch may access
  int64_t capacity;  // the most bytes that any launch may access
  Use use;
  int rank;              // the block whose shared memory it is; else none
  Cell* cells;           // races.cpp has them; null where no thread may write, and of sparse regions
  const Pieces* pieces;  // null: all of it
};

}  // namespace autotune_emulator
