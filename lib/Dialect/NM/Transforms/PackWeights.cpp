//===- PackWeights.cpp - Weights in the form their schedule wants ---------===//

#include "nm/Dialect/NM/Transforms/Phases.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "DequantizePacked.h"
#include "PackActivations.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPACKWEIGHTS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Packing in place
//===----------------------------------------------------------------------===//

namespace {
/// nm.pack of a product's weights, or the constants it folds to, and their
/// packed form.
struct PackedWeights {
  Value values, indices;
  /// Null where the form has none.
  Value lists;
  PackedFormAttrInterface form;
};
} // namespace

static Value createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

/// nm.pack of condensed weights to `form`, or the constants it folds to.
static PackedWeights createPack(OpBuilder &builder, SparseProductOpInterface op,
                                PackedFormAttrInterface form) {
  Location loc = op.getLoc();
  auto condensed = cast<RankedTensorType>(op.getValues().getType());
  StorageShape shape = form.getStorageShape(
      op.getPattern(), condensed.getDimSize(0), condensed.getDimSize(1));
  SmallVector<Type> types = {
      shape.valuesType(form.getPackedType(condensed.getElementType())),
      shape.indicesType(builder.getContext())};
  if (shape.hasLists())
    types.push_back(shape.listsType(builder.getContext()));
  SmallVector<Value> parts;
  for (Type type : types)
    parts.push_back(createEmpty(builder, loc, cast<RankedTensorType>(type)));
  auto pack = PackOp::create(builder, loc, types, op.getPatternAttr(), form,
                             op.getValues(), op.getIndices(), parts[0],
                             parts[1], shape.hasLists() ? parts[2] : Value());
  parts.clear();
  if (succeeded(builder.tryFold(pack, parts)))
    pack.erase();
  else
    parts.assign(pack->result_begin(), pack->result_end());
  return {parts[0], parts[1], shape.hasLists() ? parts[2] : Value(), form};
}

/// The weights of `op` in the form that its schedule wants. Quantized ones that
/// it wants dequantized are packed as they are, so that what depends on no
/// scale is done when they are loaded.
static PackedWeights createPack(SparseProductOpInterface op) {
  OpBuilder builder(op);
  PackedFormAttrInterface form =
      op.getScheduleAttr().getPackedForm(op.getPattern());
  PackedFormAttrInterface quantized = getQuantizedForm(op);
  if (!quantized)
    return createPack(builder, op, form);
  PackedWeights packed = createPack(builder, op, quantized);
  packed.values = dequantizePacked(builder, op, packed.values, quantized, form);
  packed.form = form;
  return packed;
}

/// The part of `packed`, a packed array, that a weight of `shape` has. A form
/// that cuts the last window or unit may have more of them, which are padding.
static Value takePart(OpBuilder &builder, Location loc, Value packed,
                      ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(packed.getType());
  if (type.getShape() == shape || ShapedType::isDynamicShape(shape))
    return packed;
  SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
      strides(shape.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      builder, loc, packed, offsets,
      getAsIndexOpFoldResult(builder.getContext(), shape), strides);
}

/// Scales that all of k shares are those of whatever tiles it is then cut into,
/// which may be longer than k: the longest group of whole windows of `pattern`.
static void shareScales(SparseProductOpInterface op,
                        const ::nm::Pattern &pattern) {
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (!quantization || quantization.getGroup() < op.getStaticK())
    return;
  int64_t window = pattern.windowRows();
  op.setQuantizationAttr(
      QuantizationAttr::get(op->getContext(), quantization.getBits(),
                            ::nm::kMaxSize / window * window));
}

/// Makes `op` a product of packed weights.
static void takePacked(SparseProductOpInterface op,
                       const PackedWeights &packed) {
  OpBuilder builder(op);
  ::nm::Pattern pattern = packed.form.getPackedPattern(op.getPattern());
  StorageShape condensed =
      StorageShape::condensed(pattern, op.getStaticK(), op.getStaticN());
  StorageShape shape = packed.form.getStorageShape(pattern, condensed.values[0],
                                                   condensed.values[1]);
  op.getValuesMutable().assign(
      takePart(builder, op.getLoc(), packed.values, shape.values));
  op.getIndicesMutable().assign(
      takePart(builder, op.getLoc(), packed.indices, shape.indices));
  if (packed.lists)
    op.getListsMutable().assign(
        takePart(builder, op.getLoc(), packed.lists, shape.lists));
  packActivations(op, packed.form);
  if (getQuantizedForm(op)) {
    op.getScalesMutable().clear();
    op.setQuantizationAttr({});
  }
  shareScales(op, pattern);
  op.setPackingAttr(packed.form);
  op.setPatternAttr(PatternAttr::get(op->getContext(), pattern));
}

