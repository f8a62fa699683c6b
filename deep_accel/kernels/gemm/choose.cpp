#include "deep_accel/kernels/gemm/choose.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "deep_accel/compile/target/target.h"

namespace deep_accel::kernels {
namespace {

// Few sizes, so that few kernels serve all shapes.
constexpr std::array<int64_t, 4> kTiles{32, 64, 128, 256};
// Blocks that a product should have at least, where it is large enough: work for threads to share evenly.
constexpr int64_t kBlocks = 4;
constexpr int64_t kWidest = 4096;  // columns of a tile of few rows

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A block's step along K: the right factor's panels stay in half of the second cache while every strip of rows passes.
int64_t depth_of(const compile::Target& target, int64_t element_bytes, int64_t tile_n) {
  int64_t depth = 512;
  while (depth > 64 && depth * tile_n * element_bytes > target.l2 / 2) depth /= 2;
  return depth;
}

// Part of a tile's size that holds what there is: what lies beyond is filled with zeros, which takes time too.
int64_t shortened(int64_t tile, int64_t size) {
  while (tile > 32 && tile / 4 >= size) tile /= 4;
  return tile;
}

// Products of so few rows that the right factor is used a few times only: the tile has their number of rows, so that
// the factor is read where it lies, and long rows of it, so that memory streams.
constexpr std::array<int64_t, 3> kRows{1, 4, kFewRows};

void few_rows(GemmConfig& config, const GemmSizes& sizes) {
  constexpr int64_t kStep = 64 << 10;  // elements of the right factor in a step
  const int64_t rows = *std::ranges::find_if(kRows, [&](int64_t r) { return r >= sizes.m; });
  int64_t columns = kWidest;
  while (columns > 256 && ceil_div(sizes.n, columns) * sizes.batch < kBlocks) columns /= 2;
  config.tile_m = static_cast<int16_t>(rows);
  if (config.kind.b_layout == Layout::columns) {
    config.method = Method::dots;
    config.tile_n = 16, config.tile_k = 2048;
    return;
  }
  config.tile_n = static_cast<int16_t>(shortened(columns, sizes.n));
  config.tile_k = static_cast<int16_t>(shortened(kStep / columns, sizes.k));
}

// Seconds in units of multiply-adds, roughly: a block of m x n loads k (m + n) elements, which costs `load` each beside
// its m n k multiply-adds; blocks go around in whole rounds over kBlocks hands.
double cost(const GemmSizes& sizes, int64_t m, int64_t n) {
  constexpr double load = 12;
  const int64_t blocks = ceil_div(sizes.m, m) * ceil_div(sizes.n, n) * sizes.batch;
  const double rows = static_cast<double>(std::min(m, sizes.m)), columns = static_cast<double>(std::min(n, sizes.n));
  const double block = rows * columns + load * (rows + columns);
  const int64_t rounds = ceil_div(blocks, kBlocks);
  return static_cast<double>(rounds) * block;
}

}  // namespace

GemmConfig choose_gemm(const GemmKind& kind, const GemmSizes& sizes, int64_t tile_size) {
  const compile::Target& target = compile::host_target();
  const int64_t bytes = std::max(bits(kind.sum), 32) / 8;
  GemmConfig config{.kind = kind};
  if (!tile_size && sizes.m <= kFewRows) {
    few_rows(config, sizes);
    return config;
  }
  double best = INFINITY;
  int64_t tile_m = 0, tile_n = 0;
  if (tile_size) {
    tile_m = tile_n = std::clamp<int64_t>(ceil_div(tile_size, 16) * 16, 16, 512);
  } else {
    for (int64_t m : kTiles) {
      for (int64_t n : kTiles) {
        const double c = cost(sizes, m, n);
        if (c <= best) best = c, tile_m = m, tile_n = n;
      }
    }
  }
  config.tile_m = static_cast<int16_t>(tile_m);
  config.tile_n = static_cast<int16_t>(tile_n);
  // By the largest tile, so that the order of sums is that of type and K alone.
  config.tile_k = static_cast<int16_t>(shortened(depth_of(target, bytes, kTiles.back()), sizes.k));
  return config;
}

}  // namespace deep_accel::kernels
