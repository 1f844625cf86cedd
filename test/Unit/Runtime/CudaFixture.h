//===- CudaFixture.h - Tensors on the fake device ---------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_RUNTIME_CUDAFIXTURE_H
#define NM_TEST_UNIT_RUNTIME_CUDAFIXTURE_H

#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include "FakeCudaControl.h"

#include <numeric>
#include <string>
#include <vector>

/// The fake device, and tensors that live as long as the test.
class CudaFixture : public ::testing::Test {
protected:
  /// `shape` on the device, holding 1, 2, 3, ...
  nm::Tensor numbers(const nm::Shape &shape) {
    auto host = nm::Buffer::allocate(nm::ElementType::F32, shape);
    auto *data = static_cast<float *>(host->tensor().data);
    std::iota(data, data + host->tensor().elements(), 1.0f);
    nm::Tensor tensor = zeros(shape);
    nm::Status copied = nm::copyAcross(host->tensor(), tensor);
    EXPECT_TRUE(copied) << copied.error().message;
    return tensor;
  }
  nm::Tensor zeros(const nm::Shape &shape,
                   nm::ElementType type = nm::ElementType::F32) {
    auto buffer = nm::CudaBuffer::allocate(nm::Device::cuda(0), type, shape);
    EXPECT_TRUE(buffer) << buffer.error().message;
    buffers.push_back(std::move(*buffer));
    EXPECT_TRUE(nm::fillBytes(buffers.back().tensor(), 0));
    return buffers.back().tensor();
  }
  std::vector<float> read(const nm::Tensor &tensor) {
    nm::Result<nm::Buffer> host = nm::copyToHost(tensor);
    EXPECT_TRUE(host) << host.error().message;
    auto *data = static_cast<const float *>(host->tensor().data);
    return std::vector<float>(data, data + tensor.elements());
  }

  FakeCuda cuda;
  std::vector<nm::CudaBuffer> buffers;
};

/// What a call says, or "".
inline std::string callError(const nm::Function &function,
                             const std::vector<nm::Argument> &args,
                             const std::vector<nm::Tensor> &results) {
  nm::Status status = function.call(args, results);
  return status ? "" : status.error().message;
}

#endif // NM_TEST_UNIT_RUNTIME_CUDAFIXTURE_H
