#pragma once
#include "rows/norm_backward/row_pair.cuh"
// `RowPairs`: the rows that a thread has in turn, of which so many as `rows_ahead` are loaded while one is
// computed.

// What is known of a row before it is read: what is subtracted from x, the mean or else the first element,
// and rstd if it is saved.
struct RowStatistics {
  float origin;
  float rstd;
};

// The rows of a thread: `first`, and then each that is `step` further on.
struct RowTurns {
  const Arguments& arguments;
  const Problem& problem;
  int column;  // the thread's first element
  long long row;
  long long step;

  __device__ __forceinline__ long long after(int turns) const { return row + turns * step; }

  // Nothing of a row beyond the last one is inside.
  __device__ __forceinline__ Span columns(int turns) const {
    return {0, after(turns) < problem.rows ? problem.columns - column : 0};
  }

  __device__ __forceinline__ PairSource source(int turns) const {
    const long long place = after(turns) * problem.ldx + column;
    return {arguments.x + place, arguments.dy + place, columns(turns)};
  }

  __device__ __forceinline__ RowStatistics statistics(int turns) const {
    RowStatistics known = {0.0f, 0.0f};
    if (columns(turns).end <= 0) return known;
#if saved
    known.rstd = arguments.rstd[after(turns)];
#endif
#if saved && centered
    known.origin = arguments.mean[after(turns)];
#elif centered
    known.origin = to_float(arguments.x[after(turns) * problem.ldx]);
#endif
    return known;
  }
};

struct LoadedRow {
  RowPair pair;
  RowStatistics known;
};

#if rows_ahead == 0
class RowPairs {
 public:
  __device__ __forceinline__ explicit RowPairs(const RowTurns&) {}

  // The row of this turn.
  __device__ __forceinline__ LoadedRow next(const RowTurns& turns) {
    return {RowPair(turns.source(0)), turns.statistics(0)};
  }
};
#elif hold == registers
class RowPairs {
 public:
  __device__ __forceinline__ explicit RowPairs(const RowTurns& turns)
      : ahead_{RowPair(turns.source(0)), turns.statistics(0)} {}

  __device__ __forceinline__ LoadedRow next(const RowTurns& turns) {
    const LoadedRow row = ahead_;
    ahead_ = {RowPair(turns.source(1)), turns.statistics(1)};
    return row;
  }

 private:
  LoadedRow ahead_;
};
#else
// A ring of rows in shared memory. Statistics, which wait in registers, are loaded one turn ahead.
class RowPairs {
 public:
  __device__ __forceinline__ explicit RowPairs(const RowTurns& turns)
      : ring_(reinterpret_cast<Vector*>(dynamic_shared<unsigned char>() + Problem::held_at) + threadIdx.x),
        slot_(0),
        known_(turns.statistics(0)) {
#  pragma unroll
    for (int turn = 0; turn < Schedule::rows_ahead; ++turn) copy(turn, turns.source(turn));
  }

  __device__ __forceinline__ LoadedRow next(const RowTurns& turns) {
    // The slot of the row before, of which this thread needs nothing any more.
    copy(slot_ == 0 ? Schedule::rows_ahead : slot_ - 1, turns.source(Schedule::rows_ahead));
    async_wait<Schedule::rows_ahead>();
    const LoadedRow row = {pair_in(slot_), known_};
    known_ = turns.statistics(1);
    slot_ = slot_ == Schedule::rows_ahead ? 0 : slot_ + 1;
    return row;
  }

 private:
  __device__ __forceinline__ RowPair pair_in(int slot) const {
    return RowPair(ring_ + slot * RowPair::vectors);
  }

  // A group of copies for each row, also for those beyond the last one.
  __device__ __forceinline__ void copy(int slot, const PairSource& source) {
    pair_in(slot).copy(source);
    async_commit();
  }

  Vector* ring_;
  int slot_;
  RowStatistics known_;
};
#endif
