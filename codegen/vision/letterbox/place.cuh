#pragma once
// Where a picture lies in its target, and which of its rows and columns make one there. What is computed in
// double is rounded after each operation, as OpenCV has it: no product is fused with a sum.

struct Place {
  double down, across;  // pixels of the picture from one of the target to the next
  float ratio;
  int height, width, left, top;
};

__device__ __forceinline__ int scaled_side(int side, double ratio) {
  const int scaled = static_cast<int>(rint(side * ratio));  // ties to even
  return scaled < 1 ? 1 : scaled;
}

// From one pixel of a target to the next.
__device__ __forceinline__ double step_of(int side, int scaled) {
#if rule == corner || filtered
  return static_cast<double>(side) / scaled;
#else
  return 1.0 / (static_cast<double>(scaled) / side);
#endif
}

__device__ __forceinline__ Place place_of(int height, int width, int target_height, int target_width) {
  Place place = {0, 0, 0, 0, 0, 0, 0};
  if (height == 0 || width == 0) return place;
  const double by_height = static_cast<double>(target_height) / height;
  const double by_width = static_cast<double>(target_width) / width;
  double ratio = by_height < by_width ? by_height : by_width;
#if !scale_up
  if (ratio > 1) ratio = 1;
#endif
  place.ratio = static_cast<float>(ratio);
  place.height = scaled_side(height, ratio);
  place.width = scaled_side(width, ratio);
#if center
  place.left = (target_width - place.width) / 2;
  place.top = (target_height - place.height) / 2;
#endif
  place.down = step_of(height, place.height);
  place.across = step_of(width, place.width);
  return place;
}

#if rule == cv2
using Weight = int;  // in 2048ths
__device__ __forceinline__ Weight weight_of(float part) {
  return static_cast<int>(rint(static_cast<double>(part * 2048.0f)));
}
#else
using Weight = float;
__device__ __forceinline__ Weight weight_of(float part) { return part; }
#endif

// Two rows or columns of a picture, and their weights.
struct Tap {
  int first, second;
  Weight near, far;
};

// Those of number `i` of a target, counted from where the picture begins. OpenCV has a fraction of rows even
// where both are the same one, and rounds twice there.
template <bool rows>
__device__ __forceinline__ Tap tap_of(int i, int side, double step) {
#if rule == corner
  const float where = static_cast<float>(i * step);
#else
  const float where = static_cast<float>(__dmul_rn(i + 0.5, step) - 0.5);
#endif
  const double below = floor(static_cast<double>(where));
  const int first = static_cast<int>(below);
  float fraction = where - static_cast<float>(below);
  Tap tap;
  tap.first = first < 0 ? 0 : first < side ? first : side - 1;
  tap.second = first + 1 < side ? first + 1 : side - 1;
#if rule == cv2
  constexpr bool at_edges = rows;
#else
  constexpr bool at_edges = false;
#endif
  if (!at_edges && tap.first == tap.second) fraction = 0.0f;
  tap.near = weight_of(1.0f - fraction);
  tap.far = weight_of(fraction);
  return tap;
}
