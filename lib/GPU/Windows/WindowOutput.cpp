//===- WindowOutput.cpp - What becomes of a thread's windows --------------===//

#include "GPU/Windows/WindowOutput.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// How many turns `loop` has, which is one over places.
static Value getSize(ThreadEmitter &e, const WindowOp &window, unsigned loop) {
  if (!ShapedType::isDynamic(window.sizes[loop]))
    return e.index(window.sizes[loop]);
  const WindowOperand &output = window.output;
  for (auto [dim, factors] : llvm::zip_equal(output.dims, output.factors))
    if (factors[loop] != 0)
      return memref::DimOp::create(e.builder, e.loc, output.value, dim);
  llvm_unreachable("a loop over places is a dimension of the output");
}

Value mlir::nm::countNumbers(ThreadEmitter &e, const WindowOp &window,
                             unsigned loop, int64_t width) {
  Value total = e.index(1);
  for (unsigned place : window.places) {
    Value size = getSize(e, window, place);
    total = e.mul(total, place == loop ? e.div(size, width) : size);
  }
  return total;
}

SmallVector<Value> mlir::nm::placeNumber(ThreadEmitter &e,
                                         const WindowOp &window, Value number,
                                         unsigned loop, int64_t width) {
  SmallVector<Value> at(window.sizes.size());
  for (size_t i = window.places.size(); i-- > 0;) {
    unsigned place = window.places[i];
    Value index = number;
    if (i != 0) {
      Value count = getSize(e, window, place);
      if (place == loop)
        count = e.div(count, width);
      if (!number.getType().isIndex())
        count = e.toI32(count);
      index = e.builder.createOrFold<arith::RemUIOp>(e.loc, number, count);
      number = e.div(number, count);
    }
    at[place] = place == loop ? e.mul(index, width) : index;
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

WindowOutput::WindowOutput(const ThreadEmitter &emitter, const WindowOp &window,
                           const WindowShape &shape)
    : e(emitter), window(window), shape(shape),
      stored(emitter, window, window.getStored()) {
  if (!window.fill)
    before.emplace(emitter, window, window.output);
  if (window.epilogue)
    inputs.emplace(e, window, window.epilogue->inputs, window.epilogue->result);
}

bool WindowOutput::isSmall() const {
  return stored.isSmall() && (!before || before->isSmall()) &&
         (!inputs || inputs->isSmall());
}

void WindowOutput::begin(ArrayRef<Value> at) {
  stored.begin(at);
  if (before)
    before->begin(at);
  if (inputs)
    inputs->begin(at);
}

Value WindowOutput::widen(Value value) {
  int64_t width = getVectorWidth();
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      e.builder, e.loc, VectorType::get(width, value.getType()), value);
}

SmallVector<Value> WindowOutput::start() {
  if (!before)
    return SmallVector<Value>(countParts(), widen(window.fill->value));
  Value elements =
      before->load(before->getPlace({}, shape.loop, 0), shape.width);
  if (countParts() == 1)
    return {elements};
  return llvm::map_to_vector(llvm::seq(shape.width),
                             [&](int64_t i) { return e.extract(elements, i); });
}

/// What the op behind reads as its input `index` for part `part`.
Value WindowOutput::getOperand(size_t index, int64_t part) {
  const WindowOperand &operand = window.epilogue->inputs[index];
  WindowInput *input = inputs->get(index);
  if (!input)
    return operand.value;
  int64_t width = getVectorWidth();
  if (width == 1 || !operand.dependsOn(shape.loop))
    return input->load(input->getPlace({}, shape.loop, part), 1);
  if (loadsVector(window, operand, shape))
    return input->load(input->getPlace({}, shape.loop, 0), width);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(input->load(input->getPlace({}, shape.loop, i), 1));
  return vector::FromElementsOp::create(
      e.builder, e.loc, VectorType::get(width, elements.front().getType()),
      elements);
}

void WindowOutput::store(SmallVector<Value> parts) {
  if (window.epilogue)
    for (auto [number, part] : llvm::enumerate(parts)) {
      SmallVector<Value> arguments;
      for (auto [index, operand] : llvm::enumerate(window.epilogue->inputs))
        // What is not read may be anything.
        arguments.push_back(index == window.epilogue->result || !operand.isRead
                                ? part
                                : widen(getOperand(index, number)));
      arguments.push_back(part);
      part = inlineElementwise(e.builder, e.loc, window.epilogue->getBody(),
                               arguments);
    }
  Value elements = parts.front();
  if (parts.size() > 1)
    elements = vector::FromElementsOp::create(
        e.builder, e.loc, VectorType::get(shape.width, elements.getType()),
        parts);
  stored.store(elements, shape.width);
}
