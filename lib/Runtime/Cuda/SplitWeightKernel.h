/*===- SplitWeightKernel.h - How a thread splits a weight ---------*- C -*-===*\
|*
|* Makes the packed form of many rows, a sparse operand of wgmma of three splits
|* (SparseOperand.h), of that of few rows, f32 in panels (PackedForm.h), both of
|* a weight that keeps two of each four rows of a column.
|*
|* Compiled for a GPU, this is the kernel in SplitWeightKernel.ptx, which the
|* runtime carries as text so that it needs no CUDA to be built:
|*
|*   clang-22 -x c --target=nvptx64-nvidia-cuda -march=sm_80
|*     --cuda-feature=+ptx70 -O2 -S SplitWeightKernel.h -o SplitWeightKernel.ptx
|*
|* test/Tools/runtime-kernels.test compares the two. Tests without a GPU
|* compile it for the host.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_LIB_RUNTIME_CUDA_SPLITWEIGHTKERNEL_H
#define NM_LIB_RUNTIME_CUDA_SPLITWEIGHTKERNEL_H

/** The threads of a block: one for each eight kept rows of a column, of the 64
 * columns and 32 kept rows of a step. */
#define NM_SPLIT_WEIGHT_THREADS 256

/** Four floats that are read at once, and eight bf16 that are written so. */
typedef float NmFloat4 __attribute__((vector_size(16)));
typedef unsigned NmWord4 __attribute__((vector_size(16)));

typedef struct {
  /** Values in panels, in chunks of four rows, and indices of two bits, in
   * index rows of a multiple of four rows. */
  const NmFloat4 *values;
  const unsigned char *indices;
  /** The splits, and the metadata. */
  NmWord4 *splits;
  unsigned short *metadata;
  /** What there is of the weight: kept rows of k, and columns. */
  unsigned rows, columns;
  /** The columns of a panel, its chunks of one column, its index rows and the
   * rows of an index row, of which a column has so many bytes: 16 or a divisor
   * of it, or a multiple. */
  unsigned panel, chunks, indexRows, rowsOfIndex, bytesOfIndex;
  /** Steps of 64 k of a block of 64 columns. */
  unsigned steps;
} NmSplitWeight;

/** The indices of four kept rows of a column, from a multiple of four on. */
static inline unsigned nmIndicesOfFour(const NmSplitWeight *weight,
                                       unsigned column, unsigned row) {
  unsigned panel = weight->panel, bytes = weight->bytesOfIndex;
  unsigned word = bytes < 16 ? bytes : 16;
  unsigned line =
      column / panel * weight->indexRows + row / weight->rowsOfIndex;
  unsigned byte = row % weight->rowsOfIndex / 4;
  return weight->indices[line * panel * bytes + byte / word * panel * word +
                         column % panel * word + byte % word];
}

static inline NmFloat4 nmValuesOfFour(const NmSplitWeight *weight,
                                      unsigned column, unsigned row) {
  unsigned panel = weight->panel;
  unsigned line = column / panel * weight->chunks + row / 4;
  return weight->values[line * panel + column % panel];
}

/** splitFloat of SplitFloats.h, into the low or the high halves of words. */
static inline void nmSplitFloat(float value, unsigned words[3], int shift) {
  union {
    float number;
    unsigned bits;
  } in = {value}, rest, part;
  unsigned splits[3];
  rest.number = value * 0x1p16f;
#pragma unroll
  for (int split = 0; split < 3; ++split) {
    splits[split] = (rest.bits + 0x7fff + (rest.bits >> 16 & 1)) >> 16;
    part.bits = splits[split] << 16;
    rest.number -= part.number;
  }
  unsigned magnitude = in.bits & 0x7fffffffu;
  /* 2^44, and what is larger, or no number. */
  if (magnitude >= 0x55800000u) {
    splits[0] = 0x7fc0;
    splits[1] = magnitude > 0x7f800000u ? 0x7fc0 : in.bits >> 16;
    splits[2] = in.bits & 0xffff;
  }
#pragma unroll
  for (int split = 0; split < 3; ++split)
    words[split] |= splits[split] << shift;
}

