/*===- format.c - Checking, pruning and compressing weights from C --------===*/

#include "nm-c/Format.h"
#include "Expect.h"

static const int64_t kShape[] = {4, 3}, kHalf[] = {2, 3};
static const NmPattern k24 = {2, 4, 1, 1, 0};
/* Every column has two of four. */
static float obeys[12] = {1, 0, 0, 0, 5, 0, 3, -0.0f, 0, 0, 6, 7};
/* Column 1 has three. */
static float breaks[12] = {1, 2, 0, 0, 5, 0, 3, 4, 0, 0, 0, 7};

static NmTensor matrix(void *data, NmElementType type, const int64_t *shape) {
  NmTensor tensor = {data, type, 2, shape, NULL, NM_CPU, 0};
  return tensor;
}

static void testPattern(void) {
  NmPattern pattern;
  SUCCEEDS(nmPatternParse("8:32, block = 1x16, dim = 1", &pattern));
  EXPECT(pattern.n == 8 && pattern.m == 32 && pattern.bk == 1 &&
         pattern.bn == 16 && pattern.dim == 1);
  char *text = NULL;
  SUCCEEDS(nmPatternPrint(&pattern, &text));
  EXPECT(strcmp(text, "8:32, block = 1x16, dim = 1") == 0);
  nmMessageFree(text);
  FAILS(nmPatternParse("2 of 4", &pattern), "expected a pattern like '2:4'");
  NmPattern bad = {5, 4, 1, 1, 0};
  FAILS(nmPatternVerify(&bad), "expected 1 <= N <= M = 4");
  NmPattern badDim = {2, 4, 1, 1, 2};
  FAILS(nmPatternVerify(&badDim), "expected dimension 0 or 1");
}

static void testCheck(void) {
  NmTensor good = matrix(obeys, NM_F32, kShape);
  NmTensor bad = matrix(breaks, NM_F32, kShape);
  NmPatternReport report;
  SUCCEEDS(nmCheckPattern(&good, &k24, &report));
  EXPECT(report.holds && report.violations == 0 && report.windows == 3);
  EXPECT(report.elements == 12 && report.nonZeros == 5);
  EXPECT(report.negativeZeros == 1);
  SUCCEEDS(nmCheckPattern(&bad, &k24, &report));
  EXPECT(!report.holds && report.violations == 1 && report.count == 3);
  EXPECT(report.columnBegin == 1 && report.columnEnd == 2);
  EXPECT(report.kBegin == 0 && report.kEnd == 4);
  char *text = NULL;
  SUCCEEDS(nmPatternReportDescribe(&report, "w", &text));
  EXPECT(strstr(text, "expected 'w' to have at most 2 non-zeros"));
  EXPECT(strstr(text, "but got 3 in column 1, k 0..3"));
  nmMessageFree(text);
}

static void testDetect(void) {
  NmTensor good = matrix(obeys, NM_F32, kShape);
  NmPattern found;
  char *reason = NULL;
  SUCCEEDS(nmDetectPattern(&good, 0, 0.0, &found, &reason));
  EXPECT(found.n == 1 && found.m == 2 && found.dim == 0 && reason);
  nmMessageFree(reason);
  reason = NULL;
  SUCCEEDS(nmDetectPattern(&good, 0, 0.75, &found, &reason));
  EXPECT(found.n == 0 && reason);
  nmMessageFree(reason);
  FAILS(nmDetectPattern(&good, 3, 0.0, &found, &reason),
        "expected dimension 0 or 1 to be k, but got 3");
}

static void testUnstructured(void) {
  NmPattern pattern, found;
  SUCCEEDS(nmPatternParse("unstructured, kept = 5", &pattern));
  EXPECT(pattern.n == 5 && pattern.m == 0 && pattern.bk == 1 &&
         pattern.bn == 1 && pattern.dim == 0);
  FAILS(nmPatternParse("2:0", &found), "expected 1 <= M <= 256");
  FAILS(nmPatternParse("unstructured, kept = 0", &found),
        "expected a pattern like");
  int64_t valueShape[2], indexShape[2], excess = -1;
  SUCCEEDS(nmCondensedShape(&pattern, 4, 3, valueShape, indexShape));
  EXPECT(valueShape[0] == 1 && valueShape[1] == 5);
  EXPECT(indexShape[0] == 1 && indexShape[1] == 3);
  /* [4 x 3], of which 6 are not zero. */
  NmTensor bad = matrix(breaks, NM_F32, kShape);
  NmPatternReport report;
  SUCCEEDS(nmCheckPattern(&bad, &pattern, &report));
  EXPECT(!report.holds && report.count == 6 && report.nonZeros == 6);
  float values[6], again[12];
  uint8_t bits[3];
  int64_t sizeOfValues[2] = {1, 6};
  NmTensor v = matrix(values, NM_F32, sizeOfValues);
  NmTensor b = matrix(bits, NM_I8, indexShape);
  pattern.n = 6;
  SUCCEEDS(nmCompress(&bad, &pattern, "w", &v, &b));
  SUCCEEDS(nmVerifyCondensed(&pattern, 4, 3, "w", &v, &b));
  NmTensor to = matrix(again, NM_F32, kShape);
  SUCCEEDS(nmDecompress(&v, &b, &pattern, &to));
  EXPECT(memcmp(again, breaks, sizeof(again)) == 0);
  bits[0] = 0xff;
  FAILS(nmVerifyCondensed(&pattern, 4, 3, "w", &v, &b), "bits of 'w");
  pattern.n = 2;
  NmPruneReport pruned;
  SUCCEEDS(nmPrune(&bad, NULL, &pattern, &to, &pruned));
  EXPECT(pruned.nonZeros == 6 && pruned.dropped == 4);
  SUCCEEDS(nmFindNearPattern(&bad, 0, 0.5, &found, &excess));
  EXPECT(found.m == 4 && excess > 0);
  FAILS(nmFindNearPattern(&bad, 2, 0.5, &found, &excess),
        "expected dimension 0 or 1");
}

