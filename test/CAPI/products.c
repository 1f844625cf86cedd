/*===- products.c - Products and convolutions of pruned weights from C ----===*\
|*
|* products FOLDER [SEED]: compiles products of unstructured weights and
|* convolutions of pruned filters for a CPU and for the simulator, and compares
|* what they give with sums in double. Weights are given dense, as a bitmap, as
|* offsets, or are constants of the module. Results hold NaN, or the value that
|* comes nearest, before.
|*
\*===----------------------------------------------------------------------===*/

#include "Expect.h"
#include "nm-c/Compiler.h"
#include "nm-c/Format.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

static const char *folder;
static uint64_t state;

/*===----------------------------------------------------------------------===*\
|* Elements
\*===----------------------------------------------------------------------===*/

/* A number from 0 to below 1. */
static double draw(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(state >> 40) / (double)(1 << 24);
}

static size_t sizeOf(NmElementType type) {
  return type == NM_I8 ? 1 : type == NM_BF16 ? 2 : 4;
}

static const char *nameOf(NmElementType type) {
  return type == NM_I8     ? "i8"
         : type == NM_BF16 ? "bf16"
         : type == NM_I32  ? "i32"
                           : "f32";
}

static double get(NmElementType type, const void *data, int64_t i) {
  if (type == NM_I8)
    return ((const int8_t *)data)[i];
  if (type == NM_I32)
    return ((const int32_t *)data)[i];
  if (type == NM_F32)
    return ((const float *)data)[i];
  uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Draws an element that is not zero. */
static void put(NmElementType type, void *data, int64_t i) {
  int sign = draw() < .5 ? -1 : 1;
  float value = (float)(sign * (.1 + draw()));
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (type == NM_I8)
    ((int8_t *)data)[i] = (int8_t)(sign * (1 + (int)(draw() * 99)));
  else if (type == NM_F32)
    ((float *)data)[i] = value;
  else
    ((uint16_t *)data)[i] = (uint16_t)(bits >> 16);
}

static void *drawMany(NmElementType type, int64_t count) {
  void *data = calloc((size_t)count, sizeOf(type));
  EXPECT(data);
  for (int64_t i = 0; i < count; ++i)
    put(type, data, i);
  return data;
}

static NmElementType resultOf(NmElementType type) {
  return type == NM_I8 ? NM_I32 : type;
}

static double limitOf(NmElementType type) {
  return type == NM_I8 ? 0 : type == NM_BF16 ? 1e-2 : 1e-5;
}

/*===----------------------------------------------------------------------===*\
|* Text
\*===----------------------------------------------------------------------===*/

typedef struct {
  char *data;
  size_t size, room;
} Text;

static void add(Text *text, const char *format, ...) {
  for (;;) {
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text->data + text->size, text->room - text->size,
                         format, list);
    va_end(list);
    EXPECT(size >= 0);
    if (text->size + (size_t)size < text->room) {
      text->size += (size_t)size;
      return;
    }
    text->room = 2 * text->room + (size_t)size + 1024;
    text->data = realloc(text->data, text->room);
    EXPECT(text->data);
  }
}

static void addConstant(Text *text, const void *data, size_t size) {
  add(text, "arith.constant dense<\"0x");
  for (size_t i = 0; i < size; ++i)
    add(text, "%02X", ((const uint8_t *)data)[i]);
  add(text, "\">");
}

/*===----------------------------------------------------------------------===*\
|* One function
\*===----------------------------------------------------------------------===*/

typedef enum { DENSE, BITMAP, OFFSETS, CONSTANT, WAYS } Way;

/* Weights B[k x n], of `pattern`. */
typedef struct {
  NmElementType type;
  int64_t shape[2];
  void *data;
  NmPattern pattern;
} Weights;

/* Compiles `text`, and gives the only function of what comes out. `*module` is
 * the caller's. */
