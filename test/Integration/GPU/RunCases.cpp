//===- RunCases.cpp - Runs the drawn cases on their device ----------------===//
//
// usage: NMGpuRunCases FOLDER
//
// FOLDER is what NMGpuCompileCases has written. Needs the runtime alone. The
// ways that cases took are left there for NMGpuCheckWays.
//
//===----------------------------------------------------------------------===//

#include "../CPU/CompareOutputs.h"
#include "../CPU/ModelOperands.h"
#include "GpuCases.h"
#include "GpuWays.h"

#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitFloats.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

using namespace nm;
using namespace nm::test;

namespace {
/// An array where a function wants it: on the host, or on its device.
class Place {
public:
  static Result<Place> copy(const Tensor &host, const Device &device);
  /// All bits set: what a kernel does not write is no number.
  static Result<Place> poisoned(ElementType type, const Shape &shape,
                                const Device &device);

  const Tensor &tensor() const {
    return onHost.tensor().data ? onHost.tensor() : onDevice.tensor();
  }

private:
  static Result<Place> allocate(ElementType type, const Shape &shape,
                                const Device &device);

  Buffer onHost;
  CudaBuffer onDevice;
};
} // namespace

Result<Place> Place::allocate(ElementType type, const Shape &shape,
                              const Device &device) {
  Place place;
  if (device.isCpu()) {
    Result<Buffer> buffer = Buffer::allocate(type, shape);
    if (!buffer)
      return buffer.error();
    place.onHost = std::move(*buffer);
    return place;
  }
  Result<CudaBuffer> buffer = CudaBuffer::allocate(device, type, shape);
  if (!buffer)
    return buffer.error();
  place.onDevice = std::move(*buffer);
  return place;
}

Result<Place> Place::copy(const Tensor &host, const Device &device) {
  Result<Place> place = allocate(host.type, host.shape, device);
  if (!place)
    return place;
  if (device.isCpu())
    copyTensor(host, place->tensor());
  else if (Status status = copyAcross(host, place->tensor()); !status)
    return status.error();
  return place;
}

Result<Place> Place::poisoned(ElementType type, const Shape &shape,
                              const Device &device) {
  Result<Place> place = allocate(type, shape, device);
  if (!place)
    return place;
  const Tensor &tensor = place->tensor();
  if (device.isCpu())
    std::memset(tensor.data, 0xff, tensor.bytes());
  else if (Status status = fillBytes(tensor, 0xff); !status)
    return status.error();
  return place;
}

/// Calls `function`; gives the result on the host.
static Result<Buffer> call(const ModelCase &product, Function &function,
                           const ModelOperands &operands) {
  std::vector<Weight> condensed;
  if (!product.isConstant) {
    Result<Weight> weight =
        compressWeight(function.args()[1], operands.weight.tensor(), "w");
    if (!weight)
      return weight.error();
    condensed.push_back(std::move(*weight));
  }
  Result<std::vector<Weight>> packed = function.pack(condensed);
  if (!packed)
    return packed.error();
  const Device &device = function.device();
  const Tensor &output = operands.output.tensor();
  Result<Place> aOffset = Place::copy(operands.activation.tensor(), device);
  Result<Place> cOffset = Place::copy(output, device);
  Result<Place> result =
      Place::poisoned(product.resultType(), output.shape, device);
  for (const Result<Place> *place : {&aOffset, &cOffset, &result})
    if (!*place)
      return place->error();
  std::vector<Argument> arguments = {Argument(aOffset->tensor())};
  for (const Weight &weight : *packed)
    arguments.emplace_back(weight);
  arguments.emplace_back(cOffset->tensor());
  std::vector<Place> others;
  for (const Buffer &other : operands.others) {
    Result<Place> place = Place::copy(other.tensor(), device);
    if (!place)
      return place.error();
    others.push_back(std::move(*place));
    arguments.push_back(Argument(others.back().tensor()));
  }
  if (Status status = function.call(arguments, {result->tensor()}); !status)
    return status.error();
  return copyToHost(result->tensor());
}

/// The record of the only op of `name`.
static const OpInfo *findRecord(const Module &module, const std::string &name) {
  for (const FunctionInfo &function : module.manifest().functions)
    if (function.name == name && !function.ops.empty())
      return &function.ops.front();
  return nullptr;
}

static bool hasNonFinite(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (!std::isfinite(loadAsDouble(tensor.data, tensor.type, i)))
      return true;
  return false;
}

/// Whether zeros that fill up a sparse operand, or that lanes put in place of
/// pruned weights, meet activations. Those of its
/// groups can be told apart in split floats, and those of windows that are cut
/// into groups which overlap cannot. Rows that tiles have twice have weights as
/// if these were dense.
static bool meetsPrunedWeights(const ModelCase &product, const OpInfo &record) {
  const Pattern &pattern = product.pattern;
  if (record.strategy == "mma_bitmap")
    return pattern.n != pattern.m;
  if (record.strategy != "mma_sp" && record.strategy != "wgmma_sp")
    return false;
  if (std::optional<WindowTiles> tiles = findWindowTiles(product, record);
      tiles && tiles->rowsOfWindows() != product.k)
    return true;
  if (!fitsSparseOperand(pattern))
    return pattern.m % 2 != 0 || pattern.n != pattern.m - 2;
  return product.type != ElementType::F32 && fillsUpSparseOperand(pattern);
}