/// Whether `packed` can serve `op`, where it is.
static bool canShare(const PackedWeights &packed, SparseProductOpInterface op,
                     DominanceInfo &dominance) {
  return op.getScheduleAttr().canRead(op.getPattern(), packed.form) &&
         dominance.properlyDominates(packed.values, op);
}

/// The key of `value` among indices: its attribute if it is a constant, so that
/// equal constants have one key, else the value itself.
static const void *getIdentity(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return constant.getValue().getAsOpaquePointer();
  return value.getAsOpaquePointer();
}

/// Has products share what makeDense made of the same weights for each.
static void shareFormats(func::FuncOp function) {
  using Key = std::tuple<OperationName, Value, const void *, Attribute>;
  DenseMap<Key, SmallVector<Operation *>> made;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    Value source, indices;
    if (auto decompress = dyn_cast<DecompressOp>(op)) {
      source = decompress.getValues();
      indices = decompress.getIndices();
    } else if (auto compress = dyn_cast<CompressOp>(op)) {
      source = indices = compress.getDense();
    } else {
      continue;
    }
    SmallVector<Operation *> &like =
        made[{op.getName(), source, getIdentity(indices),
              op.getPropertiesAsAttribute()}];
    auto *same = llvm::find_if(like, [&](Operation *other) {
      return other->getResultTypes() == op.getResultTypes();
    });
    if (same == like.end()) {
      like.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*same);
    op.erase();
  }
}

static LogicalResult packInFunction(func::FuncOp function) {
  shareFormats(function);
  DominanceInfo dominance(function);
  DenseMap<std::tuple<Value, const void *, Value, Attribute>,
           SmallVector<PackedWeights>>
      packedForms;
  WalkResult result = function.walk([&](SparseProductOpInterface op) {
    ScheduleAttrInterface schedule = op.getScheduleAttr();
    if (!schedule || !schedule.getPackedForm(op.getPattern()) ||
        op.getPackingAttr() || !op.hasPureTensorSemantics())
      return WalkResult::advance();
    if (!op.getValuesType().hasStaticShape()) {
      op->emitOpError() << "expected weights of static shape to pack, but got "
                        << op.getValuesType();
      return WalkResult::interrupt();
    }
    Value scales = getQuantizedForm(op) ? op.getScales() : Value();
    auto key = std::make_tuple(op.getValues(), getIdentity(op.getIndices()),
                               scales, Attribute(op.getPatternAttr()));
    SmallVector<PackedWeights> &forms = packedForms[key];
    auto *packed = llvm::find_if(forms, [&](const PackedWeights &packed) {
      return canShare(packed, op, dominance);
    });
    if (packed == forms.end()) {
      forms.push_back(createPack(op));
      packed = &forms.back();
    }
    takePacked(op, *packed);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Packing at load
//===----------------------------------------------------------------------===//

namespace {
/// Weights that arrive as a (values, indices) pair of arguments, with all that
/// is done to them up to the forms that products take: of nm.pack, or of
/// nm.compress where that is the form that a schedule wants.
struct LoadTimePack {
  unsigned argument;
  /// In program order, as are `slice`'s.
  SmallVector<Operation *> packs;
  SetVector<Operation *> slice;

  /// The parts of all forms, in the order in which functions take them.
  SmallVector<Value> getParts() const {
    SmallVector<Value> parts;
    for (Operation *pack : packs)
      llvm::append_range(parts, pack->getResults());
    return parts;
  }
};
} // namespace

/// Whether `op` makes a tensor of elements of others, which its body reads.
static bool isGather(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getInputs().empty() &&
         llvm::all_of(*op.getBody(), [](Operation &inner) {
           return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner);
         });
}

/// Whether `op` changes the form of weights, or what values they have.
static bool isFormatOp(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return isElementwiseOfOne(generic) || isGather(generic);
  return isa<CompressOp, DecompressOp, PruneOp, PackOp, tensor::EmptyOp,
             arith::ConstantOp>(op);
}

/// The operands of `op`, and what its regions read.
static SetVector<Value> getInputs(Operation *op) {
  SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs;
}

/// Whether all ops that use `value` are in `slice`, or in regions of such.
static bool isUsedIn(Value value, const SetVector<Operation *> &slice) {
  Block *block = value.getParentBlock();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return slice.contains(block->findAncestorOpInBlock(*user));
  });
}