static NmFunction *compile(Text *text, const char *target, NmModule **module) {
  char path[512];
  snprintf(path, sizeof path, "%s/products-%d.so", folder, (int)getpid());
  NmCompileOption options[] = {{"target", target}};
  NmCompilation *compilation = nmCompileTo(path, text->data, text->size,
                                           "text.mlir", options, 1, NULL, NULL);
  if (nmCompilationFailed(compilation)) {
    NmDiagnostic diagnostic;
    nmCompilationGetDiagnostic(compilation, 0, &diagnostic);
    fail(__LINE__, diagnostic.message);
  }
  nmCompilationFree(compilation);
  NmFunction *function = NULL;
  SUCCEEDS(nmModuleLoad(path, module));
  SUCCEEDS(nmFunctionCreate(*module, NULL, &function));
  unlink(path);
  return function;
}

static NmTensor matrix(void *data, NmElementType type, const int64_t *shape) {
  NmTensor tensor = {data, type, 2, shape, NULL, NM_CPU, 0};
  return tensor;
}

/* Gives argument 1 its weights. */
static void setWeights(NmFunction *function, const Weights *w, Way way) {
  NmTensor dense = matrix(w->data, w->type, w->shape);
  if (way == DENSE) {
    SUCCEEDS(nmFunctionSetWeight(function, 1, &dense));
    return;
  }
  int64_t k = w->shape[0], n = w->shape[1], ofValues[2], ofBits[2], ofForm[2];
  SUCCEEDS(nmCondensedShape(&w->pattern, k, n, ofValues, ofBits));
  NmTensor values =
      matrix(calloc((size_t)(ofValues[0] * ofValues[1]), sizeOf(w->type)),
             w->type, ofValues);
  NmTensor bits =
      matrix(calloc((size_t)(ofBits[0] * ofBits[1]), 1), NM_I8, ofBits);
  SUCCEEDS(nmCompress(&dense, &w->pattern, "w", &values, &bits));
  if (way == BITMAP || w->pattern.m != 0) {
    SUCCEEDS(nmFunctionSetCondensedWeight(function, 1, &values, &bits));
  } else {
    SUCCEEDS(
        nmIndexShape(&w->pattern, k, n, &bits, NM_INDICES_OFFSETS, ofForm));
    NmTensor offsets =
        matrix(calloc((size_t)(ofForm[0] * ofForm[1]), 1), NM_I8, ofForm);
    SUCCEEDS(nmConvertIndices(&w->pattern, k, n, &bits, &offsets));
    SUCCEEDS(nmFunctionSetCondensedWeight(function, 1, &values, &offsets));
    free(offsets.data);
  }
  free(values.data);
  free(bits.data);
}

