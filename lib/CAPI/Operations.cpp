//===- Operations.cpp - nm ops by the names of their operands, from C -----===//

#include "nm-c/Dialect.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace mlir;
using namespace mlir::nm;

namespace {
enum class Count { One, Optional, Any };

struct OperandName {
  StringLiteral name;
  Count count = Count::One;
};

/// The operands of an op, in the order of ODS, which names them in C++ alone.
struct OperationKind {
  StringLiteral name;
  ArrayRef<OperandName> operands;
  std::pair<unsigned, unsigned> (*getPlace)(Operation *op, unsigned operand);
};
} // namespace

static constexpr OperandName
    kOfProduct[] = {{"a"},
                    {"values"},
                    {"indices"},
                    {"lists", Count::Optional},
                    {"scales", Count::Optional},
                    {"epilogueOperands", Count::Any},
                    {"c"}},
    kOfCompress[] = {{"dense"}, {"values"}, {"indices"}},
    kOfDecompress[] = {{"values"}, {"indices"}, {"dense"}},
    kOfPrune[] = {{"dense"}, {"pruned"}},
    kOfPack[] = {{"values"},
                 {"indices"},
                 {"packedValues"},
                 {"packedIndices"},
                 {"packedLists", Count::Optional}},
    kOfSplitFloats[] = {{"a"}, {"output"}},
    kOfRecomputeFrom[] = {{"a"}, {"values"}, {"indices"}, {"sums"}},
    kOfDisassemble[] = {{"encoded"}}, kOfAssemble[] = {{"values"}, {"indices"}},
    kOfCombine[] = {{"partials"}, {"c"}}, kOfYield[] = {{"value"}},
    kOfSlot[] = {{"ring"}, {"index"}}, kOfAlias[] = {{"source"}},
    kOfStageStores[] = {{"tile"}, {"slots"}}, kOfEndTile[] = {{"tile"}},
    kOfCopy[] = {{"source"},
                 {"destination"},
                 {"rows", Count::Optional},
                 {"condition", Count::Optional},
                 {"after", Count::Optional},
                 {"barriers", Count::Optional},
                 {"step", Count::Optional}},
    kOfLoadTile[] = {{"source"}, {"rows", Count::Optional}},
    kOfStoreTile[] = {{"fragment"}, {"destination"}},
    kOfTokens[] = {{"tokens", Count::Any}},
    kOfRelease[] = {{"buffers", Count::Any}}, kOfWait[] = {{"ring"}, {"step"}},
    kOfSignal[] = {{"ring"},
                   {"step"},
                   {"condition", Count::Optional},
                   {"tokens", Count::Any}},
    kOfTensorMap[] = {{"tensor"}}, kOfTensorMapAddress[] = {{"map"}};

template <typename OpTy>
static OperationKind kindOf(ArrayRef<OperandName> operands = {}) {
  return {OpTy::getOperationName(), operands, [](Operation *op, unsigned i) {
            return cast<OpTy>(op).getODSOperandIndexAndLength(i);
          }};
}

static ArrayRef<OperationKind> getOperationKinds() {
  static const OperationKind kinds[] = {
      kindOf<SpMMOp>(kOfProduct),
      kindOf<SpMVOp>(kOfProduct),
      kindOf<YieldOp>(kOfYield),
      kindOf<CompressOp>(kOfCompress),
      kindOf<DecompressOp>(kOfDecompress),
      kindOf<PruneOp>(kOfPrune),
      kindOf<PackOp>(kOfPack),
      kindOf<SplitFloatsOp>(kOfSplitFloats),
      kindOf<RecomputeFromOp>(kOfRecomputeFrom),
      kindOf<DisassembleOp>(kOfDisassemble),
      kindOf<AssembleOp>(kOfAssemble),
      kindOf<HasCublasOp>(),
      kindOf<CombineOp>(kOfCombine),
      kindOf<SlotOp>(kOfSlot),
      kindOf<AliasOp>(kOfAlias),
      kindOf<StageStoresOp>(kOfStageStores),
      kindOf<CopyOp>(kOfCopy),
      kindOf<LoadTileOp>(kOfLoadTile),
      kindOf<StoreTileOp>(kOfStoreTile),
      kindOf<GroupOp>(kOfTokens),
      kindOf<AwaitOp>(kOfTokens),
      kindOf<ReleaseOp>(kOfRelease),
      kindOf<BarriersOp>(),
      kindOf<WarpsOp>(),
      kindOf<WaitOp>(kOfWait),
      kindOf<SignalOp>(kOfSignal),
      kindOf<EndTileOp>(kOfEndTile),
      kindOf<TensorMapOp>(kOfTensorMap),
      kindOf<TensorMapAddressOp>(kOfTensorMapAddress),
  };
  return kinds;
}