/* 64 x 3 weights: rows 2, 3 and 40 of column 1 are kept, in either form. */
static void testOffsets(void) {
  static float dense[64 * 3], again[64 * 3];
  dense[2 * 3 + 1] = 5, dense[3 * 3 + 1] = -1, dense[40 * 3 + 1] = 2;
  int64_t shape[2] = {64, 3}, ofValues[2], ofBits[2], ofOffsets[2];
  NmPattern pattern = {3, 0, 1, 1, 0}, windows = {2, 4, 1, 1, 0};
  NmTensor b = matrix(dense, NM_F32, shape), to = matrix(again, NM_F32, shape);
  SUCCEEDS(nmCondensedShape(&pattern, 64, 3, ofValues, ofBits));
  float values[3];
  uint8_t bits[24], offsets[19], back[24];
  NmTensor v = matrix(values, NM_F32, ofValues);
  NmTensor bitmap = matrix(bits, NM_I8, ofBits);
  SUCCEEDS(nmCompress(&b, &pattern, "w", &v, &bitmap));
  SUCCEEDS(
      nmIndexShape(&pattern, 64, 3, &bitmap, NM_INDICES_SMALLEST, ofOffsets));
  EXPECT(ofOffsets[0] == 19 && ofOffsets[1] == 1);
  NmTensor o = matrix(offsets, NM_I8, ofOffsets);
  SUCCEEDS(nmConvertIndices(&pattern, 64, 3, &bitmap, &o));
  static const uint8_t expected[19] = {0, 0, 0, 0, 0, 0, 0, 0, 3, 0,
                                       0, 0, 3, 0, 0, 0, 2, 0, 36};
  EXPECT(memcmp(offsets, expected, sizeof(expected)) == 0);
  SUCCEEDS(nmVerifyCondensed(&pattern, 64, 3, "w", &v, &o));
  SUCCEEDS(nmDecompress(&v, &o, &pattern, &to));
  EXPECT(memcmp(again, dense, sizeof(dense)) == 0);
  int64_t found[2];
  SUCCEEDS(nmIndexShape(&pattern, 64, 3, &o, NM_INDICES_BITMAP, found));
  EXPECT(found[0] == 1 && found[1] == 24);
  NmTensor r = matrix(back, NM_I8, found);
  SUCCEEDS(nmConvertIndices(&pattern, 64, 3, &o, &r));
  EXPECT(memcmp(back, bits, sizeof(bits)) == 0);
  FAILS(nmIndexShape(&pattern, 64, 3, &o, 7, found), "expected a form");
  FAILS(nmIndexShape(&windows, 64, 3, &o, 0, found), "but got 2:4");
  found[0] = 18, found[1] = 1;
  r = matrix(back, NM_I8, found);
  FAILS(nmConvertIndices(&pattern, 64, 3, &bitmap, &r), "expected 19x1 bytes");
  offsets[4] = 4;
  FAILS(nmVerifyCondensed(&pattern, 64, 3, "w", &v, &o),
        "offsets of 'w, indices', column 1: expected at most 3");
}

static void testPrune(void) {
  float result[12];
  NmTensor bad = matrix(breaks, NM_F32, kShape);
  NmTensor to = matrix(result, NM_F32, kShape);
  NmPruneReport report;
  SUCCEEDS(nmPrune(&bad, NULL, &k24, &to, &report));
  EXPECT(report.nonZeros == 6 && report.dropped == 1);
  EXPECT(result[1] == 0 && result[4] == 5 && result[7] == 4);
  /* Into memory of other strides. */
  float transposed[12];
  const int64_t strides[] = {1, 4};
  to.data = transposed;
  to.strides = strides;
  SUCCEEDS(nmPrune(&bad, NULL, &k24, &to, &report));
  EXPECT(report.dropped == 1 && transposed[4] == 0 && transposed[5] == 5);
  /* What others say matters, and it may be the zeros. */
  const float matters[12] = {0, 9};
  NmTensor scores = matrix((void *)matters, NM_F32, kShape);
  NmTensor back = matrix(result, NM_F32, kShape);
  SUCCEEDS(nmPrune(&bad, &scores, &k24, &back, &report));
  EXPECT(result[1] == breaks[1] && result[1] != 0);
  NmTensor small = matrix(result, NM_F32, kHalf);
  FAILS(nmPrune(&bad, &small, &k24, &to, &report),
        "scores: expected tensor<4x3xf32>, but got 2x3 f32");
  FAILS(nmPrune(&bad, NULL, &k24, &small, &report),
        "result: expected 4x3 f32, but got 2x3 f32");
}