/* Calls the function, with the result poisoned, and compares. */
static void callAndCompare(NmFunction *function, const NmTensor *a,
                           NmElementType type, int32_t rank,
                           const int64_t *shape, const double *expected,
                           const char *about) {
  int64_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    count *= shape[i];
  NmTensor c = {NULL, type, rank, shape, NULL, NM_CPU, 0};
  c.data = malloc((size_t)count * sizeOf(type));
  memset(c.data, 0xff, (size_t)count * sizeOf(type));
  SUCCEEDS(nmFunctionCall(function, a, 1, &c, 1));
  double difference = 0, norm = 1e-300;
  for (int64_t i = 0; i < count; ++i) {
    double off = get(type, c.data, i) - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  free(c.data);
  double error = sqrt(difference / norm);
  if (error <= limitOf(type == NM_I32 ? NM_I8 : type))
    return;
  fprintf(stderr, "%s: error %g\n", about, error);
  exit(1);
}

static Weights drawUnstructured(NmElementType type, int64_t k, int64_t n,
                                double zeros) {
  Weights w = {type, {k, n}, NULL, {0, 0, 1, 1, 0}};
  w.data = calloc((size_t)(k * n), sizeOf(type));
  int64_t empty = (int64_t)(draw() * (double)n);
  for (int64_t i = 0; i < k * n; ++i)
    if (draw() >= zeros && i % n != empty) {
      put(type, w.data, i);
      ++w.pattern.n;
    }
  if (w.pattern.n == 0) {
    put(type, w.data, 0);
    w.pattern.n = 1;
  }
  return w;
}

static void addType(Text *text, const int64_t *shape, int rank,
                    NmElementType type, const NmPattern *pattern) {
  add(text, "tensor<");
  for (int i = 0; i < rank; ++i)
    add(text, "%lldx", (long long)shape[i]);
  add(text, "%s", nameOf(type));
  if (pattern) {
    char *name = NULL;
    SUCCEEDS(nmPatternPrint(pattern, &name));
    add(text, ", #nm.encoding<%s>", name);
    nmMessageFree(name);
  }
  add(text, ">");
}

/* A result that holds zeros, as %c. */
static void addZeros(Text *text, const int64_t *shape, int rank,
                     NmElementType type) {
  add(text, "  %%z = arith.constant %s : %s\n  %%e = tensor.empty() : ",
      type == NM_I32 ? "0" : "0.0", nameOf(type));
  addType(text, shape, rank, type, NULL);
  add(text, "\n  %%c = linalg.fill ins(%%z : %s) outs(%%e : ", nameOf(type));
  addType(text, shape, rank, type, NULL);
  add(text, ") -> ");
  addType(text, shape, rank, type, NULL);
  add(text, "\n");
}

/*===----------------------------------------------------------------------===*\
|* Products
\*===----------------------------------------------------------------------===*/

static void addProduct(Text *text, const Weights *w, const int64_t *ofA,
                       const int64_t *ofC, Way way) {
  NmElementType type = w->type, result = resultOf(type);
  const NmPattern *pattern = way == CONSTANT ? NULL : &w->pattern;
  add(text, "func.func @product(%%a: ");
  addType(text, ofA, 2, type, NULL);
  if (pattern) {
    add(text, ", %%w: ");
    addType(text, w->shape, 2, type, pattern);
  }
  add(text, ") -> ");
  addType(text, ofC, 2, result, NULL);
  add(text, " {\n");
  if (!pattern) {
    add(text, "  %%w = ");
    addConstant(text, w->data,
                (size_t)(w->shape[0] * w->shape[1]) * sizeOf(type));
    add(text, " : ");
    addType(text, w->shape, 2, type, NULL);
    add(text, "\n");
  }
  addZeros(text, ofC, 2, result);
  add(text, "  %%r = linalg.matmul ins(%%a, %%w : ");
  addType(text, ofA, 2, type, NULL);
  add(text, ", ");
  addType(text, w->shape, 2, type, pattern);
  add(text, ") outs(%%c : ");
  addType(text, ofC, 2, result, NULL);
  add(text, ") -> ");
  addType(text, ofC, 2, result, NULL);
  add(text, "\n  return %%r : ");
  addType(text, ofC, 2, result, NULL);
  add(text, "\n}\n");
}

static void testProduct(NmElementType type, int64_t m, double zeros, Way way,
                        const char *target) {
  int64_t k = 150 + (int64_t)(draw() * 200), n = 5 + (int64_t)(draw() * 60);
  int64_t ofA[] = {m, k}, ofC[] = {m, n};
  Weights w = drawUnstructured(type, k, n, zeros);
  void *a = drawMany(type, m * k);
  double *expected = calloc((size_t)(m * n), sizeof(double));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t r = 0; r < k; ++r)
      for (int64_t j = 0; j < n; ++j)
        expected[i * n + j] +=
            get(type, a, i * k + r) * get(type, w.data, r * n + j);
  Text text = {NULL, 0, 0};
  addProduct(&text, &w, ofA, ofC, way);
  NmModule *module = NULL;
  NmFunction *function = compile(&text, target, &module);
  if (way != CONSTANT)
    setWeights(function, &w, way);
  char about[160];
  snprintf(about, sizeof about,
           "%s, %lld x %lld x %lld %s, %g of zeros, way %d", target,
           (long long)m, (long long)k, (long long)n, nameOf(type), zeros, way);
  NmTensor tensorA = matrix(a, type, ofA);
  callAndCompare(function, &tensorA, resultOf(type), 2, ofC, expected, about);
  /* As a transposed view of rows that are further apart. */
  size_t size = sizeOf(type);
  int64_t strides[] = {1, m + 3};
  char *view = malloc((size_t)(k * (m + 3)) * size);
  memset(view, 0xff, (size_t)(k * (m + 3)) * size);
  for (int64_t i = 0; i < m * k; ++i)
    memcpy(view + (size_t)(i % k * (m + 3) + i / k) * size,
           (char *)a + (size_t)i * size, size);
  tensorA.data = view;
  tensorA.strides = strides;
  callAndCompare(function, &tensorA, resultOf(type), 2, ofC, expected, about);
  nmFunctionFree(function);
  nmModuleFree(module);
  free(view);
  free(a);
  free(w.data);
  free(expected);
  free(text.data);
}