/** Two neighbours, or the zeros that fill a group up. */
static inline void nmSplitPair(float low, float high, int isThere,
                               unsigned words[3]) {
  words[0] = words[1] = words[2] = 0;
  nmSplitFloat(low, words, 0);
  nmSplitFloat(high, words, 16);
  words[0] = isThere ? words[0] : 0;
  words[1] = isThere ? words[1] : 0x80008000u;
  words[2] = isThere ? words[2] : 0;
}

/** Writes what thread `thread` of block `block` of threads has: eight kept rows
 * of the column that is the instruction's row thread % 64. */
static inline void nmSplitWeightThread(const NmSplitWeight *weight,
                                       unsigned block, unsigned thread) {
  unsigned row = thread % 64, eight = thread / 64;
  unsigned first = block % weight->steps * 32 + eight * 8;
  unsigned column =
      block / weight->steps * 64 + row / 16 * 16 + row % 8 * 2 + row / 8 % 2;
  /* Behind the last row and column there are zeros, in a group's first places.
   * Whole groups of four rows of k are there or not. */
  unsigned there = column < weight->columns && first < weight->rows
                       ? weight->rows - first
                       : 0;
  NmFloat4 low = {0}, high = {0};
  unsigned pairs = 0;
  if (there > 0) {
    low = nmValuesOfFour(weight, column, first);
    pairs = nmIndicesOfFour(weight, column, first);
  }
  if (there > 4) {
    high = nmValuesOfFour(weight, column, first + 4);
    pairs |= nmIndicesOfFour(weight, column, first + 4) << 8;
  }
  unsigned known = there >= 8 ? 0xffff : (1u << 2 * there) - 1;
  pairs = (pairs & known) | (0x4444 & ~known);
  unsigned words[4][3];
  nmSplitPair(low[0], low[1], there > 0, words[0]);
  nmSplitPair(low[2], low[3], there > 2, words[1]);
  nmSplitPair(high[0], high[1], there > 4, words[2]);
  nmSplitPair(high[2], high[3], there > 6, words[3]);
  /* A step has 256 chunks of eight values of each split. */
  unsigned long long chunk = block * 768ull + eight * 64 + row;
#pragma unroll
  for (int split = 0; split < 3; ++split) {
    NmWord4 part = {words[0][split], words[1][split], words[2][split],
                    words[3][split]};
    weight->splits[chunk + split * 256] = part;
  }
  unsigned lane = row % 8 * 4 + eight;
  weight->metadata[block * 256ull + row / 16 * 64 + lane * 2 + row / 8 % 2] =
      (unsigned short)pairs;
}

#ifdef __NVPTX__
/** Each parameter is 8 bytes. */
__attribute__((device_kernel)) void
nm_split_weight(const NmFloat4 *values, const unsigned char *indices,
                NmWord4 *splits, unsigned short *metadata, long long rows,
                long long columns, long long panel, long long chunks,
                long long indexRows, long long rowsOfIndex,
                long long bytesOfIndex, long long steps) {
  NmSplitWeight weight = {values,
                          indices,
                          splits,
                          metadata,
                          (unsigned)rows,
                          (unsigned)columns,
                          (unsigned)panel,
                          (unsigned)chunks,
                          (unsigned)indexRows,
                          (unsigned)rowsOfIndex,
                          (unsigned)bytesOfIndex,
                          (unsigned)steps};
  nmSplitWeightThread(&weight, __nvvm_read_ptx_sreg_ctaid_x(),
                      __nvvm_read_ptx_sreg_tid_x());
}
#endif

#endif /* NM_LIB_RUNTIME_CUDA_SPLITWEIGHTKERNEL_H */
