//===- RowOp.cpp - What a linalg op does along rows -----------------------===//

#include "GPU/Rows/RowOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::nm;

/// Operands of one op beyond which a thread's registers do not suffice.
static constexpr size_t kMaxOperands = 12;
/// Elements that a Short op makes of a row: a thread makes one or a few.
static constexpr int64_t kMaxShort = 64;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Whether elements of `type` are whole bytes in memory; i1 is one, too.
static bool hasBytes(Type type) {
  return type.isIntOrFloat() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                            type.getIntOrFloatBitWidth());
}

bool mlir::nm::isMappable(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         (op.hasTrait<OpTrait::ConstantLike>() ||
          OpTrait::hasElementwiseMappableTraits(&op));
}

/// Whether the body can be computed for several columns at once.
static bool hasMappableBody(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        return isa<linalg::IndexOp>(inner) || isMappable(inner);
                      });
}

Operation *mlir::nm::findCombiner(Block &body, BlockArgument argument,
                                  Value result) {
  Operation *combiner = result.getDefiningOp();
  if (!combiner || combiner->getBlock() != &body || !argument.hasOneUse() ||
      *argument.user_begin() != combiner || !result.hasOneUse())
    return nullptr;
  bool isKnown =
      isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
          arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
          arith::AndIOp, arith::OrIOp, arith::XOrIOp>(combiner);
  return isKnown && arith::getNeutralElement(combiner) ? combiner : nullptr;
}

static bool findCombiners(RowOp &row) {
  Block &body = row.getBody();
  for (auto [argument, result] :
       llvm::zip(cast<linalg::LinalgOp>(row.op).getRegionOutputArgs(),
                 body.getTerminator()->getOperands())) {
    row.combiners.push_back(findCombiner(body, argument, result));
    if (!row.combiners.back())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether `map` takes each dimension from a loop of its own, or from none.
static bool isPermutation(AffineMap map) {
  llvm::SmallDenseSet<unsigned> loops;
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      return loops.insert(loop.getPosition()).second;
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant && constant.getValue() == 0;
  });
}

static bool hasLoop(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop);
}

/// Whether `type` is [columns, rows], of which rows, in the order of `loops`
/// loops, lie side by side.
static bool hasJoinedRows(MemRefType type, unsigned loops) {
  auto rows = llvm::to_vector<2>(llvm::seq<int64_t>(1, loops + 1));
  return loops != 0 && type.getRank() == loops + 1 &&
         type.getElementTypeBitWidth() >= 8 && type.isLastDimUnitStride() &&
         memref::CollapseShapeOp::isGuaranteedCollapsible(type, {{0}, rows});
}

/// The map of such an output: the last loop, and then the others.
static AffineMap getTransposedMap(unsigned loops, MLIRContext *context) {
  SmallVector<unsigned> order = {loops};
  llvm::append_range(order, llvm::seq(loops));
  return AffineMap::getPermutationMap(order, context);
}

/// What `operand` is in `space`; nothing if a thread of a row would have to
/// access it along other dimensions than the last.
static std::optional<RowOperand>
getOperand(linalg::LinalgOp op, OpOperand &operand, const RowSpace &space) {
  unsigned column = space.getColumnLoop();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  // Of all loops of the space, so that maps of different ops can be compared.
  RowOperand row{operand.get(), AffineMap::get(column + 1, 0, map.getResults(),
                                               op->getContext())};
  row.isRead = op.payloadUsesValueFromOperand(&operand);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type) {
    bool isScalar = operand.get().getType().isIntOrFloat();
    return isScalar ? std::optional(row) : std::nullopt;
  }
  if (!isPermutation(row.map) || !hasBytes(type.getElementType()) ||
      type.getMemorySpace() || !type.isStrided())
    return std::nullopt;
  row.isOfRows = llvm::all_of(
      llvm::seq(column), [&](unsigned loop) { return hasLoop(row.map, loop); });
  if (!hasLoop(row.map, column))
    return row;
  row.hasColumns = true;
  row.isTransposed = op.isDpsInit(&operand) && !row.isRead &&
                     hasJoinedRows(type, column) &&
                     row.map == getTransposedMap(column, op->getContext());
  if (row.isTransposed)
    return row;
  if (!row.map.getResults().back().isFunctionOfDim(column) ||
      !type.isLastDimUnitStride())
    return std::nullopt;
  return row;
}

