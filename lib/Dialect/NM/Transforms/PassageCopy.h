//===- PassageCopy.h - Transposition by way of shared memory ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PASSAGECOPY_H
#define NM_DIALECT_NM_TRANSFORMS_PASSAGECOPY_H

#include "CopyEmitter.h"

namespace mlir::nm {

/// Copies a row-major f32 tile to a destination [columns x rows] in shared
/// memory by way of a passage; see nm/Support/SimtPassage.h.
///
/// A piece is the same warp's from its copy to the passage to its store, so
/// that no other has to be waited for. Its chunks of 16 bytes are permuted
/// within rows such that those of a matrix, which are read at once, meet each
/// bank once.
class PassageCopy : CopyEmitter {
public:
  PassageCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
              const CopyThreads &threads)
      : CopyEmitter(builder, loc, copy, threads) {}

  /// Makes the passage, and emits the copies to it as pairs of
  /// vector.transfer_read and vector.transfer_write, piece by piece.
  void emitCopies();
  /// Emits the moves from the passage to the destination: for each piece a
  /// barrier of the warp, for what its lanes have copied, and then matrix loads
  /// and stores.
  void emitMoves();

private:
  int64_t warps() const { return threads.count / kWarpSize; }
  int64_t piecesPerWarp() const;
  struct Piece {
    /// In the passage, and its first row and column in the tile.
    Value number, row, column;
  };
  Piece getPiece(int64_t inWarp);
  /// Where chunk `chunk` of a row of the `quad`th four is in the passage.
  Value permute(Value chunk, Value quad);

  Value passage;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PASSAGECOPY_H
