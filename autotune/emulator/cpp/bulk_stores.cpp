// cp.async.bulk, cp.async.bulk.tensor and cp.reduce.async.bulk.tensor from shared memory. A group's sources
// are read, and its bytes are written, when its thread waits for that.

#include "bulk_stores.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "agents.hpp"
#include "boxes.hpp"
#include "emulator.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "position.hpp"
#include "sums.hpp"

namespace autotune_emulator {
namespace {

struct Store {
  Box box;
  bool adds;
  int group;
  bool read = false;       // whether the source may be written again
  std::vector<char> data;  // that was read
};

struct StoreQueue {
  int agent;
  int committed = 0;  // groups so far
  std::vector<Store> stores;
  Knowledge done;  // what the agent did, for who waits
};

std::map<int, StoreQueue> store_queues;  // one for each thread that stores
uint32_t stores_issued;

void take_data(Store& store) {
  for (const Piece& piece : store.box.pieces)
    store.data.insert(store.data.end(), piece.shared, piece.shared + piece.bytes);
}

void end_read(Store& store) {
  if (store.read) return;
  if (store.data.empty()) take_data(store);
  for (const Piece& piece : store.box.pieces) check(piece.shared, piece.bytes, Access::bulk_read_end, false);
  store.read = true;
}

void write(const Store& store) {
  now.layout = 0;
  const char* data = store.data.data();
  for (const Piece& piece : store.box.pieces) {
    check(piece.global, piece.bytes, store.adds ? Access::bulk_add : Access::async_end, false);
    if (store.adds) {
      add_in_place(store.box.added, piece.global, data, piece.bytes);
    } else {
      std::memcpy(piece.global, data, piece.bytes);
    }
    data += piece.bytes;
  }
}

// Of the groups up to one, that its thread waits for.
void finish(StoreQueue& queue, int last_group, bool read_only) {
  begin_agent_turn(queue.agent, queue.done);
  std::vector<Store> left;
  for (Store& store : queue.stores) {
    if (store.group > last_group) {
      left.push_back(std::move(store));
      continue;
    }
    end_read(store);
    if (read_only) {
      left.push_back(std::move(store));
    } else {
      write(store);
    }
  }
  queue.stores = std::move(left);
  begin_turn();
}

StoreQueue& own_queue() {
  const auto found = store_queues.find(running_thread());
  if (found != store_queues.end()) return found->second;
  StoreQueue& queue = store_queues[running_thread()];
  queue.agent = new_agent(running_rank(), "a bulk store");
  return queue;
}

void issue(Store store) {
  StoreQueue& queue = own_queue();
  store.group = queue.committed;
  begin_bulk(running_rank(), queue.agent, layout_of_swizzle(store.box.swizzle_bytes));
  for (const Piece& piece : store.box.pieces) {
    check(piece.shared, piece.bytes, Access::bulk_read_begin, false);
    if (store.adds) continue;
    check(piece.global, piece.bytes, Access::bulk_begin, false);
    std::memset(piece.global, 0xff, piece.bytes);
  }
  // Every other store reads late: both extremes of what the hardware may do.
  if (stores_issued++ % 2 == 0) take_data(store);
  queue.stores.push_back(std::move(store));
}

}  // namespace

void bulk_store(void* global, const void* shared, int bytes) {
  if (bytes < bulk_unit_bytes || bytes % bulk_unit_bytes != 0 ||
      reinterpret_cast<uintptr_t>(global) % bulk_unit_bytes != 0)
    fail("a bulk store of %d bytes to address %p, expected multiples of %d", bytes, global, bulk_unit_bytes);
  check_shared("the source of a bulk store", shared, bytes, bulk_unit_bytes);
  char* source = static_cast<char*>(const_cast<void*>(shared));
  issue({{{{source, static_cast<char*>(global), bytes}}, Added::not_at_all, 0, false}, false, 0, false, {}});
}

void tensor_store(const void* tensor_map, const int* at, int dimensions, const void* shared, bool adds) {
  Store store{box_at(tensor_map, at, dimensions, shared, "the source of a bulk store"), adds, 0, false, {}};
  // The programming guide: where a box is stored, its first element may not lie before the tensor.
  for (int dimension = 0; dimension < dimensions; ++dimension)
    if (at[dimension] < 0)
      fail("a bulk store to a box that begins at %d along dimension %d, expected 0 or more", at[dimension],
           dimension);
  std::vector<Piece>& pieces = store.box.pieces;
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(),
                              [](const Piece& piece) { return piece.global == nullptr; }),
               pieces.end());
  // Seen on an H200, no manual says so: rows that end within a unit are written to its end.
  for (const Piece& piece : pieces)
    if (piece.bytes != bulk_unit_bytes)
      fail("a bulk store to rows that end %d bytes into a unit of %d, which is written whole", piece.bytes,
           bulk_unit_bytes);
  if (adds && store.box.added == Added::not_at_all)
    fail("a bulk store adds elements of a type that has no sums");
  issue(std::move(store));
}

void store_commit() { ++own_queue().committed; }

void store_wait(int pending_groups, bool read_only) {
  StoreQueue& queue = own_queue();
  finish(queue, queue.committed - 1 - pending_groups, read_only);
  acquire(queue.done);
}

void drop_bulk_stores() { store_queues.clear(); }

void end_bulk_stores() {
  for (auto& [thread, queue] : store_queues) {
    select_thread(thread);
    begin_turn();
    for (const Store& store : queue.stores)
      if (!store.read) fail("ends while its bulk store may read shared memory, with no wait for it");
    finish(queue, queue.committed, false);
  }
  select_thread(none);
}

}  // namespace autotune_emulator
