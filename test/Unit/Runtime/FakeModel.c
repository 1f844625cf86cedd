/*===- FakeModel.c - What nm-compile would emit, written by hand ----------===*\
|*
|* Functions with MLIR's C interface and a manifest, so that the runtime is
|* tested without the compiler. The macros make broken variants of it.
|*
\*===----------------------------------------------------------------------===*/

#include "nm-c/Runtime.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Memref1;

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Memref2;

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
} Memref3;

#define EXPORT(NAME) __asm__(NAME) __attribute__((visibility("default")))

/* @ffn: C[? x 3] = A[? x 4] * W[4 x 3], W 2:4. */

int32_t nmFakePackCalls = 0;

/* Packed: the condensed values negated, [1 x 2 x 3], and the indices. */
void ffnPack(Memref2 *values, Memref2 *indices, Memref3 *packedValues,
             Memref3 *packedIndices) EXPORT("_mlir_ciface_ffn.pack");
void ffnPack(Memref2 *values, Memref2 *indices, Memref3 *packedValues,
             Memref3 *packedIndices) {
  ++nmFakePackCalls;
  for (int i = 0; i < 6; ++i) {
    ((float *)packedValues->aligned)[i] = -((float *)values->aligned)[i];
    ((uint8_t *)packedIndices->aligned)[i] = ((uint8_t *)indices->aligned)[i];
  }
}

typedef struct {
  Memref2 *a, *c;
  Memref3 *values, *indices;
} FfnContext;

static void ffnRow(int64_t row, void *p) {
  FfnContext *ctx = p;
  const float *a = (const float *)ctx->a->aligned + row * ctx->a->strides[0];
  float *c = (float *)ctx->c->aligned + row * ctx->c->strides[0];
  const float *values = ctx->values->aligned;
  const uint8_t *indices = ctx->indices->aligned;
  for (int j = 0; j < 3; ++j) {
    c[j] = 0;
    for (int r = 0; r < 2; ++r)
      c[j] -= a[indices[r * 3 + j]] * values[r * 3 + j];
  }
}

void ffn(Memref2 *a, Memref3 *values, Memref3 *indices, Memref2 *c)
    EXPORT("_mlir_ciface_ffn");
void ffn(Memref2 *a, Memref3 *values, Memref3 *indices, Memref2 *c) {
  FfnContext ctx = {a, c, values, indices};
  nmParallelFor(a->sizes[0], ffnRow, &ctx);
}

void ffnReference(Memref2 *a, Memref2 *w, Memref2 *c)
    EXPORT("_mlir_ciface_ffn.reference");
void ffnReference(Memref2 *a, Memref2 *w, Memref2 *c) {
  for (int64_t i = 0; i < a->sizes[0]; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += ((double *)a->aligned)[i * 4 + k] *
               ((double *)w->aligned)[k * 3 + j];
      ((double *)c->aligned)[i * 3 + j] = sum;
    }
}

/* @stats: doubles its argument, or what else FAKE_FACTOR says; the second
 * result is its size. */

#ifndef FAKE_FACTOR
#define FAKE_FACTOR 2
#endif

int beside(void);

void stats(Memref1 *x, Memref1 *twice, Memref1 *size)
    EXPORT("_mlir_ciface_stats");
void stats(Memref1 *x, Memref1 *twice, Memref1 *size) {
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    ((float *)twice->aligned)[i] = FAKE_FACTOR * ((float *)x->aligned)[i];
  ((int32_t *)size->aligned)[0] = (int32_t)x->sizes[0];
}

/* @lazy: forgets its result. */

