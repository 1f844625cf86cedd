//===- WarpgroupExpansion.h - Tiles that warpgroups multiply ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Warpgroup/ProductOrder.h"
#include "GPU/Strategies/Warpgroup/WgmmaStores.h"
#include "GPU/Sums/SharedSums.h"

#include "nm/Format/MatrixDescriptor.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

namespace mlir::nm {

/// The expansion of a tile that warpgroups multiply by wgmma, each a part
/// [m, n] of it: the transposed weights of 64 columns are an instruction's
/// first operand, and up to 256 rows of A its second. The sums of a thread, a
/// fragment of C^T, are a struct for each 64 columns. They leave through shared
/// memory, or from registers where other warps copy to that.
///
/// The tensor cores cut sums of 8-bit floats and of splits off. With promoted
/// sums, the sums of each tile are waited for and added, rounded, to f32
/// values, which the loop over k carries in place of the structs.
class WarpgroupExpansion : public TileExpansion {
public:
  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> complete(OpBuilder &builder, Location loc,
                              ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

protected:
  /// `part` is a warpgroup's of `tile`, with sums of type `sum`, f32 or i32.
  WarpgroupExpansion(const GpuTile &tile, ArrayRef<int64_t> part, Type sum,
                     bool isPromoted)
      : tile(tile), warpgroupM(part[0]), warpgroupN(part[1]), sum(sum),
        isPromoted(isPromoted) {}

  /// Checks that a thread has registers for the sums of such a part [m, n]:
  /// `sumsOfElement` of each element of C, 2 with promotion. The promoted sums
  /// are of all m rows, and the sums of a tile of `rows` of them at a time, all
  /// if null.
  static LogicalResult verifySums(SpMMOp op, const GpuTile &tile,
                                  ArrayRef<int64_t> part, int64_t sumsOfElement,
                                  std::optional<int64_t> rows = {});
  /// The fragment of a thread, of which `sums` are the sums.
  WgmmaSums getFragment(ThreadEmitter &emitter, ArrayRef<Value> sums) const;

  /// Ends the tile's group of products. They may be in flight until the next
  /// tile's are, unless what follows releases the operands that they read.
  static void commitProducts(OpBuilder &builder, SpMMOp op);

  /// The sums of 64 columns, a struct.
  LLVM::LLVMStructType getSumsType() const;
  /// Products of 64 columns that a warpgroup makes side by side.
  int64_t blocksOfColumns() const { return warpgroupN / ::nm::kWarpgroupM; }
  int64_t sumsPerBlock() const {
    return warpgroupM * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  }
  /// The warpgroup's first panel of 64 rows of A, and its first 64 columns.
  Value firstPanel(ThreadEmitter &emitter) const {
    return emitter.mul(groupM, warpgroupM / ::nm::kWarpgroupM);
  }
  Value firstBlock(ThreadEmitter &emitter) const {
    return emitter.mul(groupN, blocksOfColumns());
  }

  GpuTile tile;
  int64_t warpgroupM, warpgroupN;
  Type sum;
  bool isPromoted;
  /// The thread of the block, and its warpgroup's place in the tile.
  Value thread, groupM, groupN;
  /// Starts the warpgroup's groups of products in its turn, and awaits them.
  ProductOrder turns;

private:
  /// The tile of C that is stored, before an epilogue.
  Value getC(SpMMOp op) const { return sharedC ? sharedC : Value(op.getC()); }
  void storeShared(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                   Value initial);
  void share(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
             SharedSums &shared);
};

/// What products have made of `blocks`, structs of sums of 64 columns each, one
/// by one.
SmallVector<Value> extractSums(OpBuilder &builder, Location loc,
                               ArrayRef<Value> blocks);

/// The descriptor of the matrix that begins `offset` bytes behind the start of
/// `buffer`, in workgroup memory, and has the strides and swizzle of `layout`.
Value getMatrixDescriptor(ThreadEmitter &emitter, Value buffer, Value offset,
                          const ::nm::MatrixDescriptor &layout);

/// That of an operand that is contiguous along m or n, from the first row of k
/// of a panel of 64 columns on, and of each `apart`th panel behind it; all have
/// `rows` of k each. See getPanelledType.
Value getPanelDescriptor(ThreadEmitter &emitter, Value buffer, Value panel,
                         int64_t rows, int64_t apart = 1);
/// That of an operand that is contiguous along k, a panel of 64 k whose first
/// row is `row`.
Value getKMajorDescriptor(ThreadEmitter &emitter, Value buffer, Value row);
/// That of weights that are contiguous along k, without a swizzle: for each 16
/// bytes of k, those of 64 columns side by side. The first is `offset` bytes
/// behind the start of `buffer`.
Value getChunkDescriptor(ThreadEmitter &emitter, Value buffer, Value offset);
/// Bytes of a row of a panel, in which 16-byte words are swizzled.
inline constexpr int64_t kPanelRowBytes = 128;

/// What a product does with the sums that it is given.
enum class SumsUse { Make, Add, Subtract };

/// wgmma of f16 or bf16 with neither operand contiguous along k, and `sums`, a
/// struct of f32.
Value emitWgmma(ThreadEmitter &emitter, Type element, int64_t m, Value weights,
                Value activations, Value sums, SumsUse use = SumsUse::Add);
/// The k of such an instruction.
inline constexpr int64_t kWgmmaK = 16;

/// The descriptor of the matrix that `descriptor` has, `bytes` further on.
Value advanceDescriptor(ThreadEmitter &emitter, Value descriptor,
                        int64_t bytes);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H
