//===- SplitWeightTest.cpp - Packed weights that each call makes ----------===//
//
// The fake driver runs the runtime's kernel as SplitWeightKernel.h has it,
// compiled for the host.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

#include "Cuda/SplitWeightKernel.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/SparseOperand.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

using namespace nm;

namespace {
/// A weight in its two packed forms.
struct BothForms {
  BothForms(int64_t k, int64_t n, const PanelPacking &packing,
            std::mt19937 &random);

  Pattern pattern = *Pattern::parse("2:4");
  SparseOperand operand{SparseOperand::Order::WgmmaPairs, 16, 0, 3};
  std::array<int64_t, 3> fewValues, fewIndices, manyValues, manyIndices;
  std::vector<NmFloat4> values;
  std::vector<uint8_t> indices, metadata;
  std::vector<uint16_t> splits;
};
} // namespace

template <typename T>
static size_t countOf(const std::array<T, 3> &shape) {
  return size_t(shape[0] * shape[1] * shape[2]);
}

/// Weights of all sizes, and some that cannot be split.
static float draw(std::mt19937 &random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kOdd[] = {
      0.0f,     -0.0f,     kInfinity,      -kInfinity, 0x1p44f,
      -0x1p44f, 0x1p-149f, 0x1.fffffep43f, 0x1p127f,   0x1p-126f};
  if (random() % 8 == 0)
    return kOdd[random() % std::size(kOdd)];
  if (random() % 64 == 0)
    return std::nanf("");
  return std::ldexp(float(int32_t(random())), int(random() % 64) - 60);
}

BothForms::BothForms(int64_t k, int64_t n, const PanelPacking &packing,
                     std::mt19937 &random)
    : fewValues(packing.valueShape(pattern, k, n)),
      fewIndices(packing.indexShape(pattern, k, n)),
      manyValues(operand.valueShape(pattern, k, n)),
      manyIndices(operand.indexShape(pattern, k, n)),
      values(countOf(fewValues) / 4), indices(countOf(fewIndices)),
      metadata(countOf(manyIndices)), splits(countOf(manyValues)) {
  std::vector<float> condensed(pattern.condensedRows(k) *
                               pattern.paddedColumns(n));
  for (float &value : condensed)
    value = draw(random);
  std::vector<uint8_t> places(pattern.unitRows(k) * pattern.blockColumns(n));
  static constexpr uint8_t kPairs[][2] = {{0, 1}, {0, 2}, {0, 3},
                                          {1, 2}, {1, 3}, {2, 3}};
  for (int64_t window = 0; window < pattern.windows(k); ++window)
    for (int64_t column = 0; column < n; ++column) {
      const uint8_t *pair = kPairs[random() % 6];
      for (int64_t i : {0, 1})
        places[(2 * window + i) * n + column] = pair[i];
    }
  CondensedView view{
      condensed.data(), places.data(), ElementType::F32, pattern, k, n};
  packValues(view, packing, values.data());
  packIndices(view, packing, indices.data());
  packSparseOperand(view, operand, splits.data(), metadata.data());
}

TEST(SplitWeight, MakesWhatIsPacked) {
  std::mt19937 random(1);
  for (int64_t indexRows : {4, 8, 12, 16, 20, 32, 64, 128})
    for (int64_t panel : {16, 32, 64})
      for (auto [k, n] : {std::pair<int64_t, int64_t>{64, 64},
                          {4, 1},
                          {72, 70},
                          {256, 130},
                          {68, 33},
                          {100, 64}}) {
        PanelPacking packing;
        packing.panel = panel;
        packing.indexBits = 2;
        packing.chunkRows = 4;
        packing.indexRows = indexRows;
        BothForms forms(k, n, packing, random);
        int64_t blocks = forms.manyValues[0] * forms.manyValues[1];
        std::vector<NmWord4> splits(forms.splits.size() / 8);
        std::vector<uint16_t> metadata(forms.metadata.size() / 2);
        NmSplitWeight weight = {forms.values.data(),
                                forms.indices.data(),
                                splits.data(),
                                metadata.data(),
                                unsigned(forms.pattern.condensedRows(k)),
                                unsigned(n),
                                unsigned(panel),
                                unsigned(forms.fewValues[1]),
                                unsigned(forms.fewIndices[1]),
                                unsigned(indexRows),
                                unsigned(packing.bytesPerGroup(forms.pattern)),
                                unsigned(forms.manyValues[1])};
        for (int64_t block = 0; block < blocks; ++block)
          for (unsigned thread = 0; thread < NM_SPLIT_WEIGHT_THREADS; ++thread)
            nmSplitWeightThread(&weight, unsigned(block), thread);
        std::string place = std::to_string(k) + "x" + std::to_string(n) +
                            " in " + packing.str();
        EXPECT_EQ(std::memcmp(splits.data(), forms.splits.data(),
                              2 * forms.splits.size()),
                  0)
            << place;
        EXPECT_EQ(std::memcmp(metadata.data(), forms.metadata.data(),
                              forms.metadata.size()),
                  0)
            << place;
      }
}