/// Whether `tensor` has finite values that split floats do not add up to.
static bool hasHuge(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (double value = loadAsDouble(tensor.data, tensor.type, i);
        std::isfinite(value) && std::fabs(value) >= kHuge)
      return true;
  return false;
}

/// The relative error that the result may have with `activations`. A Hopper's
/// tensor cores cut off sums of f8 as they make them, which no total makes up
/// for.
static double toleranceOf(const ModelCase &product, const OpInfo &record,
                          const Tensor &activations) {
  bool isCutOff =
      isFloat8(product.type) && !isWidened(product, record) &&
      (record.strategy == "wgmma_sp" || record.strategy == "wgmma_select" ||
       record.strategy == "wgmma");
  double tolerance = toleranceOf(product.resultType());
  if (isCutOff || product.arithmetic == "tf32")
    return std::max(tolerance, toleranceOf(ElementType::F16));
  if (product.arithmetic.empty() || product.arithmetic == "fast_accum")
    return tolerance;
  // Two splits of a huge value are its high half, and those of others as close
  // as 2^-17: sums may be smaller than what they are sums of.
  constexpr double kTwoSplits = 1e-4;
  return hasHuge(activations) ? toleranceOf(ElementType::BF16)
                              : std::max(tolerance, kTwoSplits);
}

/// Checks the product, and counts the ways that it takes.
static std::string check(const ModelCase &product, const Module &module,
                         WayCounts &ways) {
  Random random(7000000 + product.number);
  Result<Function> function = module.function(product.name());
  if (!function)
    return function.error().message;
  const OpInfo *record = findRecord(module, product.name());
  if (!record)
    return "expected a record of how its op was compiled";
  for (const std::string &way : describeWays(product, *record))
    ++ways[way];
  // Other strategies multiply zeros among constants, and of windows that hold
  // weights kept anywhere.
  bool hasZeros = (product.pattern.isUnstructured() || product.isConstant) &&
                  record->strategy != "simt_columns";
  bool hasSpecials = record->strategy != "cublas" && !record->fallsBack &&
                     !product.epilogue && !hasZeros &&
                     !meetsPrunedWeights(product, *record);
  Result<ModelOperands> operands =
      ModelOperands::draw(product, random, hasSpecials);
  if (!operands)
    return operands.error().message;
  if (hasNonFinite(operands->activation.tensor()))
    ++ways[record->strategy +
           (isWidened(product, *record) ? ": widened, " : ": ") +
           "infinite or NaN activations"];
  Result<Buffer> result = call(product, *function, *operands);
  if (!result)
    return result.error().message;
  return compareOutputs(
      product.asMatrix(result->tensor(), product.outputLoops, product.nLoop()),
      operands->expected, operands->magnitudes,
      toleranceOf(product, *record, operands->activation.tensor()));
}

/// Returns how many cases fail.
static int runGroup(const GpuGroup &group, const std::string &folder,
                    WayCounts &ways) {
  std::string path = folder + "/" + group.name + ".so";
  Result<Module> module = Module::load(path);
  if (!module) {
    std::printf("%s\n", module.error().message.c_str());
    return int(group.cases.size());
  }
  int failures = 0;
  for (const ModelCase &product : group.cases) {
    std::string wrong = check(product, *module, ways);
    if (wrong.empty())
      continue;
    std::printf("%s of %s: %s\n%s", product.name().c_str(), group.name.c_str(),
                wrong.c_str(), product.function().c_str());
    ++failures;
  }
  return failures;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::string folder = argv[1], seed;
  int64_t count = 0;
  Part part;
  if (!(std::ifstream(folder + "/cases.txt") >> seed >> count >> part.index >>
        part.count)) {
    std::fprintf(stderr, "%s: expected cases.txt of NMGpuCompileCases\n",
                 argv[1]);
    return 2;
  }
  // Before the first draw.
  setenv("NM_TEST_SEED", seed.c_str(), /*overwrite=*/1);
  WayCounts ways;
  int failures = 0;
  int64_t cases = 0, turn = 0;
  for (const GpuGroup &group : drawGpuGroups(count)) {
    if (!part.has(turn++))
      continue;
    cases += int64_t(group.cases.size());
    failures += runGroup(group, folder, ways);
  }
  std::printf("%lld of %lld cases agree with float64, NM_TEST_SEED=%s\n",
              static_cast<long long>(cases - failures),
              static_cast<long long>(cases), seed.c_str());
  printWays(ways);
  if (!saveWays(folder, ways)) {
    std::fprintf(stderr, "%s: expected to write ways.txt\n", argv[1]);
    return 2;
  }
  return failures != 0;
}
