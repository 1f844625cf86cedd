//===- UnstructuredLoops.cpp - Weights kept anywhere, as loops ------------===//
//
// The weights of a column are stored behind the weights of the columns before
// it, so that these loops count weights as they go, and none of the loops runs
// in parallel.
//
//===----------------------------------------------------------------------===//

#include "UnstructuredLoops.h"

#include "DenseAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::ColumnsForm;

static Value asIndex(LoopEmitter &emitter, Value condition) {
  return arith::IndexCastUIOp::create(
      emitter.builder, emitter.loc, emitter.builder.getIndexType(), condition);
}

static Value shiftLeft(LoopEmitter &emitter, Value a, Value b) {
  return emitter.builder.createOrFold<arith::ShLIOp>(emitter.loc, a, b);
}

void mlir::nm::clearPlaces(LoopEmitter &emitter, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value zero = emitter.zero(type.getElementType());
  SmallVector<Value> at(type.getRank(), emitter.index(0));
  emitter.forEach(emitter.size(memref, type.getRank() - 1),
                  [&](ValueRange place) {
                    at.back() = place[0];
                    emitter.store(zero, memref, at);
                  });
}

void mlir::nm::expectAtMost(LoopEmitter &emitter, Value count, Value places,
                            StringRef op) {
  cf::AssertOp::create(emitter.builder, emitter.loc,
                       emitter.less(count, emitter.add(places, 1)),
                       (op + ": expected no more non-zeros than there are "
                             "places for unstructured weights")
                           .str());
}

namespace {
/// The bit of a row of a column.
struct BitPlace {
  SmallVector<Value> byte;
  Value shift;

  BitPlace(LoopEmitter &emitter, Value rows, Value k, Value column) {
    auto [inColumn, bit] = emitter.split(k, 8);
    Value bytes = emitter.ceilDiv(rows, 8);
    Value first =
        emitter.builder.createOrFold<arith::MulIOp>(emitter.loc, column, bytes);
    byte = {emitter.index(0), emitter.add(first, inColumn)};
    shift = bit;
  }
};
} // namespace

/// Whether any weight of the unit of row `k` and `column` is not zero.
static Value isInKeptUnit(LoopEmitter &emitter, CompressOp op, Value k,
                          Value column) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  DenseAccess units(emitter, {1, 1, pattern.bk, pattern.bn}, op.getDense(),
                    op.getDim());
  Value count = units.reduceUnit(
      emitter.div(k, pattern.bk), emitter.index(0),
      emitter.div(column, pattern.bn), emitter.index(0),
      [&](Value count, Value element) {
        return emitter.add(count, asIndex(emitter, emitter.isNonZero(element)));
      });
  return emitter.less(emitter.index(0), count);
}

void mlir::nm::emitUnstructuredCompress(LoopEmitter &emitter, CompressOp op) {
  DenseAccess dense(emitter, ::nm::Pattern(), op.getDense(), op.getDim());
  clearPlaces(emitter, op.getValues());
  clearPlaces(emitter, op.getIndices());
  Value places = emitter.size(op.getValues(), 1);
  auto compressRow = [&](Value column, Value k, Value next) {
    Value element = emitter.load(op.getDense(), dense.at(k, column));
    Value isKept = isInKeptUnit(emitter, op, k, column);
    emitter.onlyIf(emitter.both(isKept, emitter.less(next, places)), [&] {
      emitter.store(element, op.getValues(), {emitter.index(0), next});
      BitPlace place(emitter, dense.k(), k, column);
      Value bit =
          emitter.asByte(shiftLeft(emitter, emitter.index(1), place.shift));
      Value before = emitter.load(op.getIndices(), place.byte);
      emitter.store(emitter.either(before, bit), op.getIndices(), place.byte);
    });
    return emitter.add(next, asIndex(emitter, isKept));
  };
  Value count = emitter.reduce(
      dense.n(), emitter.index(0), [&](Value column, Value next) {
        return emitter.reduce(dense.k(), next, [&](Value k, Value next) {
          return compressRow(column, k, next);
        });
      });
  expectAtMost(emitter, count, places, "nm.compress");
}

