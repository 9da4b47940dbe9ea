#pragma once
#include "cuda/async_copy.cuh"
#include "cuda/opaque.cuh"
#include "cuda/shared_memory.cuh"
#include "vision/letterbox/pixel.cuh"
#include "vision/letterbox/staged/pair.cuh"
// Each warp has some columns of a target for itself and goes through rows of it. Ahead of it, the parts of
// the picture's rows that make them arrive in its shared memory.

constexpr int pixels = Schedule::pixels, tile_width = 32 * pixels, rows = Schedule::rows;
constexpr int stages = Schedule::stages, segment = Schedule::segment, copied = Schedule::copy_bytes;
constexpr bool keeps = Schedule::keeps;
constexpr int pixel_bytes = 3;
#if order == nchw
constexpr int exchanged = 0;
#else
constexpr int exchanged = 3 * tile_width * sizeof(Element);  // bytes of a row of the target
#endif
constexpr int warp_bytes = stages * 2 * segment + exchanged;
#if mixed
constexpr bool rows_shift = true;  // rows begin anywhere
#else
constexpr bool rows_shift = false;
#endif

// What a warp does: neighbouring columns, and rows one below the other.
class RowTile {
 public:
  __device__ __forceinline__ RowTile(const Arguments& arguments, long long image, int strip, int tile,
                                     unsigned char* exchange)
      : arguments_(arguments),
        exchange_(exchange),
        image_(image),
        picture_(picture_of(arguments, image)),
        top_(strip * rows),
        lane_(threadIdx.x % 32) {
    place_ = place_of(picture_.height, picture_.width, arguments.height, arguments.width);
    if (strip == 0 && tile == 0 && lane_ == 0) write_placement(arguments, place_, image);
    left_ = tile * tile_width + lane_ * pixels;
    const int ahead = left_ - place_.left;
    filled_ = __all_sync(0xffffffffu, ahead >= 0 && ahead + pixels <= place_.width);
    if (place_.height == 0) return;  // nothing is read
    down_ =
        tap_of<true>(clamped(top_ + lane_ % rows - place_.top, place_.height), picture_.height, place_.down);
    int last = 0;
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      const int column = clamped(left_ + i - place_.left, place_.width);
      const Tap across = tap_of<false>(column, picture_.width, place_.across);
      offsets_[i] = pixel_bytes * across.first;
      weights_[i] = weights_of(across);
      last = across.first;
    }
    const int first = __shfl_sync(0xffffffffu, offsets_[0], 0);
    begin_ = rows_shift ? first : first / copied * copied;
    source_ = picture_.first + begin_;
    make_opaque(source_);  // kept, not computed again for each copy
    const int read = pixel_bytes * __shfl_sync(0xffffffffu, last, 31) + 12 - begin_;
    bytes_ = (read + (rows_shift ? copied - 1 : 0) + copied - 1) / copied * copied;
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      offsets_[i] -= begin_;
#if !mixed
      pairs_[i] = PairPlace(offsets_[i]);
#endif
    }
  }

  // Begins to copy what a row of the tile is made of.
  __device__ __forceinline__ void fetch(int row, unsigned char* stage) const {
    if (!has_picture(row) || !is_staged()) return;
    const Needs needs = needs_of(row);
    if (needs.above) copy(stage, needs.down.first);
    if (needs.below) copy(stage + segment, needs.down.second);
  }

  __device__ __forceinline__ void write(int row, const unsigned char* stage) {
    const bool has = has_picture(row);
    const Needs needs = needs_of(row);
    if (top_ + row >= arguments_.height) return;
    Element numbers[3][pixels];
    if (has && separate(needs.down)) {
      resize<true>(numbers, needs, stage);
    } else if (has) {
      resize<false>(numbers, needs, stage);
    }
    if (!has || !filled_) leave_free(numbers, has);
    store(row, numbers);
  }

 private:
  __device__ __forceinline__ static int clamped(int i, int size) {
    return i < 0 ? 0 : i < size ? i : size - 1;
  }

  // Whether a row of the tile has a part of the picture.
  __device__ __forceinline__ bool has_picture(int row) const {
    const int of_picture = top_ + row - place_.top;
    return of_picture >= 0 && of_picture < place_.height;
  }

  __device__ __forceinline__ Tap tap_down(int row) const {
    Tap down;
    down.first = __shfl_sync(0xffffffffu, down_.first, row);
    down.second = __shfl_sync(0xffffffffu, down_.second, row);
    down.near = __shfl_sync(0xffffffffu, down_.near, row);
    down.far = __shfl_sync(0xffffffffu, down_.far, row);
    return down;
  }

  // Whether two rows of the picture make one: the second one has no weight where centres meet.
  __device__ __forceinline__ static bool separate(const Tap& down) {
    return down.first != down.second && down.far != 0;
  }

  // How a row of the tile is made: whether the rows of the picture have to be read that lie above and below
  // it, and whether the one above was that below the row before.
  struct Needs {
    Tap down;
    bool above, below, moved;
  };

  __device__ __forceinline__ Needs needs_of(int row) const {
    Needs needs;
    needs.down = tap_down(row);
    needs.above = true;
    needs.below = separate(needs.down);
    needs.moved = false;
    if (keeps && row > 0 && has_picture(row - 1)) {
      const Tap before = tap_down(row - 1);
      const bool had_both = separate(before);
      needs.moved = had_both && needs.down.first == before.second;
      needs.above = !needs.moved && needs.down.first != before.first;
      needs.below = needs.below && !(had_both && needs.down.second == before.second);
    }
    return needs;
  }

  // Whether there is room for the parts of the picture's rows. Otherwise each level is loaded by itself.
  __device__ __forceinline__ bool is_staged() const { return !rows_shift || bytes_ <= segment; }

