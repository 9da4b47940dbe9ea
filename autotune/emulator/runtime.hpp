#pragma once
// What the parts of the runtime know of one another. A process runs one kernel on one set of buffers.

#include <cstdint>

namespace autotune_emulator {

constexpr int warp_threads = 32, block_threads = 1024, cluster_blocks = 16;  // limits but for the first

// How a kernel may use a buffer.
enum class Use : int32_t {
  read_only,
  write_first,  // holds poison until it is written
  read_write,
  workspace,  // zeroed at first, then kept from launch to launch
};

constexpr int none = -1;

enum class Access { read, write, atomic, async_begin, async_end };

struct Cell;

struct Region {
  const char* name;
  char* begin;
  int64_t bytes;
  Use use;
  int rank;     // of the block whose shared memory it is; else none
  Cell* cells;  // of races.cpp; null where no thread may write
};

// Prints one line that names the running thread, if any, and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);
const char* verb(Access access);

// memory.cpp: regions far from one another, and the check of every access.
void reserve_memory(int buffers, int ranks);
char* map_stacks(int64_t bytes);  // first
void map_shared(int64_t bytes);   // second, for each block of a cluster
char* map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use);
void poison_shared();
void check(const void* address, int bytes, Access access, bool at_once);
void check_async_copy(void* shared, const void* global, int bytes);

// races.cpp: who accessed what since when.
void track(Region& region);
void record(const Region& region, int64_t first, int64_t last, Access access);
void begin_launch();
void begin_cluster(int ranks);
void begin_epoch(int rank);           // after a barrier of the whole block
void begin_cluster_epoch(int ranks);  // after a barrier of the whole cluster
void end_block(int rank);             // by the last of its threads
void begin_turn(int rank, int thread,
                int warp_epoch);  // a thread goes on; warp_epoch counts its warp's barriers
void record_atomic();

// threads.cpp: a fiber for each thread of a cluster.
void make_threads(void (*kernel)(), uint32_t seed, int ranks);
void run_grid();
void describe_thread(int rank, int thread,
                     char (&text)[96]);  // "thread (x, y, z)", if need be with its block
int running_thread();                    // among those of the cluster
int running_rank();

// math.cpp: errors that differ from seed to seed, from seed 2 on.
void inject_errors(uint32_t seed);

// async_copies.cpp
void drop_async_copies(size_t threads);

}  // namespace autotune_emulator
