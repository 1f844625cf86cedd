//===- GpuBench.cpp - Measuring cases on a GPU ----------------------------===//

#include "GpuBench.h"

#include "Check.h"
#include "CudaTurns.h"
#include "RandomData.h"
#include "ReducedDense.h"
#include "TensorCores.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Support/KernelObjects.h"
#include "nm/Support/Store.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

using namespace nm;

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Result<GpuBench> GpuBench::create(const BenchOptions &options) {
  Device device = Device::cuda(int(options.device));
  Result<CudaDeviceInfo> info = cudaDeviceInfo(device.ordinal);
  if (!info)
    return Error{"--target=cuda measures on a GPU: " + info.error().message};
  Result<Ceilings> ceilings = cudaCeilings(device);
  if (!ceilings)
    return ceilings.error();
  GpuBench bench(options, device);
  bench.deviceName = info->name;
  bench.multiprocessors = info->multiprocessors;
  bench.major = info->major;
  bench.minor = info->minor;
  bench.ceilings = *ceilings;
  if (!options.hasBlas())
    return bench;
  Result<Cublas> blas = Cublas::load(options.blas, device);
  if (!blas)
    return blas.error();
  bench.blas.emplace(std::move(*blas));
  return bench;
}

Result<TableDevice> GpuBench::facts(const BenchOptions &options) {
  Result<CudaDeviceInfo> info = cudaDeviceInfo(int(options.device));
  if (!info)
    return Error{"--target=cuda measures on a GPU: " + info.error().message};
  std::string chip = options.target.chips.empty()
                         ? Chip::ofDevice(info->major, info->minor).str()
                         : options.target.chips.front();
  // Cores of a multiprocessor, which the driver does not tell.
  Result<GpuChip> known = GpuChip::get(chip);
  double perClock = known ? 2.0 * double(known->fmaPerClock) : 0;
  double clock =
      perClock > 0 ? info->peakF32Flops / perClock / info->multiprocessors / 1e9
                   : 0;
  auto rounded = [](double number, double digits) {
    return std::round(number * digits) / digits;
  };
  return TableDevice{info->name, chip, info->multiprocessors,
                     rounded(clock, 100), rounded(info->peakBytes / 1e9, 1)};
}

std::string GpuBench::describe() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "%s, %d multiprocessors, by its clocks %.0f GB/s and %.1f "
                "Tflop/s in f32; %s",
                deviceName.c_str(), multiprocessors, ceilings.bandwidth / 1e9,
                ceilings.flops / 1e12,
                blas ? blas->description().c_str() : "no cuBLAS");
  return text;
}

bool GpuBench::isUsable() const { return bool(cudaDeviceInfo(device.ordinal)); }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One of the BLAS's routines with what it takes as B.
struct GpuBench::DenseSide {
  Cublas::Routine routine;
  const DeviceCopies *b = nullptr;
  /// Those that calls take in turn; there may be more.
  int64_t copies = 1;
  double relativeError = 0;
};

/// What the calls of one case take.
struct GpuBench::Operands {
  const GpuData::Activations *a = nullptr;
  const GpuData::Weights *b = nullptr;
  DeviceCopies values, indices, lists;
  /// Into those.
  std::vector<Weight> weights;
  GpuData::EpilogueOperands epilogue;
  CudaBuffer c, denseC;
  std::vector<DenseSide> dense;
  std::optional<CusparseLt::Product> sparse;
  double sparseError = 0;
  std::optional<Cusparse::Product> csr;
  double csrError = 0;
  std::vector<ReducedDense> reduced;
  /// The sum of the product's rows, and what is checked of C, in float64.
  std::vector<double> rowSum, expected;

  int64_t copies() const { return int64_t(weights.size()); }
};

/// An array for C that holds NaNs: what is not written then shows.
static Result<CudaBuffer> poisoned(const BenchCase &bench, Device device) {
  Result<CudaBuffer> c = CudaBuffer::allocate(
      device, bench.resultType(), bench.shape.rowsOf(bench.shape.n));
  if (!c)
    return c;
  if (Status status = fillBytes(c->tensor(), 0xff); !status)
    return status.error();
  return c;
}

