//===- SizeFacts.cpp - What ops demand of sizes ---------------------------===//

#include "SizeFacts.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;
using arith::CmpIPredicate;

/// The addresses that x86-64 and AArch64 give a process.
static constexpr int64_t kMostBytes = int64_t(1) << 47;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

SizeTerm mlir::nm::sizeOf(Value tensor, int64_t dim) {
  return [=](SizeBuilder &sizes) { return sizes.getSize(tensor, dim); };
}

SizeTerm mlir::nm::indexOf(OpFoldResult index) {
  return [=](SizeBuilder &sizes) { return sizes.getIndex(index); };
}

SizeTerm mlir::nm::numberOf(int64_t number) {
  return [=](SizeBuilder &sizes) -> FailureOr<OpFoldResult> {
    return sizes.getNumber(number);
  };
}

static SizeTerm elementsOf(SmallVector<SizeTerm> factors) {
  return [=](SizeBuilder &sizes) -> FailureOr<OpFoldResult> {
    SmallVector<OpFoldResult> known;
    for (const SizeTerm &factor : factors) {
      FailureOr<OpFoldResult> size = factor(sizes);
      if (failed(size))
        return failure();
      known.push_back(*size);
    }
    return sizes.multiplySizes(known);
  };
}

std::string mlir::nm::describeOperand(Operation *op, unsigned operand) {
  std::string text = "operand " + std::to_string(operand);
  auto argument = dyn_cast<BlockArgument>(op->getOperand(operand));
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    text += " (argument " + std::to_string(argument.getArgNumber()) + ")";
  return text;
}

static std::string dimText(int64_t dim) {
  return "dimension " + std::to_string(dim);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of a slice of a tensor.
struct SliceDim {
  Value tensor;
  int64_t dim;
  OpFoldResult offset, size, stride;

  bool isKnown() const {
    return !cast<ShapedType>(tensor.getType()).isDynamicDim(dim) &&
           getConstantIntValue(offset) && getConstantIntValue(size) &&
           getConstantIntValue(stride);
  }
  SizeTerm getMostElements() const;
};
} // namespace

/// How many elements there are from the offset on, in steps of the stride.
SizeTerm SliceDim::getMostElements() const {
  return [slice = *this](SizeBuilder &sizes) -> FailureOr<OpFoldResult> {
    FailureOr<OpFoldResult> all = sizes.getSize(slice.tensor, slice.dim),
                            first = sizes.getIndex(slice.offset),
                            step = sizes.getIndex(slice.stride);
    if (failed(all) || failed(first) || failed(step))
      return failure();
    std::optional<int64_t> number = getConstantIntValue(*step);
    if (number && *number < 0)
      return sizes.add(sizes.floorDivide(*first, sizes.getNumber(-*number)),
                       sizes.getNumber(1));
    OpFoldResult rest = sizes.subtract(*all, *first);
    if (number && *number == 1)
      return rest;
    if (number && *number == 0)
      return sizes.getNumber(SizeBuilder::kMostElements);
    // A stride of less is refused before.
    return sizes.ceilDivide(rest, sizes.atLeast(*step, 1));
  };
}

static void demandSlice(const SliceDim &slice, FactConsumer consume) {
  if (slice.isKnown())
    return;
  std::string dim = std::to_string(slice.dim);
  consume({CmpIPredicate::ule,
           indexOf(slice.offset),
           sizeOf(slice.tensor, slice.dim),
           {},
           "expected offset " + dim + " to be from 0 to {1}, but got {0}"});
  if (!getConstantIntValue(slice.stride))
    consume({CmpIPredicate::sge,
             indexOf(slice.stride),
             numberOf(1),
             {},
             "expected stride " + dim + " to be at least {1}, but got {0}"});
  consume({CmpIPredicate::ule,
           indexOf(slice.size),
           slice.getMostElements(),
           {},
           "expected size " + dim +
               " to be from 0 to {1}, which are there from "
               "its offset on, but got {0}"});
}

static void demandSlices(OffsetSizeAndStrideOpInterface op, Value tensor,
                         FactConsumer consume) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes(),
                            strides = op.getMixedStrides();
  for (size_t dim = 0; dim < offsets.size(); ++dim)
    demandSlice({tensor, int64_t(dim), offsets[dim], sizes[dim], strides[dim]},
                consume);
}

/// The source of an insertion has the sizes that it says.
template <typename InsertOp>
static void demandSource(InsertOp op, FactConsumer consume) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t sourceDim = 0;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    if (dropped.test(dim))
      continue;
    consume({CmpIPredicate::eq,
             sizeOf(op.getSource(), sourceDim),
             indexOf(size),
             {},
             "expected " + dimText(sourceDim) + " of " +
                 describeOperand(op, 0) + " to be {1}, but got {0}"});
    ++sourceDim;
  }
}

