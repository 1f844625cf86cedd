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
