//===- RunChain.cpp - Kernels that overlap and depend on each other -------===//
//
// usage: NMGpuRunChain OVERLAPPED.so PLAIN.so
//
// Both are compiled from one module, whose functions take activations and
// weights and give activations of the same shape; the kernels of the first
// start while the ones before them end. Each function is called on its own
// result, over and over: that of the second module one call at a time, that of
// the first all at once, on a stream and in a graph. The results must have the
// same bits. Needs the runtime alone.
//
//===----------------------------------------------------------------------===//

#include "../../RuntimeCalls.h"
#include "nm/Format/Prune.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/Store.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace nm;

/// An even number: the last result is in the first array.
static constexpr int kCalls = 64;
static constexpr int kReplays = 20;

namespace {
/// What one of the two functions is called on.
struct Operands {
  std::vector<Weight> weights;
  CudaBuffer start, first, second;
  /// The second array; its rows may lie apart, so that the runtime copies them.
  Tensor other;
};

/// One function of both modules.
class Chain {
public:
  Chain(Function overlapped, Function plain, const CudaStream &stream)
      : overlapped(std::move(overlapped)), plain(std::move(plain)),
        stream(stream) {}

  /// Compares what they give, with rows that lie apart or do not.
  Status check(bool apart);

private:
  void drawDense(const TensorType &type, const Buffer &dense);
  Status prepare(const Function &function, bool apart, Operands &operands);
  Status queue(const Function &function, const Operands &operands, bool waits);
  Status compare(const Operands &operands, const Buffer &expected,
                 const std::string &how);

  Function overlapped, plain;
  const CudaStream &stream;
  std::mt19937 engine;
};
} // namespace

/// Numbers whose products with a weight's columns are about 2 in size: small
/// enough for tanh to tell apart, large enough that no difference dies out.
void Chain::drawDense(const TensorType &type, const Buffer &dense) {
  const Tensor &tensor = dense.tensor();
  double limit = 1;
  if (type.encoding)
    limit = 2 * std::sqrt(3.0 * type.encoding->pattern.m /
                          (type.encoding->pattern.n * type.shape[0]));
  std::uniform_real_distribution<double> draw(-limit, limit);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    storeFromDouble(tensor.data, tensor.type, i, draw(engine));
  if (type.encoding)
    prune(DenseView::rowMajor(tensor.data, tensor.type, type.shape[0],
                              type.shape[1]),
          type.encoding->pattern, tensor.data);
}

Status Chain::prepare(const Function &function, bool apart,
                      Operands &operands) {
  // The same numbers for both.
  engine.seed(1);
  std::vector<Weight> condensed;
  for (const TensorType &type : function.args()) {
    Result<Buffer> dense = Buffer::allocate(type.element, type.shape);
    if (!dense)
      return dense.error();
    drawDense(type, *dense);
    if (type.encoding) {
      Result<Weight> weight = compressWeight(type, dense->tensor(), "w");
      if (!weight)
        return weight.error();
      condensed.push_back(std::move(*weight));
      continue;
    }
    Shape wide = type.shape;
    wide.back() *= apart ? 2 : 1;
    for (CudaBuffer *buffer :
         {&operands.start, &operands.first, &operands.second})
      if (Status status = store(
              *buffer, CudaBuffer::allocate(
                           function.device(), type.element,
                           buffer == &operands.second ? wide : type.shape));
          !status)
        return status;
    operands.other = operands.second.tensor();
    operands.other.shape = type.shape;
    if (Status status = copyAcross(dense->tensor(), operands.start.tensor());
        !status)
      return status;
  }
  return store(operands.weights, function.pack(std::move(condensed)));
}