static void testCompress(void) {
  float values[6], again[12];
  uint8_t indices[6];
  int64_t valueShape[2], indexShape[2];
  SUCCEEDS(nmCondensedShape(&k24, 4, 3, valueShape, indexShape));
  EXPECT(valueShape[0] == 2 && valueShape[1] == 3);
  EXPECT(indexShape[0] == 2 && indexShape[1] == 3);
  NmTensor good = matrix(obeys, NM_F32, kShape);
  NmTensor bad = matrix(breaks, NM_F32, kShape);
  NmTensor v = matrix(values, NM_F32, valueShape);
  NmTensor i = matrix(indices, NM_I8, indexShape);
  FAILS(nmCompress(&bad, &k24, "layer.0", &v, &i), "expected 'layer.0' to");
  FAILS(nmCompress(&good, &k24, "w", &i, &i),
        "values: expected row-major tensor<2x3xf32>");
  SUCCEEDS(nmCompress(&good, &k24, "w", &v, &i));
  const float expected[6] = {1, 5, 0, 3, 6, 7};
  EXPECT(memcmp(values, expected, sizeof values) == 0);
  SUCCEEDS(nmVerifyCondensed(&k24, 4, 3, "w", &v, &i));
  NmTensor dense = matrix(again, NM_F32, kShape);
  SUCCEEDS(nmDecompress(&v, &i, &k24, &dense));
  for (int at = 0; at < 12; ++at)
    EXPECT(again[at] == obeys[at]);
  indices[3] = 9;
  FAILS(nmVerifyCondensed(&k24, 4, 3, "w", &v, &i), "expected a position");
  FAILS(nmDecompress(&v, &i, &k24, &dense), "expected a position");
  NmTensor onDevice = good;
  onDevice.device = NM_CUDA;
  FAILS(nmCompress(&onDevice, &k24, "w", &v, &i),
        "expected a tensor on the host");
  NmTensor odd = good;
  odd.data = (char *)odd.data + 1;
  FAILS(nmCompress(&odd, &k24, "w", &v, &i),
        "dense: expected data at a multiple of the size of f32");
}

static void testPack(void) {
  float values[6] = {1, 5, 0, 3, 6, 7}, packedValues[8], values2[6];
  uint8_t indices[6] = {0, 1, 0, 2, 3, 3}, packedIndices[4], indices2[6];
  const NmPacking packing = {2, 2};
  int64_t valueShape[3], indexShape[3];
  SUCCEEDS(nmPackedShape(&packing, &k24, 4, 3, valueShape, indexShape));
  EXPECT(valueShape[0] == 2 && valueShape[1] == 2 && valueShape[2] == 2);
  EXPECT(indexShape[0] == 2 && indexShape[1] == 2 && indexShape[2] == 1);
  NmTensor v = matrix(values, NM_F32, kHalf);
  NmTensor i = matrix(indices, NM_I8, kHalf);
  NmTensor pv = {packedValues, NM_F32, 3, valueShape, NULL, NM_CPU, 0};
  NmTensor pi = {packedIndices, NM_I8, 3, indexShape, NULL, NM_CPU, 0};
  SUCCEEDS(nmPack(&v, &i, &packing, &k24, 4, 3, &pv, &pi));
  EXPECT(packedValues[0] == 1 && packedValues[2] == 3 && packedValues[5] == 0);
  EXPECT(packedIndices[0] == (0 | 1 << 2) && packedIndices[1] == (2 | 3 << 2));
  NmTensor v2 = matrix(values2, NM_F32, kHalf);
  NmTensor i2 = matrix(indices2, NM_I8, kHalf);
  SUCCEEDS(nmUnpack(&pv, &pi, &packing, &k24, 4, 3, &v2, &i2));
  EXPECT(memcmp(values, values2, sizeof values) == 0);
  EXPECT(memcmp(indices, indices2, sizeof indices) == 0);
  packedIndices[1] = packedIndices[0];
  FAILS(nmUnpack(&pv, &pi, &packing, &k24, 4, 3, &v2, &i2), "packed weight");
  const NmPacking narrow = {2, 1};
  FAILS(nmPack(&v, &i, &narrow, &k24, 4, 3, &pv, &pi), "expected");
}

int main(void) {
  testPattern();
  testCheck();
  testDetect();
  testUnstructured();
  testOffsets();
  testPrune();
  testCompress();
  testPack();
  printf("passed\n");
  return 0;
}
