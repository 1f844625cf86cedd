/*===- CublasCalls.h - What emitted code calls of cuBLAS --------*- C++ -*-===*\
|*
|* The runtime's functions that nm-call-cublas declares.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_TEST_CUBLASCALLS_H
#define NM_TEST_CUBLASCALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
int64_t nmCublasIsLoaded();
int64_t nmCublasTryMultiply(int64_t m, int64_t n, int64_t k, int64_t batches,
                            const void *a, const void *b, void *c, int64_t type,
                            int64_t outputType, int64_t rowOfA, int64_t rowOfB,
                            int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
                            int64_t transposeA, int64_t transposeC,
                            int64_t flags);
int64_t nmCublasTryEpilogue(int64_t m, int64_t n, int64_t k, int64_t batches,
                            const void *a, const void *b, void *c, int64_t type,
                            int64_t outputType, int64_t rowOfA, int64_t rowOfB,
                            int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
                            int64_t transposeA, int64_t transposeC,
                            int64_t flags, int64_t epilogue, const void *bias);
void nmCublasMultiply(int64_t m, int64_t n, int64_t k, int64_t batches,
                      const void *a, const void *b, void *c, int64_t type,
                      int64_t outputType, int64_t rowOfA, int64_t rowOfB,
                      int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
                      int64_t transposeA, int64_t transposeC, int64_t flags);
int64_t nmCublasTryContract(int64_t m, int64_t n, int64_t k, int64_t outer,
                            int64_t inner, const void *a, const void *b,
                            void *c, int64_t type, int64_t outputType,
                            int64_t outerOfA, int64_t innerOfA, int64_t rowOfA,
                            int64_t columnOfA, int64_t outerOfB,
                            int64_t innerOfB, int64_t rowOfB, int64_t columnOfB,
                            int64_t outerOfC, int64_t innerOfC, int64_t rowOfC,
                            int64_t columnOfC, int64_t flags);
int64_t nmCudnnIsLoaded();
int64_t nmCudnnTryAttention(int64_t batches, int64_t heads, int64_t groups,
                            int64_t rows, int64_t keys, int64_t depth,
                            int64_t width, const void *q, const void *k,
                            const void *v, void *o, int64_t type,
                            int64_t batchOfQ, int64_t headOfQ, int64_t groupOfQ,
                            int64_t rowOfQ, int64_t batchOfK, int64_t headOfK,
                            int64_t rowOfK, int64_t batchOfV, int64_t headOfV,
                            int64_t rowOfV, int64_t batchOfO, int64_t headOfO,
                            int64_t groupOfO, int64_t rowOfO, int64_t scale,
                            int64_t isCausal);
int64_t nmCudnnTryConvolve(
    const void *x, const void *w, void *y, int64_t type, int64_t flags,
    int64_t images, int64_t channels, int64_t outputs, int64_t size0,
    int64_t taps0, int64_t places0, int64_t step0, int64_t dilation0,
    int64_t before0, int64_t size1, int64_t taps1, int64_t places1,
    int64_t step1, int64_t dilation1, int64_t before1, int64_t size2,
    int64_t taps2, int64_t places2, int64_t step2, int64_t dilation2,
    int64_t before2, int64_t imageOfX, int64_t channelOfX, int64_t pixel0OfX,
    int64_t pixel1OfX, int64_t pixel2OfX, int64_t outputOfW, int64_t channelOfW,
    int64_t tap0OfW, int64_t tap1OfW, int64_t tap2OfW, int64_t imageOfY,
    int64_t outputOfY, int64_t place0OfY, int64_t place1OfY, int64_t place2OfY);
#ifdef __cplusplus
}
#endif

#endif /* NM_TEST_CUBLASCALLS_H */