//===----------------------------------------------------------------------===//
// New tensors
//===----------------------------------------------------------------------===//

/// A result has sizes that memory can have.
static void demandMemory(OpResult result, ArrayRef<SizeTerm> sizes,
                         FactConsumer consume) {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.hasStaticShape() || !type.getElementType().isIntOrIndexOrFloat())
    return;
  int64_t bytes = type.getElementType().isIndex()
                      ? 8
                      : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  SmallVector<SizeTerm> unknown;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size)) {
      unknown.push_back(sizes[dim]);
      consume({CmpIPredicate::sge,
               sizes[dim],
               numberOf(0),
               {},
               "expected " + dimText(dim) +
                   " of its result to be at least {1}, "
                   "but got {0}"});
      continue;
    }
    if (size == 0)
      return;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  }
  consume({CmpIPredicate::sle,
           elementsOf(unknown),
           numberOf(std::max<int64_t>(kMostBytes / bytes, 1)),
           {},
           "expected dimensions of unknown size of its result to have at most "
           "{1} elements, which memory has room for, but got {0}"});
}

/// Finds what an op demands whose operands say the sizes of its result.
static void demandExtents(Operation *op, ValueRange extents,
                          FactConsumer consume) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<SizeTerm> sizes;
  size_t next = 0;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? indexOf(extents[next++])
                                                : numberOf(size));
  demandMemory(op->getResult(0), sizes, consume);
}

static SizeTerm paddedSize(tensor::PadOp op, int64_t dim) {
  return [=](SizeBuilder &sizes) mutable -> FailureOr<OpFoldResult> {
    FailureOr<OpFoldResult> size = sizes.getSize(op.getSource(), dim),
                            low = sizes.getIndex(op.getMixedLowPad()[dim]),
                            high = sizes.getIndex(op.getMixedHighPad()[dim]);
    if (failed(size) || failed(low) || failed(high))
      return failure();
    return sizes.add(sizes.add(*low, *size), *high);
  };
}

static void findPadFacts(tensor::PadOp op, FactConsumer consume) {
  SmallVector<SizeTerm> sizes;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    for (auto [side, pads] : {std::pair("low", op.getMixedLowPad()),
                              std::pair("high", op.getMixedHighPad())})
      for (auto [predicate, limit, word] :
           {std::tuple(CmpIPredicate::sge, int64_t(0), "least"),
            std::tuple(CmpIPredicate::sle, kMostBytes, "most")})
        consume({predicate,
                 indexOf(pads[dim]),
                 numberOf(limit),
                 {},
                 std::string("expected padding ") + side + " of " +
                     dimText(dim) + " to be at " + word + " {1}, but got {0}"});
    sizes.push_back(paddedSize(op, dim));
    int64_t size = op.getType().getDimSize(dim);
    if (!ShapedType::isDynamic(size))
      consume({CmpIPredicate::eq,
               sizes.back(),
               numberOf(size),
               {},
               "expected " + dimText(dim) +
                   " of its result to be {1}, but got "
                   "{0}"});
  }
  demandMemory(op->getResult(0), sizes, consume);
}

static void findConcatFacts(tensor::ConcatOp op, FactConsumer consume) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    for (int64_t dim = 0; dim < op.getType().getRank(); ++dim)
      if (i != 0 && dim != int64_t(op.getDim()))
        consume({CmpIPredicate::eq,
                 sizeOf(input, dim),
                 sizeOf(op.getInputs()[0], dim),
                 {},
                 "expected " + dimText(dim) + " of " + describeOperand(op, i) +
                     " to be {1}, as that of operand 0 is, but got {0}"});
}

//===----------------------------------------------------------------------===//
// Other shapes of the same elements
//===----------------------------------------------------------------------===//

static void findCastFacts(Operation *op, FactConsumer consume) {
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!from || !to)
    return;
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    if (from.isDynamicDim(dim) && !to.isDynamicDim(dim))
      consume({CmpIPredicate::eq,
               sizeOf(op->getOperand(0), dim),
               numberOf(to.getDimSize(dim)),
               {},
               "expected " + dimText(dim) + " of " + describeOperand(op, 0) +
                   " to be {1}, but got {0}"});
}