#if mixed
  // How far behind a multiple of a copy's bytes a row of the picture begins for the warp.
  __device__ __forceinline__ int shift_of(int row) const {
    return static_cast<int>((source_ + row * picture_.row - arguments_.images) % copied);
  }
  // What follows the row, up to the end of all pictures; then zeros.
  __device__ __forceinline__ long long bytes_left(const unsigned char* source) const {
    return arguments_.bytes - (source - arguments_.images);
  }
#else
  __device__ __forceinline__ int shift_of(int) const { return 0; }
  // Zeros follow the end of the row.
  __device__ __forceinline__ int bytes_left(const unsigned char*) const {
    return picture_.width * pixel_bytes - begin_;
  }
#endif

  __device__ __forceinline__ void copy(unsigned char* target, int row) const {
    const unsigned char* source = source_ + row * picture_.row - shift_of(row);
    const auto room = bytes_left(source);
    const int left = room < bytes_ ? static_cast<int>(room) : bytes_;
    const int whole = left / copied * copied;
#pragma unroll 1
    for (int i = lane_ * copied; i < whole; i += 32 * copied) async_copy<copied>(target + i, source + i);
    const int word = whole + lane_ * 4, valid = left - word;  // no more than 32 words are left
    if (rows_shift && 0 < valid && valid < 4) {
      for (int i = 0; i < 4; ++i) target[word + i] = i < valid ? source[word + i] : 0;
    } else if (word < bytes_) {
      async_copy_guarded<4>(target + word, source + word, valid);
    }
  }

  // Pads the pixels of a row that are not of the picture, of which the row `has` some.
  __device__ __forceinline__ void leave_free(Element (&numbers)[3][pixels], bool has) const {
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      const int column = left_ + i - place_.left;
      if (has && column >= 0 && column < place_.width) continue;
#pragma unroll
      for (int channel = 0; channel < 3; ++channel) {
        numbers[channel][i] = number_of(arguments_, arguments_.pad, channel);
      }
    }
  }

  template <bool two_rows>
  __device__ __forceinline__ void resize(Element (&numbers)[3][pixels], const Needs& needs,
                                         const unsigned char* stage) {
    if (needs.moved) {
#pragma unroll
      for (int i = 0; i < 3 * pixels; ++i) above_[i] = below_[i];
    }
    if (!keeps || needs.above) mix(above_, stage, needs.down.first);
    if (two_rows && (!keeps || needs.below)) mix(below_, stage + segment, needs.down.second);
#pragma unroll
    for (int i = 0; i < 3 * pixels; ++i) {
      const float level = mixed(above_[i], two_rows ? below_[i] : above_[i], needs.down);
      numbers[i % 3][i / 3] = number_of(arguments_, level, i % 3);
    }
  }

  // The channels of each pixel, of one row of the picture.
  __device__ __forceinline__ void mix(Mixed (&channels)[3 * pixels], const unsigned char* part,
                                      int row) const {
    const int shift = shift_of(row);
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      Mixed found[3];
      mix_pair(pair_of(part, row, shift, i), weights_[i], found);
#pragma unroll
      for (int channel = 0; channel < 3; ++channel) channels[3 * i + channel] = found[source_of(channel)];
    }
  }

  __device__ __forceinline__ PixelPair pair_of(const unsigned char* part, int row, int shift, int i) const {
#if mixed
    if (!is_staged()) {
      const int offset = begin_ + offsets_[i], behind = offset + pixel_bytes;
      return {picture_.at(row, 0) + offset, behind < picture_.width * pixel_bytes ? pixel_bytes : 0};
    }
#endif
#if mixed
    return {part, PairPlace(offsets_[i] + shift)};
#else
    return {part, pairs_[i]};
#endif
  }

