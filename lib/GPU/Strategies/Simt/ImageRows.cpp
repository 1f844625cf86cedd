//===- ImageRows.cpp - Rows of patches that a lane has --------------------===//

#include "GPU/Strategies/Simt/LaneRows.h"

#include "GPU/Expand/ElementWords.h"
#include "GPU/Expand/ImagePlaces.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class ImageLaneRows : public LaneRows {
public:
  ImageLaneRows(ThreadEmitter &emitter, const ImagePlaces &places, Value a,
                Value first, Value lane, int64_t count);

  int64_t countPlaceWords() const override { return places.hasTaps() ? 2 : 1; }
  SmallVector<Value> place(ThreadEmitter &emitter, Value k) const override;
  SmallVector<Value> load(ThreadEmitter &emitter,
                          ArrayRef<Value> place) const override;

private:
  ImagePlaces places;
  /// The places of the lane's rows of m in the image.
  SmallVector<ImagePlaces::Part> parts;
};
} // namespace

ImageLaneRows::ImageLaneRows(ThreadEmitter &emitter, const ImagePlaces &places,
                             Value a, Value first, Value lane, int64_t count)
    : places(places) {
  OpBuilder &builder = emitter.builder;
  firstRow = emitter.add(first, lane);
  Value rows = builder.createOrFold<memref::DimOp>(
      emitter.loc, a, cast<MemRefType>(a.getType()).getRank() - 1);
  // Lanes behind the last row read that, so that they need not be told apart.
  Value last =
      builder.createOrFold<arith::SubIOp>(emitter.loc, rows, emitter.index(1));
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(
        places.placeOfM(emitter, emitter.least(getRow(emitter, i), last)));
}

SmallVector<Value> ImageLaneRows::place(ThreadEmitter &emitter, Value k) const {
  ImagePlaces::Part part = places.placeOfRow(emitter, k);
  SmallVector<Value> words = {part.distance};
  if (part.taps)
    words.push_back(part.taps);
  return words;
}

SmallVector<Value> ImageLaneRows::load(ThreadEmitter &emitter,
                                       ArrayRef<Value> place) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  ImagePlaces::Part ofK{place[0], places.hasTaps() ? place[1] : Value()};
  SmallVector<Value> elements;
  for (const ImagePlaces::Part &ofM : parts) {
    auto [index, isInside] = places.getElement(emitter, ofM, ofK);
    Value x = toAccumulator(
        emitter, memref::LoadOp::create(builder, loc, places.getImage(),
                                        emitter.toIndex(index)));
    elements.push_back(emitter.orZero(x, isInside));
  }
  return elements;
}

std::unique_ptr<LaneRows> mlir::nm::createImageRows(ThreadEmitter &emitter,
                                                    Value a, Value first,
                                                    Value lane, int64_t count) {
  std::optional<ImagePlaces> places = ImagePlaces::find(emitter, a);
  if (!places)
    return nullptr;
  return std::make_unique<ImageLaneRows>(emitter, *places, a, first, lane,
                                         count);
}