/*===----------------------------------------------------------------------===*\
|* Convolutions
\*===----------------------------------------------------------------------===*/

/* Taps of 3 x 2, strides of 1 x 2, dilations of 2 x 1. */
enum { TAPS_Y = 3, TAPS_X = 2, STRIDE_X = 2, DILATION_Y = 2 };

/* Whose rows of k are channels of a tap, or taps of a channel. */
typedef enum { CHANNELS_LAST, CHANNELS_FIRST } Order;

typedef struct {
  Weights w;
  Order order;
  /* Batch, channels, height, width; of the filter [f, c, y, x], too. */
  int64_t image[4], result[4], filter[4];
} Convolution;

/* The element of the matrix that is the weight of output channel `f`, of input
 * channel `c` of tap (y, x). */
static int64_t placeOf(const Convolution *conv, int64_t f, int64_t c, int64_t y,
                       int64_t x) {
  int64_t channels = conv->image[1];
  int64_t row = conv->order == CHANNELS_LAST ? (y * TAPS_X + x) * channels + c
                                             : (c * TAPS_Y + y) * TAPS_X + x;
  return row * conv->w.shape[1] + f;
}

static double *convolve(const Convolution *conv, const void *image) {
  const int64_t *of = conv->image, *to = conv->result;
  NmElementType type = conv->w.type;
  double *expected =
      calloc((size_t)(to[0] * to[1] * to[2] * to[3]), sizeof(double));
  double *at = expected;
  for (int64_t b = 0; b < to[0]; ++b)
    for (int64_t f = 0; f < to[1]; ++f)
      for (int64_t i = 0; i < to[2]; ++i)
        for (int64_t j = 0; j < to[3]; ++j, ++at)
          for (int64_t c = 0; c < of[1]; ++c)
            for (int64_t tap = 0; tap < TAPS_Y * TAPS_X; ++tap) {
              int64_t y = tap / TAPS_X, x = tap % TAPS_X;
              int64_t row = i + y * DILATION_Y, column = j * STRIDE_X + x;
              int64_t pixel = ((b * of[1] + c) * of[2] + row) * of[3] + column;
              *at += get(type, image, pixel) *
                     get(type, conv->w.data, placeOf(conv, f, c, y, x));
            }
  return expected;
}

/* A filter [f, c, y, x] of the matrix, as a constant or reshaped. */
static void addFilter(Text *text, const Convolution *conv, Way way) {
  const Weights *w = &conv->w;
  if (way == CONSTANT) {
    int64_t n = w->shape[1], c = conv->image[1];
    size_t size = sizeOf(w->type);
    char *filter = malloc((size_t)(w->shape[0] * n) * size), *to = filter;
    for (int64_t i = 0; i < n * c * TAPS_Y * TAPS_X; ++i, to += size) {
      int64_t x = i % TAPS_X, y = i / TAPS_X % TAPS_Y;
      int64_t channel = i / (TAPS_X * TAPS_Y) % c,
              out = i / (TAPS_X * TAPS_Y * c);
      memcpy(to,
             (char *)w->data + (size_t)placeOf(conv, out, channel, y, x) * size,
             size);
    }
    add(text, "  %%f = ");
    addConstant(text, filter, (size_t)(w->shape[0] * n) * size);
    add(text, " : ");
    addType(text, conv->filter, 4, w->type, NULL);
    add(text, "\n");
    free(filter);
    return;
  }
  bool last = conv->order == CHANNELS_LAST;
  int64_t c = conv->image[1], n = w->shape[1];
  int64_t expanded[] = {last ? TAPS_Y : c, last ? TAPS_X : TAPS_Y,
                        last ? c : TAPS_X, n};
  add(text,
      "  %%v = tensor.expand_shape %%w [[0, 1, 2], [3]] output_shape "
      "[%lld, %lld, %lld, %lld] : ",
      (long long)expanded[0], (long long)expanded[1], (long long)expanded[2],
      (long long)expanded[3]);
  addType(text, w->shape, 2, w->type, &w->pattern);
  add(text, " into ");
  addType(text, expanded, 4, w->type, NULL);
  add(text, "\n  %%fe = tensor.empty() : ");
  addType(text, conv->filter, 4, w->type, NULL);
  add(text, "\n  %%f = linalg.transpose ins(%%v : ");
  addType(text, expanded, 4, w->type, NULL);
  add(text, ") outs(%%fe : ");
  addType(text, conv->filter, 4, w->type, NULL);
  add(text, ") permutation = %s\n", last ? "[3, 2, 0, 1]" : "[3, 0, 1, 2]");
}

