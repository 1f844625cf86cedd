/*===- FakeCudaModel.c - A module for CUDA, written by hand ---------------===*\
|*
|* What nm-compile emits for a GPU, with FakeCuda.h's images in place of cubins:
|* the host code is what upstream's translation of gpu.binary and of
|* gpu.launch_func gives. The macros make broken variants of it.
|*
\*===----------------------------------------------------------------------===*/

#include "../../RuntimeCalls.h"
#include "FakeCuda.h"

#include <stddef.h>
#include <stdint.h>
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

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[6], strides[6];
} Memref6;

#define EXPORT(NAME) __asm__(NAME) __attribute__((visibility("default")))

/* The kernels. */

static void twiceKernel(const unsigned grid[3], void **params) {
  const float *x = *(const float **)params[0];
  float *y = *(float **)params[1];
  (void)grid;
  for (int64_t i = 0; i < *(int64_t *)params[2]; ++i)
    y[i] = 2 * x[i];
}

static void sameKernel(const unsigned grid[3], void **params) {
  (void)grid;
  memcpy(*(void **)params[1], *(void **)params[0], *(size_t *)params[2]);
}

/* How often @ffn's weights were others than at its last run. */
__attribute__((visibility("default"))) int64_t nmFakeWeightChanges = 0;

static void ffnKernel(const unsigned grid[3], void **params) {
  const float *a = *(const float **)params[0];
  const float *values = *(const float **)params[1];
  const uint8_t *indices = *(const uint8_t **)params[2];
  float *c = *(float **)params[3];
  static const float *last;
  nmFakeWeightChanges += values != last;
  last = values;
  for (unsigned i = 0; i < grid[0]; ++i)
    for (int j = 0; j < 3; ++j) {
      c[i * 3 + j] = 0;
      for (int r = 0; r < 2; ++r)
        c[i * 3 + j] -= a[i * 4 + indices[r * 3 + j]] * values[r * 3 + j];
    }
}

static const FakeKernel kKernels[] = {{"twice", twiceKernel, 3, 0},
                                      {"ffn", ffnKernel, 4, 1024},
                                      {"same", sameKernel, 3, 0}};

/* The container of KernelObjects.h. */

typedef struct {
  char chip[16];
  uint64_t format, offset, size;
} Entry;

#ifndef FAKE_FIRST_CHIP
#define FAKE_FIRST_CHIP "sm_80"
#endif
#ifndef FAKE_FIRST_MAGIC
#define FAKE_FIRST_MAGIC FAKE_IMAGE_MAGIC
#endif

typedef struct {
  char magic[8];
  uint64_t size, count;
  Entry entries[3];
  uint64_t padding;
  FakeImage first, second;
  char ptx[16];
} Container;

static Container container = {
    {'\x8e', 'N', 'M', 'K', 'E', 'R', 'N', 1},
    sizeof(Container),
    3,
    {{FAKE_FIRST_CHIP, 1, offsetof(Container, first), sizeof(FakeImage)},
     {"sm_90a", 1, offsetof(Container, second), sizeof(FakeImage)},
     {"sm_80", 2, offsetof(Container, ptx), 12}},
    0,
    {FAKE_FIRST_MAGIC, 3, kKernels},
    {FAKE_IMAGE_MAGIC, 3, kKernels},
    ".version 8.0"};

static void *module;

__attribute__((constructor)) static void loadModule(void) {
  module = mgpuModuleLoad(&container, sizeof container);
}
__attribute__((destructor)) static void unloadModule(void) {
  mgpuModuleUnload(module);
}

/* @twice: y = 2 x, memory aligned to 16 bytes. */

static void launchVectors(const char *kernel, int32_t sharedBytes, float *x,
                          float *y, int64_t count) {
  void *params[] = {&x, &y, &count};
  void *stream = nmGetStream();
  mgpuLaunchKernel(mgpuModuleGetFunction(module, kernel), (count + 127) / 128,
                   1, 1, 128, 1, 1, sharedBytes, stream, params, NULL, 3);
}

