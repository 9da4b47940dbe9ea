// Reads a request and the buffers' bytes from standard input, runs the kernel and writes the buffers that it
// may have changed to standard output. Exit status 2 with one line on standard error: the kernel did
// something wrong.

#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "emulator.hpp"
#include "runtime.hpp"

// The kernel's own file ends with these.
extern "C" void autotune_emulator_kernel(const void* arguments);
extern "C" const size_t autotune_emulator_argument_bytes;

namespace {

using namespace autotune_emulator;

// The twins of launch.py's structures.
struct Request {
  uint32_t grid[3], block[3];
  int64_t shared_bytes;
  uint32_t seed, launches, cpu_seconds, buffers, argument_bytes, ranks;
};

struct Buffer {
  char name[64];
  int64_t bytes, alignment;
  int32_t argument_offset;
  Use use;
};

std::vector<char> arguments;

std::vector<char> read_bytes(size_t bytes) {
  std::vector<char> data(bytes);
  if (std::fread(data.data(), 1, bytes, stdin) != bytes) fail("the request is cut short");
  return data;
}

template <typename T>
T read_one() {
  T value;
  std::memcpy(&value, read_bytes(sizeof(T)).data(), sizeof(T));
  return value;
}

void limit_time(rlim_t seconds) {
  const rlimit limit{seconds, seconds + 5};  // SIGXCPU at the first, SIGKILL at the second
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

int main() {
  const Request request = read_one<Request>();
  limit_time(request.cpu_seconds);
  if (request.argument_bytes != autotune_emulator_argument_bytes)
    fail("struct Arguments has %zu bytes in CUDA and %u as packed", autotune_emulator_argument_bytes,
         request.argument_bytes);
  gridDim = {request.grid[0], request.grid[1], request.grid[2]};
  blockDim = {request.block[0], request.block[1], request.block[2]};

  reserve_memory(static_cast<int>(request.buffers), static_cast<int>(request.ranks));
  make_threads([] { autotune_emulator_kernel(arguments.data()); }, request.seed,
               static_cast<int>(request.ranks));
  map_shared(request.shared_bytes);
  inject_errors(request.seed);
  std::vector<Buffer> buffers(request.buffers);
  for (Buffer& buffer : buffers) buffer = read_one<Buffer>();
  arguments = read_bytes(request.argument_bytes);

  std::vector<char*> addresses;
  std::vector<std::vector<char>> contents;
  for (const Buffer& buffer : buffers) {
    addresses.push_back(map_buffer(buffer.name, buffer.bytes, buffer.alignment, buffer.use));
    std::memcpy(arguments.data() + buffer.argument_offset, &addresses.back(), sizeof(char*));
    contents.push_back(read_bytes(buffer.use == Use::workspace ? 0 : buffer.bytes));
  }
  for (uint32_t launch = 0; launch < request.launches; ++launch) {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (!contents[i].empty()) std::memcpy(addresses[i], contents[i].data(), contents[i].size());
    run_grid();
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].use == Use::write_first || buffers[i].use == Use::read_write)
      std::fwrite(addresses[i], 1, buffers[i].bytes, stdout);
  return 0;
}
