//===- WgmmaInstructions.cpp - wgmma and its descriptors ------------------===//

#include "GPU/Strategies/Warpgroup/WgmmaInstructions.h"

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Expand/Assembly.h"

#include "nm/Format/MmaFragments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

Value mlir::nm::getMatrixDescriptor(ThreadEmitter &emitter, Value buffer,
                                    Value offset,
                                    const MatrixDescriptor &layout) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value view = flattenBuffer(builder, loc, buffer);
  Value address = emitter.add(getElementAddress(emitter, view), offset);
  // Of the descriptor, the address in units of 16 bytes comes first.
  Value word = emitter.mask(
      emitter.toI32(emitter.div(address, MatrixDescriptor::kChunk)), 0x3fff);
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word);
  Value constant = arith::ConstantIntOp::create(
      builder, loc, static_cast<int64_t>(layout.encode()), 64);
  return arith::OrIOp::create(builder, loc, constant, wide);
}

/// The layout of rows of 128 bytes, eight of which are swizzled together.
static MatrixDescriptor getSwizzledRows(int64_t leading) {
  MatrixDescriptor layout;
  layout.leading = static_cast<int>(leading);
  layout.stride = static_cast<int>(MatrixDescriptor::kRows * kPanelRowBytes);
  layout.swizzle = ::nm::MatrixSwizzle::Bytes128;
  return layout;
}

Value mlir::nm::getPanelDescriptor(ThreadEmitter &emitter, Value buffer,
                                   Value panel, int64_t rows, int64_t apart) {
  int64_t bytes = rows * kPanelRowBytes;
  return getMatrixDescriptor(emitter, buffer, emitter.mul(panel, bytes),
                             getSwizzledRows(/*leading=*/apart * bytes));
}

Value mlir::nm::getKMajorDescriptor(ThreadEmitter &emitter, Value buffer,
                                    Value row) {
  // An instruction's k is within a row.
  return getMatrixDescriptor(emitter, buffer, emitter.mul(row, kPanelRowBytes),
                             getSwizzledRows(/*leading=*/0));
}

Value mlir::nm::getChunkDescriptor(ThreadEmitter &emitter, Value buffer,
                                   Value offset) {
  MatrixDescriptor layout;
  layout.leading =
      static_cast<int>(::nm::kWarpgroupM * MatrixDescriptor::kChunk);
  layout.stride =
      static_cast<int>(MatrixDescriptor::kRows * MatrixDescriptor::kChunk);
  return getMatrixDescriptor(emitter, buffer, offset, layout);
}

