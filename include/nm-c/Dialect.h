/*===- nm-c/Dialect.h - The nm dialect and its passes from C ----*- C -*-===*\
|*
|* For compilers that embed nm through MLIR's C API. libnm_compiler has these
|* functions; it links libMLIR.so, as the embedder must, and not the archives of
|* MLIR that libMLIR.so is made of.
|*
|* Of null objects, results are null, counts and numbers -1, times NaN and texts
|* empty, and what can fail does.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_DIALECT_H
#define NM_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The handle of the nm dialect: mlirGetDialectHandle__nm__. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NM, nm);

/** Adds the nm dialect, the upstream dialects that its pipelines use, and the
 * interface models that they need. */
MLIR_CAPI_EXPORTED void nmRegisterAllDialects(MlirDialectRegistry registry);

/** Adds the nm dialect alone, with its interface models and transform ops. */
MLIR_CAPI_EXPORTED void nmRegisterDialect(MlirDialectRegistry registry);

/** Registers the passes and pipelines of nm, and those of upstream, under the
 * names that pass pipelines in text call them by. Further calls do nothing. */
MLIR_CAPI_EXPORTED void nmRegisterAllPasses(void);

/** Registers those of nm alone. Further calls do nothing. */
MLIR_CAPI_EXPORTED void nmRegisterPasses(void);

/*===----------------------------------------------------------------------===*\
|* Attributes and types by their fields
|*
|* Every attribute and type of the dialect can be built from, and taken apart
|* into, a dictionary of the fields that docs/reference/Dialects/NMDialect.md
|* names. Of fields,
|*
|*   sizes, such as `block` or `strides`     are arrays of i64
(DenseI64ArrayAttr)
|*   numbers                                 are integers of type i64
|*   choices, such as `pack`                 are booleans
|*   cases, such as `copy_a` or `order`      are strings
|*   texts, such as `reason`                 are strings
|*   times                                   are floats of type f64
|*   attributes, such as `pattern`           are those attributes
|*
|* and what is left out has its default. `#nm.chip` has `name`, enums such as
|* `#nm.arithmetic` have `value`, `#nm.tile_layout` has `strides`,
|* `dynamic_offset`, `order` (an array of arrays of i64), `xor` (five numbers
|* each: dimension and bit, of the dimension and bit, how many), `panel_columns`
|* and `panel_stride`.
\*===----------------------------------------------------------------------===*/

/** How many attributes and types the dialect has. */
MLIR_CAPI_EXPORTED intptr_t nmGetNumAttributes(void);
MLIR_CAPI_EXPORTED intptr_t nmGetNumTypes(void);
/** The mnemonic of the one at `index`, such as `packing` of `#nm.packing`. It
 * lives as long as the library. */
MLIR_CAPI_EXPORTED MlirStringRef nmGetAttributeMnemonic(intptr_t index);
MLIR_CAPI_EXPORTED MlirStringRef nmGetTypeMnemonic(intptr_t index);

/** Builds `#nm.<mnemonic>` of a dictionary of fields; of fields that are not
 * known, or that the attribute's verifier refuses, the attribute is null, after
 * a diagnostic. Loads the dialect. */
MLIR_CAPI_EXPORTED MlirAttribute nmAttributeGet(MlirContext context,
                                                MlirStringRef mnemonic,
                                                MlirAttribute fields);
/** The dictionary of its fields; null for an attribute of another dialect. */
MLIR_CAPI_EXPORTED MlirAttribute nmAttributeGetFields(MlirAttribute attribute);
/** Its mnemonic; empty for an attribute of another dialect. */
MLIR_CAPI_EXPORTED MlirStringRef
nmAttributeGetMnemonic(MlirAttribute attribute);

/** The same of types: `!nm.token`, `!nm.fragment` with `destination`, which is
 * a type attribute, and `!nm.barriers` with `stages`. */
MLIR_CAPI_EXPORTED MlirType nmTypeGet(MlirContext context,
                                      MlirStringRef mnemonic,
                                      MlirAttribute fields);
