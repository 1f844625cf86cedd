//===- PatchRows.cpp - Rows of patches that a task makes ------------------===//

#include "nm/Schedule/PatchRows.h"

#include <algorithm>

using namespace nm;

/// Bytes of a core's L2 that patches may take, beside the weights of a task.
static constexpr int64_t kPatchBytes = 640 << 10;

/// The rate of tiles whose patches go by L3 beside that of others.
static constexpr double kFromL3 = 0.8;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Calls `take` with each number of rows that can be a tile.
template <typename Take>
static void forEachTile(const PatchRows &patches, Take take) {
  int64_t inner = 1;
  for (size_t i = patches.places.size(); i-- > 0;) {
    int64_t size = patches.places[i];
    for (int64_t count = 1; count <= size; ++count)
      // Only the outermost may have a last tile that is smaller.
      if (i == 0 || size % count == 0)
        take(count * inner);
    inner *= size;
  }
}

bool PatchRows::isTile(int64_t rows) const {
  bool found = false;
  forEachTile(*this, [&](int64_t tile) { found |= tile == rows; });
  return found;
}

int64_t nm::choosePatchRows(const PatchRows &patches, int64_t lanes,
                            int64_t threads, int64_t others) {
  int64_t all = 1;
  for (int64_t size : patches.places)
    all *= size;
  auto rate = [&](int64_t rows) {
    double filled = double(rows) / double(ceilDiv(rows, lanes) * lanes);
    int64_t tasks = ceilDiv(all, rows) * others;
    double even = double(tasks) / double(ceilDiv(tasks, threads) * threads);
    int64_t bytes = rows * patches.rowBytes;
    // Past it, patches go by L3, but their image is read less often.
    double kept = bytes <= kPatchBytes ? 1 : kFromL3;
    // A tile loads all weights.
    double reuse = double(rows) / double(rows + lanes / 2);
    return filled * even * kept * reuse;
  };
  int64_t best = all;
  forEachTile(patches, [&](int64_t rows) {
    if (rate(rows) > rate(best))
      best = rows;
  });
  return best;
}

//===----------------------------------------------------------------------===//
// Images that products read
//===----------------------------------------------------------------------===//

int64_t ImagePart::rowsOf(int64_t places) const {
  // Tiles begin at multiples of their places.
  bool isWhole = places % placesOfRow == 0;
  int64_t further =
      isWhole ? places / placesOfRow - 1 : (places - 2) / placesOfRow + 1;
  return std::min(rows, further * step + reach);
}

/// Loads beside those of A for a weight, and half cycles to lay a vector of A
/// out, which a weight takes one of.
static constexpr int64_t kWeightLoads = 2, kLayOutLoads = 5;

/// Bytes of A that are laid out at a time, about as many as L1 has.
static constexpr int64_t kImageBytes = 48 << 10;
/// And for each task.
static constexpr int64_t kTaskLoads = 10000;

ImageRows ImageRows::of(int64_t rows, int64_t width, int64_t lanes) {
  return {rows, width, ceilDiv(rows * width, lanes)};
}

/// Loads for one weight of all tiles of `rows` rows.
static int64_t weightLoads(int64_t rows, const ImageRows &tile, int64_t width,
                           int64_t lanes) {
  auto loadsOf = [&](int64_t rows) {
    return ImageRows::of(rows, width, lanes).vectors + kWeightLoads;
  };
  if (tile.pixels < width)
    return rows * ceilDiv(width, tile.pixels) * (tile.vectors + kWeightLoads);
  int64_t loads = rows / tile.rows * loadsOf(tile.rows);
  if (int64_t rest = rows % tile.rows)
    loads += loadsOf(rest);
  return loads;
}

ImageRows nm::chooseImageRows(int64_t width, int64_t rows, int64_t lanes,
                              int64_t most) {
  int64_t pixels = most * lanes;
  if (width > pixels) {
    int64_t parts = ceilDiv(width, pixels);
    int64_t vectors = ceilDiv(ceilDiv(width, parts), lanes);
    return {1, vectors * lanes, vectors};
  }
  ImageRows best = ImageRows::of(1, width, lanes);
  for (int64_t count = 2; count <= rows && count * width <= pixels; ++count) {
    ImageRows tile = ImageRows::of(count, width, lanes);
    if (weightLoads(rows, tile, width, lanes) <
        weightLoads(rows, best, width, lanes))
      best = tile;
  }
  return best;
}

int64_t nm::imageTileRows(int64_t rowBytes) {
  constexpr int64_t kLeastRows = 32, kStep = 8;
  return std::max(kLeastRows, kImageBytes / rowBytes / kStep * kStep);
}

ImageTasks nm::chooseImageTasks(const ImageProduct &product, int64_t blockN) {
  int64_t width = product.patches.places.back(), all = 1;
  for (int64_t size : product.patches.places)
    all *= size;
  ImageTasks best;
  double least = 0;
  auto consider = [&](int64_t rows, int64_t columns) {
    if (rows % width != 0)
      return;
    ImageRows tile =
        chooseImageRows(width, rows / width, product.lanes, kImageVectors);
    double share = double(columns) / double(product.n);
    int64_t loads = weightLoads(rows / width, tile, width, product.lanes);
    double ofTask = (product.kept * share + double(product.k * kLayOutLoads)) *
                    double(loads);
    int64_t tasks =
        ceilDiv(all, rows) * ceilDiv(product.n, columns) * product.batches;
    double time =
        (ofTask + kTaskLoads) * double(ceilDiv(tasks, product.threads));
    if (best.blockM != 0 && time >= least)
      return;
    best = {rows, columns, tile.vectors};
    least = time;
  };
  forEachTile(product.patches, [&](int64_t rows) {
    consider(rows, blockN);
    consider(rows, product.n);
  });
  return best;
}