/// Whether the loops of `op` over rows, as far as sizes are known, are those of
/// `space`.
static bool hasRowSizes(linalg::LinalgOp op, const RowSpace &space) {
  return ArrayRef(op.getStaticLoopRanges()).take_front(space.rows.size()) ==
         ArrayRef(space.rows);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The kind of `op` in a space of so many loops over rows, by its loops.
static std::optional<RowOp::Kind> getKind(linalg::LinalgOp op, unsigned rows) {
  unsigned loops = op.getNumLoops(), reductions = op.getNumReductionLoops();
  if (reductions == 0 && op.getNumParallelLoops() == loops) {
    if (loops == rows + 1)
      return RowOp::Elementwise;
    if (loops == rows)
      return RowOp::Scalar;
    return std::nullopt;
  }
  if (reductions == 1 && loops == rows + 1 &&
      linalg::isReductionIterator(op.getIteratorTypesArray().back()))
    return RowOp::Reduction;
  return std::nullopt;
}

/// A product of two operands is not one of rows that are there in memory.
static bool readsRows(const RowOp &row) {
  return llvm::any_of(row.inputs, [](const RowOperand &operand) {
    return operand.isMemref() && operand.hasColumns && operand.isOfRows;
  });
}

/// Whether a Short op reads nothing but what each row has one of, and writes
/// without transposing.
static bool readsRowsAlone(const RowOp &row) {
  return llvm::none_of(row.inputs,
                       [](const RowOperand &input) {
                         return input.isRead && input.hasColumns;
                       }) &&
         llvm::none_of(row.outputs, [](const RowOperand &output) {
           return output.isRead || output.isTransposed;
         });
}

/// An op without a body of its own, which reads what has an element for all
/// loops and writes it transposed; each may have one dimension for all rows.
static RowOp getRearrangement(Operation *op, Value from, Value to,
                              const RowSpace &space) {
  MLIRContext *context = op->getContext();
  unsigned loops = space.getColumnLoop();
  RowOperand input{from, AffineMap::getMultiDimIdentityMap(loops + 1, context)},
      output{to, getTransposedMap(loops, context)};
  input.hasColumns = input.isOfRows = input.isRead = true;
  output.hasColumns = output.isOfRows = output.isTransposed = true;
  return RowOp{op, RowOp::Elementwise, {input}, {output}, {}};
}

/// What `view`, with one dimension for all of several loops over rows, is a
/// view of; `view` itself where it is none.
static Value findSource(Value view, const RowSpace &space) {
  auto collapse = view.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse || collapse.getType().getRank() != 2 ||
      space.getColumnLoop() == 1 ||
      collapse.getReassociationIndices().back().size() != 1)
    return view;
  return collapse.getSrc();
}

/// The view of `memref`, [columns, rows], that has a dimension for each of
/// several loops over rows; `memref` itself where there is none.
static Value findExpanded(Value memref, const RowSpace &space) {
  for (Operation *user : memref.getUsers())
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(user);
        expand && expand.getType().getRank() == space.getColumnLoop() + 1 &&
        expand.getReassociationIndices().front().size() == 1)
      return expand.getResult();
  return memref;
}

/// Whether `memref` has an element for all loops of `space`, and its rows are
/// contiguous.
static bool hasRows(Value memref, const RowSpace &space) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> shape(space.rows);
  shape.push_back(space.columns);
  return type.getShape() == ArrayRef(shape) &&
         hasBytes(type.getElementType()) && !type.getMemorySpace() &&
         type.isLastDimUnitStride();
}

