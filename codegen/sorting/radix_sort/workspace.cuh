#pragma once
#include "cuda/status_words.cuh"
#include "sorting/keys.cuh"
// What launches leave for others in the workspace, of each row and digit. `tickets`, `ended` and `counts` are
// zero between calls.

using Count = Problem::Count;
using Status = StatusWord<Count>;

constexpr int all_bins = Problem::passes * bins;  // of all digits of a row

struct Workspace {
  unsigned long long* tickets;  // tiles that were drawn
  Count* counts;                // how many keys have a digit
  Count* begins;                // where those go
  Status* words;                // of tiles
  unsigned* varying;            // the digits that the keys of a row differ in, a bit for each
  int* ended;                   // blocks that have counted keys of a row

  __device__ __forceinline__ Workspace(void* memory, long long rows, long long tiles) {
    tickets = static_cast<unsigned long long*>(memory);
    counts = reinterpret_cast<Count*>(tickets + 2);
    begins = counts + rows * all_bins;
    words = reinterpret_cast<Status*>(begins + rows * all_bins);
    varying = reinterpret_cast<unsigned*>(words + rows * tiles * bins);
    ended = reinterpret_cast<int*>(varying + rows);
  }
};