/// How many copies of weights of `bytes` calls take in turn.
static Result<int64_t> countCopies(const BenchCase &bench, Device device,
                                   int64_t bytes) {
  if (!bench.isCold())
    return 1;
  return countColdCopies(device, bytes);
}

Status GpuBench::drawOperands(const BenchCase &bench, Operands &operands) {
  for (CudaBuffer *c : {&operands.c, &operands.denseC}) {
    Result<CudaBuffer> made = poisoned(bench, device);
    if (!made)
      return made.error();
    *c = std::move(*made);
  }
  if (Status status = store(operands.a, data.activations(bench)); !status)
    return status;
  if (Status status = store(operands.b, data.weights(bench)); !status)
    return status;
  operands.rowSum =
      multiplyRow(operands.a->rowSum, operands.b->type, operands.b->condensed);
  if (Status status = store(operands.epilogue, data.epilogueOperands(bench));
      !status)
    return status;
  operands.expected = data.expected(bench, *operands.a, *operands.b,
                                    operands.epilogue, operands.rowSum);
  return Status::success();
}

/// A key of the dense product, which cases of other patterns may have, too.
static std::string denseProduct(const BenchCase &bench) {
  return bench.shape.str() + " " + std::string(elementName(bench.type)) + " " +
         std::string(elementName(bench.resultType())) +
         (bench.hasFastAccum ? " fast" : "");
}

Result<std::vector<Cublas::Routine>>
GpuBench::routinesFor(const BenchCase &bench) {
  auto known = fastest.find(denseProduct(bench));
  if (known != fastest.end() && !known->second.empty())
    return known->second;
  return blas->routines(bench);
}

Status GpuBench::prepareBlas(const BenchCase &bench, Operands &operands) {
  if (!blas)
    return Status::success();
  Result<int64_t> copies = countCopies(
      bench, device, bench.shape.k * bench.shape.n * elementSize(bench.type));
  if (!copies)
    return copies.error();
  Result<std::vector<Cublas::Routine>> routines = routinesFor(bench);
  if (!routines)
    return routines.error();
  Status failure;
  for (const Cublas::Routine &routine : *routines) {
    DenseSide side{routine, nullptr, *copies};
    if (Status status = store(
            side.b, data.denseWeights(bench, routine.isTransposed, *copies));
        !status)
      return status;
    // What the library has for one layout or type it may lack for another. The
    // routines share a workspace, so each ends before the next begins.
    CudaWork work = denseWork(bench, operands, side);
    if (Status status = callOnCuda(device, work); status)
      operands.dense.push_back(side);
    else if (failure && !routine.algorithm)
      failure = status;
  }
  if (operands.dense.empty())
    return failure;
  if (Status status = dropSlowAlgorithms(bench, operands); !status)
    return status;
  return checkDense(bench, operands);
}

/// f32 products of cuSPARSELt are in TensorFloat-32, which is only compared
/// with where it is asked for.
static bool isForCusparseLt(const BenchCase &bench,
                            const BenchOptions &options) {
  return options.sparseBlas != "none" && fitsSparseOperand(bench.pattern) &&
         (bench.type != ElementType::F32 || !options.sparseBlas.empty());
}

Status GpuBench::prepareSparse(const BenchCase &bench, Operands &operands) {
  if (!isForCusparseLt(bench, options))
    return Status::success();
  if (!sparse) {
    sparse.emplace(CusparseLt::load(options.sparseBlas, device));
    // Where it was asked for, it has to be there.
    if (!*sparse && !options.sparseBlas.empty())
      return sparse->error();
  }
  if (!*sparse)
    return Status::success();
  const DeviceCopies *dense = nullptr;
  if (Status status = store(dense, data.denseWeights(bench,
                                                     /*isTransposed=*/true, 1));
      !status)
    return status;
  const Tensor &a = operands.a->tensor.tensor();
  Result<CusparseLt::Product> product =
      (*sparse)->prepare(bench, (*dense)[0], a);
  // It lacks types and sizes: m, n and k that are not multiples of eight.
  if (!product)
    return Status::success();
  operands.sparse.emplace(std::move(*product));
  const Tensor &c = operands.sparse->result();
  if (Status status = fillBytes(c, 0xff); !status)
    return status;
  if (Status status = operands.sparse->multiply(0, a); !status)
    return status;
  return store(operands.sparseError, errorOf(c, operands));
}

