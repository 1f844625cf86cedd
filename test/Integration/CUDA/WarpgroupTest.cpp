//===- WarpgroupTest.cpp - Simulated wgmma against a device's -------------===//
//
// A warpgroup executes one wgmma on drawn operands, on the device and in a
// simulated kernel. Memory is drawn as a whole, so that wherever a descriptor
// leads there is something.
//
//===----------------------------------------------------------------------===//

#include "../../RuntimeCalls.h"
#include "DrawElements.h"
#include "RunKernel.h"
#include "nm/Format/MatrixDescriptor.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Support/Warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace nm;
using namespace nm::sim;

namespace {
/// Shared memory, of which A has the first part; then what each thread has of
/// its own: registers of A, metadata and sums.
constexpr int kImage = 49152, kPartA = 16384, kOwnWords = 136, kOwnSums = 8;
constexpr int kMetadata = 4, kMaxSums = 128;
constexpr size_t kWords = kImage / 4 + kWarpgroupThreads * kOwnWords;
constexpr size_t kResults = size_t(kWarpgroupThreads) * kMaxSums;

struct Layout {
  bool isTransposed = false, isInRegisters = false;
  MatrixSwizzle swizzle = MatrixSwizzle::None;
  int base = 0;
};

struct Form {
  NmSimElement a, b;
  const char *aName, *bName;
  int n;
  Layout aLayout, bLayout;
  bool isSparse = false, saturates = false;
  uint32_t selector = 0;
  int scaleA = 1, scaleB = 1, addsSums = 1;

  MmaShape shape() const {
    return {256 / getBits(a) * (isSparse ? 2 : 1), getBits(a), isSparse};
  }
  bool isFloat() const { return !isInteger(a); }
};

class CudaTensorCoreWarpgroup : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    if (cudaDeviceInfo(0)->major != 9)
      GTEST_SKIP() << "expected a device of sm_90";
  }
  void compare(const Form &form);
  std::mt19937 random{11};
};
} // namespace

/// The smallest tiles that the swizzle allows, one after the other.
static MatrixDescriptor describe(const Layout &layout, int start, int extent,
                                 int k) {
  int line = getSwizzleBytes(layout.swizzle);
  bool isPlain = layout.swizzle == MatrixSwizzle::None;
  MatrixDescriptor descriptor{start + layout.base * 128, 0, 8 * line,
                              layout.base, layout.swizzle};
  if (layout.isTransposed)
    descriptor.leading = isPlain ? extent / 8 * 128 : (k + 7) / 8 * 8 * line;
  else if (isPlain)
    descriptor.leading = extent / 8 * 128;
  return descriptor;
}

static uint64_t describeA(const Form &form) {
  return describe(form.aLayout, 0, kWarpgroupM, form.shape().storedK())
      .encode();
}

static uint64_t describeB(const Form &form) {
  return describe(form.bLayout, kPartA, form.n, form.shape().k).encode();
}

//===----------------------------------------------------------------------===//
// On the device
//===----------------------------------------------------------------------===//

static std::string name(const Form &form) {
  return std::string("wgmma.mma_async.") + (form.isSparse ? "sp." : "") +
         "sync.aligned.m64n" + std::to_string(form.n) + "k" +
         std::to_string(form.shape().k) + (form.isFloat() ? ".f32." : ".s32.") +
         form.aName + "." + form.bName + (form.saturates ? ".satfinite" : "");
}

static std::string writeProduct(const Form &form) {
  std::string text =
      "  " + name(form) + " " + list(form.isFloat() ? "f" : "s", 0, form.n / 2);
  text += form.aLayout.isInRegisters ? ", {%w0, %w1, %w2, %w3}" : ", %a";
  text += ", %b";
  if (form.isSparse)
    text += ", %w4, " + std::to_string(form.selector);
  text += ", " + std::to_string(form.addsSums);
  if (form.isFloat())
    text +=
        ", " + std::to_string(form.scaleA) + ", " + std::to_string(form.scaleB);
  if (getBits(form.a) == 16 && !form.aLayout.isInRegisters)
    text += ", " + std::to_string(form.aLayout.isTransposed);
  if (getBits(form.a) == 16)
    text += ", " + std::to_string(form.bLayout.isTransposed);
  return text + ";\n";
}

