//===- generate.cpp - Tokens of an exported decoder, without PyTorch ------===//
//
// usage: generate MODEL.so COUNT TOKEN...
//
// Prints the COUNT most probable tokens that follow the prompt. MODEL.so is
// what nm.torch.export_decoder(...).compile wrote for the CPU. Needs
// libnm_runtime alone:
//
//   c++ -std=c++17 generate.cpp -Iinclude -Lbuild/lib -lnm_runtime -o generate
//
//===----------------------------------------------------------------------===//

#include "nm-c/Runtime.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {
/// A tensor with memory of its own, zeros at first.
struct Array {
  Array(NmElementType type, std::vector<int64_t> sizes)
      : shape(std::move(sizes)) {
    int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                       std::multiplies<int64_t>());
    // No element has more than 8 bytes.
    bytes.resize(size_t(elements));
    tensor = {bytes.data(), type, int32_t(shape.size()), shape.data(), nullptr,
              NM_CPU,       0};
  }
  // The descriptor has the memory's address, which stays where it is.
  Array(Array &&) = default;

  std::vector<int64_t> shape;
  std::vector<int64_t> bytes;
  NmTensor tensor;
};
} // namespace

static void check(char *message) {
  if (!message)
    return;
  std::fprintf(stderr, "%s\n", message);
  nmMessageFree(message);
  std::exit(1);
}

static NmFunction *findFunction(const NmModule *module, const char *name) {
  NmFunction *function = nullptr;
  check(nmFunctionCreate(module, name, &function));
  return function;
}

/// The arguments behind the tokens and their positions.
static std::vector<Array> makeCache(const NmFunction *function) {
  std::vector<Array> cache;
  for (int64_t i = 2; i < nmFunctionGetNumArgs(function); ++i) {
    NmArgument info;
    check(nmFunctionGetArgument(function, i, &info));
    cache.emplace_back(
        info.type, std::vector<int64_t>(info.shape, info.shape + info.rank));
  }
  return cache;
}

/// Runs one step on `tokens`, the first of which stands at `begin`, and returns
/// the token that follows.
static int64_t run(NmFunction *function, std::vector<Array> &cache,
                   const std::vector<int64_t> &tokens, int64_t begin) {
  int64_t count = int64_t(tokens.size());
  Array given(NM_I64, {1, count}), positions(NM_I64, {count});
  std::copy(tokens.begin(), tokens.end(), given.bytes.begin());
  std::iota(positions.bytes.begin(), positions.bytes.end(), begin);
  std::vector<NmTensor> args = {given.tensor, positions.tensor};
  for (Array &part : cache)
    args.push_back(part.tensor);
  int64_t numArgs = int64_t(args.size());
  std::vector<int64_t> shape(2);
  check(nmFunctionGetResultShape(function, args.data(), numArgs, 1,
                                 shape.data()));
  NmArgument cached;
  check(nmFunctionGetArgument(function, 2, &cached));
  Array next(NM_I64, {1}), logits(cached.type, shape);
  NmTensor results[] = {next.tensor, logits.tensor};
  check(nmFunctionCall(function, args.data(), numArgs, results, 2));
  return next.bytes[0];
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL.so COUNT TOKEN...\n", argv[0]);
    return 2;
  }
  NmModule *module = nullptr;
  check(nmModuleLoad(argv[1], &module));
  NmFunction *prefill = findFunction(module, "prefill"),
             *decode = findFunction(module, "decode");
  std::vector<Array> cache = makeCache(decode);
  std::vector<int64_t> tokens;
  for (int i = 3; i < argc; ++i)
    tokens.push_back(std::atoll(argv[i]));
  int64_t begin = 0;
  for (long left = std::atol(argv[2]); left > 0; --left) {
    int64_t next =
        run(tokens.size() == 1 ? decode : prefill, cache, tokens, begin);
    begin += int64_t(tokens.size());
    tokens = {next};
    std::printf("%lld\n", static_cast<long long>(next));
  }
  nmFunctionFree(prefill);
  nmFunctionFree(decode);
  nmModuleFree(module);
  return 0;
}