static void addConvolution(Text *text, const Convolution *conv, Way way) {
  NmElementType type = conv->w.type, result = resultOf(type);
  add(text, "func.func @convolution(%%a: ");
  addType(text, conv->image, 4, type, NULL);
  if (way != CONSTANT) {
    add(text, ", %%w: ");
    addType(text, conv->w.shape, 2, type, &conv->w.pattern);
  }
  add(text, ") -> ");
  addType(text, conv->result, 4, result, NULL);
  add(text, " {\n");
  addFilter(text, conv, way);
  addZeros(text, conv->result, 4, result);
  add(text,
      "  %%r = linalg.conv_2d_nchw_fchw {strides = dense<[1, %d]> : "
      "tensor<2xi64>, dilations = dense<[%d, 1]> : tensor<2xi64>} ins(%%a, "
      "%%f : ",
      STRIDE_X, DILATION_Y);
  addType(text, conv->image, 4, type, NULL);
  add(text, ", ");
  addType(text, conv->filter, 4, type, NULL);
  add(text, ") outs(%%c : ");
  addType(text, conv->result, 4, result, NULL);
  add(text, ") -> ");
  addType(text, conv->result, 4, result, NULL);
  add(text, "\n  return %%r : ");
  addType(text, conv->result, 4, result, NULL);
  add(text, "\n}\n");
}

/* Keeps what `pattern` asks for of all weights. */
static void prune(Weights *w, const char *pattern) {
  SUCCEEDS(nmPatternParse(pattern, &w->pattern));
  NmTensor dense = matrix(w->data, w->type, w->shape);
  NmPruneReport report;
  SUCCEEDS(nmPrune(&dense, NULL, &w->pattern, &dense, &report));
}

static void testConvolution(NmElementType type, const char *pattern,
                            Order order, Way way, const char *target) {
  int64_t c = 16, n = 17 + (int64_t)(draw() * 16);
  int64_t height = 1 + (int64_t)(draw() * 8), width = 1 + (int64_t)(draw() * 9);
  int64_t batch = 1 + (int64_t)(draw() * 2);
  Convolution conv = {{0},
                      order,
                      {batch, c, height + (TAPS_Y - 1) * DILATION_Y,
                       (width - 1) * STRIDE_X + TAPS_X + 1},
                      {batch, n, height, width},
                      {n, c, TAPS_Y, TAPS_X}};
  int64_t k = c * TAPS_Y * TAPS_X;
  conv.w = drawUnstructured(type, k, n, pattern ? 0 : .8);
  if (pattern)
    prune(&conv.w, pattern);
  int64_t pixels = batch * c * conv.image[2] * conv.image[3];
  void *image = drawMany(type, pixels);
  double *expected = convolve(&conv, image);
  Text text = {NULL, 0, 0};
  addConvolution(&text, &conv, way);
  NmModule *module = NULL;
  NmFunction *function = compile(&text, target, &module);
  if (way != CONSTANT)
    setWeights(function, &conv.w, way);
  char about[200];
  snprintf(about, sizeof about,
           "%s, convolution of %s, order %d, %lld channels, %lld x %lld, %s, "
           "way %d",
           target, pattern ? pattern : "unstructured weights", order,
           (long long)n, (long long)height, (long long)width, nameOf(type),
           way);
  NmTensor tensorA = {image, type, 4, conv.image, NULL, NM_CPU, 0};
  callAndCompare(function, &tensorA, resultOf(type), 4, conv.result, expected,
                 about);
  nmFunctionFree(function);
  nmModuleFree(module);
  free(conv.w.data);
  free(image);
  free(expected);
  free(text.data);
}

