//===- MeasuredChoice.cpp - Schedules that were measured ------------------===//

#include "GPU/Select/MeasuredChoice.h"

#include "GPU/Select/GpuProductCost.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuProduct;
using ::nm::TableProduct;

/// The files that the module of `op` names; none where it names none.
static SmallVector<std::string> getTables(ModuleOp module) {
  SmallVector<std::string> files;
  if (auto names = module->getAttrOfType<ArrayAttr>(kScheduleTablesAttr))
    for (auto name : names.getAsRange<StringAttr>())
      files.push_back(name.str());
  return files;
}

/// `op` as the models see it, with another A or other types than it has.
static TableProduct describeProduct(SparseProductOpInterface op,
                                    const GpuProduct &product) {
  TableProduct described = getTableProduct(op);
  described.pattern = product.pattern.str();
  if (product.weightBits == 0)
    described.type = ::nm::elementName(product.type);
  if (!product.isVector)
    described.layout = product.isMMajor ? "m-major" : "row-major";
  return described;
}

static std::optional<MeasuredSchedule> find(SparseProductOpInterface op,
                                            const GpuProduct &product) {
  auto module = op->getParentOfType<ModuleOp>();
  // A table has the schedules of some numbers of rows, not of others.
  if (!module || !module->hasAttr(kScheduleTablesAttr) || !isInTables(op) ||
      isBatchInvariant(op))
    return std::nullopt;
  FailureOr<DeviceQuery> device = getDeviceQuery(module);
  if (failed(device))
    return std::nullopt;
  return findMeasuredSchedule(getTables(module), *device,
                              describeProduct(op, product));
}

FailureOr<DeviceQuery> mlir::nm::getDeviceQuery(ModuleOp module) {
  FailureOr<ChipAttr> attr = getChipAttr(module);
  if (failed(attr))
    return failure();
  ::nm::GpuChip chip = attr->getChip();
  DeviceQuery query;
  query.chip = attr->getName().str();
  if (auto name = module->getAttrOfType<StringAttr>(kDeviceAttr))
    query.name = name.str();
  if (!query.name.empty())
    return query;
  query.units = chip.multiprocessors;
  query.clock = chip.clockGHz;
  query.bandwidth = chip.memoryGBs;
  return query;
}

/// A choice that says by itself that it cannot be.
static ScheduleChoice refused() { return {}; }

std::optional<ScheduleChoice>
mlir::nm::chooseMeasured(const ScheduleRequest &request,
                         ChooseByModel byModel) {
  SparseProductOpInterface op = request.op;
  if (request.given || !request.packs)
    return std::nullopt;
  std::optional<MeasuredSchedule> found = find(op, request.product);
  if (!found)
    return std::nullopt;
  // Diagnostics of what is tried are a part of one sentence.
  std::string reason;
  ::nm::Result<ScheduleChoice> chosen = ::nm::Error{};
  {
    ScopedDiagnosticHandler keep(op->getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    auto emitError = [&] { return op->emitError(); };
    FailureOr<ScheduleAttrInterface> schedule =
        parseSchedule(found->entry.schedule, op->getContext(), emitError);
    if (succeeded(schedule) && !findGpuStrategy(*schedule))
      reason = "it is of no GPU strategy";
    else if (succeeded(schedule)) {
      ScheduleRequest with = request;
      with.given = *schedule;
      chosen = byModel(with);
    }
  }
  if (!chosen && !chosen.error().message.empty())
    reason = chosen.error().message;
  if (!chosen || !chosen->schedule) {
    // The measured schedule stores zeros that this product must not have.
    if (request.product.avoidsPrunedWeights)
      return std::nullopt;
    if (failed(reportUnfit(op, *found, reason)))
      return refused();
    return std::nullopt;
  }
  if (found->isExact) {
    chosen->microseconds = found->entry.microseconds;
  } else {
    ::nm::Result<ScheduleChoice> model = byModel(request);
    if (model && chosen->microseconds > kModelAgrees * model->microseconds)
      return std::nullopt;
  }
  chosen->isByModel = false;
  chosen->measured = found->describe("cuBLAS");
  return *chosen;
}

bool mlir::nm::isMeasured(SparseProductOpInterface op) {
  std::optional<MeasuredSchedule> found = find(op, getGpuProduct(op));
  return found && found->isExact;
}

std::optional<double> mlir::nm::findMeasuredDense(SparseProductOpInterface op,
                                                  const GpuProduct &product) {
  std::optional<MeasuredSchedule> found = find(op, product);
  return found && found->isExact ? found->entry.dense : std::nullopt;
}
