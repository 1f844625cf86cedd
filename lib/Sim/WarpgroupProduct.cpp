//===- WarpgroupProduct.cpp - What wgmma computes -------------------------===//
//
// Sums are rounded as those of mma.sync are: see TensorCore.cpp.
//
//===----------------------------------------------------------------------===//

#include "WarpgroupProduct.h"

#include "nm/Support/Warp.h"

#include <cstring>

using namespace nm;
using namespace nm::sim;

WarpgroupProduct::WarpgroupProduct(const NmSimCollective &lanes)
    : lanes(lanes), form(operandsOf(0)),
      shape{form.k, getBits(form.a), form.isSparse != 0} {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

SharedMatrix WarpgroupProduct::getA() const {
  return {form.a, MatrixDescriptor::decode(form.descriptorA), kWarpgroupM,
          shape.storedK(), form.isATransposed != 0};
}

SharedMatrix WarpgroupProduct::getB() const {
  return {form.b, MatrixDescriptor::decode(form.descriptorB), form.n, form.k,
          form.isBTransposed != 0};
}

/// Bits that a descriptor of sm_90 does not have.
static bool hasUnknownBits(uint64_t descriptor) {
  return MatrixDescriptor::decode(descriptor).encode() != descriptor;
}

static std::string checkMatrix(const SharedMatrix &matrix, const char *name) {
  const MatrixDescriptor &descriptor = matrix.descriptor;
  std::string text = std::string("its descriptor of ") + name;
  int swizzled = getSwizzleBytes(descriptor.swizzle);
  if (!matrix.isMNMajor && swizzled > 16 &&
      matrix.k * getBits(matrix.type) / 8 > swizzled)
    return text + " exchanges chunks within " + std::to_string(swizzled) +
           " bytes, and the instruction reads more of each row";
  if (descriptor.base != 0 && swizzled == 16)
    return text + " has a base offset and no swizzle";
  return {};
}

static bool isScale(int32_t value) { return value == 1 || value == -1; }

std::string WarpgroupProduct::check() const {
  // An operand that all threads share has to be the same in all.
  for (int thread = 1; thread < kWarpgroupThreads; ++thread) {
    const NmSimWarpgroupProduct &other = operandsOf(thread);
    if (other.descriptorB != form.descriptorB ||
        (isAShared() && other.descriptorA != form.descriptorA) ||
        (other.addsSums != 0) != (form.addsSums != 0) ||
        (shape.isSparse && other.selector != form.selector))
      return "expected the same descriptors, scale-d and selector in all "
             "threads of a warpgroup, but thread " +
             std::to_string(thread) + " of it has others than thread 0";
  }
  if (!isScale(form.scaleA) || !isScale(form.scaleB))
    return "expected operands to be multiplied by 1 or -1";
  if (shape.isSparse && form.selector >= uint32_t(shape.selectors()))
    return "expected a sparsity selector of 0 to " +
           std::to_string(shape.selectors() - 1) + ", but got " +
           std::to_string(form.selector);
  if (hasUnknownBits(form.descriptorB) ||
      (isAShared() && hasUnknownBits(form.descriptorA)))
    return "expected bits 14, 15, 30, 31, 46 to 48 and 52 to 61 of matrix "
           "descriptors to be 0";
  std::string fault = isAShared() ? checkMatrix(getA(), "A") : std::string();
  return fault.empty() ? checkMatrix(getB(), "B") : fault;
}

namespace {
/// The values of all elements of a type of 8 or 16 bits.
class DecodedElements {
public:
  explicit DecodedElements(NmSimElement type) : values(1u << getBits(type)) {
    for (uint32_t bits = 0; bits < values.size(); ++bits)
      values[bits] = float(decodeElement(type, bits));
  }
  float operator[](uint32_t bits) const { return values[bits]; }

private:
  std::vector<float> values;
};
} // namespace

/// Not of tf32.
static const DecodedElements &getDecoded(NmSimElement type) {
  static const DecodedElements f16(NM_SIM_F16), bf16(NM_SIM_BF16),
      e4m3(NM_SIM_E4M3), e5m2(NM_SIM_E5M2), s8(NM_SIM_S8), u8(NM_SIM_U8);
  switch (type) {
  case NM_SIM_BF16:
    return bf16;
  case NM_SIM_E4M3:
    return e4m3;
  case NM_SIM_E5M2:
    return e5m2;
  case NM_SIM_S8:
    return s8;
  case NM_SIM_U8:
    return u8;
  default:
    return f16;
  }
}

/// The elements of a chunk, of `Word`s each. Returns how many there are.
template <typename Word>
static int decodeWords(NmSimElement type, const char *chunk, double *values) {
  constexpr int kCount = MatrixDescriptor::kChunk / int(sizeof(Word));
  Word words[kCount];
  std::memcpy(words, chunk, sizeof words);
  const DecodedElements &decoded = getDecoded(type);
  for (int i = 0; i < kCount; ++i)
    values[i] = sizeof(Word) == 4 ? decodeElement(type, words[i])
                                  : double(decoded[words[i]]);
  return kCount;
}

static int decodeChunk(NmSimElement type, const char *chunk, double *values) {
  switch (getBits(type)) {
  case 8:
    return decodeWords<uint8_t>(type, chunk, values);
  case 16:
    return decodeWords<uint16_t>(type, chunk, values);
  default:
    return decodeWords<uint32_t>(type, chunk, values);
  }
}

/// An element's number is iStep * i + kStep * k.
void WarpgroupProduct::gatherShared(const SharedMatrix &matrix, double scale,
                                    std::vector<double> &elements, int iStep,
                                    int kStep) {
  elements.resize(size_t(matrix.extent * matrix.k));
  int step = matrix.isMNMajor ? iStep : kStep;
  matrix.forEachChunk([&](int offset, int i, int k) {
    static const char kNothing[MatrixDescriptor::kChunk] = {};
    bool isThere = size_t(offset) + sizeof kNothing <= bytes;
    double values[MatrixDescriptor::kChunk];
    int count =
        decodeChunk(matrix.type, isThere ? memory + offset : kNothing, values);
    double *to = &elements[size_t(i * iStep + k * kStep)];
    for (int j = 0; j < count; ++j)
      to[j * step] = scale * values[j];
  });
}

void WarpgroupProduct::gatherRegisters() {
  a.resize(size_t(kWarpgroupM * shape.storedK()));
  for (int thread = 0; thread < kWarpgroupThreads; ++thread)
    for (int r = 0; r < shape.aRegisters(); ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.aOffset(thread % MmaShape::kLanes, r, i);
        int row = thread / MmaShape::kLanes * MmaShape::kM + place.row;
        a[size_t(row * shape.storedK() + place.column)] =
            form.scaleA *
            decodeElement(form.a,
                          operandsOf(thread).registersA[r] >> i * shape.bits);
      }
}

const char *WarpgroupProduct::findColumns() {
  const char *fault = nullptr;
  columns.resize(size_t(kWarpgroupM * shape.storedK()));
  for (int row = 0; row < kWarpgroupM; ++row)
    for (int stored = 0; stored < shape.storedK(); ++stored) {
      int column = stored;
      if (shape.isSparse) {
        MmaMetadataOffset place = getMmaMetadataOffset(
            shape, row % MmaShape::kM, stored / shape.storedPerGroup(),
            int(form.selector));
        int thread = row / MmaShape::kM * MmaShape::kLanes + place.lane;
        column = findKeptColumn(shape, stored,
                                operandsOf(thread).metadata >> 4 * place.nibble,
                                fault);
      }
      columns[size_t(row * shape.storedK() + stored)] = column;
    }
  return fault;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

static constexpr int kAtOnce = 4;

// With what vectors the processor has. Products are exact, so that it is all
// the same whether it fuses their sums.
#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
/// Adds products of four rows' `count` elements to their sums, row by row.
static void addProducts(const double *factors, const double *const *rows,
                        int count, double *sums) {
  const double *row0 = rows[0], *row1 = rows[1], *row2 = rows[2],
               *row3 = rows[3];
  for (int i = 0; i < count; ++i) {
    double sum = sums[i] + factors[0] * row0[i];
    sum += factors[1] * row1[i];
    sum += factors[2] * row2[i];
    sums[i] = sum + factors[3] * row3[i];
  }
}

/// Adds a row's products to its `form.n` sums, in the order of k.
void WarpgroupProduct::multiply(int row, double *sums) const {
  auto first = size_t(row * shape.storedK());
  for (int k = 0; k < shape.storedK(); k += kAtOnce) {
    const double *rows[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i)
      rows[i] = &b[size_t(columns[first + size_t(k + i)] * form.n)];
    addProducts(&a[first + size_t(k)], rows, form.n, sums);
  }
}

const char *WarpgroupProduct::run(const char *shared, size_t sharedBytes) {
  memory = shared;
  bytes = sharedBytes;
  if (isAShared())
    gatherShared(getA(), form.scaleA, a, shape.storedK(), 1);
  else
    gatherRegisters();
  gatherShared(getB(), form.scaleB, b, 1, form.n);
  const char *fault = findColumns();
  int perThread = form.n / 2;
  std::vector<double> sums(size_t(kWarpgroupM * form.n));
  auto forEachSum = [&](auto visit) {
    for (int thread = 0; thread < kWarpgroupThreads; ++thread)
      for (int i = 0; i < perThread; ++i) {
        FragmentOffset place = getWarpgroupSumOffset(thread, i);
        visit(thread, i, sums[size_t(place.row * form.n + place.column)]);
      }
  };
  if (form.addsSums)
    forEachSum([&](int thread, int i, double &sum) {
      sum = decodeSum(form.a, operandsOf(thread).sums[i]);
    });
  for (int row = 0; row < kWarpgroupM; ++row)
    multiply(row, &sums[size_t(row * form.n)]);
  forEachSum([&](int thread, int i, double &sum) {
    static_cast<uint32_t *>(lanes.results[thread])[i] =
        encodeSum(form.a, sum, form.saturates != 0);
  });
  return fault;
}