/// A transposition of what has an element for all loops, or of a view of that
/// with one dimension for all rows, as sequences and their tokens.
static std::optional<RowOp> getTransposition(linalg::TransposeOp op,
                                             const RowSpace &space) {
  if (!op.hasPureBufferSemantics())
    return std::nullopt;
  unsigned dims = op.getPermutation().size() - 1;
  Value source = findSource(op.getInput(), space);
  auto output = cast<MemRefType>(op.getInit().getType());
  MLIRContext *context = op->getContext();
  if (!hasRows(source, space) || output.getMemorySpace() ||
      !hasJoinedRows(output, dims) ||
      AffineMap::getPermutationMap(op.getPermutation(), context) !=
          getTransposedMap(dims, context))
    return std::nullopt;
  return getRearrangement(op, source, op.getInit(), space);
}

/// Splits of what has an element for all loops, or of what an op has made
/// transposed of that; each may have one dimension for all rows.
static std::optional<RowOp> getSplits(SplitFloatsOp op, const RowSpace &space) {
  // Rows of windows are written more than once.
  if (!op.hasPureBufferSemantics() || op.getWindows() ||
      op.getAType().getRank() != 2)
    return std::nullopt;
  bool isTransposed = !op.getTranspose();
  Value source = isTransposed ? findExpanded(op.getA(), space)
                              : findSource(op.getA(), space);
  auto output = cast<MemRefType>(op.getOutput().getType());
  if (output.getMemorySpace() || !output.isLastDimUnitStride() ||
      (!isTransposed && !hasRows(source, space)))
    return std::nullopt;
  RowOp row = getRearrangement(op, source, op.getOutput(), space);
  row.outputs.front().splits = int64_t(op.getSplits());
  if (isTransposed) {
    row.inputs.front().isTransposed = true;
    row.inputs.front().map = row.outputs.front().map;
  }
  return row;
}

std::optional<RowOp> RowOp::get(Operation *operation, const RowSpace &space) {
  if (auto transpose = dyn_cast<linalg::TransposeOp>(operation))
    return getTransposition(transpose, space);
  if (auto split = dyn_cast<SplitFloatsOp>(operation))
    return getSplits(split, space);
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op)
    return std::nullopt;
  std::optional<Kind> kind = getKind(op, space.rows.size());
  if (!kind || !op.hasPureBufferSemantics() || !hasRowSizes(op, space) ||
      !hasMappableBody(op))
    return std::nullopt;
  int64_t columns =
      *kind == Scalar ? space.columns : op.getStaticLoopRanges().back();
  if (*kind == Elementwise && columns != space.columns &&
      !ShapedType::isDynamic(columns) && columns <= kMaxShort)
    kind = Short;
  else if (columns != space.columns || op->getNumOperands() > kMaxOperands)
    return std::nullopt;
  RowOp row{op, *kind, {}, {}, {}};
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<RowOperand> found = getOperand(op, operand, space);
    if (!found)
      return std::nullopt;
    (op.isDpsInit(&operand) ? row.outputs : row.inputs).push_back(*found);
  }
  bool makesColumns = *kind == Elementwise || *kind == Short;
  for (const RowOperand &output : row.outputs)
    if (!output.isOfRows || output.hasColumns != makesColumns)
      return std::nullopt;
  if (*kind == Short && !readsRowsAlone(row))
    return std::nullopt;
  if (*kind == Reduction && (!readsRows(row) || !findCombiners(row)))
    return std::nullopt;
  return row;
}

std::optional<RowSpace> RowOp::findSpace(linalg::LinalgOp op) {
  unsigned loops = op.getNumLoops();
  if (loops == 0 || !op.hasPureBufferSemantics())
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  RowSpace space;
  space.rows.assign(sizes.begin(), sizes.end() - 1);
  space.columns = sizes.back();
  std::optional<RowOp> row = get(op, space);
  if (!row || row->kind == Scalar || row->transposes())
    return std::nullopt;
  for (const SmallVector<RowOperand> &operands : {row->inputs, row->outputs})
    for (const RowOperand &operand : operands)
      if (operand.isMemref() && operand.hasColumns && operand.isOfRows &&
          !space.memref) {
        space.memref = operand.value;
        space.map = operand.map;
      }
  return space.memref ? std::optional(space) : std::nullopt;
}