/// Queues all calls on the current stream.
Status Chain::queue(const Function &function, const Operands &operands,
                    bool waits) {
  const Tensor &first = operands.first.tensor();
  mgpuMemcpy(first.data, operands.start.tensor().data, first.bytes(),
             currentStream());
  for (int i = 0; i < kCalls; ++i) {
    bool fromFirst = i % 2 == 0;
    const Tensor &to = fromFirst ? operands.other : first;
    std::vector<Argument> args = {fromFirst ? first : operands.other};
    args.insert(args.end(), operands.weights.begin(), operands.weights.end());
    // Now and then something that is no kernel stands between two.
    if (i % 5 == 1 && to.isRowMajor())
      mgpuMemset32(to.data, ~0u, to.bytes() / 4, currentStream());
    if (Status status = function.call(args, {to}); !status)
      return status;
    if (waits)
      if (Status status = stream.synchronize(); !status)
        return status;
  }
  return Status::success();
}

Status Chain::compare(const Operands &operands, const Buffer &expected,
                      const std::string &how) {
  if (Status status = stream.synchronize(); !status)
    return status;
  Result<Buffer> got = copyToHost(operands.first.tensor());
  if (!got)
    return got.error();
  const Tensor &a = got->tensor(), &b = expected.tensor();
  int64_t different = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    double value = loadAsDouble(a.data, a.type, i);
    different +=
        !std::isfinite(value) || value != loadAsDouble(b.data, b.type, i);
  }
  if (different == 0)
    return Status::success();
  return Error{how + ": expected the bits of calls one at a time, but " +
               std::to_string(different) + " of " +
               std::to_string(a.elements()) + " elements differ"};
}

Status Chain::check(bool apart) {
  CurrentStreamScope current(stream.handle());
  Operands operands, reference;
  if (Status status = prepare(plain, apart, reference); !status)
    return status;
  if (Status status = prepare(overlapped, apart, operands); !status)
    return status;
  if (Status status = queue(plain, reference, /*waits=*/true); !status)
    return status;
  Result<Buffer> expected = copyToHost(reference.first.tensor());
  if (!expected)
    return expected.error();
  for (int i = 0; i < kReplays; ++i) {
    if (Status status = queue(overlapped, operands, /*waits=*/false); !status)
      return status;
    if (Status status = compare(operands, *expected, "on a stream"); !status)
      return status;
  }
  Result<CudaGraph> graph = CudaGraph::capture(
      stream, [&] { return queue(overlapped, operands, /*waits=*/false); });
  if (!graph)
    return graph.error();
  for (int i = 0; i < kReplays; ++i) {
    if (Status status = graph->launch(stream); !status)
      return status;
    if (Status status = compare(operands, *expected, "in a graph"); !status)
      return status;
  }
  return Status::success();
}

/// Checks every function; returns how many fail.
static Result<int> run(const char *overlappedPath, const char *plainPath) {
  if (Result<int> devices = countCudaDevices(); !devices)
    return devices.error();
  Result<Module> overlapped = Module::load(overlappedPath);
  if (!overlapped)
    return overlapped.error();
  Result<Module> plain = Module::load(plainPath);
  if (!plain)
    return plain.error();
  Result<CudaStream> stream = CudaStream::create(Device::cuda(0));
  if (!stream)
    return stream.error();
  int failures = 0;
  for (const FunctionInfo &info : plain->manifest().functions) {
    Result<Function> one = overlapped->function(info.name);
    Result<Function> two = plain->function(info.name);
    if (!one || !two)
      return one ? two.error() : one.error();
    Chain chain(std::move(*one), std::move(*two), *stream);
    for (bool apart : {false, true}) {
      Status status = chain.check(apart);
      std::printf("%s%s: %s\n", info.name.c_str(), apart ? ", rows apart" : "",
                  status ? "the same bits" : status.error().message.c_str());
      failures += !status;
    }
  }
  return failures;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s OVERLAPPED.so PLAIN.so\n", argv[0]);
    return 2;
  }
  Result<int> failures = run(argv[1], argv[2]);
  if (!failures)
    std::printf("%s\n", failures.error().message.c_str());
  return !failures || *failures != 0;
}