/*===----------------------------------------------------------------------===*\
|* Zeros
\*===----------------------------------------------------------------------===*/

/* Whether a diagnostic of the compilation has `part` in it. */
static int says(const NmCompilation *compilation, const char *part) {
  NmDiagnostic diagnostic;
  for (int64_t i = 0; i < nmCompilationGetNumDiagnostics(compilation); ++i)
    if (nmCompilationGetDiagnostic(compilation, i, &diagnostic) == 0 &&
        strstr(diagnostic.message, part))
      return 1;
  return 0;
}

/* Zeros that stand between weights meet activations: the compiler says so, the
 * module keeps it, and an option refuses it. */
static void testZeros(void) {
  Weights w = drawUnstructured(NM_F32, 300, 40, .95);
  int64_t ofA[] = {1, 300}, ofC[] = {1, 40};
  Text text = {NULL, 0, 0};
  addProduct(&text, &w, ofA, ofC, DENSE);
  NmCompileOption options[] = {{"target", "sim:sm_90a"},
                               {"schedule", "gemv_columns"},
                               {"dense-fallback", "false"}};
  char path[512];
  snprintf(path, sizeof path, "%s/zeros-%d.so", folder, (int)getpid());
  NmCompilation *compilation =
      nmCompileTo(path, text.data, text.size, NULL, options, 2, NULL, NULL);
  static const char kZeros[] =
      "zeros stand where gaps between weights are long",
                    kMeet[] = "pruned weights then turn infinite and NaN "
                              "activations into NaN, which "
                              "dense-fallback=false prevents";
  EXPECT(!nmCompilationFailed(compilation));
  EXPECT(says(compilation, kZeros) && says(compilation, kMeet));
  nmCompilationFree(compilation);
  NmModule *module = NULL;
  NmFunction *function = NULL;
  NmProductRecord record;
  SUCCEEDS(nmModuleLoad(path, &module));
  unlink(path);
  SUCCEEDS(nmFunctionCreate(module, NULL, &function));
  EXPECT(nmFunctionGetProduct(function, 0, &record) == 0);
  EXPECT(strstr(record.reason, kZeros) && strstr(record.reason, kMeet));
  nmFunctionFree(function);
  nmModuleFree(module);
  compilation = nmCompile(text.data, text.size, NULL, options, 3);
  EXPECT(nmCompilationFailed(compilation));
  EXPECT(says(compilation, "zeros stand between weights"));
  nmCompilationFree(compilation);
  free(w.data);
  free(text.data);
}

int main(int argc, char **argv) {
  EXPECT(argc == 2 || argc == 3);
  folder = argv[1];
  state = argc == 3 ? strtoull(argv[2], NULL, 10) : (uint64_t)getpid();
  fprintf(stderr, "seed %llu\n", (unsigned long long)state);
  static const char *const kTargets[] = {"cpu", "sim:sm_90a", "sim:sm_80"};
  static const NmElementType kTypes[] = {NM_F32, NM_BF16, NM_I8};
  static const int64_t kRows[] = {1, 3, 9, 33};
  static const char *const kPatterns[] = {"2:4", "4:16, block = 1x8", NULL};
  static const double kZeros[] = {.5, .8, .97};
  /* Each way with each target; what else there is in turns. */
  int turn = (int)(draw() * 12);
  for (int target = 0; target < 3; ++target)
    for (Way way = DENSE; way < WAYS; ++way)
      for (int i = 0; i < 3; ++i, ++turn)
        testProduct(kTypes[i], kRows[turn % 4], kZeros[turn % 3], way,
                    kTargets[target]);
  for (int target = 0; target < 2; ++target)
    for (Way way = DENSE; way < WAYS; ++way)
      for (int i = 0; i < 3; ++i, ++turn)
        testConvolution(kTypes[turn / 2 % 2], kPatterns[i],
                        turn % 2 ? CHANNELS_FIRST : CHANNELS_LAST, way,
                        kTargets[target]);
  testZeros();
  printf("passed\n");
  return 0;
}