void mlir::nm::emitUnstructuredDecompress(LoopEmitter &emitter,
                                          DecompressOp op) {
  DenseAccess dense(emitter, ::nm::Pattern(), op.getDense(), op.getDim());
  Value last = emitter.sub(emitter.size(op.getValues(), 1), emitter.index(1));
  Value zero = emitter.zero(dense.elementType());
  auto decompressRow = [&](Value column, Value k, Value next) {
    BitPlace place(emitter, dense.k(), k, column);
    Value byte = emitter.toIndex(emitter.load(op.getIndices(), place.byte));
    Value shifted = emitter.builder.createOrFold<arith::ShRUIOp>(
        emitter.loc, byte, place.shift);
    Value bit = emitter.mask(shifted, 1);
    // Bits that came from outside may be more than the values.
    Value value = emitter.load(op.getValues(),
                               {emitter.index(0), emitter.least(next, last)});
    Value isKept = emitter.less(emitter.index(0), bit);
    emitter.store(arith::SelectOp::create(emitter.builder, emitter.loc, isKept,
                                          value, zero),
                  op.getDense(), dense.at(k, column));
    return emitter.add(next, bit);
  };
  emitter.reduce(dense.n(), emitter.index(0), [&](Value column, Value next) {
    return emitter.reduce(dense.k(), next, [&](Value k, Value next) {
      return decompressRow(column, k, next);
    });
  });
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void mlir::nm::emitColumns(LoopEmitter &emitter, PackOp op) {
  ColumnsForm form = cast<ColumnsAttr>(op.getPacking()).getForm();
  clearPlaces(emitter, op.getPackedValues());
  clearPlaces(emitter, op.getPackedIndices());
  Value lists = op.getPackedLists(), zero = emitter.index(0),
        kept = emitter.index(form.kept);
  auto packRow = [&](Value column, Value tile, Value row, Value next) {
    Value k = emitter.add(emitter.mul(tile, form.tileRows), row);
    Value element = emitter.loadOrZero(op.getValues(), {k, column});
    Value isKept = emitter.isNonZero(element);
    emitter.onlyIf(emitter.both(isKept, emitter.less(next, kept)), [&] {
      emitter.store(element, op.getPackedValues(), {zero, zero, next});
      emitter.storeBytes(row, form.indexBytes(), op.getPackedIndices(),
                         {zero, zero, emitter.mul(next, form.indexBytes())});
    });
    return emitter.add(next, asIndex(emitter, isKept));
  };
  auto packTile = [&](Value column, Value tile, Value next) {
    emitter.storeBytes(next, ColumnsForm::kNumberBytes, lists,
                       {column, tile, zero});
    Value end = emitter.reduce(emitter.index(form.tileRows), next,
                               [&](Value row, Value next) {
                                 return packRow(column, tile, row, next);
                               });
    emitter.storeBytes(
        end, ColumnsForm::kNumberBytes, lists,
        {column, tile, emitter.index(ColumnsForm::kNumberBytes)});
    return end;
  };
  Value count =
      emitter.reduce(emitter.size(lists, 1), zero, [&](Value tile, Value next) {
        return emitter.reduce(emitter.size(lists, 0), next,
                              [&](Value column, Value next) {
                                return packTile(column, tile, next);
                              });
      });
  expectAtMost(emitter, count, kept, "nm.pack");
}

namespace {
class ColumnsAccess : public WeightAccess {
public:
  ColumnsAccess(LoopEmitter &emitter, ColumnsForm form, Value values,
                Value indices, Value lists)
      : emitter(emitter), form(form), values(values), indices(indices),
        lists(lists) {}

  Value rows() override {
    return emitter.mul(emitter.size(lists, 1), form.tileRows);
  }
  Value value(Value row, Value column) override {
    Value zero = emitter.index(0);
    return emitter.load(values, {zero, zero, findPlace(row, column)});
  }
  Value kOf(Value row, Value column) override {
    Value isKept =
        emitter.less(findPlace(row, column), emitter.index(form.kept));
    return selectKeptRow(emitter, isKept, row);
  }

private:
  /// The place of the value of a row, or the first one behind all.
  Value findPlace(Value row, Value column);

  LoopEmitter &emitter;
  ColumnsForm form;
  Value values, indices, lists;
};
} // namespace

Value ColumnsAccess::findPlace(Value row, Value column) {
  auto [tile, inTile] = emitter.split(row, form.tileRows);
  Value zero = emitter.index(0);
  Value first = emitter.loadBytes(ColumnsForm::kNumberBytes, lists,
                                  {column, tile, zero}),
        end = emitter.loadBytes(
            ColumnsForm::kNumberBytes, lists,
            {column, tile, emitter.index(ColumnsForm::kNumberBytes)});
  return emitter.reduce(
      emitter.sub(end, first), emitter.index(form.kept),
      [&, inTile = inTile](Value number, Value found) -> Value {
        Value place = emitter.add(first, number);
        Value index = emitter.loadBytes(
            form.indexBytes(), indices,
            {zero, zero, emitter.mul(place, form.indexBytes())});
        Value isHere =
            arith::CmpIOp::create(emitter.builder, emitter.loc,
                                  arith::CmpIPredicate::eq, index, inTile);
        return arith::SelectOp::create(emitter.builder, emitter.loc, isHere,
                                       place, found);
      });
}

std::unique_ptr<WeightAccess>
mlir::nm::getColumnsAccess(LoopEmitter &emitter, ColumnsAttr form, Value values,
                           Value indices, Value lists) {
  return std::make_unique<ColumnsAccess>(emitter, form.getForm(), values,
                                         indices, lists);
}
