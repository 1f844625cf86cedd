//===- WarpgroupInstructions.cpp - What wgmma takes -----------------------===//

#include "WarpgroupInstructions.h"

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

static constexpr StringLiteral kName = "wgmma.mma_async.";
static constexpr int64_t kMaxN = 256;
static constexpr unsigned kRegistersOfA = 4;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {
/// What an instruction says of its product.
struct WarpgroupForm {
  int64_t m = 0, n = 0, k = 0;
  std::optional<NmSimElement> a, b;
  bool hasIntegerSums = false, isSparse = false, saturates = false;
};
} // namespace

/// An instruction reads 32 bytes of each row of A.
static bool isKnown(const WarpgroupForm &form) {
  if (form.m != ::nm::kWarpgroupM || !form.a || !form.b ||
      !canMultiply(*form.a, *form.b))
    return false;
  bool isInt = isInteger(*form.a);
  int64_t step = isInt && form.n > 32 ? 16 : 8;
  return form.n >= 8 && form.n <= kMaxN && form.n % step == 0 &&
         form.hasIntegerSums == isInt &&
         (form.isSparse ? form.k / 2 : form.k) * getBits(*form.a) == 256;
}

static InFlightDiagnostic reject(Operation *op) {
  return op->emitOpError(
      "expected a product m64 of f16, bf16, tf32, e4m3, e5m2, s8 or u8 with "
      "sums of f32 or s32: the simulator has no other");
}

static std::optional<NmSimElement> getElement(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
    return NM_SIM_F16;
  case NVVM::WGMMATypes::bf16:
    return NM_SIM_BF16;
  case NVVM::WGMMATypes::tf32:
    return NM_SIM_TF32;
  case NVVM::WGMMATypes::e4m3:
    return NM_SIM_E4M3;
  case NVVM::WGMMATypes::e5m2:
    return NM_SIM_E5M2;
  case NVVM::WGMMATypes::s8:
    return NM_SIM_S8;
  case NVVM::WGMMATypes::u8:
    return NM_SIM_U8;
  default:
    return std::nullopt;
  }
}

static WarpgroupForm getForm(NVVM::WgmmaMmaAsyncOp op) {
  WarpgroupForm form;
  form.m = op.getShape().getM();
  form.n = op.getShape().getN();
  form.k = op.getShape().getK();
  form.a = getElement(op.getTypeA());
  form.b = getElement(op.getTypeB());
  form.hasIntegerSums = op.getTypeD() == NVVM::WGMMATypes::s32;
  form.saturates = op.getSatfinite().value_or(NVVM::MMAIntOverflow::wrapped) ==
                   NVVM::MMAIntOverflow::satfinite;
  if (!form.hasIntegerSums && op.getTypeD() != NVVM::WGMMATypes::f32)
    form.a = std::nullopt;
  return form;
}

/// Reads `wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.f16.f16`.
static std::optional<WarpgroupForm> parseForm(StringRef name) {
  WarpgroupForm form;
  name.consume_front(kName);
  form.isSparse = name.consume_front("sp.");
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() < 6 || parts[0] != "sync" || parts[1] != "aligned" ||
      !parseInstructionShape(parts[2], form))
    return std::nullopt;
  form.saturates = parts.back() == "satfinite";
  auto a = NVVM::symbolizeWGMMATypes(parts[4]);
  auto b = NVVM::symbolizeWGMMATypes(parts[5]);
  if (!a || !b || parts.size() != (form.saturates ? 7 : 6) ||
      (parts[3] != "f32" && parts[3] != "s32"))
    return std::nullopt;
  form.hasIntegerSums = parts[3] == "s32";
  form.a = getElement(*a);
  form.b = getElement(*b);
  return form;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// What an instruction is given; as NmSimWarpgroupProduct has it.
struct WarpgroupOperands {
  Value descriptorA, descriptorB;
  SmallVector<Value> registersA;
  Value isATransposed, isBTransposed, scaleA, scaleB, addsSums;
  Value metadata, selector;
  SmallVector<Value> sums;
};
} // namespace

static Operands build(const OperandBuilder &b, const WarpgroupForm &form,
                      const WarpgroupOperands &given) {
  Value none = LLVM::ConstantOp::create(b.builder, b.op->getLoc(),
                                        b.builder.getI64IntegerAttr(0));
  SmallVector<Value> operands = {b.integer(-1),
                                 given.descriptorA ? given.descriptorA : none,
                                 given.descriptorB,
                                 b.integer(*form.a),
                                 b.integer(*form.b),
                                 b.integer(form.n),
                                 b.integer(form.k),
                                 b.integer(form.isSparse),
                                 b.integer(form.saturates),
                                 b.integer(!given.registersA.empty()),
                                 given.isATransposed,
                                 given.isBTransposed,
                                 given.scaleA,
                                 given.scaleB,
                                 given.addsSums};
  for (unsigned i = 0; i < kRegistersOfA; ++i)
    operands.push_back(given.registersA.empty() ? b.integer(0)
                                                : given.registersA[i]);
  operands.push_back(given.metadata ? given.metadata : b.integer(0));
  operands.push_back(given.selector ? given.selector : b.integer(0));
  llvm::append_range(operands, given.sums);
  return operands;
}

