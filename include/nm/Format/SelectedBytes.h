//===- SelectedBytes.h - Kept bytes that threads select ---------*- C++ -*-===//
//
// PTX's `prmt` makes a word of any four of eight bytes, which four fields of
// its selector number. Of patterns that keep one, two or four of each aligned
// eight rows of k, as 2:8 and 1:4 do, a thread so makes a word of four kept
// bytes of a row of A for wgmma, whose first operand may be in registers: of
// 32 kept bytes of a row, words 0 to 3 and 4 to 7 are those of the row's four
// lanes (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk32").
//
// Of 2:8, words are of 16 bytes of A: lane 1 has bytes 16 to 31 of the row, and
// of the 64 bytes behind the row's first 64.
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
  static constexpr int64_t kGroup = 8, kWord = 4, kFieldBits = 4;
  /// Kept bytes of a row that an instruction takes, and lanes that have them.
  static constexpr int64_t kInstructionK = 32, kLanes = 4;
  /// Columns that an instruction may take, multiples of this many.
  static constexpr int64_t kLeastColumns = 16;
  /// Bytes of A's rows that stand together in shared memory, where their chunks
  /// of 16 bytes are XORed with the row's number.
  static constexpr int64_t kPanel = 128;

  /// Bytes that are kept of each eight: 1, 2 or 4.
  int64_t keptOfGroup = 4;
  /// What the pattern's windows have, which divide eight.
  int64_t keptOfWindow = 4, windowRows = 8;

  /// None where words of kept bytes are not of whole groups of eight, or
  /// windows have units of more than a row.
  static std::optional<SelectedBytes> of(const Pattern &pattern) {
    bool isByRow = pattern.bk == 1 && pattern.m > 1 && kGroup % pattern.m == 0;
    SelectedBytes bytes;
    bytes.keptOfWindow = pattern.n;
    bytes.windowRows = pattern.m;
    bytes.keptOfGroup = isByRow ? kGroup / pattern.m * pattern.n : 0;
    if (!isByRow || kWord % bytes.keptOfGroup != 0)
      return std::nullopt;
    return bytes;
  }

  /// Groups of eight bytes that a word is made of, and their bytes.
  int64_t groupsOfWord() const { return kWord / keptOfGroup; }
  int64_t bytesOfWord() const { return groupsOfWord() * kGroup; }
  /// Rows of k that `kept` kept ones are of.
  int64_t rowsOf(int64_t kept) const { return kept * kGroup / keptOfGroup; }
  /// The kept rows that tiles have multiples of: whole instructions, of whole
  /// panels of A.
  int64_t tileStep() const {
    int64_t ofPanel = kPanel / kGroup * keptOfGroup;
    return ofPanel > kInstructionK ? ofPanel : kInstructionK;
  }

  /// What is added to a word's indices, four bits each, to number bytes of
  /// groups: where a group has several windows, those before.
  int64_t firstOfWindows() const {
    int64_t sum = 0;
    for (int64_t field = 0; field < kWord; ++field) {
      int64_t window = field % keptOfGroup / keptOfWindow;
      sum += window * windowRows << kFieldBits * field;
    }
    return sum;
  }

  /// Of eight rows of A, the one that the lanes number `lanes`, of four each,
  /// select from. Eight lanes load 16 bytes at a time, or sixteen 8 bytes, from
  /// different banks then, for their rows' chunks are XORed with numbers that
  /// differ in the bits that the lanes of a row do not.
  template <typename Int>
  Int rowOfLanes(const Int &lanes) const {
    return lanes % keptOfGroup * (kGroup / keptOfGroup) + lanes / keptOfGroup;
  }
};

} // namespace nm

#endif // NM_FORMAT_SELECTEDBYTES_H