Status GpuBench::prepareCsr(const BenchCase &bench, Operands &operands) {
  if (options.csrBlas.empty() || !Cusparse::hasProduct(bench))
    return Status::success();
  if (!csr) {
    Result<Cusparse> loaded = Cusparse::load(options.csrBlas, device);
    if (!loaded)
      return loaded.error();
    csr.emplace(std::move(*loaded));
  }
  Result<Cusparse::Product> product =
      csr->prepare(bench, *operands.b, operands.a->tensor.tensor());
  // It lacks some types, and blocks in some versions.
  if (!product)
    return Status::success();
  if (Status status = fillBytes(product->result(), 0xff); !status)
    return status;
  if (Status status = product->multiply(0); !status)
    return Status::success();
  operands.csr.emplace(std::move(*product));
  return store(operands.csrError, errorOf(operands.csr->result(), operands));
}

Status GpuBench::prepareReduced(const BenchCase &bench, Operands &operands) {
  if (!blas || bench.type != ElementType::F32)
    return Status::success();
  for (ReducedType type : options.reducedTypes) {
    GpuData &operandsOfType = type == ReducedType::F16 ? halfData : data;
    Result<std::optional<ReducedDense>> dense = ReducedDense::prepare(
        *blas, operandsOfType, bench, type, options.seconds / 4);
    if (!dense)
      return dense.error();
    if (*dense)
      operands.reduced.push_back(std::move(**dense));
  }
  return Status::success();
}

Status GpuBench::dropSlowAlgorithms(const BenchCase &bench,
                                    Operands &operands) {
  std::vector<Cublas::Routine> &left = fastest[denseProduct(bench)];
  if (!left.empty())
    return Status::success();
  // For a choice: what is chosen is timed again beside ours.
  const double seconds = options.seconds / 4;
  constexpr size_t kMinRuns = 3;
  std::vector<DenseSide> kept, algorithms[2];
  for (const DenseSide &side : operands.dense)
    (side.routine.algorithm ? algorithms[side.routine.isTransposed] : kept)
        .push_back(side);
  for (const std::vector<DenseSide> &sides : algorithms) {
    std::vector<CudaWork> works;
    for (const DenseSide &side : sides)
      works.push_back(denseWork(bench, operands, side));
    if (works.empty())
      continue;
    Result<size_t> fastest =
        findFastestOnCuda(device, works, seconds, kMinRuns);
    if (!fastest)
      return fastest.error();
    kept.push_back(sides[*fastest]);
  }
  operands.dense = std::move(kept);
  for (const DenseSide &side : operands.dense)
    left.push_back(side.routine);
  return Status::success();
}

Status GpuBench::checkDense(const BenchCase &bench, Operands &operands) {
  for (DenseSide &side : operands.dense) {
    if (Status status = fillBytes(operands.denseC.tensor(), 0xff); !status)
      return status;
    if (Status status = multiplyDense(bench, operands, side, 0); !status)
      return status;
    if (Status status = store(side.relativeError,
                              errorOf(operands.denseC.tensor(), operands));
        !status)
      return status;
  }
  return Status::success();
}

Result<double> GpuBench::errorOf(const Tensor &c, const Operands &operands) {
  Result<std::vector<double>> got = data.rowSum(c);
  if (!got)
    return got.error();
  return relativeDifference(*got, operands.rowSum);
}