/// Whether `type` is a struct of `count` values of 32 bits.
static bool isStructOfWords(Type type, int64_t count) {
  auto structType = dyn_cast<LLVM::LLVMStructType>(type);
  return structType && int64_t(structType.getBody().size()) == count &&
         llvm::all_of(structType.getBody(), [](Type element) {
           return element.isIntOrFloat() &&
                  element.getIntOrFloatBitWidth() == 32;
         });
}

Operands mlir::nm::getWarpgroupProduct(const OperandBuilder &b) {
  auto op = cast<NVVM::WgmmaMmaAsyncOp>(b.op);
  WarpgroupForm form = getForm(op);
  if (!isKnown(form))
    return reject(op);
  if (!isStructOfWords(op.getInouts().getType(), form.n / 2))
    return op.emitOpError("expected a struct of ")
           << form.n / 2 << " sums of 32 bits, but got "
           << op.getInouts().getType();
  WarpgroupOperands given;
  given.descriptorA = op.getDescriptorA();
  given.descriptorB = op.getDescriptorB();
  given.isATransposed = b.integer(op.getLayoutA() == NVVM::MMALayout::col);
  given.isBTransposed = b.integer(op.getLayoutB() == NVVM::MMALayout::row);
  auto scale = [&](NVVM::WGMMAScaleIn by) {
    return b.integer(by == NVVM::WGMMAScaleIn::neg ? -1 : 1);
  };
  given.scaleA = scale(op.getScaleA());
  given.scaleB = scale(op.getScaleB());
  given.addsSums = b.integer(int64_t(op.getScaleD()));
  for (int64_t i = 0; i < form.n / 2; ++i)
    given.sums.push_back(LLVM::ExtractValueOp::create(
        b.builder, op.getLoc(), op.getInouts(), ArrayRef<int64_t>{i}));
  return build(b, form, given);
}

Operands mlir::nm::getWarpgroupWait(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.integer(int64_t(cast<NVVM::WgmmaWaitGroupSyncOp>(b.op).getGroup()))};
}

SiteTable::Access mlir::nm::getWarpgroupProductAccess(Operation *) {
  return {NM_SIM_LOAD, NM_SIM_SHARED, /*bytes=*/16, /*alignment=*/16};
}

//===----------------------------------------------------------------------===//
// In inline PTX
//===----------------------------------------------------------------------===//

/// Whether a value is one register of 32 bits.
static bool isWord(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementType().isIntOrFloat() &&
           vector.getNumElements() * vector.getElementTypeBitWidth() == 32;
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 32;
}

namespace {
/// Takes one operand of the text after the other.
class AsmOperandReader {
public:
  AsmOperandReader(const OperandBuilder &b, ArrayRef<AsmOperand> operands)
      : b(b), operands(operands) {}

  size_t left() const { return operands.size(); }
  bool isDescriptor() const {
    return !operands.empty() && operands[0].value &&
           operands[0].value.getType().isInteger(64);
  }
  Value descriptor() {
    if (!isDescriptor())
      return fail();
    return take().value;
  }
  /// A register of 32 bits, a number or a predicate.
  Value word() {
    if (operands.empty())
      return fail();
    AsmOperand operand = take();
    if (!operand.value)
      return operand.result >= 0 ? fail() : b.integer(operand.number);
    if (operand.value.getType().isInteger(1))
      return LLVM::ZExtOp::create(b.builder, b.op->getLoc(),
                                  b.builder.getI32Type(), operand.value);
    return isWord(operand.value.getType()) ? operand.value : fail();
  }
  bool hasFailed() const { return failed; }

private:
  AsmOperand take() {
    AsmOperand operand = operands.front();
    operands = operands.drop_front();
    return operand;
  }
  Value fail() {
    failed = true;
    return b.integer(0);
  }

  const OperandBuilder &b;
  ArrayRef<AsmOperand> operands;
  bool failed = false;
};
} // namespace

/// The sums: what they begin with, or NaN where the op's results are not tied
/// to what it is given.
static FailureOr<SmallVector<Value>> getAsmSums(const OperandBuilder &b,
                                                ArrayRef<AsmOperand> sums) {
  constexpr int64_t kNothing = -1;
  SmallVector<Value> values;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (sum.result != int(i) || (sum.value && !isWord(sum.value.getType())))
      return failure();
    values.push_back(sum.value ? sum.value : b.integer(kNothing));
  }
  return values;
}

