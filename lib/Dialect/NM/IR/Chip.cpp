//===- Chip.cpp - The GPU that a module is compiled for -------------------===//

#include "nm/Dialect/NM/IR/Chip.h"

#include "nm/Schedule/NamedRates.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;

LogicalResult ChipAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name) {
  // (C1).
  if (::nm::Result<GpuChip> chip = GpuChip::get(name.str()); !chip)
    return emitError() << chip.error().message;
  return success();
}

GpuChip ChipAttr::getChip() const { return *GpuChip::get(getName().str()); }

ChipAttr mlir::nm::findChipAttr(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto chip = parent->getAttrOfType<ChipAttr>(kChipAttr))
      return chip;
  return {};
}

FailureOr<ChipAttr> mlir::nm::getChipAttr(Operation *op) {
  if (ChipAttr chip = findChipAttr(op))
    return chip;
  return op->emitError() << "expected a module with a chip, as nm-attach-chip "
                            "sets it: "
                         << kChipAttr << " = #nm.chip<\"sm_90a\">";
}

static constexpr StringLiteral kMultiprocessors = "multiprocessors",
                               kGHz = "ghz", kGBs = "gb_per_s";

DictionaryAttr mlir::nm::makeRates(MLIRContext *context, const GpuChip &chip) {
  Builder builder(context);
  NamedAttrList rates;
  auto add = [&](StringRef name, double value) {
    rates.append(name, builder.getF64FloatAttr(value));
  };
  add(kMultiprocessors, double(chip.multiprocessors));
  add(kGHz, chip.clockGHz);
  add(kGBs, chip.memoryGBs);
  for (const ::nm::NamedRate &named : ::nm::kNamedRates)
    add(named.name, chip.rates.*named.rate);
  return rates.getDictionary(context);
}

/// A number above 0 of `rates`; 0 where there is none.
static double getRate(DictionaryAttr rates, StringRef name) {
  auto value = rates.getAs<FloatAttr>(name);
  double number =
      value && value.getType().isF64() ? value.getValueAsDouble() : 0;
  return std::isfinite(number) && number > 0 ? number : 0;
}

static GpuChip withRates(GpuChip chip, DictionaryAttr rates) {
  chip.multiprocessors = int64_t(getRate(rates, kMultiprocessors));
  chip.clockGHz = getRate(rates, kGHz);
  chip.memoryGBs = getRate(rates, kGBs);
  for (const ::nm::NamedRate &named : ::nm::kNamedRates)
    chip.rates.*named.rate = getRate(rates, named.name);
  return chip;
}

bool mlir::nm::areRates(Attribute value) {
  auto rates = dyn_cast<DictionaryAttr>(value);
  if (!rates || getRate(rates, kMultiprocessors) < 1)
    return false;
  // All of them, and no others.
  return makeRates(value.getContext(), withRates(GpuChip(), rates)) == rates;
}

FailureOr<GpuChip> mlir::nm::getChip(Operation *op) {
  FailureOr<ChipAttr> attr = getChipAttr(op);
  if (failed(attr))
    return failure();
  GpuChip chip = attr->getChip();
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto rates = parent->getAttrOfType<DictionaryAttr>(kRatesAttr))
      return withRates(chip, rates);
  return chip;
}
