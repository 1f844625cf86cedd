//===- TensorCoreTest.cpp - Simulated instructions against a device's -----===//
//
// One warp executes one instruction on drawn operands, on the device and by the
// function that the simulator has for it.
//
//===----------------------------------------------------------------------===//

#include "../../RuntimeCalls.h"
#include "DrawElements.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Sim/Elements.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::sim;

namespace {
constexpr int kLanes = 32;
/// What each lane reads and writes: words in memory of its own.
using LaneWords = std::array<std::array<uint32_t, 16>, kLanes>;

class CudaTensorCore : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    if (cudaDeviceInfo(0)->major < 9)
      GTEST_SKIP() << "expected a device of sm_90 or later";
  }
  LaneWords runOnDevice(const std::string &body, const LaneWords &words);
  std::mt19937 random{7};
};
} // namespace

/// PTX of a kernel that loads a lane's words to %w0 to %w15, executes `body`,
/// and stores %d0 to %d3. %f0 to %f3 are for sums of f32, %row0 and %row1 for
/// places in 512 bytes of shared memory.
static std::string wrap(const std::string &body) {
  std::string text = R"(
.version 8.5
.target sm_90
.address_size 64
.visible .entry run(.param .u64 x, .param .u64 y) {
  .reg .b32 %w<16>, %d<4>, %row<2>, %lane;
  .reg .f32 %f<4>;
  .reg .b64 %p<3>;
  .shared .align 16 .b8 rows[512];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %p2, %lane, 64;
  ld.param.u64 %p0, [x];
  ld.param.u64 %p1, [y];
  add.u64 %p0, %p0, %p2;
  add.u64 %p1, %p1, %p2;
)";
  for (int i = 0; i < 16; ++i)
    text += "  ld.global.b32 %w" + std::to_string(i) + ", [%p0+" +
            std::to_string(4 * i) + "];\n";
  text += body;
  for (int i = 0; i < 4; ++i)
    text += "  st.global.b32 [%p1+" + std::to_string(4 * i) + "], %d" +
            std::to_string(i) + ";\n";
  return text + "}\n";
}

LaneWords CudaTensorCore::runOnDevice(const std::string &body,
                                      const LaneWords &words) {
  LaneWords results{};
  constexpr int64_t kWords = kLanes * 16;
  auto host = Buffer::allocate(ElementType::I32, {kWords});
  std::memcpy(host->tensor().data, words.data(), sizeof words);
  auto x = CudaBuffer::allocate(Device::cuda(0), ElementType::I32, {kWords});
  auto y = CudaBuffer::allocate(Device::cuda(0), ElementType::I32, {kWords});
  EXPECT_TRUE(copyAcross(host->tensor(), x->tensor()));
  std::string text = wrap(body);
  void *module = mgpuModuleLoad(text.data(), 0);
  void *from = x->tensor().data, *to = y->tensor().data;
  void *params[] = {&from, &to};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "run"), 1, 1, 1, kLanes, 1, 1,
                   0, currentStream(), params, nullptr, 2);
  EXPECT_EQ(takeError(), "") << text;
  auto back = copyToHost(y->tensor());
  EXPECT_TRUE(back) << back.error().message;
  std::memcpy(results.data(), back->tensor().data, sizeof results);
  mgpuModuleUnload(module);
  return results;
}

//===----------------------------------------------------------------------===//
// mma.sync and mma.sp.sync
//===----------------------------------------------------------------------===//

namespace {
struct Form {
  NmSimElement a, b;
  const char *aName, *bName;
  int k;
  bool isSparse = false, saturates = false;
  int selector = 0;

  MmaShape shape() const { return {k, getBits(a), isSparse}; }
  int sums() const { return shape().aRegisters() + shape().bRegisters(); }
};
} // namespace

static std::string write(const Form &form) {
  int first = form.shape().aRegisters(), sums = form.sums();
  bool isFloat = !isInteger(form.a);
  const char *sum = isFloat ? "f32" : "s32";
  std::string body, result = isFloat ? list("f", 0, 4) : list("d", 0, 4);
  if (isFloat)
    for (int i = 0; i < 4; ++i)
      body += "  mov.b32 %f" + std::to_string(i) + ", %w" +
              std::to_string(sums + i) + ";\n";
  body += std::string("  mma.") +
          (form.isSparse ? "sp::ordered_metadata." : "") +
          "sync.aligned.m16n8k" + std::to_string(form.k) + ".row.col." +
          (form.saturates ? "satfinite." : "") + sum + "." + form.aName + "." +
          form.bName + "." + sum + " " + result + ", " + list("w", 0, first) +
          ", " + list("w", first, sums - first) + ", " +
          (isFloat ? result : list("w", sums, 4));
  if (form.isSparse)
    body += ", %w" + std::to_string(sums + 4) + ", " +
            std::to_string(form.selector);
  body += ";\n";
  if (isFloat)
    for (int i = 0; i < 4; ++i)
      body += "  mov.b32 %d" + std::to_string(i) + ", %f" + std::to_string(i) +
              ";\n";
  return body;
}

