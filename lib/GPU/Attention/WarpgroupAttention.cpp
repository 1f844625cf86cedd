//===- WarpgroupAttention.cpp - Tiles of attention by wgmma ---------------===//

#include "GPU/Attention/WarpgroupAttention.h"

#include "GPU/Strategies/Warpgroup/WgmmaInstructions.h"
#include "GPU/Sums/CompleteSums.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a panel's row and of a 16-byte word.
static constexpr int64_t kPanel = 64, kWord = 8;

int64_t WarpgroupAttention::getStride(Operand operand) const {
  return llvm::alignTo(columnsOf(operand), kPanel);
}

Value WarpgroupAttention::placeOf(Operand operand, Value stage, Value key,
                                  Value column) {
  Value word = e.div(e.rem(column, kPanel), kWord);
  Value swizzled = e.builder.createOrFold<arith::XOrIOp>(
      e.loc, word, e.rem(key, ::nm::MatrixDescriptor::kRows));
  Value inRow = e.add(e.mul(swizzled, kWord), e.rem(column, kWord));
  Value row = e.add(e.mul(e.div(column, kPanel), countKeys()), key);
  Value inTile = e.add(e.mul(row, kPanel), inRow);
  return e.toIndex(e.add(e.mul(stage, getTileElements(operand)), inTile));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The descriptor of a buffer's first step: 16 columns of keys, which are
/// contiguous along the products' k, or 16 keys' values, which are not.
Value WarpgroupAttention::getDescriptor(Operand operand, Value stage) {
  Value panel = e.mul(stage, getStride(operand) / kPanel);
  if (operand == AttentionPlace::V)
    return getPanelDescriptor(e, bufferOf(operand), e.toIndex(panel),
                              countKeys());
  return getKMajorDescriptor(e, bufferOf(operand),
                             e.toIndex(e.mul(panel, countKeys())));
}

/// A product of 16 k, of an operand that is contiguous across k or along it.
void WarpgroupAttention::start(ArrayRef<Value> rows, Value descriptor,
                               MutableArrayRef<Value> sums, bool adds,
                               bool isAcross) {
  emitWgmmaOfRegisters(e, SparseTypes(element, e.builder.getF32Type()), kWgmmaK,
                       rows, descriptor, sums,
                       adds ? SumsUse::Add : SumsUse::Make,
                       isAcross ? ", 1" : ", 0");
}

SmallVector<Value> WarpgroupAttention::startKeys(Value stage) {
  Value unmade =
      LLVM::UndefOp::create(e.builder, e.loc, e.builder.getF32Type());
  SmallVector<Value> sums(
      countKeys() * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads, unmade);
  Value keys = getDescriptor(AttentionPlace::K, stage);
  for (auto [step, rows] : llvm::enumerate(queries)) {
    int64_t column = int64_t(step) * kWgmmaK;
    int64_t row = column / kPanel * countKeys();
    Value at = advanceDescriptor(
        e, keys, row * kPanelRowBytes + column % kPanel * kElementBytes);
    start(rows, at, sums, /*adds=*/step != 0, /*isAcross=*/false);
  }
  return sums;
}

void WarpgroupAttention::startValues(Value stage, ArrayRef<Value> powers,
                                     MutableArrayRef<Value> sums) {
  constexpr int64_t kWords = std::tuple_size_v<SquareWords>;
  Value values = getDescriptor(AttentionPlace::V, stage);
  for (int64_t step = 0; step < int64_t(powers.size()) / kWords; ++step)
    start(powers.slice(step * kWords, kWords),
          advanceDescriptor(e, values, step * kWgmmaK * kPanelRowBytes), sums,
          /*adds=*/true, /*isAcross=*/true);
}

void WarpgroupAttention::fence(ArrayRef<SmallVector<Value> *> lists) {
  for (SmallVector<Value> *registers : lists)
    *registers = completeSums(e.builder, e.loc, *registers);
  NVVM::WgmmaFenceAlignedOp::create(e.builder, e.loc);
}

void WarpgroupAttention::commit() {
  NVVM::WgmmaGroupSyncAlignedOp::create(e.builder, e.loc);
}

void WarpgroupAttention::await(int64_t pending, MutableArrayRef<Value> sums) {
  NVVM::WgmmaWaitGroupSyncOp::create(e.builder, e.loc,
                                     static_cast<int>(pending));
  llvm::copy(completeSums(e.builder, e.loc, sums), sums.begin());
}