Operands mlir::nm::getWarpgroupProductInAsm(const OperandBuilder &b) {
  auto op = cast<LLVM::InlineAsmOp>(b.op);
  std::optional<AsmInstruction> text = parseInlineAsm(op);
  std::optional<WarpgroupForm> form = parseForm(text->name);
  if (!form || !isKnown(*form))
    return reject(op);
  auto numSums = size_t(form->n / 2);
  ArrayRef<AsmOperand> operands(text->operands);
  FailureOr<SmallVector<Value>> sums = failure();
  if (operands.size() > numSums && op->getNumResults() == 1 &&
      isStructOfWords(op->getResult(0).getType(), int64_t(numSums)))
    sums = getAsmSums(b, operands.take_front(numSums));
  if (failed(sums))
    return op->emitOpError("expected the op's results, ")
           << numSums << " values of 32 bits, as the sums";
  AsmOperandReader reader(b, operands.drop_front(numSums));
  WarpgroupOperands given;
  given.sums = *sums;
  bool isShared = reader.isDescriptor();
  if (isShared)
    given.descriptorA = reader.descriptor();
  else
    for (unsigned i = 0; i < kRegistersOfA; ++i)
      given.registersA.push_back(reader.word());
  given.descriptorB = reader.descriptor();
  if (form->isSparse) {
    given.metadata = reader.word();
    given.selector = reader.word();
  }
  given.addsSums = reader.word();
  bool isInt = isInteger(*form->a), is16Bit = getBits(*form->a) == 16;
  given.scaleA = isInt ? b.integer(1) : reader.word();
  given.scaleB = isInt ? b.integer(1) : reader.word();
  given.isATransposed = is16Bit && isShared ? reader.word() : b.integer(0);
  given.isBTransposed = is16Bit ? reader.word() : b.integer(0);
  if (reader.hasFailed() || reader.left() != 0)
    return op->emitOpError("expected the operands of wgmma.mma_async after its "
                           "sums: A, B, ")
           << (form->isSparse ? "metadata, selector, " : "") << "scale-d"
           << (isInt ? "" : ", scales of A and B")
           << (!is16Bit   ? ""
               : isShared ? ", transposition of A and B"
                          : ", transposition of B");
  return build(b, *form, given);
}

Operands mlir::nm::getNumberInAsm(const OperandBuilder &b) {
  std::optional<AsmInstruction> text =
      parseInlineAsm(cast<LLVM::InlineAsmOp>(b.op));
  if (text->operands.size() != 1)
    return b.op->emitOpError("expected one number");
  AsmOperandReader reader(b, text->operands);
  return SmallVector<Value>{reader.word()};
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static std::optional<AsmInstruction> parseProduct(Operation *op) {
  auto text = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!text)
    return std::nullopt;
  std::optional<AsmInstruction> parsed = parseInlineAsm(text);
  if (!parsed || !parsed->name.starts_with(kName))
    return std::nullopt;
  return parsed;
}

bool mlir::nm::isWarpgroupProduct(Operation *op) {
  return isa<NVVM::WgmmaMmaAsyncOp>(op) || parseProduct(op);
}

SmallVector<Value> mlir::nm::getWarpgroupSums(Operation *op) {
  if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op))
    return {product.getInouts()};
  SmallVector<Value> values;
  if (std::optional<AsmInstruction> text = parseProduct(op))
    for (const AsmOperand &operand : text->operands)
      if (operand.result >= 0 && operand.value)
        values.push_back(operand.value);
  return values;
}

/// The operands in the text that are neither sums nor descriptors: A comes
/// first, and metadata after B. Scales follow, which are read at once.
SmallVector<Value> mlir::nm::getWarpgroupRegisters(Operation *op) {
  SmallVector<Value> values;
  std::optional<AsmInstruction> text = parseProduct(op);
  if (!text)
    return values;
  std::optional<WarpgroupForm> form = parseForm(text->name);
  bool isMetadataNext = false, isDone = false;
  for (const AsmOperand &operand : text->operands) {
    if (operand.result >= 0 || isDone)
      continue;
    bool isDescriptor = operand.value && operand.value.getType().isInteger(64);
    if (isMetadataNext && !isDescriptor) {
      if (operand.value && form && form->isSparse)
        values.push_back(operand.value);
      isDone = true;
    } else if (isDescriptor) {
      // After A's or four registers comes B's.
      isMetadataNext = true;
    } else if (operand.value) {
      values.push_back(operand.value);
    }
  }
  return values;
}