/// Collects, in program order, the format ops that `op` depends on; fails if it
/// depends on anything else but the arguments `first` and `first + 1` of the
/// entry block.
static LogicalResult collectSlice(Operation *op, Block &entry, unsigned first,
                                  SetVector<Operation *> &slice) {
  if (!isFormatOp(op) || op->getBlock() != &entry)
    return failure();
  for (Value operand : getInputs(op)) {
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      unsigned number = argument.getArgNumber();
      if (argument.getOwner() != &entry ||
          (number != first && number != first + 1))
        return failure();
      continue;
    }
    if (failed(collectSlice(operand.getDefiningOp(), entry, first, slice)))
      return failure();
  }
  slice.insert(op);
  return success();
}

/// Whether `op` makes a form that products take.
static bool isTakenByProducts(Operation *op) {
  return isa<PackOp>(op) ||
         (isa<CompressOp>(op) &&
          !llvm::all_of(op->getUsers(), [&](Operation *user) {
            return isFormatOp(op->getBlock()->findAncestorOpInBlock(*user));
          }));
}

/// Whether `op` makes what others need, too, and is cloned for them.
static bool isCheap(Operation *op) {
  return isa<tensor::EmptyOp, arith::ConstantOp>(op);
}

/// All forms that are made of `argument` and the next one, if these are used
/// for nothing else.
static std::optional<LoadTimePack> findLoadTimePack(func::FuncOp function,
                                                    unsigned argument) {
  Block &entry = function.front();
  LoadTimePack load{argument, {}, {}};
  BlockArgument values = entry.getArgument(argument),
                indices = entry.getArgument(argument + 1);
  auto isOfPair = [&](Operation *op) {
    SetVector<Value> inputs = getInputs(op);
    return inputs.contains(values) || inputs.contains(indices);
  };
  for (Operation &op : entry) {
    SetVector<Operation *> slice;
    if (!isTakenByProducts(&op) ||
        failed(collectSlice(&op, entry, argument, slice)) ||
        llvm::none_of(slice, isOfPair))
      continue;
    load.packs.push_back(&op);
    load.slice.insert_range(slice);
  }
  for (Value part : {Value(values), Value(indices)})
    if (part.use_empty() || !isUsedIn(part, load.slice))
      return std::nullopt;
  auto isUsedInSlice = [&](Value value) { return isUsedIn(value, load.slice); };
  for (Operation *op : load.slice)
    if (!isCheap(op) && !llvm::is_contained(load.packs, op) &&
        !llvm::all_of(op->getResults(), isUsedInSlice))
      return std::nullopt;
  return load;
}

static SmallVector<LoadTimePack> findLoadTimePacks(func::FuncOp function) {
  SmallVector<LoadTimePack> packs;
  for (unsigned i = 0, e = function.getNumArguments(); i + 1 < e; ++i)
    if (function.getArgAttr(i, "nm.values_of") &&
        function.getArgAttr(i + 1, "nm.indices_of"))
      if (std::optional<LoadTimePack> pack = findLoadTimePack(function, i))
        packs.push_back(std::move(*pack));
  return packs;
}