static LaneWords drawOperands(const Form &form, std::mt19937 &random) {
  LaneWords words{};
  MmaShape shape = form.shape();
  for (auto &lane : words) {
    for (int r = 0; r < form.sums(); ++r)
      for (int i = 0; i < shape.perRegister(); ++i)
        lane[size_t(r)] |=
            drawElement(r < shape.aRegisters() ? form.a : form.b, random)
            << i * shape.bits;
    for (int i = 0; i < 4; ++i)
      lane[size_t(form.sums() + i)] = isInteger(form.a)
                                          ? uint32_t(random())
                                          : drawElement(NM_SIM_TF32, random);
    lane[size_t(form.sums() + 4)] = drawMetadata(shape, random);
    lane[size_t(form.sums() + 5)] = uint32_t(form.selector);
  }
  return words;
}

static LaneWords simulate(const Form &form, const LaneWords &words) {
  LaneWords results{};
  std::array<NmSimMultiply, kLanes> operands{};
  NmSimCollective lanes{};
  lanes.width = kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    operands[lane] = {form.a,        form.b,         form.k,
                      form.isSparse, form.saturates, {}};
    std::memcpy(operands[lane].words, words[lane].data(),
                sizeof operands[lane].words);
    lanes.operands[lane] = &operands[lane];
    lanes.results[lane] = results[lane].data();
  }
  nmSimMultiplyMatrices(&lanes);
  EXPECT_EQ(lanes.fault, nullptr);
  return results;
}

/// The operands without their signs: their product bounds what is added up.
static LaneWords dropSigns(const Form &form, LaneWords words) {
  uint32_t mask = form.shape().bits == 32   ? 0x7fffffff
                  : form.shape().bits == 16 ? 0x7fff7fff
                                            : 0x7f7f7f7f;
  for (auto &lane : words) {
    for (int r = 0; r < form.sums(); ++r)
      lane[size_t(r)] &= mask;
    for (int i = 0; i < 4; ++i)
      lane[size_t(form.sums() + i)] &= 0x7fffffff;
  }
  return words;
}

/// Sums of f32 differ by what the hardware drops as it aligns its terms: of
/// the sum of their sizes 2^-20, and 2^-12 of fp8, whose sums keep fewer bits.
static void compare(const Form &form, const LaneWords &device,
                    const LaneWords &words) {
  LaneWords simulated = simulate(form, words);
  LaneWords sizes = simulate(form, dropSigns(form, words));
  bool isExact = isInteger(form.a);
  double most = std::ldexp(1.0, form.shape().bits == 8 ? -12 : -20), seen = 0;
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t i = 0; i < 4; ++i) {
      uint32_t got = simulated[lane][i], expected = device[lane][i];
      if (isExact) {
        EXPECT_EQ(got, expected) << write(form) << lane << ", " << i;
        continue;
      }
      double difference = std::abs(double(toFloat(got)) - toFloat(expected)) /
                          toFloat(sizes[lane][i]);
      EXPECT_LE(difference, most) << write(form) << lane << ", " << i;
      seen = std::max(seen, difference);
    }
  std::printf("m16n8k%d %s x %s%s: %.3g of the terms' sizes\n", form.k,
              form.aName, form.bName, form.isSparse ? ", sparse" : "", seen);
}

static std::vector<Form> getDenseForms() {
  return {{NM_SIM_F16, NM_SIM_F16, "f16", "f16", 8},
          {NM_SIM_F16, NM_SIM_F16, "f16", "f16", 16},
          {NM_SIM_BF16, NM_SIM_BF16, "bf16", "bf16", 8},
          {NM_SIM_BF16, NM_SIM_BF16, "bf16", "bf16", 16},
          {NM_SIM_TF32, NM_SIM_TF32, "tf32", "tf32", 4},
          {NM_SIM_TF32, NM_SIM_TF32, "tf32", "tf32", 8},
          {NM_SIM_E4M3, NM_SIM_E4M3, "e4m3", "e4m3", 32},
          {NM_SIM_E4M3, NM_SIM_E5M2, "e4m3", "e5m2", 32},
          {NM_SIM_E5M2, NM_SIM_E5M2, "e5m2", "e5m2", 32},
          {NM_SIM_S8, NM_SIM_S8, "s8", "s8", 16},
          {NM_SIM_S8, NM_SIM_S8, "s8", "s8", 32},
          {NM_SIM_S8, NM_SIM_S8, "s8", "s8", 32, false, /*saturates=*/true},
          {NM_SIM_U8, NM_SIM_S8, "u8", "s8", 32}};
}

static std::vector<Form> getSparseForms() {
  std::vector<Form> forms;
  auto add = [&](NmSimElement type, const char *name, int k) {
    MmaShape shape{k, getBits(type), /*isSparse=*/true};
    for (int selector = 0; selector < shape.selectors(); ++selector)
      forms.push_back({type, type, name, name, k, true, false, selector});
  };
  add(NM_SIM_F16, "f16", 16);
  add(NM_SIM_F16, "f16", 32);
  add(NM_SIM_BF16, "bf16", 32);
  add(NM_SIM_TF32, "tf32", 8);
  add(NM_SIM_TF32, "tf32", 16);
  add(NM_SIM_E4M3, "e4m3", 64);
  add(NM_SIM_E5M2, "e5m2", 64);
  add(NM_SIM_S8, "s8", 32);
  add(NM_SIM_S8, "s8", 64);
  return forms;
}

