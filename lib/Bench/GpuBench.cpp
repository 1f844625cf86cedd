//===- GpuBench.cpp - Measuring cases on a GPU ----------------------------===//

#include "GpuBench.h"

#include "Check.h"
#include "CudaTurns.h"
#include "RandomData.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Support/Store.h"

#include <cstdio>

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
  bench.ceilings = *ceilings;
  if (options.blas == "none")
    return bench;
  Result<Cublas> blas = Cublas::load(options.blas, device);
  if (!blas)
    return blas.error();
  bench.blas.emplace(std::move(*blas));
  return bench;
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

/// What the calls of one case take.
struct GpuBench::Operands {
  const GpuData::Activations *a = nullptr;
  const GpuData::Weights *b = nullptr;
  DeviceCopies values, indices;
  /// Into `values` and `indices`.
  std::vector<Weight> weights;
  CudaBuffer c, denseC;
  /// Of the dense weights; there may be more.
  int64_t denseCopies = 1;

  int64_t copies() const { return int64_t(weights.size()); }
};

/// An array for C that holds NaNs: what is not written then shows.
static Result<CudaBuffer> poisoned(const BenchCase &bench, Device device) {
  Shape shape{bench.shape.n};
  if (bench.shape.m != 1)
    shape.insert(shape.begin(), bench.shape.m);
  Result<CudaBuffer> c =
      CudaBuffer::allocate(device, bench.resultType(), shape);
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

static int64_t denseBytes(const BenchCase &bench) {
  return bench.shape.k * bench.shape.n * elementSize(bench.type);
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
  if (!blas)
    return store(operands.b, data.weights(bench));
  Result<int64_t> copies = countCopies(bench, device, denseBytes(bench));
  if (!copies)
    return copies.error();
  operands.denseCopies = *copies;
  return store(operands.b, data.denseWeights(bench, *copies));
}

Status GpuBench::packWeights(const BenchCase &bench,
                             const CompiledCase &compiled, Operands &operands) {
  Result<std::vector<Weight>> packed =
      compiled.function.pack({operands.b->condensed});
  if (!packed)
    return packed.error();
  const Weight &weight = packed->front();
  Result<int64_t> copies = countCopies(
      bench, device, weight.values.bytes() + weight.indices.bytes());
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
  for (int64_t i = 0; i < *copies; ++i)
    operands.weights.push_back(
        {operands.values[i], operands.indices[i], nullptr, nullptr});
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Status GpuBench::timeCase(const BenchCase &bench, const CompiledCase &compiled,
                          const Operands &operands, CaseResult &result) {
  std::vector<CudaWork> works(1);
  works[0].copies = operands.copies();
  works[0].call = [&](int64_t i) {
    return compiled.function.call(
        {Argument(operands.a->tensor.tensor()), Argument(operands.weights[i])},
        {operands.c.tensor()});
  };
  std::vector<Cublas::Routine> routines;
  if (blas)
    routines = blas->routines(bench.shape, bench.type);
  for (Cublas::Routine routine : routines)
    works.push_back({[&, routine](int64_t i) {
                       return blas->multiply(
                           routine, bench.shape, operands.a->tensor.tensor(),
                           operands.b->dense[i], operands.denseC.tensor());
                     },
                     operands.denseCopies});

  // Enough for a median and the two percentiles.
  constexpr size_t kMinRuns = 7;
  Result<std::vector<CudaTimes>> times =
      timeInTurnsOnCuda(device, works, options.seconds, kMinRuns);
  if (!times)
    return times.error();
  result.timings = Timings::of(times->front().seconds);
  result.weightCopies = times->front().weightCopies;
  for (size_t i = 0; i < routines.size(); ++i) {
    Timings timings = Timings::of((*times)[i + 1].seconds);
    if (!result.dense || timings.median < result.dense->timings.median)
      result.dense = DenseResult{timings, 0, Cublas::name(routines[i])};
  }
  return Status::success();
}

Status GpuBench::checkCase(const Operands &operands, CaseResult &result) {
  std::vector<double> expected =
      multiplyRow(operands.a->rowSum, operands.b->type, operands.b->condensed);
  Result<std::vector<double>> got = data.rowSum(operands.c.tensor());
  if (!got)
    return got.error();
  result.relativeError = relativeDifference(*got, expected);
  if (!result.dense)
    return Status::success();
  got = data.rowSum(operands.denseC.tensor());
  if (!got)
    return got.error();
  result.dense->relativeError = relativeDifference(*got, expected);
  return Status::success();
}

Result<CaseResult> GpuBench::measure(const BenchCase &bench,
                                     CompiledCase &compiled) {
  if (Status status = compiled.function.setDevice(device); !status)
    return status.error();
  CaseResult result;
  result.bench = bench;
  result.device = deviceName;
  result.ceilings = ceilings;
  result.bytes = bench.leastBytes();
  result.tolerance = options.tolerance ? *options.tolerance
                                       : defaultTolerance(bench.resultType());
  Operands operands;
  if (Status status = drawOperands(bench, operands); !status)
    return status.error();
  if (Status status = packWeights(bench, compiled, operands); !status)
    return status.error();
  if (Status status = timeCase(bench, compiled, operands, result); !status)
    return status.error();
  if (Status status = checkCase(operands, result); !status)
    return status.error();
  return result;
}