namespace {
class MadeWeightsTest : public CudaFixture {
protected:
  MadeWeightsTest() {
    Result<Module> loaded = Module::load(NM_FAKE_CUDA_MODEL);
    EXPECT_TRUE(loaded) << loaded.error().message;
    module.emplace(std::move(*loaded));
  }

  /// `data` on the device.
  Tensor upload(ElementType type, const std::array<int64_t, 3> &shape,
                const void *data) {
    Tensor host(const_cast<void *>(data), type,
                Shape(shape.begin(), shape.end()));
    Tensor tensor = zeros(host.shape, type);
    Status copied = copyAcross(host, tensor);
    EXPECT_TRUE(copied) << copied.error().message;
    return tensor;
  }

  std::optional<Module> module;
};
} // namespace

TEST_F(MadeWeightsTest, CallsMakeThem) {
  std::mt19937 random(2);
  PanelPacking packing;
  packing.indexBits = 2;
  packing.panel = packing.indexRows = 32;
  packing.chunkRows = 4;
  BothForms forms(72, 70, packing, random);
  Function few = *module->function("few"), many = *module->function("many");
  EXPECT_TRUE(many.canMakeOf(few));
  EXPECT_FALSE(few.canMakeOf(many));
  EXPECT_FALSE(many.canMakeOf(many));
  EXPECT_FALSE(many.canMakeOf(*module->function("ffn")));
  Weight packed{upload(ElementType::F32, forms.fewValues, forms.values.data()),
                upload(ElementType::I8, forms.fewIndices, forms.indices.data()),
                nullptr, nullptr};
  std::vector<Weight> made = many.makeOf({packed});
  Tensor splits = zeros({2, 2, 6144}, ElementType::BF16),
         metadata = zeros({2, 2, 512}, ElementType::I8);
  auto check = [&] {
    auto values = copyToHost(splits), indices = copyToHost(metadata);
    EXPECT_EQ(std::memcmp(values->tensor().data, forms.splits.data(),
                          2 * forms.splits.size()),
              0);
    EXPECT_EQ(std::memcmp(indices->tensor().data, forms.metadata.data(),
                          forms.metadata.size()),
              0);
    EXPECT_TRUE(fillBytes(splits, 1));
    EXPECT_TRUE(fillBytes(metadata, 1));
  };
  int64_t before = cuda.live();
  ASSERT_EQ(callError(many, {made[0]}, {splits, metadata}), "");
  check();
  auto prepared = many.prepare({made[0]}, {splits, metadata});
  ASSERT_TRUE(prepared) << prepared.error().message;
  void *addresses[] = {splits.data, metadata.data};
  ASSERT_TRUE(prepared->run(addresses));
  check();
  // The modules, of the kernels and of the runtime, stay.
  EXPECT_LE(cuda.live(), before + 2);

  auto stream = CudaStream::create(Device::cuda(0));
  auto graph =
      CudaGraph::capture(*stream, [&] { return prepared->run(addresses); });
  ASSERT_TRUE(graph) << graph.error().message;
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_TRUE(graph->launch(*stream));
    check();
  }
  cuda.set("free", 16);
  Status status = prepared->run(addresses);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.find("@many: not enough device memory"), 0u)
      << status.error().message;
}