static const OperationKind *findKind(StringRef name) {
  for (const OperationKind &kind : getOperationKinds())
    if (kind.name == name)
      return &kind;
  return nullptr;
}

intptr_t nmGetNumOperations(void) { return getOperationKinds().size(); }

MlirStringRef nmGetOperationName(intptr_t index) {
  ArrayRef<OperationKind> kinds = getOperationKinds();
  return index >= 0 && index < intptr_t(kinds.size())
             ? wrap(StringRef(kinds[index].name))
             : wrap(StringRef());
}

MlirStringRef nmGetOperandName(MlirStringRef operation, intptr_t index) {
  const OperationKind *kind = findKind(unwrap(operation));
  return kind && index >= 0 && index < intptr_t(kind->operands.size())
             ? wrap(StringRef(kind->operands[index].name))
             : wrap(StringRef());
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// An op in the making.
class OperationBuilder {
public:
  OperationBuilder(Location loc, const OperationKind &kind)
      : kind(kind), state(loc, kind.name) {}

  LogicalResult addOperands(ArrayRef<NmOperand> given);
  LogicalResult addFields(ArrayRef<MlirNamedAttribute> fields);
  void inferResults();
  Operation *create() { return Operation::create(state); }

  InFlightDiagnostic reject() {
    return emitError(state.location) << "'" << kind.name << "' expected ";
  }

  const OperationKind &kind;
  OperationState state;
};
} // namespace

static const NmOperand *findOperand(ArrayRef<NmOperand> given, StringRef name) {
  for (const NmOperand &operand : given)
    if (unwrap(operand.name) == name)
      return &operand;
  return nullptr;
}

LogicalResult OperationBuilder::addOperands(ArrayRef<NmOperand> given) {
  for (const NmOperand &operand : given)
    if (operand.count < 0 || (operand.count > 0 && !operand.values))
      return reject() << "values of operand " << unwrap(operand.name)
                      << ", but got NULL or a count below 0";
  for (const NmOperand &operand : given)
    if (llvm::none_of(kind.operands, [&](const OperandName &known) {
          return known.name == unwrap(operand.name);
        }))
      return reject() << "no operand " << unwrap(operand.name);
  SmallVector<int32_t> segments;
  for (const OperandName &operand : kind.operands) {
    const NmOperand *found = findOperand(given, operand.name);
    ArrayRef<MlirValue> values(found ? found->values : nullptr,
                               found ? found->count : 0);
    if (operand.count == Count::One && values.size() != 1)
      return reject() << "one value as operand " << operand.name << ", but got "
                      << values.size();
    if (operand.count == Count::Optional && values.size() > 1)
      return reject() << "at most one value as operand " << operand.name
                      << ", but got " << values.size();
    for (MlirValue value : values)
      state.addOperands(unwrap(value));
    segments.push_back(values.size());
  }
  if (llvm::is_contained(state.name.getAttributeNames(), "operandSegmentSizes"))
    state.addAttribute("operandSegmentSizes",
                       DenseI32ArrayAttr::get(state.getContext(), segments));
  return success();
}

