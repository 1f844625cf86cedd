//===- MatrixInstructions.cpp - What products of matrices take ------------===//

#include "MatrixInstructions.h"

#include "InlineAsm.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Sim/Elements.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

using Operands = FailureOr<SmallVector<Value>>;
using ::nm::MmaShape;
using ::nm::sim::canMultiply;
using ::nm::sim::getBits;
using ::nm::sim::isInteger;
using NVVM::MMATypes;

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Operands getMatrices(const OperandBuilder &b, int64_t count,
                            ValueRange words) {
  auto op = cast<OpTy>(b.op);
  if (op.getShape().getM() != 8 || op.getShape().getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return b.op->emitOpError("expected matrices m8n8 of b16: the simulator has "
                             "no others");
  SmallVector<Value> operands = {
      b.integer(-1), b.operand(0), b.integer(count),
      b.integer(op.getLayout() == NVVM::MMALayout::col)};
  llvm::append_range(operands, words);
  return operands;
}

Operands mlir::nm::getLoadedMatrices(const OperandBuilder &b) {
  return getMatrices<NVVM::LdMatrixOp>(b, cast<NVVM::LdMatrixOp>(b.op).getNum(),
                                       {});
}

Operands mlir::nm::getStoredMatrices(const OperandBuilder &b) {
  ValueRange words = cast<NVVM::StMatrixOp>(b.op).getSources();
  return getMatrices<NVVM::StMatrixOp>(b, int64_t(words.size()), words);
}

/// Each of the first 8 lanes of a matrix names a row of it, of 16 bytes.
static SiteTable::Access getRows(NmSimKind kind, int64_t matrices) {
  SiteTable::Access access{kind, NM_SIM_SHARED, /*bytes=*/16, /*alignment=*/16};
  access.lanes = int32_t(8 * matrices);
  return access;
}

SiteTable::Access mlir::nm::getLoadedMatricesAccess(Operation *op) {
  return getRows(NM_SIM_LOAD, cast<NVVM::LdMatrixOp>(op).getNum());
}

SiteTable::Access mlir::nm::getStoredMatricesAccess(Operation *op) {
  return getRows(NM_SIM_STORE,
                 int64_t(cast<NVVM::StMatrixOp>(op).getSources().size()));
}

//===----------------------------------------------------------------------===//
// mma.sync and mma.sp.sync
//===----------------------------------------------------------------------===//

static std::optional<NmSimElement> getElement(MMATypes type) {
  switch (type) {
  case MMATypes::f16:
    return NM_SIM_F16;
  case MMATypes::bf16:
    return NM_SIM_BF16;
  case MMATypes::tf32:
    return NM_SIM_TF32;
  case MMATypes::e4m3:
    return NM_SIM_E4M3;
  case MMATypes::e5m2:
    return NM_SIM_E5M2;
  case MMATypes::s8:
    return NM_SIM_S8;
  case MMATypes::u8:
    return NM_SIM_U8;
  default:
    return std::nullopt;
  }
}

namespace {
/// What an instruction says of its product.
struct Form {
  int64_t m = 0, n = 0, k = 0;
  MMATypes a = MMATypes::b1, b = MMATypes::b1, sumIn = MMATypes::b1,
           sumOut = MMATypes::b1;
  bool isSparse = false, saturates = false;
};
} // namespace

/// A fragment of a dense A has 2 or 4 registers; one of a sparse A as well.
static bool isKnown(const Form &form) {
  std::optional<NmSimElement> a = getElement(form.a), b = getElement(form.b);
  if (form.m != MmaShape::kM || form.n != MmaShape::kN || !a || !b ||
      !canMultiply(*a, *b))
    return false;
  MMATypes sum = isInteger(*a) ? MMATypes::s32 : MMATypes::f32;
  int64_t rowBits = form.k * getBits(*a) / (form.isSparse ? 2 : 1);
  return form.sumIn == sum && form.sumOut == sum &&
         (rowBits == 128 || rowBits == 256);
}

static Operands buildProduct(const OperandBuilder &b, const Form &form,
                             ArrayRef<Value> words) {
  if (!isKnown(form))
    return b.op->emitOpError("expected a product m16n8 of f16, bf16, tf32, "
                             "e4m3, e5m2, s8 or u8 with "
                             "sums of f32 or s32: the simulator has no other");
  NmSimElement aType = *getElement(form.a), bType = *getElement(form.b);
  MmaShape shape{int(form.k), getBits(aType), form.isSparse};
  int expected = shape.aRegisters() + shape.bRegisters() +
                 MmaShape::kSumsPerLane + (form.isSparse ? 2 : 0);
  if (int(words.size()) != expected)
    return b.op->emitOpError("expected ")
           << expected << " operands, but got " << words.size();
  SmallVector<Value> operands = {
      b.integer(-1),     b.integer(aType),         b.integer(bType),
      b.integer(form.k), b.integer(form.isSparse), b.integer(form.saturates)};
  llvm::append_range(operands, words);
  return operands;
}

template <typename OpTy>
static Form getForm(OpTy op) {
  Form form;
  form.m = op.getShape().getM();
  form.n = op.getShape().getN();
  form.k = op.getShape().getK();
  form.a = op.getMultiplicandAPtxType().value_or(MMATypes::b1);
  form.b = op.getMultiplicandBPtxType().value_or(form.a);
  form.sumIn = op.accumPtxType();
  form.sumOut = op.resultPtxType();
  form.saturates =
      op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite;
  return form;
}

Operands mlir::nm::getProduct(const OperandBuilder &b) {
  auto op = cast<NVVM::MmaOp>(b.op);
  if (op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col)
    return b.op->emitOpError("expected A in row and B in column layout: the "
                             "simulator has no others");
  return buildProduct(b, getForm(op), b.operands);
}

Operands mlir::nm::getSparseProduct(const OperandBuilder &b) {
  auto op = cast<NVVM::MmaSpOp>(b.op);
  if (op.getKind())
    return b.op->emitOpError("expected a product without a kind: the simulator "
                             "has no other");
  Form form = getForm(op);
  form.isSparse = true;
  return buildProduct(b, form, b.operands);
}

//===----------------------------------------------------------------------===//
// In inline PTX
//===----------------------------------------------------------------------===//

/// Reads `mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.
/// f32`, where parts may be left away.
static std::optional<Form> parseForm(StringRef name) {
  Form form;
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  SmallVector<MMATypes> types;
  for (StringRef part : parts) {
    if (part.starts_with("sp"))
      form.isSparse = true;
    else if (part == "satfinite")
      form.saturates = true;
    else if (auto type = NVVM::symbolizeMMATypes(part))
      types.push_back(*type);
    else if (!parseInstructionShape(part, form) &&
             !llvm::is_contained({"mma", "sync", "aligned", "row", "col"},
                                 part))
      return std::nullopt;
  }
  if (types.size() != 4)
    return std::nullopt;
  form.sumOut = types[0];
  form.a = types[1];
  form.b = types[2];
  form.sumIn = types[3];
  return form;
}

/// Whether a value is one register of 32 bits.
static bool isWord(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementType().isIntOrFloat() &&
           vector.getNumElements() * vector.getElementTypeBitWidth() == 32;
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 32;
}

Operands mlir::nm::getProductInAsm(const OperandBuilder &b) {
  std::optional<AsmInstruction> text =
      parseInlineAsm(cast<LLVM::InlineAsmOp>(b.op));
  std::optional<Form> form = parseForm(text->name);
  if (!form || text->operands.size() < MmaShape::kSumsPerLane)
    return b.op->emitOpError("is a product that the simulator does not have");
  ArrayRef<AsmOperand> operands(text->operands);
  for (int i = 0; i < MmaShape::kSumsPerLane; ++i)
    if (operands[i].result != i)
      return b.op->emitOpError("expected the op's results as the sums");
  SmallVector<Value> words;
  for (const AsmOperand &operand :
       operands.drop_front(MmaShape::kSumsPerLane)) {
    if (operand.value && !isWord(operand.value.getType()))
      return b.op->emitOpError("expected operands of 32 bits, but got ")
             << operand.value.getType();
    words.push_back(operand.value ? operand.value : b.integer(operand.number));
  }
  return buildProduct(b, *form, words);
}

Operands mlir::nm::getTransposedMatrix(const OperandBuilder &b) {
  std::optional<AsmInstruction> text =
      parseInlineAsm(cast<LLVM::InlineAsmOp>(b.op));
  if (text->name != "movmatrix.sync.aligned.m8n8.trans.b16" ||
      text->operands.size() != 2 || text->operands[0].result != 0)
    return b.op->emitOpError("expected movmatrix.sync.aligned.m8n8.trans.b16 "
                             "from a register to the op's result");
  Value word = text->operands[1].value;
  if (!word || !isWord(word.getType()) || !isWord(b.op->getResult(0).getType()))
    return b.op->emitOpError("expected an operand and a result of 32 bits");
  return SmallVector<Value>{b.integer(-1), word};
}