/// PTX of a kernel that copies memory to shared memory, loads what each thread
/// has, executes the product and stores the sums.
static std::string writeKernel(const Form &form) {
  std::string text = R"(
.version 8.5
.target sm_90a
.address_size 64
.visible .entry run(.param .u64 x, .param .u64 y) .maxntid 128, 1, 1 {
  .reg .b32 %w<5>, %s<128>, %v<5>, %me, %base, %at;
  .reg .f32 %f<128>;
  .reg .b64 %p<4>, %a, %b;
  .reg .pred %more;
  .shared .align 1024 .b8 image[49152];
  ld.param.u64 %p0, [x];
  ld.param.u64 %p1, [y];
  mov.u32 %me, %tid.x;
  mov.u32 %base, image;
  shl.b32 %at, %me, 4;
next:
  cvt.u64.u32 %p2, %at;
  add.u64 %p3, %p0, %p2;
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%p3];
  add.u32 %v4, %base, %at;
  st.shared.v4.b32 [%v4], {%v0, %v1, %v2, %v3};
  add.u32 %at, %at, 2048;
  setp.lt.u32 %more, %at, 49152;
  @%more bra next;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mul.wide.u32 %p2, %me, 544;
  add.u64 %p3, %p0, %p2;
  add.u64 %p3, %p3, 49152;
  mul.wide.u32 %p2, %me, 512;
  add.u64 %p1, %p1, %p2;
  cvt.u64.u32 %p2, %base;
  shr.u64 %p2, %p2, 4;
)";
  for (int i = 0; i <= kMetadata; ++i)
    text += "  ld.global.b32 %w" + std::to_string(i) + ", [%p3+" +
            std::to_string(4 * i) + "];\n";
  const char *sum = form.isFloat() ? "f" : "s";
  for (int i = 0; i < form.n / 2; ++i)
    text += std::string("  ld.global.b32 %") + sum + std::to_string(i) +
            ", [%p3+" + std::to_string(4 * (kOwnSums + i)) + "];\n";
  text += "  add.u64 %a, %p2, " + std::to_string(describeA(form)) + ";\n" +
          "  add.u64 %b, %p2, " + std::to_string(describeB(form)) + ";\n" +
          "  wgmma.fence.sync.aligned;\n" + writeProduct(form) +
          "  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < form.n / 2; ++i)
    text += "  st.global.b32 [%p1+" + std::to_string(4 * i) + "], %" + sum +
            std::to_string(i) + ";\n";
  return text + "}\n";
}

static std::vector<uint32_t> runOnDevice(const Form &form,
                                         const std::vector<uint32_t> &words) {
  auto host = Buffer::allocate(ElementType::I32, {int64_t(kWords)});
  std::memcpy(host->tensor().data, words.data(), kWords * 4);
  auto x = CudaBuffer::allocate(Device::cuda(0), ElementType::I32,
                                {int64_t(kWords)});
  auto y = CudaBuffer::allocate(Device::cuda(0), ElementType::I32,
                                {int64_t(kResults)});
  EXPECT_TRUE(copyAcross(host->tensor(), x->tensor()));
  std::string text = writeKernel(form);
  void *module = mgpuModuleLoad(text.data(), 0);
  void *from = x->tensor().data, *to = y->tensor().data;
  void *params[] = {&from, &to};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "run"), 1, 1, 1,
                   kWarpgroupThreads, 1, 1, 0, currentStream(), params, nullptr,
                   2);
  EXPECT_EQ(takeError(), "") << text;
  auto back = copyToHost(y->tensor());
  EXPECT_TRUE(back) << back.error().message;
  std::vector<uint32_t> results(kResults);
  std::memcpy(results.data(), back->tensor().data, kResults * 4);
  mgpuModuleUnload(module);
  return results;
}

//===----------------------------------------------------------------------===//
// Simulated
//===----------------------------------------------------------------------===//

namespace {
struct Arguments {
  const Form &form;
  const uint32_t *words;
  uint32_t *results;
};
} // namespace