static void findExpandFacts(tensor::ExpandShapeOp op, FactConsumer consume) {
  SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    SmallVector<SizeTerm> sizes;
    for (int64_t part : group) {
      sizes.push_back(indexOf(shape[part]));
      consume({CmpIPredicate::sge,
               sizes.back(),
               numberOf(0),
               {},
               "expected " + dimText(part) +
                   " of its result to be at least {1}, but got {0}"});
    }
    consume({CmpIPredicate::eq,
             elementsOf(sizes),
             sizeOf(op.getSrc(), dim),
             {},
             "expected dimensions " + std::to_string(group.front()) + " to " +
                 std::to_string(group.back()) +
                 " of its result to have the "
                 "{1} elements of " +
                 dimText(dim) + " of " + describeOperand(op, 0) +
                 ", but got {0}"});
  }
}

static void findReshapeFacts(tensor::ReshapeOp op, FactConsumer consume) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!from || !to)
    return;
  SmallVector<SizeTerm> before, after;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    before.push_back(sizeOf(op.getSource(), dim));
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    after.push_back([shape = op.getShape(), dim](SizeBuilder &sizes) {
      return sizes.getElement(shape, dim);
    });
    bool isKnown = !to.isDynamicDim(dim);
    consume({isKnown ? CmpIPredicate::eq : CmpIPredicate::sge,
             after.back(),
             numberOf(isKnown ? to.getDimSize(dim) : 0),
             {},
             "expected " + dimText(dim) + " of its result to be " +
                 (isKnown ? "" : "at least ") + "{1}, but got {0}"});
  }
  consume({CmpIPredicate::eq,
           elementsOf(after),
           elementsOf(before),
           {},
           "expected its result to have the {1} elements of " +
               describeOperand(op, 0) + ", but got {0}"});
}

static void findElementwiseFacts(Operation *op, FactConsumer consume) {
  std::optional<unsigned> first;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    unsigned number = operand.getOperandNumber();
    if (!first) {
      first = number;
      continue;
    }
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      consume({CmpIPredicate::eq,
               sizeOf(operand.get(), dim),
               sizeOf(op->getOperand(*first), dim),
               {},
               "expected " + dimText(dim) + " of " +
                   describeOperand(op, number) +
                   " to be {1}, as that of operand " + std::to_string(*first) +
                   " is, but got {0}"});
  }
}

//===----------------------------------------------------------------------===//
// Elements and loops
//===----------------------------------------------------------------------===//

static void demandElement(Value tensor, ValueRange indices,
                          FactConsumer consume) {
  for (auto [dim, index] : llvm::enumerate(indices))
    consume({CmpIPredicate::ult,
             indexOf(getAsOpFoldResult(index)),
             sizeOf(tensor, dim),
             {},
             "expected an index from 0 to below {1} in " + dimText(dim) +
                 ", but got {0}"});
}

/// Finds what a vector demands that is read or written as a whole; a mask may
/// leave out what is outside.
static void findTransferFacts(VectorTransferOpInterface op,
                              FactConsumer consume) {
  if (!isa<RankedTensorType>(op.getShapedType()) || op.getMask())
    return;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    SizeTerm first = indexOf(getAsOpFoldResult(index));
    consume({CmpIPredicate::sge,
             first,
             numberOf(0),
             {},
             "expected an index of at least {1} in " + dimText(dim) +
                 ", but got {0}"});
    int64_t length = 1;
    bool isInside = true;
    for (auto [i, expr] : llvm::enumerate(op.getPermutationMap().getResults()))
      if (auto place = dyn_cast<AffineDimExpr>(expr);
          place && place.getPosition() == dim) {
        length = op.getVectorType().getDimSize(i);
        isInside = op.isDimInBounds(i);
      }
    if (isInside)
      consume({CmpIPredicate::sle,
               first,
               sumOf(sizeOf(op.getBase(), dim), numberOf(-length)),
               {},
               "expected an index of at most {1} in " + dimText(dim) +
                   ", from which on the tensor has the vector, but got {0}"});
  }
}

static void demandSteps(ArrayRef<OpFoldResult> steps, FactConsumer consume) {
  for (OpFoldResult step : steps)
    consume({CmpIPredicate::sge,
             indexOf(step),
             numberOf(1),
             {},
             "expected a step of at least {1}, but got {0}"});
}

