#include "mbarriers.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "agents.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "position.hpp"
#include "threads.hpp"

namespace autotune_emulator {
namespace {

struct Mbarrier {
  int rank;      // its block's
  int agent;     // that writes what its copies bring
  int arrivals;  // a phase's
  int missing_arrivals;
  int64_t missing_bytes = 0;
  uint32_t phase = 0;  // the running one
  int initialiser;     // the thread, and when
  uint32_t initialised;
  Knowledge arriving, complete;  // what threads that arrive bring, and what waiters get
  std::vector<BulkCopy> copies;  // under way
};

constexpr int mbarrier_bytes = 8;
std::map<const void*, Mbarrier> mbarriers;
uint32_t copies_issued;

Mbarrier& find(void* address, const char* what) {
  const auto found = mbarriers.find(address);
  if (found == mbarriers.end()) fail("%s an mbarrier that was not initialised", what);
  const Mbarrier& mbarrier = found->second;
  if (!knows(mbarrier.initialiser, mbarrier.initialised)) {
    Name other;
    describe_thread(mbarrier.initialiser, other);
    fail("race: %s an mbarrier that %s initialised, with no barrier between", what, other);
  }
  return found->second;
}

void complete_phase_if_due(Mbarrier& mbarrier) {
  if (mbarrier.missing_arrivals > 0 || mbarrier.missing_bytes != 0) return;
  ++mbarrier.phase;
  mbarrier.missing_arrivals = mbarrier.arrivals;
  mbarrier.complete = mbarrier.arriving;
}

// Ties go to even; infinities and NaN stay.
void round_to_tf32(char* floats, int bytes) {
  for (char* at = floats; at < floats + bytes; at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
    std::memcpy(at, &bits, sizeof bits);
  }
}

void land(Mbarrier& mbarrier, const BulkCopy& copy) {
  now.layout = copy.layout;
  const char* early = copy.early.data();
  for (const Piece& piece : copy.pieces) {
    check(piece.shared, piece.bytes, Access::async_end, false);
    if (piece.global == nullptr) {
      std::memset(piece.shared, 0, piece.bytes);
    } else {
      check(piece.global, piece.bytes, Access::bulk_read_end, false);
      std::memcpy(piece.shared, copy.early.empty() ? piece.global : early, piece.bytes);
      if (copy.tf32) round_to_tf32(piece.shared, piece.bytes);
    }
    if (!copy.early.empty()) early += piece.bytes;
    mbarrier.missing_bytes -= piece.bytes;
  }
}

void land_all(Mbarrier& mbarrier) {
  if (mbarrier.copies.empty()) return;
  begin_agent_turn(mbarrier.agent, mbarrier.arriving);
  for (const BulkCopy& copy : mbarrier.copies) land(mbarrier, copy);
  mbarrier.copies.clear();
  begin_turn();
  complete_phase_if_due(mbarrier);
}

void fail_asleep(const void* address, int line) {
  const Mbarrier& mbarrier = mbarriers.at(address);
  // A barrier of copies that bring too few bytes holds up all others.
  const auto cause = std::find_if(mbarriers.begin(), mbarriers.end(), [](const auto& one) {
    return one.second.missing_arrivals == 0 && one.second.missing_bytes != 0;
  });
  if (mbarrier.missing_arrivals > 0 && cause != mbarriers.end())
    fail("waits for ever at line %d: another mbarrier lacks 0 arrivals and %lld bytes", line,
         (long long)cause->second.missing_bytes);
  fail("waits for ever at line %d: phase %u of the mbarrier lacks %d arrivals and %lld bytes", line,
       mbarrier.phase, mbarrier.missing_arrivals, (long long)mbarrier.missing_bytes);
}

}  // namespace

void mbarrier_init(void* address, int arrivals) {
  check_shared("an mbarrier", address, mbarrier_bytes, mbarrier_bytes);
  check(address, mbarrier_bytes, Access::write, true);
  if (arrivals < 1) fail("an mbarrier is initialised for %d arrivals, expected 1 or more", arrivals);
  Mbarrier mbarrier{};
  mbarrier.rank = running_rank();
  mbarrier.agent = new_agent(mbarrier.rank, "a bulk copy");
  mbarrier.arrivals = mbarrier.missing_arrivals = arrivals;
  mbarrier.initialiser = running_thread();
  mbarrier.initialised = now.stamp.tick;
  mbarriers[address] = mbarrier;
}

void mbarrier_expect(void* address, int bytes) {
  Mbarrier& mbarrier = find(address, "expects bytes at");
  check(address, mbarrier_bytes, Access::atomic, true);
  mbarrier.missing_bytes += bytes;
}

void mbarrier_arrive(void* address) {
  Mbarrier& mbarrier = find(address, "arrives at");
  check(address, mbarrier_bytes, Access::atomic, true);
  release(mbarrier.arriving);
  if (mbarrier.missing_arrivals-- == 0) fail("arrives at an mbarrier at which all have arrived");
  complete_phase_if_due(mbarrier);
  wake(address);
}

void mbarrier_arrive_at_rank(void* address, int rank) {
  begin_remote_order();
  mbarrier_arrive(in_shared_of_rank(address, rank));
}

void mbarrier_wait(void* address, unsigned int parity, int line) {
  if (parity > 1) fail("line %d: waits for the parity %u, expected 0 or 1", line, parity);
  Mbarrier& mbarrier = find(address, "waits at");
  check(address, mbarrier_bytes, Access::atomic_read, true);
  while (mbarrier.phase % 2 == parity) {
    land_all(mbarrier);
    if (mbarrier.phase % 2 == parity)
      sleep_on(address, line, fail_asleep);
    else
      wake(address);
  }
  acquire(mbarrier.complete);
}

void issue(BulkCopy copy, void* address) {
  Mbarrier& mbarrier = find(address, "copies bulk for");
  check(address, mbarrier_bytes, Access::atomic, true);
  if (!proxy_sees(mbarrier.initialiser, mbarrier.initialised))
    fail("a bulk copy counts at an mbarrier that was initialised with no proxy fence since");
  // Every other copy reads late: both extremes of what the hardware may do.
  const bool late = copies_issued++ % 2 != 0;
  begin_bulk(mbarrier.rank, mbarrier.agent);
  for (const Piece& piece : copy.pieces) {
    if (piece.global != nullptr) check(piece.global, piece.bytes, Access::bulk_read_begin, false);
    if (piece.global != nullptr && !late)
      copy.early.insert(copy.early.end(), piece.global, piece.global + piece.bytes);
    if (piece.global == nullptr && !late) copy.early.insert(copy.early.end(), piece.bytes, 0);
    check(piece.shared, piece.bytes, Access::bulk_begin, false);
    std::memset(piece.shared, 0xff, piece.bytes);
  }
  copy.thread = running_thread();
  mbarrier.copies.push_back(std::move(copy));
  wake(address);
}

void send_to_rank(void* shared, int rank, const void* value, int bytes, void* address) {
  char* const target = in_shared_of_rank(shared, rank);
  void* const barrier = in_shared_of_rank(address, rank);
  Mbarrier& mbarrier = find(barrier, "sends for");
  check(target, bytes, Access::async_begin, true);
  std::memset(target, 0xff, bytes);
  char* const sent = static_cast<char*>(const_cast<void*>(value));
  mbarrier.copies.push_back({{{target, sent, bytes}}, 0, false, {sent, sent + bytes}, running_thread()});
  wake(barrier);
}

void drop_mbarriers() { mbarriers.clear(); }

void check_bulk_copies_landed() {
  for (const auto& [address, mbarrier] : mbarriers) {
    if (mbarrier.copies.empty()) continue;
    select_thread(mbarrier.copies.front().thread);
    fail("ends while its bulk copy is under way, which nobody waited for");
  }
}

}  // namespace autotune_emulator