MLIR_CAPI_EXPORTED MlirAttribute nmTypeGetFields(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef nmTypeGetMnemonic(MlirType type);

/*===----------------------------------------------------------------------===*\
|* #nm.encoding
\*===----------------------------------------------------------------------===*/

/** #nm.encoding<n:m, block = bk x bn, dim = dim>. Of parameters that the
 * attribute's verifier refuses the attribute is null, after a diagnostic. */
MLIR_CAPI_EXPORTED MlirAttribute nmEncodingAttrGet(MlirContext context,
                                                   int64_t n, int64_t m,
                                                   int64_t bk, int64_t bn,
                                                   int64_t dim);
MLIR_CAPI_EXPORTED bool nmAttributeIsAnEncoding(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t nmEncodingAttrGetN(MlirAttribute encoding);
MLIR_CAPI_EXPORTED int64_t nmEncodingAttrGetM(MlirAttribute encoding);
MLIR_CAPI_EXPORTED int64_t nmEncodingAttrGetBk(MlirAttribute encoding);
MLIR_CAPI_EXPORTED int64_t nmEncodingAttrGetBn(MlirAttribute encoding);
MLIR_CAPI_EXPORTED int64_t nmEncodingAttrGetDim(MlirAttribute encoding);

/*===----------------------------------------------------------------------===*\
|* Packed forms
|*
|* A schedule says which form weights take for its strategy: of a product that
|* `nm-select-schedule` or `nm-select-gpu-schedule` has seen, the attribute
|* `schedule`. `nm-pack-weights` packs what is in the IR; these pack what is in
|* memory.
\*===----------------------------------------------------------------------===*/

/** Whether `attribute` is a schedule, or a packed form. */
MLIR_CAPI_EXPORTED bool nmAttributeIsASchedule(MlirAttribute attribute);
MLIR_CAPI_EXPORTED bool nmAttributeIsAPackedForm(MlirAttribute attribute);

/** The form that weights of `pattern` (`#nm.pattern`) take for `schedule`; null
 * where they stay condensed. */
MLIR_CAPI_EXPORTED MlirAttribute
nmScheduleAttrGetPackedForm(MlirAttribute schedule, MlirAttribute pattern);

/** Two or three arrays of three dimensions that k x n weights take, and the
 * element type of the values; indices and lists of rows are bytes. Lists of no
 * size are none. */
typedef struct {
  int64_t values[3], indices[3], lists[3];
  MlirType elementType;
} NmPackedShape;

/** Writes the shape of k x n weights of `pattern` and `elementType`. Fails,
 * after a diagnostic, where they cannot have the form. */
MLIR_CAPI_EXPORTED MlirLogicalResult nmPackedFormAttrGetShape(
    MlirAttribute form, MlirAttribute pattern, MlirType elementType, int64_t k,
    int64_t n, NmPackedShape *shape);

/** Packs condensed k x n weights, row-major as nmCompress of nm-c/Format.h
 * writes them, to arrays of that shape; `packedLists` may be NULL where there
 * are none. Fails, after a diagnostic, where they cannot have the form, or
 * where an index is not in its window. */
MLIR_CAPI_EXPORTED MlirLogicalResult nmPackedFormAttrPack(
    MlirAttribute form, MlirAttribute pattern, MlirType elementType, int64_t k,
    int64_t n, const void *values, const uint8_t *indices, void *packedValues,
    uint8_t *packedIndices, uint8_t *packedLists);

/*===----------------------------------------------------------------------===*\
|* Operations by the names of their operands
\*===----------------------------------------------------------------------===*/

/** The values of an operand of a name, as docs/reference has it: one, none
 * where it is optional, or several where it is variadic. */
typedef struct {
  MlirStringRef name;
  intptr_t count;
  const MlirValue *values;
} NmOperand;

/** The ops of the dialect, with their dialect's name, as in `nm.spmm`; the
 * names live as long as the library. */
MLIR_CAPI_EXPORTED intptr_t nmGetNumOperations(void);
MLIR_CAPI_EXPORTED MlirStringRef nmGetOperationName(intptr_t index);
/** The name of the operand at `index` of the op `operation`; empty where there
 * is none. */
MLIR_CAPI_EXPORTED MlirStringRef nmGetOperandName(MlirStringRef operation,
                                                  intptr_t index);

/** Builds an op. `fields` are its attributes, those of other dialects, too.
 * Where no results are given, an op that writes its `outs` operands has those
 * that their types say: one for each tensor. The op takes `regions`. Of
 * operands and fields that are missing or not known the op is null, after a
 * diagnostic, and the regions are still the caller's; the rest is for
 * mlirOperationVerify. `context` must have loaded the dialect. */
MLIR_CAPI_EXPORTED MlirOperation nmOperationCreate(
    MlirLocation location, MlirStringRef name, intptr_t numOperands,
    const NmOperand *operands, intptr_t numFields,
    const MlirNamedAttribute *fields, intptr_t numResults,
    const MlirType *results, intptr_t numRegions, const MlirRegion *regions);

/** How many values an op of the dialect has as the operand `name`; -1 where it
 * has no such operand. Attributes are read by mlirOperationGetAttributeByName.
 */
MLIR_CAPI_EXPORTED intptr_t nmOperationGetNumOperands(MlirOperation op,
                                                      MlirStringRef name);
/** The value at `index` of those; null where there is none. */
MLIR_CAPI_EXPORTED MlirValue nmOperationGetOperand(MlirOperation op,
                                                   MlirStringRef name,
                                                   intptr_t index);

/*===----------------------------------------------------------------------===*\
|* Passes and pipelines
\*===----------------------------------------------------------------------===*/

/** An option of a pass or pipeline, as docs/reference has it. */
typedef struct {
  MlirStringRef name;
  MlirStringRef value;
} NmPassOption;

/** Adds the pass or pipeline `name`, such as `nm-select-gpu-schedule` or
 * `nm-to-cpu`, with options. Where it fails, `report` is called with the
 * reason, and nothing is added. Needs nmRegisterAllPasses, or
 * nmRegisterPasses for nm's own. */
MLIR_CAPI_EXPORTED MlirLogicalResult nmPassManagerAdd(
    MlirOpPassManager manager, MlirStringRef name, intptr_t numOptions,
    const NmPassOption *options, MlirStringCallback report, void *userData);

/*===----------------------------------------------------------------------===*\
|* #nm.record
\*===----------------------------------------------------------------------===*/

/** #nm.record, which the passes that select schedules leave on each product as
 * the attribute `nm.record`. Times are in microseconds, and NaN where no cost
 * model gives them; counts are -1 there. Strings live as long as the context.
 */
MLIR_CAPI_EXPORTED bool nmAttributeIsARecord(MlirAttribute attribute);
/** `model`, `option`, `op` or `only`. */
MLIR_CAPI_EXPORTED MlirStringRef nmRecordAttrGetSource(MlirAttribute record);
/** `sm_90`; empty for a CPU. */
MLIR_CAPI_EXPORTED MlirStringRef nmRecordAttrGetChip(MlirAttribute record);
/** Why dense weights were taken, or were not. */
MLIR_CAPI_EXPORTED MlirStringRef nmRecordAttrGetReason(MlirAttribute record);
MLIR_CAPI_EXPORTED bool nmRecordAttrGetFallsBack(MlirAttribute record);
MLIR_CAPI_EXPORTED double nmRecordAttrGetEstimate(MlirAttribute record);
MLIR_CAPI_EXPORTED double nmRecordAttrGetDenseEstimate(MlirAttribute record);
MLIR_CAPI_EXPORTED double nmRecordAttrGetMultiplyFloor(MlirAttribute record);
MLIR_CAPI_EXPORTED double nmRecordAttrGetMemoryFloor(MlirAttribute record);
/** Bytes of a thread block. */
MLIR_CAPI_EXPORTED int64_t nmRecordAttrGetSharedBytes(MlirAttribute record);

#ifdef __cplusplus
}
#endif

#endif /* NM_C_DIALECT_H */
