//===- Columns.cpp - The weights of a column that are not zero ------------===//

#include "nm/Format/Columns.h"

#include "StoreNumber.h"
#include "WindowScan.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace nm;
using namespace nm::detail;

Status ColumnsForm::verify() const {
  constexpr int64_t kMostKept = (int64_t(1) << 32) - 1;
  if (kept < 1 || kept > kMostKept)
    return Error{"expected kept to be in 1.." + std::to_string(kMostKept) +
                 ", but got " + std::to_string(kept)};
  if (tileRows < 1 || tileRows > kMostRows)
    return Error{"expected tile_rows to be in 1.." + std::to_string(kMostRows) +
                 ", but got " + std::to_string(tileRows)};
  return Status::success();
}

bool ColumnsForm::holds(const CondensedView &weights) const {
  return countNonZeros(DenseView::rowMajor(weights.values, weights.type,
                                           weights.k, weights.n)) <= kept;
}

void nm::packColumns(const CondensedView &from, const ColumnsForm &form,
                     void *values, uint8_t *indices, uint8_t *lists) {
  int64_t tiles = form.tiles(from.k), bytes = form.indexBytes();
  std::memset(values, 0, form.places() * elementSize(from.type));
  std::memset(indices, 0, form.places() * bytes);
  dispatchWord(from.type, [&](auto zero) {
    using Word = decltype(zero);
    const Word *dense = static_cast<const Word *>(from.values);
    Word mask = nonZeroMask<Word>(from.type);
    int64_t next = 0;
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t n = 0; n < from.n; ++n) {
        uint8_t *list = lists + (n * tiles + tile) * ColumnsForm::kListBytes;
        storeNumber(next, ColumnsForm::kNumberBytes, list);
        int64_t first = tile * form.tileRows,
                end = std::min(from.k, first + form.tileRows);
        for (int64_t k = first; k < end; ++k) {
          Word word = dense[k * from.n + n];
          if (!(word & mask))
            continue;
          static_cast<Word *>(values)[next] = word;
          storeNumber(k - first, bytes, indices + next * bytes);
          ++next;
        }
        storeNumber(next, ColumnsForm::kNumberBytes,
                    list + ColumnsForm::kNumberBytes);
      }
  });
}
