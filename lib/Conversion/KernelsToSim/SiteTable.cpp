//===- SiteTable.cpp - The instructions that a simulator calls for --------===//

#include "SiteTable.h"

#include "InlineAsm.h"

#include "nm/Dialect/NM/IR/SourceLocation.h"

using namespace mlir;
using namespace mlir::nm;

static_assert(sizeof(NmSimSite) == 6 * sizeof(int32_t),
              "rows are written as six words");

static std::string describePlace(Operation *op) {
  std::string place = getPlace(op->getLoc());
  return place.empty() ? "an unknown location" : place;
}

/// What a fault calls it: of inline PTX, the instruction's own name.
static StringRef getInstructionName(Operation *op) {
  if (auto text = dyn_cast<LLVM::InlineAsmOp>(op))
    if (std::optional<AsmInstruction> instruction = parseInlineAsm(text))
      return instruction->name;
  return op->getName().getStringRef();
}

int32_t SiteTable::addText(StringRef line) {
  auto [entry, isNew] = offsets.try_emplace(line, int32_t(text.size()));
  if (isNew) {
    text += line;
    text += '\0';
  }
  return entry->second;
}

int32_t SiteTable::add(Operation *op, const Access &access) {
  auto number = int32_t(size());
  int32_t row[kColumns] = {addText(getInstructionName(op)),
                           addText(describePlace(op)),
                           access.kind,
                           access.space,
                           int32_t(access.bytes),
                           int32_t(access.alignment)};
  rows.insert(rows.end(), std::begin(row), std::end(row));
  return number;
}

std::pair<LLVM::GlobalOp, LLVM::GlobalOp>
SiteTable::create(OpBuilder &builder, Location loc, StringRef prefix) const {
  Type i32 = builder.getI32Type();
  auto count = int64_t(rows.size());
  auto sites = LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(i32, count), /*isConstant=*/true,
      LLVM::Linkage::Internal, (prefix + ".sites").str(),
      rows.empty() ? Attribute()
                   : DenseElementsAttr::get(RankedTensorType::get({count}, i32),
                                            ArrayRef(rows)));
  auto names = LLVM::GlobalOp::create(
      builder, loc,
      LLVM::LLVMArrayType::get(builder.getI8Type(), int64_t(text.size())),
      /*isConstant=*/true, LLVM::Linkage::Internal, (prefix + ".text").str(),
      builder.getStringAttr(text));
  return {sites, names};
}
