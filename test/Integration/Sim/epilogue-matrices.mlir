// DEFINE: %{schedule} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --compile-options="schedule=%{schedule}"

// An epilogue that reads an element for each of C, here of a gate, with rows that end
// in a tile. Through store buffers, whole tiles read what the next part wants before the
// barrier at which the part before it is stored.

// REDEFINE: %{schedule} = wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 3, producers = 4, store_buffers = 2, overlap = true>
// RUN: %{run} | FileCheck %s
// RUN: sed s/300x/512x/g %s | nm-compile - --target=cuda:sm_90a --emit=ptx --schedule="%{schedule}" -o - | FileCheck %s --check-prefix=PTX
// REDEFINE: %{schedule} = wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 3, producers = 4, store_buffers = 2, overlap = false>
// RUN: %{run} | FileCheck %s
// REDEFINE: %{schedule} = wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
// RUN: %{run} | FileCheck %s
// REDEFINE: %{schedule} = wgmma_sp<block = [64, 128, 64], warpgroup = [64, 64], stages = 3, producers = 4>
// RUN: %{run} | FileCheck %s

// CHECK: check: result 0 of @up: passed

// PTX: wgmma.wait_group.sync.aligned 0
// PTX-COUNT-32: ld.global.b32
// PTX: bar.sync
// PTX: ex2
// PTX: bar.sync
// PTX-COUNT-16: ld.global.b32
// PTX: bar.sync
#elements = affine_map<(m, n) -> (m, n)>
func.func @up(%x: tensor<300x256xf16>, %b: tensor<256x384xf16, #nm.encoding<2:4>>, %gate: tensor<300x384xf16>) -> tensor<300x384xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<300x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x384xf32>) -> tensor<300x384xf32>
  %0 = linalg.matmul ins(%x, %b : tensor<300x256xf16>, tensor<256x384xf16, #nm.encoding<2:4>>) outs(%f : tensor<300x384xf32>) -> tensor<300x384xf32>
  %o = tensor.empty() : tensor<300x384xf16>
  %1 = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
    ins(%0, %gate : tensor<300x384xf32>, tensor<300x384xf16>) outs(%o : tensor<300x384xf16>) {
  ^bb0(%sum: f32, %g: f16, %out: f16):
    %wide = arith.extf %g : f16 to f32
    %minus = arith.negf %wide : f32
    %exp = math.exp %minus : f32
    %below = arith.addf %one, %exp : f32
    %silu = arith.divf %wide, %below : f32
    %product = arith.mulf %silu, %sum : f32
    %rounded = arith.truncf %product : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<300x384xf16>
  return %1 : tensor<300x384xf16>
}
