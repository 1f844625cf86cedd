//===- GemvSchedule.cpp - The schedules of strategy gemv ------------------===//

#include "GPU/Tile/TilingFields.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

/// The strategy reads packed weights alone, so that a dense matrix that comes
/// with each call is packed then.
static GemvScheduleAttr toAttribute(Operation *op, const GpuSchedule &chosen) {
  TileSizes tile(chosen);
  return getCheckedAt<GemvScheduleAttr>(
      op, tile.block, tile.warp, tile.thread, chosen.stages, chosen.splitK,
      chosen.sliceK, PackingAttr::get(op->getContext(), chosen.packing));
}

namespace {
class GemvStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<GemvScheduleAttr>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    ::nm::Result<GpuSchedule> chosen =
        ::nm::selectGemvSchedule(request.product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice =
        makeChoice(toAttribute(request.op, *chosen), *chosen);
    if (auto given = cast_if_present<GemvScheduleAttr>(request.given)) {
      ScheduleAttrInterface byModel = choice.schedule;
      takeTiling(given, *chosen);
      choice.schedule = toAttribute(request.op, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  /// A block has the few rows of A whose sums fit in a thread's registers.
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    return product.rows() > ::nm::kMaxGemvRows;
  }
};
} // namespace

const GpuStrategy &mlir::nm::getGemvStrategy() {
  static const GemvStrategy strategy;
  return strategy;
}
