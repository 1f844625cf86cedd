//===- Results.cpp - Memory for the results of a run ----------------------===//

#include "Results.h"

#include <cstring>
#include <utility>

using namespace nm;

static uint8_t poisonOf(ElementType type) {
  return isFloat(type) ? 0xff : 0x7f;
}

Result<Results> Results::allocate(const Function &function,
                                  const std::vector<Argument> &args) {
  Result<std::vector<Shape>> shapes = function.resultShapes(args);
  if (!shapes)
    return shapes.error();
  Results results;
  auto add = [&](ElementType type, const Shape &shape) -> Status {
    if (function.device().isCpu()) {
      Result<Buffer> buffer = Buffer::allocate(type, shape);
      if (!buffer)
        return buffer.error();
      std::memset(buffer->tensor().data, poisonOf(type),
                  buffer->tensor().bytes());
      results.views.push_back(buffer->tensor());
      results.buffers.push_back(std::move(*buffer));
      return Status::success();
    }
    Result<CudaBuffer> buffer =
        CudaBuffer::allocate(function.device(), type, shape);
    if (!buffer)
      return buffer.error();
    results.views.push_back(buffer->tensor());
    results.cudaBuffers.push_back(std::move(*buffer));
    return fillBytes(results.views.back(), poisonOf(type));
  };
  for (size_t i = 0; i < shapes->size(); ++i)
    if (Status status = add(function.results()[i].element, (*shapes)[i]);
        !status)
      return Error{"result " + std::to_string(i) + " of @" + function.name() +
                   ": " + status.error().message};
  return results;
}

Result<std::vector<Tensor>> Results::onHost() {
  if (cudaBuffers.empty())
    return views;
  std::vector<Tensor> tensors;
  buffers.clear();
  for (const Tensor &view : views) {
    Result<Buffer> copy = copyToHost(view);
    if (!copy)
      return copy.error();
    tensors.push_back(copy->tensor());
    buffers.push_back(std::move(*copy));
  }
  return tensors;
}
