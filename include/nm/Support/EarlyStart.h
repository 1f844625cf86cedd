//===- EarlyStart.h - When kernels overlap the ones before ------*- C++ -*-===//

#ifndef NM_SUPPORT_EARLYSTART_H
#define NM_SUPPORT_EARLYSTART_H

#include <cstdint>

namespace nm {

/// Whether a kernel of so many blocks gains from starting before the one before
/// it is over. Its blocks go where those of the other have ended or have never
/// been. That suits grids that find room beside another of their size, and
/// those that take every multiprocessor once. With others some multiprocessors
/// get more blocks than in a launch of its own, or pairs of them that share a
/// path to memory, and that costs more than a launch does.
constexpr bool gainsFromEarlyStart(int64_t blocks, int64_t multiprocessors) {
  bool leavesHalf = 2 * blocks <= multiprocessors;
  bool takesAll =
      blocks <= multiprocessors && 10 * blocks >= 9 * multiprocessors;
  return leavesHalf || takesAll;
}

/// Whether a kernel of so many blocks, as the norm of a few rows, leaves nearly
/// all multiprocessors to others.
constexpr bool isOfFewBlocks(int64_t blocks, int64_t multiprocessors) {
  return 8 * blocks <= multiprocessors;
}

/// Whether a kernel of `blocks` blocks may gain from an early start behind a
/// kernel of `before` blocks. Behind few blocks, as those of the norm of a few
/// rows, a larger grid goes to the multiprocessors that it has without an early
/// start.
constexpr bool gainsBehindFewBlocks(int64_t blocks, int64_t before,
                                    int64_t multiprocessors) {
  constexpr int64_t kBlocksOfMultiprocessor = 4;
  return isOfFewBlocks(before, multiprocessors) &&
         blocks <= kBlocksOfMultiprocessor * multiprocessors;
}

/// Whether a kernel of `blocks` blocks gains from an early start where the
/// kernel before is not known: that of a product of one row is often the norm
/// of that row, one block.
constexpr bool gainsBehindUnknown(int64_t blocks, bool isOfOneRow,
                                  int64_t multiprocessors) {
  return gainsFromEarlyStart(blocks, multiprocessors) ||
         (isOfOneRow &&
          gainsBehindFewBlocks(blocks, /*before=*/1, multiprocessors));
}

} // namespace nm

#endif // NM_SUPPORT_EARLYSTART_H