Status GpuBench::multiplyDense(const BenchCase &bench, const Operands &operands,
                               const DenseSide &side, int64_t copy) const {
  return blas->multiply(side.routine, bench.shape, operands.a->tensor.tensor(),
                        (*side.b)[copy], operands.denseC.tensor());
}

CudaWork GpuBench::denseWork(const BenchCase &bench, const Operands &operands,
                             const DenseSide &side) const {
  auto call = [this, &bench, &operands, &side](int64_t i) {
    return multiplyDense(bench, operands, side, i);
  };
  return {call, side.copies};
}

Status GpuBench::packWeights(const BenchCase &bench,
                             const CompiledCase &compiled, Operands &operands) {
  // The function has constant ones.
  if (bench.isConstant) {
    operands.weights.emplace_back();
    return Status::success();
  }
  Result<std::vector<Weight>> packed =
      compiled.function.pack({operands.b->stored()});
  if (!packed)
    return packed.error();
  const Weight &weight = packed->front();
  Result<int64_t> copies = countCopies(bench, device, weight.bytes());
  if (!copies)
    return copies.error();
  if (Status status =
          store(operands.values,
                DeviceCopies::create(device, weight.values, *copies));
      !status)
    return status;
  if (Status status =
          store(operands.indices,
                DeviceCopies::create(device, weight.indices, *copies));
      !status)
    return status;
  if (weight.lists)
    if (Status status =
            store(operands.lists,
                  DeviceCopies::create(device, *weight.lists, *copies));
        !status)
      return status;
  for (int64_t i = 0; i < *copies; ++i) {
    operands.weights.push_back(
        {operands.values[i], operands.indices[i], nullptr, nullptr});
    if (weight.lists)
      operands.weights.back().lists = operands.lists[i];
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Status GpuBench::timeCase(const BenchCase &bench, const CompiledCase &compiled,
                          const Operands &operands, CaseResult &result) {
  const CudaBuffer &a =
      bench.isMMajor ? operands.a->transposed : operands.a->tensor;
  std::vector<CudaWork> works(1);
  works[0].copies = operands.copies();
  works[0].call = [&](int64_t i) {
    std::vector<Argument> arguments{Argument(a.tensor())};
    if (!bench.isConstant)
      arguments.emplace_back(operands.weights[i]);
    if (bench.quantization)
      arguments.emplace_back(operands.b->scales.tensor());
    if (bench.epilogue.hasBias)
      arguments.emplace_back(operands.epilogue.bias.tensor());
    if (bench.epilogue.hasResidual)
      arguments.emplace_back(operands.epilogue.residual.tensor());
    return compiled.function.call(arguments, {operands.c.tensor()});
  };
  for (const DenseSide &side : operands.dense)
    works.push_back(denseWork(bench, operands, side));
  if (const std::optional<CusparseLt::Product> &product = operands.sparse)
    works.push_back({[&](int64_t i) {
                       return product->multiply(i, operands.a->tensor.tensor());
                     },
                     product->copies()});
  if (const std::optional<Cusparse::Product> &product = operands.csr)
    works.push_back(
        {[&](int64_t i) { return product->multiply(i); }, product->copies()});

  for (const ReducedDense &dense : operands.reduced)
    works.push_back(dense.work());

  // Enough for a median and the two percentiles.
  constexpr size_t kMinRuns = 7;
  Result<std::vector<CudaTimes>> times =
      timeInTurnsOnCuda(device, works, options.seconds, kMinRuns);
  if (!times)
    return times.error();
  result.timings = Timings::of(times->front().seconds);
  result.weightCopies = times->front().weightCopies;
  for (size_t i = 0; i < operands.dense.size(); ++i) {
    Timings timings = Timings::of((*times)[i + 1].seconds);
    if (!result.dense || timings.median < result.dense->timings.median)
      result.dense = LibraryResult{timings, operands.dense[i].relativeError,
                                   operands.dense[i].routine.name()};
  }
  forgetSlowRoutines(bench, operands, *times);
  size_t next = operands.dense.size() + 1;
  if (operands.sparse)
    result.sparse = LibraryResult{
        Timings::of((*times)[next++].seconds), operands.sparseError,
        (*sparse)->description() + " algorithm " +
            std::to_string(operands.sparse->algorithm())};
  if (operands.csr)
    result.csr = LibraryResult{Timings::of((*times)[next++].seconds),
                               operands.csrError, csr->describe(*operands.csr)};
  for (const ReducedDense &dense : operands.reduced)
    (dense.type() == ReducedType::TF32 ? result.denseTF32 : result.denseF16) =
        dense.result((*times)[next++].seconds);
  return Status::success();
}

void GpuBench::forgetSlowRoutines(const BenchCase &bench,
                                  const Operands &operands,
                                  const std::vector<CudaTimes> &times) {
  // More than what runs of one routine differ by.
  constexpr double kClearlySlower = 1.1;
  auto median = [&](size_t i) { return times[i + 1].median(); };
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < operands.dense.size(); ++i)
    best = std::min(best, median(i));
  std::vector<Cublas::Routine> left;
  for (size_t i = 0; i < operands.dense.size(); ++i)
    if (median(i) <= kClearlySlower * best)
      left.push_back(operands.dense[i].routine);
  if (!left.empty())
    fastest[denseProduct(bench)] = std::move(left);
}

/// Tensor cores cut off sums of f8 as they make them: cuBLAS' are 7e-5 off on
/// an H200, and cuSPARSELt's, which has fast accumulation, 8e-4 for k = 4096
/// and 1.5e-3 for 11008.
static double toleranceOf(const BenchCase &bench) {
  constexpr double kOfF8 = 3e-4, kOfFastAccum = 2e-3;
  double tolerance = defaultTolerance(bench.resultType());
  if (!isFloat8(bench.type))
    return tolerance;
  return std::max(tolerance, bench.hasFastAccum ? kOfFastAccum : kOfF8);
}

/// Says which unit multiplied, and lets the ceilings be those of that unit.
void GpuBench::describeRun(const BenchCase &bench, const CompiledCase &compiled,
                           CaseResult &result) const {
  bool onCudaCores = false;
  if (const OpInfo *op = compiled.product()) {
    result.ran = whatRan(bench, *op, /*onCpu=*/false);
    // cuBLAS multiplies f32 there, too.
    onCudaCores =
        result.ran->unit == Unit::CudaCores ||
        (result.ran->unit == Unit::Library && bench.type == ElementType::F32);
  }
  if (!onCudaCores)
    result.ceilings.flops *= tensorCoreFactor(major, minor, bench.type);
}

Result<CaseResult> GpuBench::measure(const BenchCase &bench,
                                     CompiledCase &compiled) {
  if (Status status = compiled.function.setDevice(device); !status)
    return status.error();
  CaseResult result;
  result.bench = bench;
  result.device = deviceName;
  result.ceilings = ceilings;
  describeRun(bench, compiled, result);
  result.bytes = bench.leastBytes();
  if (blas)
    result.whyNoDense = Cublas::whyNot(bench);
  result.tolerance =
      options.tolerance ? *options.tolerance : toleranceOf(bench);
  Operands operands;
  if (Status status = drawOperands(bench, operands); !status)
    return status.error();
  if (!options.tolerance)
    result.tolerance *= measureCancellation(operands.rowSum, bench.flops() / 2);
  if (Status status = packWeights(bench, compiled, operands); !status)
    return status.error();
  if (Status status = prepareBlas(bench, operands); !status)
    return status.error();
  if (Status status = prepareSparse(bench, operands); !status)
    return status.error();
  if (Status status = prepareCsr(bench, operands); !status)
    return status.error();
  if (Status status = prepareReduced(bench, operands); !status)
    return status.error();
  if (Status status = timeCase(bench, compiled, operands, result); !status)
    return status.error();
  Result<std::vector<double>> got = data.checkable(bench, operands.c.tensor());
  if (!got)
    return got.error();
  result.relativeError = relativeDifference(*got, operands.expected);
  return result;
}
