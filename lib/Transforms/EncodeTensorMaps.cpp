//===- EncodeTensorMaps.cpp - Tensor maps to calls of the driver ----------===//

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMENCODETENSORMAPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::TensorMapOp;

/// The alignment of a tensor map in memory, in bytes.
static constexpr int64_t kMapAlignment = 64;

namespace {
/// The operands of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, as the
/// driver numbers them.
enum : int32_t {
  kUint8 = 0,
  kUint16 = 1,
  kUint32 = 2,
  kNoInterleave = 0,
  kNoSwizzle = 0,
  kSwizzle32 = 1,
  kSwizzle64 = 2,
  kSwizzle128 = 3,
  kPromoteTo256 = 3,
  kFillZero = 0
};

/// Emits the call that encodes one map.
class MapEncoder {
public:
  MapEncoder(RewriterBase &rewriter, TensorMapOp op, StringRef encoder)
      : rewriter(rewriter), loc(op.getLoc()), op(op), encoder(encoder),
        pointer(LLVM::LLVMPointerType::get(op.getContext())) {}

  LogicalResult encode();

private:
  Value integer(int64_t value, Type type) {
    return LLVM::ConstantOp::create(rewriter, loc,
                                    rewriter.getIntegerAttr(type, value));
  }
  Value word(int32_t value) { return integer(value, rewriter.getI32Type()); }
  Value toI64(Value index) {
    return arith::IndexCastUIOp::create(rewriter, loc, rewriter.getI64Type(),
                                        index);
  }
  Value createSlot(Type type);
  Value storeList(Type element, ValueRange values);
  Value storeWords(ArrayRef<int64_t> values);
  Value getAddress(memref::ExtractStridedMetadataOp metadata);
  void addTensor();
  void addBox();
  void addPixels();
  LogicalResult call();

  RewriterBase &rewriter;
  Location loc;
  TensorMapOp op;
  StringRef encoder;
  Type pointer;
  /// The operands of the call.
  SmallVector<Value> operands;
};
} // namespace

/// Memory of the function's, in its entry: a loop does not grow the stack.
Value MapEncoder::createSlot(Type type) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto function = op->getParentOfType<FunctionOpInterface>();
  rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
  Value one = integer(1, rewriter.getI64Type());
  return LLVM::AllocaOp::create(rewriter, loc, pointer, type, one,
                                kMapAlignment);
}

Value MapEncoder::storeList(Type element, ValueRange values) {
  Value list = createSlot(LLVM::LLVMArrayType::get(element, values.size()));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(rewriter, loc, pointer, element, list,
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(rewriter, loc, value, place);
  }
  return list;
}

/// The driver's type for elements of so many bytes.
static int32_t getDataType(int64_t bytes) {
  return bytes == 1 ? kUint8 : bytes == 2 ? kUint16 : kUint32;
}

/// The driver's name of a swizzle of rows of so many bytes.
static int32_t getSwizzle(TensorMapOp op, int64_t bytes) {
  if (!op.getSwizzled())
    return kNoSwizzle;
  return bytes == 32 ? kSwizzle32 : bytes == 64 ? kSwizzle64 : kSwizzle128;
}

/// `values` of dimensions, the innermost first.
Value MapEncoder::storeWords(ArrayRef<int64_t> values) {
  SmallVector<Value> words;
  for (int64_t value : llvm::reverse(values))
    words.push_back(word(int32_t(value)));
  return storeList(rewriter.getI32Type(), words);
}

/// The address of the tensor's first element.
Value MapEncoder::getAddress(memref::ExtractStridedMetadataOp metadata) {
  auto type = cast<MemRefType>(op.getTensor().getType());
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc,
                                                              op.getTensor());
  Value bytes = arith::ConstantIndexOp::create(
      rewriter, loc, type.getElementTypeBitWidth() / 8);
  Value shift =
      arith::MulIOp::create(rewriter, loc, metadata.getOffset(), bytes);
  base = arith::AddIOp::create(rewriter, loc, base, shift);
  return LLVM::IntToPtrOp::create(rewriter, loc, pointer, toI64(base));
}

/// What both of the driver's functions begin with.
void MapEncoder::addTensor() {
  auto type = cast<MemRefType>(op.getTensor().getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getTensor());
  Value address = getAddress(metadata);
  // The innermost dimension first; a kernel of no elements is not launched.
  SmallVector<Value> sizes, strides;
  for (int64_t d = type.getRank(); d-- > 0;) {
    sizes.push_back(toI64(arith::MaxUIOp::create(
        rewriter, loc, metadata.getSizes()[d], index(1))));
    if (d + 1 < type.getRank())
      strides.push_back(toI64(arith::MulIOp::create(
          rewriter, loc, metadata.getStrides()[d], index(bytes))));
  }
  Type i64 = rewriter.getI64Type();
  operands = {word(getDataType(bytes)), word(int32_t(type.getRank())), address,
              storeList(i64, sizes), storeList(i64, strides)};
}

void MapEncoder::addBox() {
  operands.push_back(storeWords(op.getBox()));
  operands.push_back(storeWords(SmallVector<int64_t>(op.getBox().size(), 1)));
}

void MapEncoder::addPixels() {
  operands.push_back(storeWords(*op.getLower()));
  operands.push_back(storeWords(*op.getUpper()));
  operands.push_back(word(int32_t(op.getBox().back())));
  operands.push_back(word(int32_t(op.getBox().drop_back().back())));
  SmallVector<int64_t> steps = {1};
  llvm::append_range(steps, *op.getSteps());
  steps.push_back(1);
  operands.push_back(storeWords(steps));
}

LogicalResult MapEncoder::call() {
  auto module = op->getParentOfType<ModuleOp>();
  Operation *known = SymbolTable::lookupSymbolIn(module, encoder);
  if (known && !isa<LLVM::LLVMFuncOp>(known))
    return op.emitOpError() << "expected the name @" << encoder
                            << " to be free for the runtime's function";
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      rewriter, module, encoder,
      llvm::to_vector(ValueRange(operands).getTypes()), rewriter.getI32Type());
  if (failed(function))
    return failure();
  LLVM::CallOp::create(rewriter, loc, *function, operands);
  return success();
}

LogicalResult MapEncoder::encode() {
  auto type = cast<MemRefType>(op.getTensor().getType());
  int64_t rowBytes = op.getBox().back() * type.getElementTypeBitWidth() / 8;
  rewriter.setInsertionPoint(op);
  addTensor();
  if (op.isOfPixels())
    addPixels();
  else
    addBox();
  llvm::append_range(
      operands, ValueRange{word(kNoInterleave), word(getSwizzle(op, rowBytes)),
                           word(kPromoteTo256), word(kFillZero)});
  Value map = createSlot(op.getMap().getType());
  operands.insert(operands.begin(), map);
  if (failed(call()))
    return failure();
  rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getMap().getType(), map,
                                            kMapAlignment);
  return success();
}

namespace {
struct NMEncodeTensorMaps
    : mlir::nm::impl::NMEncodeTensorMapsBase<NMEncodeTensorMaps> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<TensorMapOp> maps;
    getOperation().walk([&](TensorMapOp op) { maps.push_back(op); });
    for (TensorMapOp op : maps)
      if (failed(
              MapEncoder(rewriter, op, op.isOfPixels() ? pixelEncoder : encoder)
                  .encode()))
        return signalPassFailure();
  }
};
} // namespace