static void multiply(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Form &form = args.form;
  int32_t me = getThreadId(thread);
  for (int at = 4 * me; at < kImage; at += 4 * kWarpgroupThreads)
    storeShared(thread, at, args.words[at / 4]);
  nmSimFenceProxies(thread, Other, 1);
  syncThreads(thread);
  const uint32_t *own = args.words + kImage / 4 + me * kOwnWords;
  NmSimWarpgroupProduct operands = {};
  operands.descriptorA = describeA(form);
  operands.descriptorB = describeB(form);
  operands.a = form.a;
  operands.b = form.b;
  operands.n = form.n;
  operands.k = form.shape().k;
  operands.isSparse = form.isSparse;
  operands.saturates = form.saturates;
  operands.isAInRegisters = form.aLayout.isInRegisters;
  operands.isATransposed = form.aLayout.isTransposed;
  operands.isBTransposed = form.bLayout.isTransposed;
  operands.scaleA = form.scaleA;
  operands.scaleB = form.scaleB;
  operands.addsSums = form.addsSums;
  std::copy_n(own, 4, operands.registersA);
  operands.metadata = own[kMetadata];
  operands.selector = form.selector;
  std::copy_n(own + kOwnSums, kMaxSums, operands.sums);
  nmSimFenceProducts(thread, Other);
  nmSimStartProduct(thread, Product, 0);
  nmSimCollective(thread, Product, kWarpgroupThreads, -1,
                  nmSimMultiplyWarpgroup, &operands,
                  args.results + size_t(me) * kMaxSums);
  nmSimCommitProducts(thread, Other);
  nmSimWaitForProducts(thread, Other, 0);
}

static std::vector<uint32_t> simulate(const Form &form,
                                      const std::vector<uint32_t> &words) {
  std::vector<uint32_t> results(kResults), memory(1);
  Arguments arguments{form, words.data(), results.data()};
  EXPECT_EQ(runKernel(multiply, &arguments, kWarpgroupThreads, kImage, memory),
            "")
      << name(form);
  return results;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static uint32_t drawWord(NmSimElement type, std::mt19937 &random) {
  uint32_t word = 0;
  for (int bit = 0; bit < 32; bit += getBits(type))
    word |= drawElement(type, random) << bit;
  return word;
}

static std::vector<uint32_t> drawOperands(const Form &form,
                                          std::mt19937 &random) {
  std::vector<uint32_t> words(kWords);
  for (size_t i = 0; i < kImage / 4; ++i)
    words[i] = drawWord(i < kPartA / 4 ? form.a : form.b, random);
  for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
    uint32_t *own = &words[size_t(kImage / 4 + thread * kOwnWords)];
    for (int i = 0; i < 4; ++i)
      own[i] = drawWord(form.a, random);
    own[kMetadata] = drawMetadata(form.shape(), random);
    for (int i = 0; i < kMaxSums; ++i)
      own[kOwnSums + i] = form.isFloat() ? drawElement(NM_SIM_TF32, random)
                                         : uint32_t(random());
  }
  return words;
}

/// What the terms of a sum are in size, all together.
static std::vector<uint32_t> simulateSizes(Form form,
                                           std::vector<uint32_t> words) {
  int bits = getBits(form.a);
  uint32_t mask = bits == 32   ? 0x7fffffff
                  : bits == 16 ? 0x7fff7fff
                               : 0x7f7f7f7f;
  for (size_t i = 0; i < kImage / 4; ++i)
    words[i] &= mask;
  for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
    uint32_t *own = &words[size_t(kImage / 4 + thread * kOwnWords)];
    for (int i = 0; i < kOwnWords; ++i)
      if (i != kMetadata)
        own[i] &= i < kMetadata ? mask : 0x7fffffff;
  }
  form.scaleA = form.scaleB = 1;
  return simulate(form, words);
}

/// As for mma.sync: docs/Sim.md has the bounds.
void CudaTensorCoreWarpgroup::compare(const Form &form) {
  std::vector<uint32_t> words = drawOperands(form, random);
  std::vector<uint32_t> device = runOnDevice(form, words);
  std::vector<uint32_t> simulated = simulate(form, words);
  std::vector<uint32_t> sizes;
  if (form.isFloat())
    sizes = simulateSizes(form, words);
  double most = std::ldexp(1.0, getBits(form.a) == 8 ? -12 : -20), seen = 0;
  int wrong = 0;
  for (size_t i = 0; i < kResults; ++i) {
    if (int(i % kMaxSums) >= form.n / 2)
      continue;
    if (!form.isFloat()) {
      wrong += simulated[i] != device[i];
      continue;
    }
    double difference =
        std::abs(double(toFloat(simulated[i])) - toFloat(device[i])) /
        toFloat(sizes[i]);
    wrong += !(difference <= most);
    seen = std::max(seen, difference);
  }
  EXPECT_EQ(wrong, 0) << "of " << kWarpgroupThreads * form.n / 2
                      << " sums, of\n"
                      << writeKernel(form);
  std::printf("%s%s%s, A %s%d%s, B %d%s: %.3g of the terms' sizes\n",
              name(form).c_str(), form.isSparse ? ", selector " : "",
              form.isSparse ? std::to_string(form.selector).c_str() : "",
              form.aLayout.isInRegisters ? "in registers, " : "",
              getSwizzleBytes(form.aLayout.swizzle),
              form.aLayout.isTransposed ? " transposed" : "",
              getSwizzleBytes(form.bLayout.swizzle),
              form.bLayout.isTransposed ? " transposed" : "", seen);
}

