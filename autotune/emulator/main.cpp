// Reads a request and the buffers' bytes from standard input, runs the program's steps and writes the buffers
// that it may have changed to standard output. Exit status 2 with one line on standard error: a kernel did
// something wrong.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "grid.hpp"
#include "math.hpp"
#include "memory.hpp"
#include "position.hpp"
#include "races.hpp"
#include "threads.hpp"

// The source ends with these.
extern "C" void autotune_emulator_kernel(int entry, const void* arguments);
extern "C" const size_t autotune_emulator_argument_bytes;

namespace {

using namespace autotune_emulator;

// The twins of request.py's structures.
struct Request {
  uint32_t seed, runs, cpu_seconds, argument_bytes, buffers, pointers, steps;
};

struct Buffer {
  char name[64];
  int64_t bytes, alignment;
  Use use;
};

// A member of the arguments that is, or begins with, the address of a buffer.
struct Pointer {
  int32_t argument_offset, buffer;
};

// A launch, or a memset of a part of a buffer.
struct Step {
  int32_t entry;  // none: a memset
  uint32_t grid[3], block[3], ranks;
  int64_t shared_bytes;
  int64_t offset, bytes;
  int32_t buffer, value;
};

constexpr size_t argument_alignment = 64;
char* arguments;
int entry;

void read_bytes(void* target, size_t bytes) {
  if (std::fread(target, 1, bytes, stdin) != bytes) fail("the request is cut short");
}

template <typename T>
std::vector<T> read_many(size_t count) {
  std::vector<T> values(count);
  read_bytes(values.data(), count * sizeof(T));
  return values;
}

void read_arguments(size_t bytes) {
  if (bytes != autotune_emulator_argument_bytes)
    fail("struct Arguments has %zu bytes in CUDA and %zu as packed", autotune_emulator_argument_bytes, bytes);
  const size_t room = (bytes + argument_alignment - 1) / argument_alignment * argument_alignment;
  arguments = static_cast<char*>(std::aligned_alloc(argument_alignment, room));
  read_bytes(arguments, bytes);
}

void limit_time(rlim_t seconds) {
  const rlimit limit{seconds, seconds + 5};  // SIGXCPU at the first, SIGKILL at the second
  setrlimit(RLIMIT_CPU, &limit);
}

// Room for the largest of the launches.
void make_room(const Request& request, const std::vector<Step>& steps) {
  int most_ranks = 1, most_threads = 0;
  int64_t most_shared_bytes = 0;
  for (const Step& step : steps) {
    if (step.entry == none) continue;
    const uint32_t threads = step.ranks * step.block[0] * step.block[1] * step.block[2];
    most_ranks = std::max(most_ranks, static_cast<int>(step.ranks));
    most_threads = std::max(most_threads, static_cast<int>(threads));
    most_shared_bytes = std::max(most_shared_bytes, step.shared_bytes);
  }
  reserve_memory(static_cast<int>(request.buffers), most_ranks);
  make_threads([] { autotune_emulator_kernel(entry, arguments); }, most_threads, request.seed);
  map_shared(most_shared_bytes);
}

void run_step(const Step& step, const std::vector<char*>& addresses) {
  if (step.entry == none) {
    std::memset(addresses[step.buffer] + step.offset, step.value, step.bytes);
    return;
  }
  entry = step.entry;
  begin_positions({step.grid[0], step.grid[1], step.grid[2]}, {step.block[0], step.block[1], step.block[2]},
                  static_cast<int>(step.ranks));
  set_shared_bytes(step.shared_bytes);
  run_grid();
}

}  // namespace

int main() {
  Request request;
  read_bytes(&request, sizeof request);
  limit_time(request.cpu_seconds);
  const auto buffers = read_many<Buffer>(request.buffers);
  const auto pointers = read_many<Pointer>(request.pointers);
  const auto steps = read_many<Step>(request.steps);
  read_arguments(request.argument_bytes);
  make_room(request, steps);
  inject_errors(request.seed);

  std::vector<char*> addresses;
  std::vector<std::vector<char>> contents;
  for (const Buffer& buffer : buffers) {
    addresses.push_back(map_buffer(buffer.name, buffer.bytes, buffer.alignment, buffer.use));
    contents.push_back(read_many<char>(buffer.use == Use::workspace ? 0 : buffer.bytes));
  }
  for (const Pointer& pointer : pointers)
    std::memcpy(arguments + pointer.argument_offset, &addresses[pointer.buffer], sizeof(char*));
  for (uint32_t run = 0; run < request.runs; ++run) {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (!contents[i].empty()) std::memcpy(addresses[i], contents[i].data(), contents[i].size());
    forget_accesses();
    for (const Step& step : steps) run_step(step, addresses);
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].use == Use::write_first || buffers[i].use == Use::read_write)
      std::fwrite(addresses[i], 1, buffers[i].bytes, stdout);
  return 0;
}
