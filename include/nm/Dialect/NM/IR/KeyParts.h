//===- KeyParts.h - Parts of the keys of attention --------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_KEYPARTS_H
#define NM_DIALECT_NM_IR_KEYPARTS_H

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/EmittedIndex.h"

namespace mlir::nm {

/// In how many parts blocks of a GPU's kernel have the keys of rows that are
/// not few. A block has 64 rows, a tile has 64 keys, and a part has at least
/// four tiles. On an H200 a block takes kTileTime nanoseconds for a tile;
/// adding the parts up takes kAddTime, and each row 6 / 5 more
/// (docs/strategies/cublas.md).
struct KeyParts {
  static constexpr int64_t kBlockRows = 64, kTileKeys = 64,
                           kLeastKeys = 4 * kTileKeys, kTileTime = 600,
                           kAddTime = 4000;

  /// The parts for `heads` heads of `rows` rows, each of which meets `seen`
  /// keys at most. A Number is an int64_t or, where sizes are known as the
  /// program runs, an EmittedIndex.
  template <typename Number>
  static Number count(Number heads, Number rows, Number seen) {
    Number one = numberLike(heads, 1),
           blocks = heads * ((rows + (kBlockRows - 1)) / kBlockRows),
           atOnce = numberLike(heads, kBlocksAtOnce) / larger(blocks, one),
           most = numberLike(heads, kMostKeyParts);
    Number parts = larger(least(least(atOnce, seen / kLeastKeys), most), one);
    Number saved = seen / kTileKeys * kTileTime * (parts - one) / parts,
           added = heads * rows * 6 / 5 + kAddTime;
    return chooseIfLess(added, saved, parts, one);
  }
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_KEYPARTS_H
