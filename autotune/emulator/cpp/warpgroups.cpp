#include "warpgroups.hpp"

#include <map>

#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

struct Meeting {
  const char* what;
  int line;
  int first;  // the thread that came first
  int came;
  unsigned int number;  // meetings so far
};

std::map<int, Meeting> meetings;  // one for each warpgroup

void fail_apart(const void* awaited, int line) {
  const Meeting& meeting = *static_cast<const Meeting*>(awaited);
  fail("waits for ever at line %d: %d of the %d threads of its warpgroup have come to the %s", line,
       meeting.came, warpgroup_threads, meeting.what);
}

}  // namespace

void drop_warpgroups() { meetings.clear(); }

int running_warpgroup() {
  const int of_block = (block_size() + warpgroup_threads - 1) / warpgroup_threads;
  return running_rank() * of_block + thread_in_block(running_thread()) / warpgroup_threads;
}

int thread_in_warpgroup() { return thread_in_block(running_thread()) % warpgroup_threads; }

void meet_warpgroup(const char* what, int line, void (*act)(int warpgroup)) {
  Meeting& meeting = meetings[running_warpgroup()];
  if (meeting.came == 0) {
    meeting.what = what;
    meeting.line = line;
    meeting.first = running_thread();
  } else if (meeting.line != line || meeting.what != what) {
    Name other;
    describe_thread(meeting.first, other);
    fail("divergent: comes to the %s of line %d, but %s of its warpgroup waits at the %s of line %d", what,
         line, other, meeting.what, meeting.line);
  }
  const unsigned int number = meeting.number;
  if (++meeting.came == warpgroup_threads) {
    act(running_warpgroup());
    meeting.came = 0;
    ++meeting.number;
    wake(&meeting);
  }
  while (meeting.number == number) sleep_on(&meeting, line, fail_apart);
}

}  // namespace autotune_emulator
