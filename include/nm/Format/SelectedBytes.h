//===- SelectedBytes.h - Kept bytes that threads select ---------*- C++ -*-===//
//
// PTX's `prmt` makes a word of any four of eight bytes, which four fields of
// its selector number. A thread so makes words of four kept bytes of a row of
// A for wgmma, whose first operand may be in registers: of 32 kept bytes of a
// row, words 0 to 3 and 4 to 7 are those of the row's four lanes (PTX ISA,
// "Register Fragments for wgmma.mma_async.m64nNk32").
//
// A lane takes its words from *runs*: the fewest windows that follow one
// another whose bytes are whole words, and whose kept bytes, too. Run r of lane
// l is from byte (4r + l) * runBytes() of the row on.
//
//   pattern    2:8    4:8    3:8    6:8    3:4    1:2    k:8, k odd
//   runBytes   16     8      32     16     16     8      32
//   words      1      1      3      3      3      1      k
//
// Windows of other numbers of rows do not divide the lines of 128 bytes that
// tensor copies bring at their full rate, and have no such products.
//
// For example, lane 1 has bytes 32 to 63 of a row of 3:8, of which it makes
// three words, and bytes 160 to 191. Sums do not depend on the order of k, so
// that an instruction takes any two words of each lane: its step s takes words
// 2s and 2s + 1 of all that a lane has of a tile's row, and the weights are
// packed in that order (`lane_words` in PackedForm.h).
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_SELECTEDBYTES_H
#define NM_FORMAT_SELECTEDBYTES_H

#include "nm/Format/Pattern.h"

#include <cstdint>
#include <optional>

namespace nm {

struct SelectedBytes {
  /// Bytes that prmt selects from and makes, and bits of a selector's field.
  static constexpr int64_t kSource = 8, kWord = 4, kFieldBits = 4;
  /// Kept bytes of a row that an instruction takes, and lanes that have them.
  static constexpr int64_t kInstructionK = 32, kLanes = 4;
  /// Columns that an instruction may take, multiples of this many.
  static constexpr int64_t kLeastColumns = 16;
  /// Bytes of A's rows that stand together in panels, where their chunks of 16
  /// bytes are XORed with the row's number.
  static constexpr int64_t kPanelBytes = 128;
  /// Bytes of an access of shared memory at most.
  static constexpr int64_t kMostAccess = 16;

  int64_t keptOfWindow = 4, windowRows = 8;

  /// None where windows are not of 2, 4 or 8 rows, keep all, or have units of
  /// more than a row.
  static std::optional<SelectedBytes> of(const Pattern &pattern) {
    if (pattern.bk != 1 || pattern.m < 2 || kSource % pattern.m != 0 ||
        pattern.n < 1 || pattern.n >= pattern.m)
      return std::nullopt;
    return SelectedBytes{pattern.n, pattern.m};
  }

  //===--------------------------------------------------------------------===//
  // Runs
  //===--------------------------------------------------------------------===//

  int64_t windowsOfRun() const {
    int64_t windows = 1;
    while (windows * windowRows % kWord != 0 ||
           windows * keptOfWindow % kWord != 0)
      ++windows;
    return windows;
  }
  int64_t runBytes() const { return windowsOfRun() * windowRows; }
  /// Words of kept bytes that a lane makes of a run.
  int64_t wordsOfRun() const { return windowsOfRun() * keptOfWindow / kWord; }
  /// Rows of k that `kept` kept ones are of.
  int64_t rowsOf(int64_t kept) const {
    return kept / keptOfWindow * windowRows;
  }

  //===--------------------------------------------------------------------===//
  // Rows of A in shared memory
  //===--------------------------------------------------------------------===//

  /// Bytes of the accesses that load a run. With them no two lanes that load at
  /// a time wait for one bank.
  int64_t accessBytes() const {
    int64_t bytes = kMostAccess;
    while (runBytes() % bytes != 0)
      bytes /= 2;
    return bytes;
  }
  /// Bytes of a run of each of a row's lanes.
  int64_t bytesOfLanes() const { return kLanes * runBytes(); }
  /// Runs of a lane in a panel.
  int64_t runsOfPanel() const { return kPanelBytes / bytesOfLanes(); }
  /// The kept rows that tiles have multiples of: whole instructions, which take
  /// two words of each lane, of whole panels of A.
  int64_t tileStep() const {
    int64_t words = runsOfPanel() * wordsOfRun();
    return kLanes * kWord * (words % 2 == 0 ? words : 2 * words);
  }

  /// The row, one of eight of A, that the lanes numbered `lanes`, of four each,
  /// select from. Eight lanes load 16 bytes at a time, or
  /// sixteen 8 bytes, from different banks then, for their rows' chunks are
  /// XORed with numbers that differ in the bits that the lanes of a row do not.
  template <typename Int>
  Int rowOfLanes(const Int &lanes) const {
    constexpr int64_t kRows = 8;
    int64_t apart = runsOfPanel();
    return lanes % apart * (kRows / apart) + lanes / apart;
  }
};

} // namespace nm

#endif // NM_FORMAT_SELECTEDBYTES_H
