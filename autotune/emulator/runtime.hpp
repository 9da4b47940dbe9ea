#pragma once
// What the parts of the runtime know of one another. A process runs one kernel on one set of buffers.

#include <cstdint>

namespace autotune_emulator {

// How a kernel may use a buffer.
enum class Use : int32_t {
  read_only,
  write_first,  // holds poison until it is written
  read_write,
  workspace,  // zeroed at first, then kept from launch to launch
};

struct Region {
  const char* name;
  char* begin;
  int64_t bytes;
};

// Prints one line that names the running thread, if any, and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

// memory.cpp: regions far from one another, the check of every access, and races.
void reserve_memory(int buffers);
char* map_stacks(int64_t bytes);
Region map_shared(int64_t bytes);
Region map_buffer(const char* name, int64_t bytes, int64_t alignment, Use use);
void begin_launch();
void begin_block();
void begin_epoch();                           // after a barrier of the whole block
void begin_turn(int thread, int warp_epoch);  // a thread goes on; warp_epoch counts its warp's barriers
void check_read(const void* address, int bytes, bool whole);
void check_write(const void* address, int bytes, bool whole);
void begin_async_write(void* shared, int bytes);
void end_async_write(void* shared, int bytes);

// threads.cpp: a fiber for each thread.
void make_threads(void (*kernel)(), uint32_t seed);
void run_grid();
void describe_thread(int thread, char (&text)[64]);  // "thread (x, y, z)"
int running_thread();                                // -1 outside of threads

// async_copies.cpp
void drop_async_copies();

}  // namespace autotune_emulator
