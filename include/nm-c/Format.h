/*===- nm-c/Format.h - N:M weights from C -----------------------*- C -*-===*\
|*
|* Checking, pruning, compressing and packing weights, in libnm_runtime. All
|* tensors are on the host, of rank 2, and at a multiple of the size of their
|* elements; dense ones may be strided. Errors are values, as in nm-c/Runtime.h.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_FORMAT_H
#define NM_C_FORMAT_H

#include "nm-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** N units of bk x bn are kept of every M along k, and k is dimension `dim` of
 * the dense tensor: 0 of B[k x n], 1 of W[n x k]. */
typedef struct {
  int64_t n, m, bk, bn, dim;
} NmPattern;

/** Parses `2:4`, or `8:32, block = 1x32, dim = 1`, or `unstructured, kept =
 * 100`: m is 0 then, and n how many of all weights are kept at most, 0 for any
 * number.
 */
char *nmPatternParse(const char *text, NmPattern *pattern);

/** Checks that the numbers make a pattern. */
char *nmPatternVerify(const NmPattern *pattern);

/** Writes what nmPatternParse reads to `*text`, which the caller gives back
 * with nmMessageFree. */
char *nmPatternPrint(const NmPattern *pattern, char **text);

/*===----------------------------------------------------------------------===*\
|* Dense weights
\*===----------------------------------------------------------------------===*/

/** What nmCheckPattern found in every window of every block column. */
typedef struct {
  NmPattern pattern;
  /** 0, or another value where every window obeys the pattern. */
  int32_t holds;
  /** Windows with more than N non-zero units, of how many. */
  int64_t violations, windows;
  /** The first of them in order of column, then k: its columns and its range of
   * k, ends excluded, and its non-zero units. Zeros where the pattern holds. */
  int64_t columnBegin, columnEnd, kBegin, kEnd, count;
  /** Elements, those that are not zero (a NaN is not), and those that are -0.0,
   * which count as zeros. */
  int64_t elements, nonZeros, negativeZeros;
} NmPatternReport;

/** Checks `dense` against `pattern`. That it does not hold is no error. */
char *nmCheckPattern(const NmTensor *dense, const NmPattern *pattern,
                     NmPatternReport *report);

/** Writes one line about the first violation of the tensor called `name` to
 * `*text`, which the caller gives back with nmMessageFree. */
char *nmPatternReportDescribe(const NmPatternReport *report, const char *name,
                              char **text);

/** Searches for the pattern of highest sparsity that holds and is at least
 * `minSparsity`, with k as dimension `dim`. `found->n` is 0 where there is
 * none. `*reason`, a clause on why, is given back with nmMessageFree. */
char *nmDetectPattern(const NmTensor *dense, int64_t dim, double minSparsity,
                      NmPattern *found, char **reason);

/** Searches for the sparsest N:M pattern of single weights that at most `share`
 * of the non-zeros stand in the way of, 0 to 1, with k as dimension `dim`, and
 * M of 4, 8, 16 or 32. `found->n` is 0 where there is none, and `*excess` how
 * many stand in the way. */
char *nmFindNearPattern(const NmTensor *dense, int64_t dim, double share,
                        NmPattern *found, int64_t *excess);

/** What nmPrune took away. */
typedef struct {
  /** Non-zero elements before, and how many of them were dropped. */
  int64_t nonZeros, dropped;
  /** Sum of the dropped squares over the sum of all, 0 to 1; NaN where the
   * matrix holds a NaN or an infinity. */
  double droppedEnergy;
} NmPruneReport;

/** Writes `dense` to `result`, of the same type and shape and maybe the same
 * memory, with all but N units of every window zero: those of largest L2 norm
 * stay, or of largest norm of their `scores`, f32 of the shape of `dense`,
 * where they are not NULL. */
char *nmPrune(const NmTensor *dense, const NmTensor *scores,
              const NmPattern *pattern, const NmTensor *result,
              NmPruneReport *report);

