//===- NMDialect.cpp - The nm dialect -------------------------------------===//

#include "Bytecode.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::nm;

#include "nm/Dialect/NM/IR/NMDialect.cpp.inc"
#include "nm/Dialect/NM/IR/NMEnums.cpp.inc"
#include "nm/Dialect/NM/IR/NMInterfaces.cpp.inc"
#include "nm/Dialect/NM/IR/NMPackedFormInterface.cpp.inc"
#include "nm/Dialect/NM/IR/NMScheduleInterface.cpp.inc"

namespace {
/// A call of a function with nm ops may be replaced by the function's body: no
/// op of the dialect depends on the function that it is in. Nothing is inlined
/// into a region of theirs: an epilogue has arithmetic alone, and the region of
/// `nm.warps` one block without a terminator.
struct NMInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void NMDialect::initialize() {
  addInterfaces<NMInliner>();
  addBytecodeInterface(this);
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "nm/Dialect/NM/IR/NMOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nm/Dialect/NM/IR/NMChecks.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nm/Dialect/NM/IR/NMContractions.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nm/Dialect/NM/IR/NMPatches.cpp.inc"
      >();
}

Operation *NMDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Attributes of other dialects' ops
//===----------------------------------------------------------------------===//

namespace {
/// An attribute that passes and users set on ops or arguments.
struct KnownAttribute {
  StringLiteral name;
  bool (*isValid)(Attribute);
  StringLiteral expected;
};
} // namespace

static bool isArgumentNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0;
}

static bool isCount(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() > 0;
}

template <typename AttrTy>
static bool isAttribute(Attribute value) {
  return isa<AttrTy>(value);
}

static bool areStrings(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<StringAttr>);
}

static bool areEllSteps(Attribute value) {
  constexpr int64_t kWidths = 4, kCounts = 2;
  auto steps = dyn_cast<DenseI64ArrayAttr>(value);
  return steps && steps.size() == kWidths * kCounts;
}

static constexpr KnownAttribute kOfOps[] = {
    {kChipAttr, isAttribute<ChipAttr>, "an #nm.chip"},
    {kRatesAttr, areRates, "a dictionary of a GPU's rates, each above 0"},
    {"nm.device", isAttribute<StringAttr>, "a string"},
    {"nm.schedule_tables", areStrings, "an array of strings"},
    {"nm.batch_invariant", isAttribute<UnitAttr>, "a unit attribute"},
    {kArithmeticAttr, isAttribute<ArithmeticAttr>, "an #nm.arithmetic"},
    {kRecordAttr, isAttribute<RecordAttr>, "an #nm.record"},
    {"nm.host", isAttribute<UnitAttr>, "a unit attribute"},
    {"nm.temporary_bytes", isCount, "a number of bytes, of type i64"},
    {"nm.steps", isAttribute<ArrayAttr>, "an array"},
    {"nm.overlays_tiles", isAttribute<UnitAttr>, "a unit attribute"},
    {"nm.early_load", isAttribute<UnitAttr>, "a unit attribute"},
    {"nm.short_kernel", isAttribute<UnitAttr>, "a unit attribute"},
    {kAlignmentAttr, isCount, "a number of bytes, of type i64"},
    {"nm.windows", isCount, "a number of rows, of type i64"},
    {"nm.kept", isCount, "a number of weights, of type i64"},
    {"nm.ell_steps", areEllSteps, "an array of eight i64"},
};

static constexpr KnownAttribute kOfArguments[] = {
    {"nm.values_of", isArgumentNumber, "an argument's number, of type i64"},
    {"nm.indices_of", isArgumentNumber, "an argument's number, of type i64"},
    {"nm.packed_values_of", isArgumentNumber,
     "an argument's number, of type i64"},
    {"nm.packed_indices_of", isArgumentNumber,
     "an argument's number, of type i64"},
    {"nm.packed_lists_of", isArgumentNumber,
     "an argument's number, of type i64"},
};

static LogicalResult verifyKnown(Operation *op, NamedAttribute attribute,
                                 ArrayRef<KnownAttribute> all,
                                 StringRef holder) {
  const KnownAttribute *known = llvm::find_if(all, [&](auto &candidate) {
    return attribute.getName() == candidate.name;
  });
  if (known == all.end()) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "expected " << holder << " to have ";
    llvm::interleaveComma(all, diagnostic, [&](const KnownAttribute &other) {
      diagnostic << other.name;
    });
    return diagnostic << " alone of dialect nm, but got "
                      << attribute.getName();
  }
  if (known->isValid(attribute.getValue()))
    return success();
  return op->emitOpError() << "expected " << known->name << " to be "
                           << known->expected << ", but got "
                           << attribute.getValue();
}

/// A record is a product's (C5).
static LogicalResult verifyRecord(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kRecordAttr || isa<SparseProductOpInterface>(op))
    return success();
  return op->emitOpError() << "expected " << kRecordAttr
                           << " on nm.spmm or nm.spmv alone";
}

/// A buffer's offset in shared memory follows from the sizes of the buffers
/// before it; wgmma and tensor copies want swizzled buffers at multiples of
/// 1024 bytes.
static LogicalResult verifyAlignment(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kAlignmentAttr)
    return success();
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!view)
    return op->emitOpError()
           << "expected " << kAlignmentAttr << " on a memref.view alone";
  int64_t alignment = cast<IntegerAttr>(attribute.getValue()).getInt();
  std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
  if (!offset || *offset % alignment == 0)
    return success();
  return op->emitOpError() << "expected a buffer at a multiple of " << alignment
                           << " bytes of shared memory, but got it at "
                           << *offset;
}

LogicalResult NMDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return failure(failed(verifyKnown(op, attribute, kOfOps, "ops")) ||
                 failed(verifyRecord(op, attribute)) ||
                 failed(verifyAlignment(op, attribute)));
}

LogicalResult NMDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned,
                                                  NamedAttribute attribute) {
  return verifyKnown(op, attribute, kOfArguments, "arguments");
}
