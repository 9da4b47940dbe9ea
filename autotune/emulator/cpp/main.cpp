// Loads the modules that its arguments name, reads a request and the buffers' bytes from standard input, runs
// the program's steps and writes the buffers that it may have changed to standard output. Exit status 2 with
// two lines on standard error: a kernel did something wrong, and the number of the step, -1 ahead of all.

#include <dlfcn.h>
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

namespace {

using namespace autotune_emulator;

// The twins of request.py's structures.
struct Request {
  uint32_t seed, runs, cpu_seconds, argument_bytes, modules, buffers, pointers, steps, ends;
};

struct Buffer {
  char name[64];
  int64_t bytes, alignment;
  int64_t pieces, piece_bytes;  // a sparse buffer has them; else none
  Use use;
};

// A member of the arguments that is, or begins with, the address of a buffer.
struct Pointer {
  int32_t argument_offset, buffer;
};

// A launch, or a memset of a part of a buffer.
struct Step {
  int32_t module, entry;              // none: a memset
  int32_t arguments, argument_bytes;  // where the launch's struct begins among all arguments
  uint32_t grid[3], block[3], ranks;
  int64_t shared_bytes;
  int64_t offset, bytes;
  int32_t buffer, value;
};

constexpr size_t argument_alignment = 64;
char* arguments;
// Of the launch that runs.
const Kernel* kernel;
const char* own_arguments;
int entry;

const Kernel* load_module(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) fail("%s", dlerror());
  return static_cast<const Kernel*>(dlsym(library, "autotune_emulator_kernel"));
}

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
  const size_t room = (bytes + argument_alignment - 1) / argument_alignment * argument_alignment;
  arguments = static_cast<char*>(std::aligned_alloc(argument_alignment, room));
  read_bytes(arguments, bytes);
}

// The bytes of a buffer, which are as many as given: those of its pieces if it is sparse.
struct Contents {
  Pieces pieces;
  std::vector<char> bytes;

  explicit Contents(const Buffer& buffer) : pieces{{0}, buffer.bytes} {
    if (buffer.pieces > 0) pieces = {read_many<int64_t>(buffer.pieces), buffer.piece_bytes};
    if (buffer.use != Use::workspace) bytes = read_many<char>(pieces.offsets.size() * pieces.bytes);
  }

  void copy_to(char* address) const {
    const char* piece = bytes.data();
    if (bytes.empty()) return;
    for (const int64_t offset : pieces.offsets) {
      std::memcpy(address + offset, piece, pieces.bytes);
      piece += pieces.bytes;
    }
  }

  void write_from(const char* address) const {
    for (const int64_t offset : pieces.offsets) std::fwrite(address + offset, 1, pieces.bytes, stdout);
  }
};

char* map(const Buffer& buffer, const Contents& contents) {
  if (buffer.pieces == 0) return map_buffer(buffer.name, buffer.bytes, buffer.alignment, buffer.use);
  return map_sparse_buffer(buffer.name, buffer.bytes, buffer.alignment, buffer.use, contents.pieces);
}

void limit_time(rlim_t seconds) {
  const rlimit limit{seconds, seconds + 5};  // SIGXCPU at the first, SIGKILL at the second
  setrlimit(RLIMIT_CPU, &limit);
}

// Room for the largest of the launches.
void make_room(const std::vector<Buffer>& buffers, const std::vector<Step>& steps, uint32_t seed) {
  int most_ranks = 1, most_threads = 0;
  int64_t most_shared_bytes = 0, most_bytes = 0;
  for (const Buffer& buffer : buffers) most_bytes = std::max(most_bytes, buffer.bytes);
  for (const Step& step : steps) {
    if (step.entry == none) continue;
    const uint32_t threads = step.ranks * step.block[0] * step.block[1] * step.block[2];
    most_ranks = std::max(most_ranks, static_cast<int>(step.ranks));
    most_threads = std::max(most_threads, static_cast<int>(threads));
    most_shared_bytes = std::max(most_shared_bytes, step.shared_bytes);
  }
  reserve_memory(static_cast<int>(buffers.size()), most_ranks, most_bytes);
  make_threads([] { kernel->call(entry, own_arguments); }, most_threads, seed);
  map_shared(most_shared_bytes);
}

void run_step(int number, const Step& step, const std::vector<const Kernel*>& modules,
              const std::vector<char*>& addresses, uint32_t ends) {
  if (step.entry == none) {
    std::memset(addresses[step.buffer] + step.offset, step.value, step.bytes);
    return;
  }
  entry = step.entry;
  kernel = modules[step.module];
  own_arguments = arguments + step.arguments;
  if (static_cast<size_t>(step.argument_bytes) != kernel->argument_bytes)
    fail("struct Arguments has %zu bytes in CUDA and %d as packed", kernel->argument_bytes,
         step.argument_bytes);
  allow_constants(kernel->begin, kernel->end);
  begin_positions(number, {step.grid[0], step.grid[1], step.grid[2]},
                  {step.block[0], step.block[1], step.block[2]}, static_cast<int>(step.ranks));
  use_static_shared(kernel->shared, kernel->end);
  set_shared_bytes(step.shared_bytes);
  run_grid(ends);
}

}  // namespace

int main(int, char** words) {
  Request request;
  read_bytes(&request, sizeof request);
  std::vector<const Kernel*> modules;
  for (uint32_t i = 0; i < request.modules; ++i) modules.push_back(load_module(words[1 + i]));
  limit_time(request.cpu_seconds);
  const auto buffers = read_many<Buffer>(request.buffers);
  const auto pointers = read_many<Pointer>(request.pointers);
  const auto steps = read_many<Step>(request.steps);
  read_arguments(request.argument_bytes);
  make_room(buffers, steps, request.seed);
  inject_errors(request.seed);

  std::vector<char*> addresses;
  std::vector<Contents> contents;
  contents.reserve(buffers.size());  // regions refer to their pieces
  for (const Buffer& buffer : buffers) {
    contents.emplace_back(buffer);
    addresses.push_back(map(buffer, contents.back()));
  }
  for (const Pointer& pointer : pointers) {
    uintptr_t address;  // holds how far from the buffer's beginning it is
    std::memcpy(&address, arguments + pointer.argument_offset, sizeof address);
    address += reinterpret_cast<uintptr_t>(addresses[pointer.buffer]);
    std::memcpy(arguments + pointer.argument_offset, &address, sizeof address);
  }
  for (uint32_t run = 0; run < request.runs; ++run) {
    for (size_t i = 0; i < buffers.size(); ++i) contents[i].copy_to(addresses[i]);
    forget_accesses();
    for (size_t i = 0; i < steps.size(); ++i)
      run_step(static_cast<int>(i), steps[i], modules, addresses, request.ends);
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].use == Use::write_first || buffers[i].use == Use::read_write)
      contents[i].write_from(addresses[i]);
  return 0;
}