/// `@<name>.pack`: takes each condensed pair, returns the packed parts of each.
static void createPackFunction(func::FuncOp function,
                               ArrayRef<LoadTimePack> packs) {
  SmallVector<Type> inputs, results;
  for (const LoadTimePack &load : packs) {
    inputs.push_back(function.getArgument(load.argument).getType());
    inputs.push_back(function.getArgument(load.argument + 1).getType());
    llvm::append_range(results, TypeRange(load.getParts()));
  }
  OpBuilder builder(function);
  auto packFunction = func::FuncOp::create(
      builder, function.getLoc(), (function.getName() + ".pack").str(),
      builder.getFunctionType(inputs, results));
  packFunction->setAttr(kHostFunction, builder.getUnitAttr());
  Block *entry = packFunction.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  SmallVector<Value> packed;
  for (auto [position, load] : llvm::enumerate(packs)) {
    for (unsigned part : {0, 1}) {
      unsigned from = load.argument + part, to = 2 * position + part;
      mapping.map(function.getArgument(from), entry->getArgument(to));
      for (StringRef name : {"nm.values_of", "nm.indices_of"})
        if (Attribute attribute = function.getArgAttr(from, name))
          packFunction.setArgAttr(to, name, attribute);
    }
    for (Operation *op : load.slice)
      builder.clone(*op, mapping);
    for (Value part : load.getParts())
      packed.push_back(mapping.lookup(part));
  }
  func::ReturnOp::create(builder, function.getLoc(), packed);
}

/// What says which packed part an argument is.
static constexpr StringLiteral kPackedParts[] = {
    "nm.packed_values_of", "nm.packed_indices_of", "nm.packed_lists_of"};

/// Makes `function` take packed parts in place of the condensed ones.
static LogicalResult takePackedArguments(func::FuncOp function,
                                         ArrayRef<LoadTimePack> packs) {
  // All packed parts stand in front of the condensed pair.
  llvm::BitVector condensed;
  unsigned before = 0;
  for (const LoadTimePack &load : packs) {
    before += load.getParts().size();
    condensed.resize(load.argument + before + 2);
    condensed.set(load.argument + before, load.argument + before + 2);
  }
  condensed.resize(function.getNumArguments() + before);
  Builder builder(function.getContext());
  // From the last to the first, so that positions before stay as they are.
  for (const LoadTimePack &load : llvm::reverse(packs)) {
    Attribute position = function.getArgAttr(load.argument, "nm.values_of");
    for (Operation *pack : llvm::reverse(load.packs))
      for (OpResult part : llvm::reverse(pack->getResults())) {
        NamedAttribute mark(kPackedParts[part.getResultNumber()], position);
        if (failed(function.insertArgument(load.argument, part.getType(),
                                           builder.getDictionaryAttr(mark),
                                           function.getLoc())))
          return failure();
        part.replaceAllUsesWith(function.getArgument(load.argument));
      }
    for (Operation *op : llvm::reverse(load.slice))
      if (op->use_empty())
        op->erase();
  }
  return function.eraseArguments(condensed);
}

/// Says at which ops weights are packed anew at each call.
static void remarkOnPacksLeft(func::FuncOp function) {
  function.walk([](PackOp pack) {
    pack.emitRemark() << "weights are packed at each call: they are not "
                         "constant, nor arguments of a function that only "
                         "its callers outside the module see, and that "
                         "nothing but products uses";
  });
}

static LogicalResult packAtLoad(ModuleOp module, func::FuncOp function,
                                SymbolTable &symbols) {
  SmallVector<LoadTimePack> packs = findLoadTimePacks(function);
  // A caller inside the module passes condensed weights.
  if (packs.empty() || !function.isPublic() ||
      !SymbolTable::symbolKnownUseEmpty(function, module))
    return success();
  std::string name = (function.getName() + ".pack").str();
  if (symbols.lookup(name))
    return function.emitOpError()
           << "expected no function @\"" << name
           << "\", which is the name of the one that packs weights";
  createPackFunction(function, packs);
  return takePackedArguments(function, packs);
}

LogicalResult mlir::nm::packWeights(ModuleOp module) {
  SymbolTable symbols(module);
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions) {
    if (function.isExternal())
      continue;
    if (failed(packInFunction(function)) ||
        failed(packAtLoad(module, function, symbols)))
      return failure();
    remarkOnPacksLeft(function);
  }
  return success();
}

namespace {
struct NMPackWeights : mlir::nm::impl::NMPackWeightsBase<NMPackWeights> {
  void runOnOperation() override {
    if (failed(packWeights(getOperation())))
      signalPassFailure();
  }
};
} // namespace
