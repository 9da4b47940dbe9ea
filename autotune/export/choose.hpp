#pragma once
#include <limits>
#include <map>

#include "tables.hpp"
// Which schedule serves some sizes, and what it launches.

namespace autotune {

constexpr double infinite = std::numeric_limits<double>::infinity();

// What the rows of `terms` are for some sizes, each computed when it is asked for.
struct Values {
  const Sizes& sizes;
  std::vector<Number> known = std::vector<Number>(terms.size());

  const Number& operator[](int row) {
    const auto [operation, left, right] = terms[row];
    if (known[row].kind == Number::unknown) {
      if (operation)
        known[row] = operation((*this)[left], (*this)[right]);
      else
        known[row] = left < size_count ? Number(Whole{sizes[left]}) : constants[left - size_count];
    }
    return known[row];
  }

  // What a tree leads to; -1 if that is nothing.
  int result(int node) {
    while (node >= 0) node = (*this)[nodes[node].condition].real ? nodes[node].yes : nodes[node].no;
    return -2 - node;
  }

  // The number that a tree leads to; infinite if that is nothing.
  double real(int node) {
    const int row = result(node);
    return row < 0 ? infinite : (*this)[row].real;
  }
};

// Fills a plan with what words say; `begin` is where the arguments of this turn of a repetition begin.
inline void follow(const int* word, const int* end, Values& values, Plan& plan, int begin, int turn) {
  const auto number = [&] { return static_cast<long long>(values[*word++].whole); };
  const auto numbers = [&](auto& found) {
    for (auto& one : found) one = static_cast<std::decay_t<decltype(one)>>(number());
  };
  while (word < end) {
    const int kind = *word++;
    if (kind == put) {
      const int position = begin + word[0], bytes = word[1];
      const Number value = add(values[word[3]], multiply(Whole{turn}, values[word[4]]));
      const float single = static_cast<float>(value.real);
      const void* real = bytes == sizeof single ? static_cast<const void*>(&single) : &value.real;
      plan.put(position, bytes, word[2] ? real : &value.whole);  // of a whole number, the lowest bytes
      word += 5;
    } else if (kind == take) {
      plan.taken.push_back(
          {begin + word[0], word[1], word[2], static_cast<long long>(values[word[3]].whole)});
      word += 4;
    } else if (kind == map) {
      TensorMap one{begin + word[0], word[1], word[2], word[3], word[4], word[5], {}, {}, {}, {}, {}, {}, 0};
      word += 6;
      numbers(one.shape), numbers(one.strides), numbers(one.box), numbers(one.steps);
      numbers(one.lower), numbers(one.upper);
      one.offset = number();
      plan.maps.push_back(one);
    } else if (kind == set) {
      const long long offset = number(), bytes = number();
      plan.steps.push_back({0, -1, 0, {}, {}, 0, offset, bytes, *word++});
    } else if (kind == launch) {
      Step one{word[0], word[1], begin + word[2], {}, {}, 0, 0, 0, 0};
      word += 3;
      numbers(one.grid), numbers(one.block);
      one.shared_bytes = static_cast<unsigned>(number());
      plan.steps.push_back(one);
    } else {  // repeat
      const int times = static_cast<int>(number()), lines = *word++, length = *word++;
      for (int next = 0; next < times; ++next) {
        const int room = static_cast<int>(plan.arguments.size() * sizeof(Line));
        plan.arguments.resize(plan.arguments.size() + lines);
        follow(word, word + length, values, plan, lines ? room : begin, next);
      }
      word += length;
    }
  }
}

// What Python chose for the nearest sizes of which it was asked and times are not known; -1 if there are
// none.
inline int nearest_example(Values& values) {
  int best = -1;
  double nearest = infinite;
  for (const auto& [sizes, schedule] : examples) {
    double apart = 0;
    for (int one = 0; one < size_count; ++one)
      apart += std::pow(std::log(static_cast<double>(values.sizes[one]) / sizes[one]), 2);
    if (apart < nearest && values.result(schedules[schedule].plan) >= 0) best = schedule, nearest = apart;
  }
  return best;
}

// The dispatcher's rule: of records that are nearer than the time model's choice, or take about as long, the
// nearest one; else the model's choice. Where times are not known, what
// Python chose for the nearest sizes, or any schedule. -1 if none serves.
inline int serving(Values& values) {
  std::array<double, schedules.size()> seconds;
  double least = infinite, modelled = infinite, nearest = infinite;
  bool timed = true;
  const auto serves = [&](int one) { return values.result(schedules[one].plan) >= 0; };
  for (int one = 0; one < static_cast<int>(schedules.size()); ++one) {
    seconds[one] = serves(one) ? values.real(schedules[one].seconds) : infinite;
    if (one < general) least = std::min(least, seconds[one]);
    timed = timed && (one >= general || !serves(one) || seconds[one] < infinite);
  }
  int best =
      -1;  // the first one of about the least time; the last one where nobody counted, or nothing is known
  for (int one = general - 1; one >= 0; --one)
    if (serves(one) && (best < 0 || (counted && seconds[one] < infinite && seconds[one] <= tie * least)))
      best = one;
  if (!timed && nearest_example(values) >= 0) return nearest_example(values);
  if (best >= 0) modelled = seconds[best];
  for (const Record& one : records) {
    const double distance = serves(one.schedule) ? values.real(one.distance) : infinite;
    const bool first = distance <= std::log(modelled) || seconds[one.schedule] <= record_tie * modelled;
    if (first && distance < nearest) best = one.schedule, nearest = distance;
  }
  return best;
}

struct Chosen {
  int schedule = -1;
  Plan plan;
};

inline bool served(const Sizes& sizes) {
  bool inside = true;
  for (int one = 0; one < size_count; ++one) inside = inside && sizes[one] >= 1 && sizes[one] <= most[one];
  return inside;
}

// What serves some sizes; a thread remembers it.
inline Chosen& chosen(const Sizes& sizes) {
  static thread_local std::map<Sizes, Chosen> known;
  if (const auto found = known.find(sizes); found != known.end()) return found->second;
  if (known.size() == 1024) known.clear();
  Chosen& made = known[sizes];
  if (!served(sizes)) return made;
  Values values{sizes};
  made.schedule = serving(values);
  if (made.schedule >= 0) {
    const int* word = words.data() + values.result(schedules[made.schedule].plan);
    made.plan.workspace_bytes = static_cast<long long>(values[word[0]].whole);
    made.plan.arguments.resize(word[1]);
    follow(word + 3, word + 3 + word[2], values, made.plan, 0, 0);
  }
  return made;
}

}  // namespace autotune