TEST_F(CudaTensorCore, DenseProducts) {
  for (const Form &form : getDenseForms()) {
    LaneWords words = drawOperands(form, random);
    compare(form, runOnDevice(write(form), words), words);
  }
}

TEST_F(CudaTensorCore, SparseProducts) {
  for (const Form &form : getSparseForms()) {
    LaneWords words = drawOperands(form, random);
    compare(form, runOnDevice(write(form), words), words);
  }
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Lanes name the rows of 512 bytes in an order of their own.
static int getRow(size_t lane) { return int(lane) * 5 % kLanes; }

static std::string writeMatrices(bool isLoad, int count, bool isTransposed) {
  std::string words = isLoad ? list("d", 0, count) : list("w", 0, count);
  std::string operands = isLoad ? words + ", [%row1]" : "[%row1], " + words;
  std::string body = "  mov.u32 %row0, rows;\n"
                     "  mad.lo.u32 %row1, %lane, 16, %row0;\n"
                     "  st.shared.v4.b32 [%row1], {%w8, %w9, %w10, %w11};\n"
                     "  bar.warp.sync 0xffffffff;\n"
                     "  mul.lo.u32 %row1, %lane, 5;\n"
                     "  and.b32 %row1, %row1, 31;\n"
                     "  mad.lo.u32 %row1, %row1, 16, %row0;\n"
                     "  mov.u32 %d0, 0;\n  mov.u32 %d1, 0;\n"
                     "  mov.u32 %d2, 0;\n  mov.u32 %d3, 0;\n";
  body += std::string("  ") + (isLoad ? "ld" : "st") +
          "matrix.sync.aligned.m8n8.x" + std::to_string(count) +
          (isTransposed ? ".trans" : "") + ".shared.b16 " + operands + ";\n";
  if (!isLoad)
    body += "  bar.warp.sync 0xffffffff;\n"
            "  mad.lo.u32 %row1, %lane, 16, %row0;\n"
            "  ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%row1];\n";
  return body;
}

static LaneWords simulateMatrices(bool isLoad, int count, bool isTransposed,
                                  const LaneWords &words) {
  LaneWords results{};
  uint32_t rows[kLanes][4];
  std::array<NmSimMatrices, kLanes> operands{};
  NmSimCollective lanes{};
  lanes.width = kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::memcpy(rows[lane], &words[lane][8], sizeof rows[lane]);
    bool isNamed = int(lane) < 8 * count;
    operands[lane] = {isNamed ? reinterpret_cast<char *>(rows[getRow(lane)])
                              : nullptr,
                      count,
                      isTransposed,
                      {}};
    std::memcpy(operands[lane].words, words[lane].data(),
                sizeof operands[lane].words);
    lanes.operands[lane] = &operands[lane];
    lanes.results[lane] = results[lane].data();
  }
  isLoad ? nmSimLoadMatrices(&lanes) : nmSimStoreMatrices(&lanes);
  if (!isLoad)
    for (size_t lane = 0; lane < kLanes; ++lane)
      std::memcpy(results[lane].data(), rows[lane], sizeof rows[lane]);
  return results;
}

TEST_F(CudaTensorCore, Matrices) {
  LaneWords words;
  for (auto &lane : words)
    for (uint32_t &word : lane)
      word = uint32_t(random());
  for (bool isLoad : {true, false})
    for (int count : {1, 2, 4})
      for (bool isTransposed : {false, true}) {
        std::string body = writeMatrices(isLoad, count, isTransposed);
        LaneWords device = runOnDevice(body, words);
        LaneWords simulated =
            simulateMatrices(isLoad, count, isTransposed, words);
        for (size_t lane = 0; lane < kLanes; ++lane)
          for (size_t i = 0; i < 4; ++i)
            EXPECT_EQ(simulated[lane][i], device[lane][i])
                << body << lane << ", " << i;
      }
}

//===----------------------------------------------------------------------===//
// movmatrix
//===----------------------------------------------------------------------===//

TEST_F(CudaTensorCore, TransposedMatrix) {
  LaneWords words, simulated{};
  NmSimCollective lanes{};
  lanes.width = kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t &word : words[lane])
      word = uint32_t(random());
    lanes.operands[lane] = words[lane].data();
    lanes.results[lane] = simulated[lane].data();
  }
  std::string body =
      "  movmatrix.sync.aligned.m8n8.trans.b16 %d0, %w0;\n"
      "  mov.u32 %d1, 0;\n  mov.u32 %d2, 0;\n  mov.u32 %d3, 0;\n";
  LaneWords device = runOnDevice(body, words);
  nmSimTransposeMatrix(&lanes);
  for (size_t lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ(simulated[lane][0], device[lane][0]) << lane;
}
