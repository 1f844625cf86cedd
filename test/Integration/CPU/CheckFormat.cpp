//===- CheckFormat.cpp - Format ops against lib/Format --------------------===//

#include "FormatCase.h"

#include "nm/Format/Prune.h"

#include <limits>

using namespace nm;
using namespace nm::test;

using Buffers = std::vector<std::vector<char>>;

static size_t byteSize(const FormatOperand &operand) {
  size_t bytes = elementSize(operand.type);
  for (int64_t size : operand.sizes)
    bytes *= size;
  return bytes;
}

static Buffers emptyBuffers(const std::vector<FormatOperand> &operands) {
  Buffers buffers;
  for (const FormatOperand &operand : operands)
    buffers.emplace_back(byteSize(operand));
  return buffers;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Any matrix; in every other case of few distinct values, so that units of one
/// window are equal, and with a NaN here and there.
static std::vector<char> drawDense(const FormatCase &format, Random &random) {
  std::vector<char> bytes(format.k * format.n * elementSize(format.type));
  bool ties = random.chance(0.5);
  for (int64_t i = 0; i < format.k * format.n; ++i) {
    double element =
        ties ? double(random.integer(-2, 2)) : random.element(format.type);
    if (isFloat(format.type) && random.chance(0.01))
      element = std::numeric_limits<double>::quiet_NaN();
    storeFromDouble(bytes.data(), format.type, i, element);
  }
  return bytes;
}

/// A matrix that obeys the pattern, with -0.0 among its zeros.
static std::vector<char> drawPruned(const FormatCase &format, Random &random) {
  std::vector<char> bytes = drawDense(format, random);
  prune(format.denseView(bytes.data()), format.pattern, bytes.data());
  for (int64_t i = 0; i < format.k * format.n; ++i)
    if (loadAsDouble(bytes.data(), format.type, i) == 0 && random.chance(0.1))
      storeFromDouble(bytes.data(), format.type, i, -0.0);
  return bytes;
}

static Buffers drawCondensed(const FormatCase &format, Random &random) {
  Buffers buffers = emptyBuffers(format.inputs);
  int64_t elements = buffers[0].size() / elementSize(format.type);
  for (int64_t i = 0; i < elements; ++i)
    storeFromDouble(buffers[0].data(), format.type, i,
                    random.element(format.type));
  std::vector<uint8_t> indices =
      random.indices(format.pattern, format.k, format.n);
  buffers[1].assign(indices.begin(), indices.end());
  return buffers;
}

static Buffers drawInputs(const FormatCase &format, Random &random) {
  switch (format.op) {
  case FormatOp::Compress:
    return {drawPruned(format, random)};
  case FormatOp::Prune:
    return {drawDense(format, random)};
  default:
    return drawCondensed(format, random);
  }
}

//===----------------------------------------------------------------------===//
// Expected outputs
//===----------------------------------------------------------------------===//

static uint8_t *asIndices(std::vector<char> &bytes) {
  return reinterpret_cast<uint8_t *>(bytes.data());
}

static Buffers expectedOutputs(const FormatCase &format, Buffers &inputs) {
  Buffers outputs = emptyBuffers(format.outputs);
  CondensedView condensed;
  if (inputs.size() == 2)
    condensed = {inputs[0].data(), asIndices(inputs[1]),
                 format.type,      format.pattern,
                 format.k,         format.n};
  switch (format.op) {
  case FormatOp::Compress:
    if (!compress(format.denseView(inputs[0].data()), format.pattern, "dense",
                  outputs[0].data(), asIndices(outputs[1])))
      return {};
    break;
  case FormatOp::Decompress:
    decompress(condensed, outputs[0].data(), format.denseStrideK(),
               format.denseStrideN());
    break;
  case FormatOp::Prune:
    prune(format.denseView(inputs[0].data()), format.pattern,
          outputs[0].data());
    break;
  case FormatOp::Pack:
    packValues(condensed, format.packing, outputs[0].data());
    packIndices(condensed, format.packing, asIndices(outputs[1]),
                format.packing.hasLists() ? asIndices(outputs[2]) : nullptr);
    break;
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

static std::vector<GuardedArray>
makeArrays(const std::vector<FormatOperand> &operands, const Buffers &buffers) {
  std::vector<GuardedArray> arrays;
  for (size_t i = 0; i < operands.size(); ++i) {
    arrays.push_back(
        operands[i].layout.makeArray(operands[i].type, operands[i].sizes));
    arrays.back().setBytes(buffers[i]);
  }
  return arrays;
}

std::string nm::test::checkFormat(
    const FormatCase &format, Random &random,
    const std::function<bool(const std::string &, const std::vector<void *> &)>
        &call) {
  Buffers inputs = drawInputs(format, random);
  Buffers expected = expectedOutputs(format, inputs);
  if (expected.empty())
    return "lib/Format refused the input";
  // Outputs start as the complement of what is expected: every byte is wrong.
  Buffers poison = expected;
  for (std::vector<char> &buffer : poison)
    for (char &byte : buffer)
      byte = ~byte;
  std::vector<GuardedArray> inputArrays = makeArrays(format.inputs, inputs);
  std::vector<GuardedArray> outputArrays = makeArrays(format.outputs, poison);

  std::vector<void *> descriptors;
  for (std::vector<GuardedArray> *arrays : {&inputArrays, &outputArrays})
    for (GuardedArray &array : *arrays)
      descriptors.push_back(array.descriptor());
  bool called = false;
  callGuarded(format.describe(),
              [&] { called = call(format.name(), descriptors); });
  if (!called)
    return "the function could not be called";

  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputArrays[i].bytes() != inputs[i])
      return "input " + std::to_string(i) + " was written";
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!outputArrays[i].surroundingsAreUntouched())
      return "memory around output " + std::to_string(i) + " was written";
    if (outputArrays[i].bytes() != expected[i])
      return "output " + std::to_string(i) + " differs from lib/Format's";
  }
  return {};
}