LogicalResult OperationBuilder::addFields(ArrayRef<MlirNamedAttribute> fields) {
  for (const MlirNamedAttribute &field : fields) {
    StringAttr name = unwrap(field.name);
    if (!name.strref().contains('.') &&
        !llvm::is_contained(state.name.getAttributeNames(), name))
      return reject() << "no field " << name;
    state.addAttribute(name, unwrap(field.attribute));
  }
  return success();
}

/// What an op writes to tensors it returns.
void OperationBuilder::inferResults() {
  Operation *op = Operation::create(state);
  if (auto written = dyn_cast<DestinationStyleOpInterface>(op))
    for (Value output : written.getDpsInits())
      if (isa<RankedTensorType>(output.getType()))
        state.addTypes(output.getType());
  op->destroy();
}

/// Whether each array is there, of its count.
static bool haveArrays(ArrayRef<std::pair<intptr_t, const void *>> arrays) {
  return llvm::all_of(arrays, [](const auto &array) {
    return array.first == 0 || (array.first > 0 && array.second);
  });
}

MlirOperation nmOperationCreate(MlirLocation location, MlirStringRef name,
                                intptr_t numOperands, const NmOperand *operands,
                                intptr_t numFields,
                                const MlirNamedAttribute *fields,
                                intptr_t numResults, const MlirType *results,
                                intptr_t numRegions,
                                const MlirRegion *regions) {
  if (!location.ptr)
    return wrap(static_cast<Operation *>(nullptr));
  Location loc = unwrap(location);
  if (!haveArrays({{numOperands, operands},
                   {numFields, fields},
                   {numResults, results},
                   {numRegions, regions}})) {
    emitError(loc) << "expected arrays of operands, fields, results and "
                      "regions, but got NULL or a count below 0";
    return wrap(static_cast<Operation *>(nullptr));
  }
  const OperationKind *kind = findKind(unwrap(name));
  if (!kind || !loc.getContext()->getLoadedDialect<NMDialect>()) {
    emitError(loc) << "expected an op of dialect nm, which is loaded, but got '"
                   << unwrap(name) << "'";
    return wrap(static_cast<Operation *>(nullptr));
  }
  OperationBuilder builder(loc, *kind);
  if (failed(builder.addOperands({operands, size_t(numOperands)})) ||
      failed(builder.addFields({fields, size_t(numFields)})))
    return wrap(static_cast<Operation *>(nullptr));
  for (MlirType result : ArrayRef(results, numResults))
    builder.state.addTypes(unwrap(result));
  if (numResults == 0)
    builder.inferResults();
  for (MlirRegion region : ArrayRef(regions, numRegions))
    builder.state.addRegion(std::unique_ptr<Region>(unwrap(region)));
  return wrap(builder.create());
}

//===----------------------------------------------------------------------===//
// Operands by name
//===----------------------------------------------------------------------===//

/// The first of the values and how many there are.
static std::optional<std::pair<unsigned, unsigned>> findPlace(Operation *op,
                                                              StringRef name) {
  if (!op)
    return std::nullopt;
  const OperationKind *kind = findKind(op->getName().getStringRef());
  if (!kind || !op->isRegistered())
    return std::nullopt;
  for (auto [position, operand] : llvm::enumerate(kind->operands))
    if (operand.name == name)
      return kind->getPlace(op, position);
  return std::nullopt;
}

intptr_t nmOperationGetNumOperands(MlirOperation op, MlirStringRef name) {
  auto place = findPlace(unwrap(op), unwrap(name));
  return place ? intptr_t(place->second) : -1;
}

MlirValue nmOperationGetOperand(MlirOperation op, MlirStringRef name,
                                intptr_t index) {
  auto place = findPlace(unwrap(op), unwrap(name));
  if (!place || index < 0 || index >= intptr_t(place->second))
    return wrap(Value());
  return wrap(unwrap(op)->getOperand(place->first + index));
}