Value mlir::nm::advanceDescriptor(ThreadEmitter &emitter, Value descriptor,
                                  int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value step = arith::ConstantIntOp::create(
      emitter.builder, emitter.loc, bytes / MatrixDescriptor::kChunk, 64);
  return arith::AddIOp::create(emitter.builder, emitter.loc, descriptor, step);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static NVVM::WGMMATypes getWgmmaType(Type element) {
  using Types = NVVM::WGMMATypes;
  if (element.getIntOrFloatBitWidth() == 16)
    return element.isF16() ? Types::f16 : Types::bf16;
  if (element.isInteger())
    return Types::s8;
  return isa<Float8E5M2Type>(element) ? Types::e5m2 : Types::e4m3;
}

Value mlir::nm::emitWgmma(ThreadEmitter &emitter, Type element, int64_t m,
                          Value weights, Value activations, Value sums,
                          SumsUse use) {
  MLIRContext *context = emitter.builder.getContext();
  int64_t bits = element.getIntOrFloatBitWidth();
  auto types = NVVM::WGMMATypesAttr::get(context, getWgmmaType(element));
  auto ofSums = NVVM::WGMMATypesAttr::get(context, element.isInteger()
                                                       ? NVVM::WGMMATypes::s32
                                                       : NVVM::WGMMATypes::f32);
  auto adds = use == SumsUse::Make ? NVVM::WGMMAScaleOut::zero
                                   : NVVM::WGMMAScaleOut::one;
  auto ofWeights = use == SumsUse::Subtract ? NVVM::WGMMAScaleIn::neg
                                            : NVVM::WGMMAScaleIn::one;
  auto alongK = NVVM::MMALayout::row, across = NVVM::MMALayout::col;
  if (bits == 16)
    std::swap(alongK, across);
  return NVVM::WgmmaMmaAsyncOp::create(
      emitter.builder, emitter.loc, sums.getType(), sums, weights, activations,
      NVVM::MMAShapeAttr::get(context, ::nm::kWarpgroupM, static_cast<int>(m),
                              static_cast<int>(kWgmmaBytes * 8 / bits)),
      types, types, ofSums, NVVM::WGMMAScaleOutAttr::get(context, adds),
      NVVM::WGMMAScaleInAttr::get(context, ofWeights),
      NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one),
      NVVM::MMALayoutAttr::get(context, alongK),
      NVVM::MMALayoutAttr::get(context, across),
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

/// The text of the instruction on `sums` registers: results, then what they
/// begin with, then other operands.
static std::string getText(const WgmmaText &wanted, size_t sums, SumsUse use) {
  const SparseTypes &types = wanted.types;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{ .reg .pred p; setp.ne.b32 p, " << int(use != SumsUse::Make)
         << ", 0; "
         << "wgmma.mma_async" << (wanted.isSparse ? ".sp" : "")
         << ".sync.aligned.m" << ::nm::kWarpgroupM << "n" << wanted.columns
         << "k" << wanted.k << (types.sum.isInteger() ? ".s32." : ".f32.")
         << types.name() << "." << types.name() << " {";
  for (size_t i = 0; i < sums; ++i)
    stream << (i == 0 ? "$" : ", $") << i;
  stream << "}, " << wanted.operands << ", p";
  // What the operands are multiplied by.
  if (types.sum.isF32())
    stream << (use == SumsUse::Subtract ? ", -1" : ", 1") << ", 1";
  stream << wanted.layouts << "; }";
  return text;
}

Value mlir::nm::emitWgmmaText(ThreadEmitter &emitter, const WgmmaText &text,
                              ArrayRef<Value> sums, ValueRange operands,
                              SumsUse use) {
  Type sum = sums.front().getType();
  std::string constraints;
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += sum.isInteger() ? "=r," : "=f,";
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += std::to_string(i) + ",";
  SmallVector<Value> all(sums);
  llvm::append_range(all, operands);
  return emitAssembly(
      emitter.builder, emitter.loc, getStructOf(sum, sums.size()), all,
      getText(text, sums.size(), use), constraints + text.constraints.str());
}

void mlir::nm::takeSums(ThreadEmitter &emitter, Value result,
                        MutableArrayRef<Value> sums) {
  for (auto [i, each] : llvm::enumerate(sums))
    each = LLVM::ExtractValueOp::create(emitter.builder, emitter.loc, result,
                                        ArrayRef<int64_t>{int64_t(i)});
}

void mlir::nm::emitWgmmaOfRegisters(ThreadEmitter &emitter,
                                    const SparseTypes &types, int64_t k,
                                    ArrayRef<Value> rows, Value descriptor,
                                    MutableArrayRef<Value> sums, SumsUse use,
                                    StringRef layouts) {
  auto count = int64_t(sums.size()), words = int64_t(rows.size());
  std::string operands;
  llvm::raw_string_ostream stream(operands);
  for (int64_t i = 0; i < words; ++i)
    stream << (i == 0 ? "{$" : ", $") << 2 * count + i;
  stream << "}, $" << 2 * count + words;
  WgmmaText text{types,      /*isSparse=*/false, /*columns=*/2 * count,
                 k,          operands,           layouts.str(),
                 "r,r,r,r,l"};
  SmallVector<Value> all(rows);
  all.push_back(descriptor);
  takeSums(emitter, emitWgmmaText(emitter, text, sums, all, use), sums);
}