/*===----------------------------------------------------------------------===*\
|* The condensed form: values [w x np] and indices [w/bk x np/bn] of one byte,
|* the positions of the kept units in their windows. w are the kept rows of k,
|* and np is n padded to whole units.
|*
|* Of unstructured weights, values are [1 x kept], column by column in the order
|* of k. Their indices have one of two forms, which their shape tells:
|* - a bitmap [1 x n * ceil(k/8)]: bit r%8 of byte r/8 of column c says whether
|*   row r is kept;
|* - offsets [s x 1], smaller where less than an eighth of the weights is kept:
|*   n + 1 numbers of four bytes, little-endian, where the gaps of each column
|*   begin and how many gaps there are, then the gaps, a byte each. A gap below
|*   255 passes over so many rows, and the row behind is kept; 255 passes over
|*   255 rows and keeps none.
|* Functions that take condensed weights take either.
\*===----------------------------------------------------------------------===*/

/** Writes the shapes of the condensed parts of k x n weights. */
char *nmCondensedShape(const NmPattern *pattern, int64_t k, int64_t n,
                       int64_t values[2], int64_t indices[2]);

/** Writes the condensed form of `dense` to `values` and `indices`, row-major.
 * Refuses weights that break the pattern; the error calls them `name`. */
char *nmCompress(const NmTensor *dense, const NmPattern *pattern,
                 const char *name, const NmTensor *values,
                 const NmTensor *indices);

/** Checks the types, shapes and indices of condensed k x n weights that came
 * from outside. */
char *nmVerifyCondensed(const NmPattern *pattern, int64_t k, int64_t n,
                        const char *name, const NmTensor *values,
                        const NmTensor *indices);

/** A form of the indices of unstructured weights; of NM_INDICES_SMALLEST the
 * one of fewest bytes. */
typedef enum {
  NM_INDICES_SMALLEST = 0,
  NM_INDICES_BITMAP = 1,
  NM_INDICES_OFFSETS = 2
} NmIndexForm;

/** Writes the shape that the indices of k x n unstructured weights, which are
 * verified, have in a form. Refuses weights of an N:M pattern. */
char *nmIndexShape(const NmPattern *pattern, int64_t k, int64_t n,
                   const NmTensor *indices, int32_t form, int64_t shape[2]);

/** Writes the indices `from` of k x n unstructured weights, which are verified,
 * to `to` in the form that its shape tells. */
char *nmConvertIndices(const NmPattern *pattern, int64_t k, int64_t n,
                       const NmTensor *from, const NmTensor *to);

/** Writes the dense tensor of condensed parts, which are verified. */
char *nmDecompress(const NmTensor *values, const NmTensor *indices,
                   const NmPattern *pattern, const NmTensor *dense);

/*===----------------------------------------------------------------------===*\
|* The packed form of the CPU: panels of columns, each stored whole, with
|* indices of `indexBits` bits (#nm.packing).
\*===----------------------------------------------------------------------===*/

typedef struct {
  int64_t panel, indexBits;
} NmPacking;

/** Writes the shapes of the packed parts of k x n weights. */
char *nmPackedShape(const NmPacking *packing, const NmPattern *pattern,
                    int64_t k, int64_t n, int64_t values[3],
                    int64_t indices[3]);

/** Writes the packed form of condensed k x n weights, which are verified. */
char *nmPack(const NmTensor *values, const NmTensor *indices,
             const NmPacking *packing, const NmPattern *pattern, int64_t k,
             int64_t n, const NmTensor *packedValues,
             const NmTensor *packedIndices);

/** The inverse. Indices that no condensed form has are an error. */
char *nmUnpack(const NmTensor *packedValues, const NmTensor *packedIndices,
               const NmPacking *packing, const NmPattern *pattern, int64_t k,
               int64_t n, const NmTensor *values, const NmTensor *indices);

#ifdef __cplusplus
}
#endif

#endif /* NM_C_FORMAT_H */
