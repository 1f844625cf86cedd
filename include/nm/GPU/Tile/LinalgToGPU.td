//===- LinalgToGPU.td - Structured ops beside products -----*- tablegen -*-===//

#ifndef NM_CONVERSION_LINALGTOGPU_TD
#define NM_CONVERSION_LINALGTOGPU_TD

include "mlir/Pass/PassBase.td"

def ConvertLinalgToGPU : Pass<"convert-linalg-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "linalg ops and copies on the device's memory to gpu.launch";
  let description = [{
    What stands between the products of a function that runs on a GPU stays on
    the device: every linalg op, copy and parallel loop on memrefs becomes a
    `gpu.launch` with one thread for each element of the output, neighbours in
    memory side by side; a thread walks the reductions. A copy between memrefs
    with contiguous rows of 16 elements or more has accesses of up to 16 bytes, as
    wide as the rows of both are aligned, which is tested at run time where it is
    not known; and so has an elementwise op that makes elements of another width
    of those of one such memref. An op that makes elements of their positions
    alone, as one that dequantizes packed weights, has one thread for each row of
    4, 8 or 16 bytes, which stores it at once. Any other op that
    touches memory would run on the host, on memory of the device, and is an
    error. Functions with `nm.host`, which pack weights when they are loaded,
    are left.

    Before:
    ```mlir
    linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%h : memref<128x1536xf32>) outs(%g : memref<128x1536xf32>) { ... }
    ```
    After:
    ```mlir
    gpu.launch blocks(%block, ...) in (... = %c768, ...) threads(%thread, ...) in (... = %c256, ...) {
      %id = <%block * 256 + %thread>
      scf.if <%id < 128 * 1536> {
        %x = memref.load %h[<%id / 1536>, <%id mod 1536>] : memref<128x1536xf32>
        ...
        memref.store %y, %g[...] : memref<128x1536xf32>
      }
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_LINALGTOGPU_TD
