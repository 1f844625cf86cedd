/*===- nm-c/Dialect.h - The nm dialect and its passes from C ----*- C -*-===*\
|*
|* For compilers that embed nm through MLIR's C API. libnm_compiler has these
|* functions; it links libMLIR.so, as the embedder must, and not the archives of
|* MLIR that libMLIR.so is made of.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_DIALECT_H
#define NM_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The handle of the nm dialect: mlirGetDialectHandle__nm__. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NM, nm);

/** Adds the nm dialect, the upstream dialects that its pipelines use, and the
 * interface models that they need. */
MLIR_CAPI_EXPORTED void nmRegisterAllDialects(MlirDialectRegistry registry);

/** Registers the passes and pipelines of nm, and those of upstream, under the
 * names that pass pipelines in text call them by. Further calls do nothing. */
MLIR_CAPI_EXPORTED void nmRegisterAllPasses(void);

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
