// setmaxnreg. What the compiler gave each thread at first is not known here: it is taken for the most that it
// may.

#include "register_pool.hpp"

#include <algorithm>
#include <map>

#include "emulator.hpp"
#include "position.hpp"
#include "threads.hpp"
#include "warpgroups.hpp"

namespace autotune_emulator {
namespace {

constexpr int registers_of_sm = 65536, most_registers = 256, granularity = 8;

std::map<int, int> register_counts;  // one for each warpgroup that has set it
std::map<int, int> wanted;           // one for each that is about to
int free_registers[cluster_blocks];  // each block's, in terms of a warpgroup's threads

int count_at_first() {
  return std::min(registers_of_sm / block_size() / granularity * granularity, most_registers);
}

int count_of(int warpgroup) {
  const auto found = register_counts.find(warpgroup);
  return found == register_counts.end() ? count_at_first() : found->second;
}

void fail_without_registers(const void* awaited, int line) {
  const int warpgroup = running_warpgroup();
  fail("waits for ever at line %d: takes %d registers where it has %d, and %d are free", line,
       wanted[warpgroup], count_of(warpgroup), *static_cast<const int*>(awaited));
}

}  // namespace

void set_registers(int count, int line) {
  const int warpgroup = running_warpgroup();
  const auto asked = wanted.find(warpgroup);
  if (asked != wanted.end() && asked->second != count)
    fail("line %d: setmaxnreg %d, where other threads of the warpgroup have %d", line, count, asked->second);
  wanted[warpgroup] = count;
  int& free_now = free_registers[running_rank()];
  meet_warpgroup("setmaxnreg", line, [](int) {});
  while (wanted.count(warpgroup) != 0) {
    const int more = count - count_of(warpgroup);
    if (more > free_now) {
      sleep_on(&free_now, line, fail_without_registers);
      continue;
    }
    free_now -= more;
    register_counts[warpgroup] = count;
    wanted.erase(warpgroup);
    wake(&free_now);
  }
}

void drop_register_counts() {
  register_counts.clear();
  wanted.clear();
  std::fill(std::begin(free_registers), std::end(free_registers), 0);
}

}  // namespace autotune_emulator
