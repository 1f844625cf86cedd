//===- BitmapPanels.cpp - Weights that vectors expand ---------------------===//

#include "nm/Format/BitmapPanels.h"

#include "StoreNumber.h"
#include "WindowScan.h"
#include "nm/Format/Columns.h"

#include <cstring>
#include <string>

using namespace nm;
using namespace nm::detail;

Status BitmapPanels::verify() const {
  if (wordRows != 1 && wordRows != 2 && wordRows != 4)
    return Error{"expected word_rows to be 1, 2 or 4, but got " +
                 std::to_string(wordRows)};
  return ColumnsForm{kept, /*tileRows=*/1}.verify();
}

Status BitmapPanels::verify(ElementType type) const {
  constexpr int64_t kWordBytes = 4;
  bool isOfRow = wordRows == 1 && type != ElementType::I8;
  bool isWord =
      wordRows * elementSize(type) == kWordBytes && type != ElementType::F16;
  if (!isFloat8(type) && (isOfRow || isWord))
    return Status::success();
  return Error{"expected word_rows = 1 for weights of f32, f16 or bf16, 2 for "
               "bf16, or 4 for i8, but got " +
               std::to_string(wordRows) + " for " +
               std::string(elementName(type))};
}

bool BitmapPanels::holds(const CondensedView &weights) const {
  return ColumnsForm{kept, /*tileRows=*/1}.holds(weights);
}

void nm::packBitmapPanels(const CondensedView &from, const BitmapPanels &form,
                          void *values, uint8_t *indices, uint8_t *lists) {
  int64_t panels = BitmapPanels::panels(from.n), steps = form.steps(from.k),
          rows = form.wordRows, bitsOfStep = BitmapPanels::kColumns * rows;
  std::memset(values, 0, form.places() * elementSize(from.type));
  std::memset(indices, 0, panels * steps * form.stepBytes());
  dispatchWord(from.type, [&](auto zero) {
    using Word = decltype(zero);
    const Word *dense = static_cast<const Word *>(from.values);
    Word mask = nonZeroMask<Word>(from.type);
    int64_t next = 0;
    for (int64_t panel = 0; panel < panels; ++panel) {
      storeNumber(next, BitmapPanels::kListBytes,
                  lists + panel * BitmapPanels::kListBytes);
      for (int64_t step = 0; step < steps; ++step, indices += form.stepBytes())
        for (int64_t bit = 0; bit < bitsOfStep; ++bit) {
          int64_t n = panel * BitmapPanels::kColumns + bit / rows,
                  k = step * rows + bit % rows;
          if (n >= from.n || k >= from.k || !(dense[k * from.n + n] & mask))
            continue;
          static_cast<Word *>(values)[next++] = dense[k * from.n + n];
          indices[bit / 8] |= uint8_t(1 << bit % 8);
        }
    }
  });
}
