//===- QuantizedAlternatives.cpp - Products of quantized ------------------===//

#include "GPU/Select/QuantizedAlternatives.h"

#include "GPU/Layouts/LayoutCosts.h"

#include "nm/Dialect/NM/Transforms/DescribeProduct.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;
using ::nm::GpuChip;
using ::nm::GpuProduct;

/// What selection would choose of weights of A's type. A schedule that is given
/// in part may have none, which is no error yet.
static ::nm::Result<ScheduleChoice>
chooseDequantized(SparseProductOpInterface op, GpuProduct product,
                  const GpuChip &chip, ScheduleAttrInterface given) {
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  product.weightBits = product.scaleGroup = 0;
  ::nm::Result<ScheduleChoice> choice =
      chooseGpuSchedule({op, product, chip, given});
  if (choice && !choice->schedule)
    return Error{"expected a schedule that this product has"};
  return choice;
}

QuantizedAlternatives mlir::nm::findQuantizedAlternatives(
    SparseProductOpInterface op, const GpuChip &chip,
    const SelectionOptions &options, ActivationForm form) {
  ScheduleAttrInterface given = options.given;
  GpuProduct product = getGpuProduct(op, form);
  product.avoidsPrunedWeights = options.exactPattern;
  auto strategy = given ? given : getEmptyMmaSpSchedule(op->getContext());
  Error asked{"the schedule option asks for strategy " +
              strategy.getStrategyName().str()};
  QuantizedAlternatives ways{asked, asked};
  if (isa<MmaSpScheduleAttr>(strategy))
    ways.inRegisters = chooseGpuSchedule({op, product, chip, strategy});
  if (given && ways.inRegisters)
    return ways;
  if (!isLibraryCall(given))
    ways.dequantized = chooseDequantized(op, product, chip, given);
  ways.dequantization = estimateDequantization(op, chip);
  ways.dense = estimateDense(op, chip, options, form);
  ways.denseDequantization = estimateDenseDequantization(op, chip);
  return ways;
}

::nm::Result<ScheduleChoice> QuantizedAlternatives::own() const {
  if (!dequantized)
    return inRegisters;
  ScheduleChoice both = *dequantized;
  both.microseconds += dequantization;
  return inRegisters && inRegisters->microseconds <= both.microseconds
             ? inRegisters
             : both;
}

bool QuantizedAlternatives::isDenseFastest() const {
  ::nm::Result<ScheduleChoice> other = own();
  return dense && (!other || *dense < other->microseconds);
}

static std::string describe(const ScheduleChoice &choice) {
  return describeTime(choice.microseconds) + " by strategy " +
         choice.schedule.getStrategyName().str();
}

std::string QuantizedAlternatives::whyNotInRegisters() const {
  if (!inRegisters)
    return inRegisters.error().message;
  // An error was emitted.
  if (!inRegisters->schedule)
    return "";
  if (isDenseFastest())
    return "estimated to take " + describeTime(denseDequantization) +
           " for dense weights, and cuBLAS " +
           describeTime(*dense - denseDequantization) +
           ", which is faster than " + describe(*inRegisters);
  if (!dequantized ||
      dequantization + dequantized->microseconds >= inRegisters->microseconds)
    return "";
  return "estimated to take " + describeTime(dequantization) +
         ", and the product " + describe(*dequantized) +
         ", which is faster than " + describe(*inRegisters);
}

std::string QuantizedAlternatives::adviseOn(SparseProductOpInterface op) const {
  if (!dequantized || dequantized->microseconds >= inRegisters->microseconds)
    return "";
  return "; weights that are " + debugString(op.getAType().getElementType()) +
         " when they are loaded are estimated to take " +
         describe(*dequantized);
}