void lazy(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_lazy");
void lazy(Memref1 *x, Memref1 *y) { (void)x, (void)y; }

void lazyReference(Memref1 *x, Memref1 *y)
    EXPORT("_mlir_ciface_lazy.reference");
void lazyReference(Memref1 *x, Memref1 *y) {
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    ((double *)y->aligned)[i] = 2 * ((double *)x->aligned)[i];
}

/* @almost: doubles its argument, but for a little. */

void almost(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_almost");
void almost(Memref1 *x, Memref1 *y) {
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    ((float *)y->aligned)[i] = 2.0001f * ((float *)x->aligned)[i];
}

/* @add: two matrices of equal shapes, 8-bit integers. */

void add(Memref2 *a, Memref2 *b, Memref2 *c) EXPORT("_mlir_ciface_add");
void add(Memref2 *a, Memref2 *b, Memref2 *c) {
  int64_t count = a->sizes[0] * a->sizes[1];
  for (int64_t i = 0; i < count; ++i)
    ((int8_t *)c->aligned)[i] =
        (int8_t)(((int8_t *)a->aligned)[i] + ((int8_t *)b->aligned)[i]);
}

/* @big: packs two weights of [4096 x 4096] as they are. */

static void copyParts(Memref2 *values, Memref2 *indices, Memref2 *packedValues,
                      Memref2 *packedIndices) {
  int64_t count = values->sizes[0] * values->sizes[1];
  memcpy(packedValues->aligned, values->aligned, count * sizeof(float));
  memcpy(packedIndices->aligned, indices->aligned, count);
}

void bigPack(Memref2 *v0, Memref2 *i0, Memref2 *v1, Memref2 *i1, Memref2 *pv0,
             Memref2 *pi0, Memref2 *pv1, Memref2 *pi1)
    EXPORT("_mlir_ciface_big.pack");
void bigPack(Memref2 *v0, Memref2 *i0, Memref2 *v1, Memref2 *i1, Memref2 *pv0,
             Memref2 *pi0, Memref2 *pv1, Memref2 *pi1) {
  copyParts(v0, i0, pv0, pi0);
  copyParts(v1, i1, pv1, pi1);
}

void big(Memref2 *v0, Memref2 *i0, Memref2 *v1, Memref2 *i1, Memref1 *y)
    EXPORT("_mlir_ciface_big");
void big(Memref2 *v0, Memref2 *i0, Memref2 *v1, Memref2 *i1, Memref1 *y) {
  (void)i0, (void)i1;
  *(float *)y->aligned = *(float *)v0->aligned + *(float *)v1->aligned;
}

/* What runs when it is loaded. */

#ifdef FAKE_CONSTRUCTOR
__attribute__((constructor)) static void run(void) {
  setenv("NM_FAKE_MODEL_RAN", "1", 1);
}
#endif

/* The manifest. */

#ifndef FAKE_VERSION
#define FAKE_VERSION "1"
#endif
#ifndef FAKE_FEATURES
#define FAKE_FEATURES ""
#endif
#ifndef FAKE_FFN_SYMBOL
#define FAKE_FFN_SYMBOL "_mlir_ciface_ffn"
#endif

#define BIG_WEIGHT                                                             \
  "{\"dtype\": \"f32\", \"shape\": [4096, 4096], \"encoding\": \"2:4\"}"
#define BIG_PARTS                                                              \
  "\"values\": {\"dtype\": \"f32\", \"shape\": [2048, 4096]},"                 \
  "\"indices\": {\"dtype\": \"i8\", \"shape\": [2048, 4096]}"

#ifndef FAKE_NO_MANIFEST
__attribute__((visibility("default"))) const char nm_manifest[] =
    "{ \"version\": " FAKE_VERSION ", \"target\": \"cpu\","
    "  \"processor_features\": [" FAKE_FEATURES "], \"functions\": ["
    "  { \"name\": \"ffn\", \"symbol\": \"" FAKE_FFN_SYMBOL "\","
    "    \"args\": ["
    "      {\"dtype\": \"f32\", \"shape\": [-1, 4]},"
    "      {\"dtype\": \"f32\", \"shape\": [4, 3], \"encoding\": \"2:4\"}],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [-1, 3],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0}, 3]}],"
    "    \"pack\": {\"symbol\": \"_mlir_ciface_ffn.pack\", \"weights\": ["
    "      {\"arg\": 1,"
    "       \"values\": {\"dtype\": \"f32\", \"shape\": [1, 2, 3]},"
    "       \"indices\": {\"dtype\": \"i8\", \"shape\": [1, 2, 3]}}]},"
    "    \"reference\": {\"symbol\": \"_mlir_ciface_ffn.reference\","
    "      \"args\": [{\"dtype\": \"f64\", \"shape\": [-1, 4]},"
    "               {\"dtype\": \"f64\", \"shape\": [4, 3]}],"
    "      \"results\": [{\"dtype\": \"f64\", \"shape\": [-1, 3],"
    "                   \"dims\": [{\"arg\": 0, \"dim\": 0}, 3]}]},"
    "    \"ops\": [{\"strategy\": \"vector\", \"loc\": \"fake.mlir:3:8\","
    "             \"remark\": \"2:4, 50 % sparse\", \"op\": \"nm.spmm\","
    "             \"pattern\": \"2:4\", \"m\": -1, \"n\": 3, \"k\": 4,"
    "             \"dtype\": \"f32\", \"source\": \"model\","
    "             \"estimate_us\": 2.5, \"falls_back\": true}],"
    "    \"flops_per_row\": 12},"
    "  { \"name\": \"stats\", \"symbol\": \"_mlir_ciface_stats\","
    "    \"args\": [{\"dtype\": \"f32\", \"shape\": [-1]}],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [-1],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0}]},"
    "                {\"dtype\": \"i32\", \"shape\": [1]}]},"
    "  { \"name\": \"lazy\", \"symbol\": \"_mlir_ciface_lazy\","
    "    \"args\": [{\"dtype\": \"f32\", \"shape\": [-1]}],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [-1],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0}]}],"
    "    \"reference\": {\"symbol\": \"_mlir_ciface_lazy.reference\","
    "      \"args\": [{\"dtype\": \"f64\", \"shape\": [-1]}],"
    "      \"results\": [{\"dtype\": \"f64\", \"shape\": [-1],"
    "                   \"dims\": [{\"arg\": 0, \"dim\": 0}]}]}},"
    "  { \"name\": \"almost\", \"symbol\": \"_mlir_ciface_almost\","
    "    \"args\": [{\"dtype\": \"f32\", \"shape\": [-1]}],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [-1],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0}]}],"
    "    \"reference\": {\"symbol\": \"_mlir_ciface_lazy.reference\","
    "      \"args\": [{\"dtype\": \"f64\", \"shape\": [-1]}],"
    "      \"results\": [{\"dtype\": \"f64\", \"shape\": [-1],"
    "                   \"dims\": [{\"arg\": 0, \"dim\": 0}]}]}},"
    "  { \"name\": \"add\", \"symbol\": \"_mlir_ciface_add\","
    "    \"args\": [{\"dtype\": \"i8\", \"shape\": [-1, -1]},"
    "             {\"dtype\": \"i8\", \"shape\": [-1, -1]}],"
    "    \"results\": [{\"dtype\": \"i8\", \"shape\": [-1, -1],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0},"
    "                          {\"arg\": 0, \"dim\": 1}]}],"
    "    \"equal_dims\": [[{\"arg\": 0, \"dim\": 0}, {\"arg\": 1, \"dim\": 0}],"
    "                   [{\"arg\": 0, \"dim\": 1}, {\"arg\": 1, \"dim\": 1}]]}"
    ",  { \"name\": \"big\", \"symbol\": \"_mlir_ciface_big\","
    "    \"args\": [" BIG_WEIGHT ", " BIG_WEIGHT "],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [1]}],"
    "    \"pack\": {\"symbol\": \"_mlir_ciface_big.pack\", \"weights\": ["
    "      {\"arg\": 0, " BIG_PARTS "}, {\"arg\": 1, " BIG_PARTS "}]}}"
    "]}";
#endif