#if order == nchw
  __device__ __forceinline__ void store(int row, const Element (&numbers)[3][pixels]) const {
    if (left_ < arguments_.width) store_pixels(arguments_, image_, top_ + row, left_, numbers);
  }
#else
  // Lanes exchange their numbers, so that those of neighbouring lanes are neighbours. Each would store three
  // parts otherwise, of which none fills a sector.
  __device__ __forceinline__ void store(int row, const Element (&numbers)[3][pixels]) const {
    using Piece = Packed<Element, pixels>;
    Piece* exchange = reinterpret_cast<Piece*>(exchange_);
#  pragma unroll
    for (int part = 0; part < 3; ++part) {
      Piece piece;
#  pragma unroll
      for (int i = 0; i < pixels; ++i) {
        piece.elements[i] = numbers[(part * pixels + i) % 3][(part * pixels + i) / 3];
      }
      exchange[3 * lane_ + part].bits = piece.bits;
    }
    __syncwarp();
    const int first = left_ - lane_ * pixels;
    Element* target = target_of(arguments_, image_) + place_in_target(arguments_, top_ + row, first, 0);
#  pragma unroll
    for (int part = 0; part < 3; ++part) {
      const int own = part * 32 + lane_;
      if (own * pixels < 3 * (arguments_.width - first)) {
        store_global_whole<false>(target + own * pixels, exchange[own]);
      }
    }
  }
#endif

  const Arguments& arguments_;
  unsigned char* exchange_;  // of the warp, for what it stores
  const long long image_;
  const Picture picture_;
  const int top_, lane_;
  Place place_;
  const unsigned char* source_;  // where the first row of the picture begins for the warp
  bool filled_;                  // whether the picture has all columns of the warp
  int left_, begin_, bytes_;
  Tap down_;  // of the row whose number is the lane's
  int offsets_[pixels];
#if !mixed
  PairPlace pairs_[pixels];
#endif
  Weights weights_[pixels];
  Mixed above_[3 * pixels], below_[3 * pixels];
};

__device__ __forceinline__ void letterbox_staged(const Arguments& arguments) {
  const int across = (arguments.width + tile_width - 1) / tile_width;
  const int down = (arguments.height + rows - 1) / rows, warp = static_cast<int>(threadIdx.x) / 32;
  const long long own = blockIdx.x * static_cast<long long>(Schedule::warps) + warp;
  const long long image = own / (static_cast<long long>(across) * down);
  if (image >= arguments.batch) return;
  const int part = static_cast<int>(own % (static_cast<long long>(across) * down));
  unsigned char* shared = dynamic_shared<unsigned char>() + warp * warp_bytes;
  RowTile tile(arguments, image, part / across, part % across, shared + stages * 2 * segment);
#pragma unroll 1
  for (int ahead = 0; ahead < rows + stages - 1; ++ahead) {
    if (ahead < rows) tile.fetch(ahead, shared + ahead % stages * 2 * segment);
    async_commit();
    const int row = ahead - (stages - 1);
    if (row < 0) continue;
    async_wait<stages - 1>();
    __syncwarp();  // all lanes' copies have landed
    tile.write(row, shared + row % stages * 2 * segment);
    __syncwarp();  // all lanes have read the stage that is copied to next
  }
}