void twice(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_twice");
void twice(Memref1 *x, Memref1 *y) {
  launchVectors("twice", 0, x->aligned, y->aligned, x->sizes[0]);
}

void twiceReference(Memref1 *x, Memref1 *y)
    EXPORT("_mlir_ciface_twice.reference");
void twiceReference(Memref1 *x, Memref1 *y) {
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    ((double *)y->aligned)[i] = 2 * ((double *)x->aligned)[i];
}

/* @missing: a kernel that no image has. */

void missing(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_missing");
void missing(Memref1 *x, Memref1 *y) {
  launchVectors("none", 0, x->aligned, y->aligned, x->sizes[0]);
}

/* @shared: @twice with as much shared memory as it has elements. */

void shared(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_shared");
void shared(Memref1 *x, Memref1 *y) {
  launchVectors("twice", (int32_t)x->sizes[0], x->aligned, y->aligned,
                x->sizes[0]);
}

/* @workspace: @twice by way of memory of its own. */

void workspace(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_workspace");
void workspace(Memref1 *x, Memref1 *y) {
  uint64_t bytes = x->sizes[0] * sizeof(float);
  void *stream = nmGetStream(), *copy = mgpuMemAlloc(bytes, stream, 0);
  mgpuMemcpy(copy, x->aligned, bytes, stream);
  launchVectors("twice", 0, copy, y->aligned, x->sizes[0]);
  mgpuMemFree(copy, stream);
}

/* @byChip: y = 2 x on sm_80, y = x on sm_90. */

void byChipOnSm80(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_byChip.sm_80");
void byChipOnSm80(Memref1 *x, Memref1 *y) { twice(x, y); }

void byChip(Memref1 *x, Memref1 *y) EXPORT("_mlir_ciface_byChip");
void byChip(Memref1 *x, Memref1 *y) {
  launchVectors("same", 0, x->aligned, y->aligned, x->sizes[0] * sizeof(float));
}

/* @same: y = x, of six dimensions. */

static void launchSame(void *from, void *to, size_t bytes) {
  void *params[] = {&from, &to, &bytes};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "same"), 1, 1, 1, 32, 1, 1, 0,
                   nmGetStream(), params, NULL, 3);
}

void same(Memref6 *x, Memref6 *y) EXPORT("_mlir_ciface_same");
void same(Memref6 *x, Memref6 *y) {
  size_t bytes = sizeof(uint16_t);
  for (int d = 0; d < 6; ++d)
    bytes *= x->sizes[d];
  launchSame(x->aligned, y->aligned, bytes);
}

/* @ffn: C[? x 3] = A[? x 4] * W[4 x 3], W 2:4; packed: the values negated. */

void ffnPack(Memref2 *values, Memref2 *indices, Memref2 *packedValues,
             Memref2 *packedIndices) EXPORT("_mlir_ciface_ffn.pack");
void ffnPack(Memref2 *values, Memref2 *indices, Memref2 *packedValues,
             Memref2 *packedIndices) {
  for (int i = 0; i < 6; ++i) {
    ((float *)packedValues->aligned)[i] = -((float *)values->aligned)[i];
    ((uint8_t *)packedIndices->aligned)[i] = ((uint8_t *)indices->aligned)[i];
  }
}

void ffn(Memref2 *a, Memref2 *values, Memref2 *indices, Memref2 *c)
    EXPORT("_mlir_ciface_ffn");
void ffn(Memref2 *a, Memref2 *values, Memref2 *indices, Memref2 *c) {
  void *params[] = {&a->aligned, &values->aligned, &indices->aligned,
                    &c->aligned};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "ffn"), a->sizes[0], 1, 1, 32,
                   1, 1, 0, nmGetStream(), params, NULL, 4);
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

/* @few and @many: the parts of a packed W[72 x 70], W 2:4. */

static void copyPart(const Memref3 *from, const Memref3 *to, size_t bytes) {
  for (int d = 0; d < 3; ++d)
    bytes *= (size_t)from->sizes[d];
  launchSame(from->aligned, to->aligned, bytes);
}

void many(Memref3 *values, Memref3 *indices, Memref3 *toValues,
          Memref3 *toIndices) EXPORT("_mlir_ciface_many");
void many(Memref3 *values, Memref3 *indices, Memref3 *toValues,
          Memref3 *toIndices) {
  copyPart(values, toValues, sizeof(uint16_t));
  copyPart(indices, toIndices, 1);
}

/* Not called. */
void manyPack(void) EXPORT("_mlir_ciface_many.pack");
void manyPack(void) {}

#define PARTS(NAME, LAYOUT, VALUES, INDICES)                                   \
  "{ \"name\": \"" NAME "\", \"symbol\": \"_mlir_ciface_many\","               \
  "  \"args\": [{\"dtype\": \"f32\", \"shape\": [72, 70],"                     \
  "               \"encoding\": \"2:4\"}],"                                    \
  "  \"results\": [{" VALUES "}, {" INDICES "}],"                              \
  "  \"pack\": {\"symbol\": \"_mlir_ciface_many.pack\", \"weights\": ["        \
  "    {\"arg\": 0, \"layout\": \"" LAYOUT "\","                               \
  "     \"values\": {" VALUES "}, \"indices\": {" INDICES "}}]}}"

#define VECTOR "\"dtype\": \"f32\", \"shape\": [-1]"
#define DIMS "\"dims\": [{\"arg\": 0, \"dim\": 0}]"
#define ON_VECTORS(NAME, ALIGNMENT)                                            \
  "{ \"name\": \"" NAME "\", \"symbol\": \"_mlir_ciface_" NAME "\","           \
  "  \"args\": [{" VECTOR ALIGNMENT "}],"                                      \
  "  \"results\": [{" VECTOR ALIGNMENT ", " DIMS "}]"

/* The formatter puts a word on a line where macros and strings meet. */
/* clang-format off */
__attribute__((visibility("default"))) const char nm_manifest[] =
    "{ \"version\": 1, \"target\": \"cuda\","
    "  \"chips\": [\"sm_80\", \"sm_90a\", \"sm_80+ptx\"], \"functions\": ["
    ON_VECTORS("twice", ", \"alignment\": 16") ","
    "    \"reference\": {\"symbol\": \"_mlir_ciface_twice.reference\","
    "      \"args\": [{\"dtype\": \"f64\", \"shape\": [-1]}],"
    "      \"results\": [{\"dtype\": \"f64\", \"shape\": [-1], " DIMS "}]}},"
    ON_VECTORS("missing", "") "},"
    ON_VECTORS("shared", "") "},"
    ON_VECTORS("workspace", "") "},"
    ON_VECTORS("byChip", "") ","
    "    \"variants\": ["
    "      {\"chips\": [\"sm_80\"], \"symbol\": \"_mlir_ciface_byChip.sm_80\"},"
    "      {\"chips\": [\"sm_90a\"], \"symbol\": \"_mlir_ciface_byChip\"}]},"
    "  { \"name\": \"same\", \"symbol\": \"_mlir_ciface_same\","
    "    \"args\": [{\"dtype\": \"f16\", \"alignment\": 16,"
    "                \"shape\": [-1, -1, -1, -1, -1, -1]}],"
    "    \"results\": [{\"dtype\": \"f16\", \"alignment\": 16,"
    "                   \"shape\": [-1, -1, -1, -1, -1, -1],"
    "                   \"dims\": [{\"arg\": 0, \"dim\": 0},"
    "                     {\"arg\": 0, \"dim\": 1}, {\"arg\": 0, \"dim\": 2},"
    "                     {\"arg\": 0, \"dim\": 3}, {\"arg\": 0, \"dim\": 4},"
    "                     {\"arg\": 0, \"dim\": 5}]}]},"
    PARTS("few",
          "nm.pack {packing = #nm.packing<panel = 32, index_bits = 2, "
          "chunk_rows = 4, index_rows = 32>, pattern = #nm.pattern<2:4>}",
          "\"dtype\": \"f32\", \"shape\": [3, 16, 128]",
          "\"dtype\": \"i8\", \"shape\": [3, 2, 256]") ","
    PARTS("many",
          "nm.pack {packing = #nm.sparse_operand<wgmma_pairs, splits = 3>, "
          "pattern = #nm.pattern<2:4>}",
          "\"dtype\": \"bf16\", \"shape\": [2, 2, 6144]",
          "\"dtype\": \"i8\", \"shape\": [2, 2, 512]") ","
    "  { \"name\": \"ffn\", \"symbol\": \"_mlir_ciface_ffn\","
    "    \"args\": ["
    "      {\"dtype\": \"f32\", \"shape\": [-1, 4]},"
    "      {\"dtype\": \"f32\", \"shape\": [4, 3], \"encoding\": \"2:4\"}],"
    "    \"results\": [{\"dtype\": \"f32\", \"shape\": [-1, 3],"
    "                 \"dims\": [{\"arg\": 0, \"dim\": 0}, 3]}],"
    "    \"pack\": {\"symbol\": \"_mlir_ciface_ffn.pack\", \"weights\": ["
    "      {\"arg\": 1,"
    "       \"values\": {\"dtype\": \"f32\", \"shape\": [2, 3]},"
    "       \"indices\": {\"dtype\": \"i8\", \"shape\": [2, 3]}}]},"
    "    \"reference\": {\"symbol\": \"_mlir_ciface_ffn.reference\","
    "      \"args\": [{\"dtype\": \"f64\", \"shape\": [-1, 4]},"
    "               {\"dtype\": \"f64\", \"shape\": [4, 3]}],"
    "      \"results\": [{\"dtype\": \"f64\", \"shape\": [-1, 3],"
    "                   \"dims\": [{\"arg\": 0, \"dim\": 0}, 3]}]},"
    "    \"flops_per_row\": 12}"
    "]}";
/* clang-format on */
