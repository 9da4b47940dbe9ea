#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>
// Which kernel serves some sizes: the twin of autotune/dispatcher/choice, in the same order of operations.
// Compile without contraction (-ffp-contract=off) where the CPU has FMA: a fused operation may decide ties
// otherwise.

namespace autotune {

struct Rules {
  double farthest;       // ratio of two sizes beyond which a record does not serve
  double doubt;          // a time's logarithm errs by it for each e-fold between sizes
  double model_tie;      // ratio of two modelled times of which neither is believed to be shorter
  double record_tie;     // the same of a record's schedule and the model's
  double least_seconds;  // nothing takes less
};

template <int size_count>
struct Record {
  long long sizes[size_count];
  int schedule;
  double seconds;    // measured or modelled
  double modelled;   // by the model alone
  bool is_modelled;  // not measured
  bool own_only;     // compiled for its own sizes alone
  bool unconfirmed;  // timed with another program
};

struct Choice {
  int schedule;  // -1 if none serves
  int record;    // -1 by the model's choice
};

template <int size_count>
struct Tables {
  const Record<size_count>* records;
  int record_count;
  int schedule_count;  // those that may serve any size, best guess first
};

template <int size_count>
bool near(const Rules& rules, const long long* sizes, const Record<size_count>& record) {
  for (int i = 0; i < size_count; ++i) {
    const long long here = sizes[i], there = record.sizes[i];
    if (static_cast<double>(std::max(here, there)) >
        rules.farthest * static_cast<double>(std::max(1LL, std::min(here, there))))
      return false;
  }
  return true;
}

// `seconds(schedule)` is the modelled time, negative where the schedule cannot serve; `roofline` is the least
// time.
template <int size_count, class Seconds>
Choice select(const Rules& rules, const Tables<size_count>& tables, const long long* sizes, double roofline,
              Seconds seconds) {
  const double least = std::max(roofline, rules.least_seconds);
  struct Ranked {
    int record;
    bool exact;
    double distance, modelled;
  };
  std::vector<Ranked> ranked;
  for (int i = 0; i < tables.record_count; ++i) {
    const Record<size_count>& record = tables.records[i];
    const bool own = std::equal(sizes, sizes + size_count, record.sizes);
    if ((record.own_only && !own) || !near(rules, sizes, record)) continue;
    const double modelled = seconds(record.schedule);
    if (modelled < 0) continue;
    double squares = 0;
    for (int j = 0; j < size_count; ++j) {
      const double ratio = std::log(static_cast<double>(std::max(1LL, sizes[j])) /
                                    static_cast<double>(std::max(1LL, record.sizes[j])));
      squares += ratio * ratio;
    }
    const double transferred = record.seconds * (modelled / record.modelled);
    ranked.push_back({i, own && !record.unconfirmed,
                      std::log(transferred / least) + rules.doubt * std::sqrt(squares), modelled});
  }
  const auto before = [&](const Ranked& one, const Ranked& other) {
    const Record<size_count>&a = tables.records[one.record], &b = tables.records[other.record];
    if (a.is_modelled != b.is_modelled) return b.is_modelled;
    if (one.exact != other.exact) return one.exact;
    return one.distance < other.distance;
  };
  std::stable_sort(ranked.begin(), ranked.end(), before);
  if (!ranked.empty() && ranked[0].exact)
    return {tables.records[ranked[0].record].schedule, ranked[0].record};

  std::vector<std::pair<int, double>> times;
  double shortest = HUGE_VAL;
  for (int schedule = 0; schedule < tables.schedule_count; ++schedule) {
    const double time = seconds(schedule);
    if (time < 0) continue;
    times.emplace_back(schedule, time);
    shortest = std::min(shortest, time);
  }
  if (times.empty()) return {-1, -1};
  const auto preferred = *std::find_if(
      times.begin(), times.end(), [&](const auto& one) { return one.second <= rules.model_tie * shortest; });
  const double far = std::log(preferred.second / least);
  for (const Ranked& one : ranked)
    if (one.exact || one.distance <= far || one.modelled <= rules.record_tie * preferred.second)
      return {tables.records[one.record].schedule, one.record};
  return {preferred.first, -1};
}

}  // namespace autotune