static void findDimFacts(tensor::DimOp op, FactConsumer consume) {
  if (auto type = dyn_cast<RankedTensorType>(op.getSource().getType()))
    consume({CmpIPredicate::ult,
             indexOf(getAsOpFoldResult(op.getIndex())),
             numberOf(type.getRank()),
             {},
             "expected a dimension below {1}, but got {0}"});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Batches, m and the epilogue's operands of a product that was written as one.
static void findProductFacts(SparseProductOpInterface op,
                             FactConsumer consume) {
  auto demand = [&](Value tensor, int64_t dim, StringRef name, int64_t dimOfC) {
    consume({CmpIPredicate::eq,
             sizeOf(tensor, dim),
             sizeOf(op.getC(), dimOfC),
             {},
             "expected " + dimText(dim) + " of " + name.str() +
                 " to be {1}, as " + dimText(dimOfC) +
                 " of c is, but got {0}"});
  };
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    demand(op.getA(), dim, "a", dim);
  if (op.getMDimOfC() && op.getRowsOfPanels() == 0 && op.countSplits() == 1)
    demand(op.getA(), *op.getMDimOfA(), "a", *op.getMDimOfC());
  SmallVector<int64_t> loops;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    loops.push_back(dim);
  if (op.getMDimOfC())
    loops.push_back(*op.getMDimOfC());
  loops.push_back(op.getNDimOfC());
  for (auto [operand, map] :
       llvm::zip(op.getEpilogueOperands(),
                 op.getEpilogueMaps().getAsValueRange<AffineMapAttr>()))
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        demand(operand, dim, "an epilogue's operand",
               loops[loop.getPosition()]);
}

/// The sizes along each loop of an op of computed operands. Each is to be that
/// of the first operand that has the loop.
template <typename OpTy>
static void findLoopFacts(OpTy op, ArrayRef<StringRef> names,
                          FactConsumer consume) {
  SmallVector<std::optional<std::pair<unsigned, int64_t>>> firstOf(
      op.getNumLoops());
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
    for (auto [dim, expr] : llvm::enumerate(op.getMap(operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto &first = firstOf[loop.getPosition()];
      if (!first) {
        first = {operand, dim};
        continue;
      }
      auto [other, otherDim] = *first;
      consume({CmpIPredicate::eq,
               sizeOf(op->getOperand(operand), dim),
               sizeOf(op->getOperand(other), otherDim),
               {},
               "expected " + dimText(dim) + " of " + names[operand].str() +
                   " to be {1}, as " + dimText(otherDim) + " of " +
                   names[other].str() + " is, but got {0}"});
    }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

void mlir::nm::findSizeFacts(Operation *op, FactConsumer consume) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<linalg::LinalgOp, linalg::SoftmaxOp>(
          [&](Operation *) { findLinalgFacts(op, consume); })
      .Case([&](SparseProductOpInterface product) {
        findProductFacts(product, consume);
      })
      .Case([&](ContractOp product) {
        findLoopFacts(product, {"a", "b", "c"}, consume);
      })
      .Case([&](AttentionOp attention) {
        SmallVector<StringRef> names = {"q", "k", "v"};
        if (attention.getMask())
          names.push_back("mask");
        if (attention.getLengths())
          names.push_back("lengths");
        names.push_back("out");
        findLoopFacts(attention, names, consume);
      })
      .Case<tensor::CastOp, tensor::BitcastOp>(
          [&](Operation *) { findCastFacts(op, consume); })
      .Case([&](tensor::ExtractSliceOp slice) {
        demandSlices(slice, slice.getSource(), consume);
      })
      .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(
          [&](auto insert) {
            demandSlices(insert, insert.getDest(), consume);
            demandSource(insert, consume);
          })
      .Case([&](tensor::ExpandShapeOp expand) {
        findExpandFacts(expand, consume);
      })
      .Case([&](tensor::ReshapeOp reshape) {
        findReshapeFacts(reshape, consume);
      })
      .Case([&](VectorTransferOpInterface transfer) {
        findTransferFacts(transfer, consume);
      })
      .Case([&](tensor::PadOp pad) { findPadFacts(pad, consume); })
      .Case([&](tensor::ConcatOp concat) { findConcatFacts(concat, consume); })
      .Case([&](tensor::EmptyOp empty) {
        demandExtents(op, empty.getDynamicSizes(), consume);
      })
      .Case([&](tensor::GenerateOp made) {
        demandExtents(op, made.getDynamicExtents(), consume);
      })
      .Case([&](tensor::SplatOp made) {
        demandExtents(op, made.getDynamicSizes(), consume);
      })
      .Case([&](tensor::ExtractOp extract) {
        demandElement(extract.getTensor(), extract.getIndices(), consume);
      })
      .Case([&](tensor::InsertOp insert) {
        demandElement(insert.getDest(), insert.getIndices(), consume);
      })
      .Case([&](tensor::DimOp dim) { findDimFacts(dim, consume); })
      .Case([&](LoopLikeOpInterface loop) {
        if (std::optional<SmallVector<OpFoldResult>> steps =
                loop.getLoopSteps())
          demandSteps(*steps, consume);
      })
      .Default([&](Operation *other) {
        if (OpTrait::hasElementwiseMappableTraits(other))
          findElementwiseFacts(other, consume);
      });
}
