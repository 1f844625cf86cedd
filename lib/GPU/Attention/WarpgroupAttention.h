//===- WarpgroupAttention.h - Tiles of attention by wgmma -------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_WARPGROUPATTENTION_H
#define NM_LIB_GPU_ATTENTION_WARPGROUPATTENTION_H

#include "GPU/Attention/AttentionTiles.h"

#include "nm/Format/MmaFragments.h"

namespace mlir::nm {

/// Products of a warpgroup of 64 rows, whose first operands, queries and
/// exponentials, are in registers. Buffers have panels of 64 columns, rows of
/// 128 bytes, whose 16-byte words are swizzled.
class WarpgroupAttention : public AttentionTiles {
public:
  WarpgroupAttention(ThreadEmitter &emitter, AttentionPlace &place)
      : AttentionTiles(emitter, place, /*squares=*/1, ::nm::kWarpgroupThreads) {
  }

  /// Two blocks of them are a multiprocessor's at a width of 128: with tiles of
  /// 128 keys and two warpgroups, one block, whose warpgroups wait for one
  /// another, took up to 1.3 times as long on an H200.
  int64_t countKeys() const override { return 64; }
  int64_t getBytes() const override { return getTileBytes(); }
  /// Makes what the thread wrote to lists of registers visible to products.
  void fence(ArrayRef<SmallVector<Value> *> lists);
  /// Starts the products of the warp's rows and a tile's keys.
  SmallVector<Value> startKeys(Value stage);
  /// Starts those of `powers`, a tile's packed exponentials, and its values,
  /// which are added to `sums`.
  void startValues(Value stage, ArrayRef<Value> powers,
                   MutableArrayRef<Value> sums);
  /// Ends a group of products.
  void commit();
  /// Waits for all groups but the last `pending`, of which one made `sums`.
  void await(int64_t pending, MutableArrayRef<Value> sums);

private:
  int64_t getStride(Operand operand) const override;
  Value placeOf(Operand operand, Value stage, Value key, Value column) override;
  Value getDescriptor(Operand operand, Value stage);
  void start(ArrayRef<Value> rows, Value descriptor,
             MutableArrayRef<Value> sums, bool adds, bool isAcross);
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_WARPGROUPATTENTION_H