static constexpr MatrixSwizzle kSwizzles[] = {
    MatrixSwizzle::None, MatrixSwizzle::Bytes32, MatrixSwizzle::Bytes64,
    MatrixSwizzle::Bytes128};

static std::vector<Form> getTypes() {
  return {{NM_SIM_F16, NM_SIM_F16, "f16", "f16", 8, {}, {}},
          {NM_SIM_BF16, NM_SIM_BF16, "bf16", "bf16", 64, {}, {}},
          {NM_SIM_TF32, NM_SIM_TF32, "tf32", "tf32", 40, {}, {}},
          {NM_SIM_E4M3, NM_SIM_E4M3, "e4m3", "e4m3", 256, {}, {}},
          {NM_SIM_E4M3, NM_SIM_E5M2, "e4m3", "e5m2", 24, {}, {}},
          {NM_SIM_E5M2, NM_SIM_E5M2, "e5m2", "e5m2", 136, {}, {}},
          {NM_SIM_S8, NM_SIM_S8, "s8", "s8", 96, {}, {}},
          {NM_SIM_U8, NM_SIM_S8, "u8", "s8", 256, {}, {}}};
}

TEST_F(CudaTensorCoreWarpgroup, DenseProducts) {
  for (Form form : getTypes())
    for (bool isInRegisters : {false, true})
      for (MatrixSwizzle swizzle : kSwizzles) {
        form.aLayout = {false, isInRegisters, swizzle};
        form.bLayout = {false, false, swizzle};
        compare(form);
      }
}

TEST_F(CudaTensorCoreWarpgroup, TransposedOperands) {
  Form form = getTypes()[0];
  form.n = 200;
  for (bool isInRegisters : {false, true})
    for (bool isATransposed : {false, true})
      for (MatrixSwizzle swizzle : kSwizzles) {
        form.aLayout = {isATransposed && !isInRegisters, isInRegisters,
                        swizzle};
        form.bLayout = {true, false, swizzle};
        compare(form);
      }
}

TEST_F(CudaTensorCoreWarpgroup, Forms) {
  Form form = getTypes()[0];
  form.n = 256;
  form.scaleA = -1;
  compare(form);
  form.scaleB = -1;
  form.addsSums = 0;
  compare(form);
  Form integers = getTypes()[6];
  integers.saturates = true;
  compare(integers);
}

/// A pattern that does not start at a multiple of 1024 bytes.
TEST_F(CudaTensorCoreWarpgroup, BaseOffsets) {
  Form form = getTypes()[0];
  form.n = 64;
  for (int base : {1, 3, 6}) {
    form.bLayout = {false, false, MatrixSwizzle::Bytes128, base};
    compare(form);
  }
}

TEST_F(CudaTensorCoreWarpgroup, SparseProducts) {
  for (Form form : getTypes())
    for (bool isInRegisters : {false, true})
      for (MatrixSwizzle swizzle : {MatrixSwizzle::None, MatrixSwizzle::Bytes64,
                                    MatrixSwizzle::Bytes128}) {
        form.isSparse = true;
        form.aLayout = {false, isInRegisters, swizzle};
        form.bLayout = {false, false, swizzle};
        for (form.selector = 0;
             form.selector < uint32_t(form.shape().selectors());
             ++form.selector)
          compare(form);
      }
  Form transposed = getTypes()[0];
  transposed.isSparse = true;
  for (MatrixSwizzle swizzle : kSwizzles) {
    transposed.aLayout = transposed.bLayout = {true, false, swizzle};
    compare(transposed);
  }
}
