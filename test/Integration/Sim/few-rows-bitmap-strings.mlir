// Few rows of weights that are kept anywhere, by weights that lanes expand, on
// the simulator, against float64: weights that are loaded, of which few or many
// or all are kept, steps with and without room beside the next one, and edges
// everywhere. No load of shared memory meets a bank twice.

// DEFINE: %{schedule} =
// DEFINE: %{function} =
// DEFINE: %{run} = env NM_SIM_PRINT=1 nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=%{schedule}" 2>&1

// REDEFINE: %{schedule} = mma_bitmap
// REDEFINE: %{function} = half
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = few
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = full
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = odd
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = batch
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} | FileCheck %s

// More slices than steps, one slice alone, and two warps side by side, of which
// the second is behind n.
// REDEFINE: %{schedule} = mma_bitmap<block=[8,32,128],warp=[8,32],slice_k=16>
// REDEFINE: %{function} = half
// RUN: %{run} | FileCheck %s
// REDEFINE: %{schedule} = mma_bitmap<block=[8,32,128],warp=[8,32],slice_k=1>
// REDEFINE: %{function} = full
// RUN: %{run} | FileCheck %s
// REDEFINE: %{schedule} = mma_bitmap<block=[16,64,128],warp=[16,32],slice_k=3,stages=3>
// REDEFINE: %{function} = half
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = few
// RUN: %{run} | FileCheck %s

// CHECK: shared loads: {{.*}}, 0 bank conflicts
// CHECK: check: result 0 of @{{.*}}: passed

func.func @half(%a: tensor<7x1200xf16>, %b: tensor<1200x40xf16, #nm.encoding<unstructured, kept = 24000>>, %bias: tensor<40xf16>) -> tensor<7x40xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<7x40xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<7x40xf16>) -> tensor<7x40xf16>
  %p = linalg.matmul ins(%a, %b : tensor<7x1200xf16>, tensor<1200x40xf16, #nm.encoding<unstructured, kept = 24000>>) outs(%f : tensor<7x40xf16>) -> tensor<7x40xf16>
  %biased = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                            iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<7x40xf16>, tensor<40xf16>) outs(%e : tensor<7x40xf16>) {
  ^bb0(%x: f16, %y: f16, %unused: f16):
    %sum = arith.addf %x, %y : f16
    linalg.yield %sum : f16
  } -> tensor<7x40xf16>
  return %biased : tensor<7x40xf16>
}

func.func @few(%a: tensor<13x777xbf16>, %b: tensor<777x100xbf16, #nm.encoding<unstructured, kept = 7000>>) -> tensor<13x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13x100xf32>) -> tensor<13x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<13x777xbf16>, tensor<777x100xbf16, #nm.encoding<unstructured, kept = 7000>>) outs(%f : tensor<13x100xf32>) -> tensor<13x100xf32>
  return %p : tensor<13x100xf32>
}

// Nothing is pruned, so that no two steps have room.
func.func @full(%a: tensor<8x640xf16>, %b: tensor<640x64xf16, #nm.encoding<unstructured, kept = 40960>>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x640xf16>, tensor<640x64xf16, #nm.encoding<unstructured, kept = 40960>>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %p : tensor<8x64xf32>
}

func.func @odd(%a: tensor<2x131xf16>, %b: tensor<131x33xf16, #nm.encoding<unstructured, kept = 2600>>) -> tensor<2x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x33xf32>) -> tensor<2x33xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2x131xf16>, tensor<131x33xf16, #nm.encoding<unstructured, kept = 2600>>) outs(%f : tensor<2x33xf32>) -> tensor<2x33xf32>
  return %p : tensor<2x33xf32>
}

func.func @batch(%a: tensor<3x5x200xbf16>, %b: tensor<200x70xbf16, #nm.encoding<unstructured, kept = 6000>>) -> tensor<3x5x70xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<3x5x70xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<3x5x70xbf16>) -> tensor<3x5x70xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x5x200xbf16>, tensor<200x70xbf16, #nm.encoding<unstructured, kept = 6000>>) outs(%f : tensor<3x5x70xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %0 = arith.mulf %x, %y : bf16
    %1 = arith.addf %z, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<3x5x70xbf16>
  return %p : tensor<3x5x70xbf16>
}

func.func @any_rows(%a: tensor<?x260xf16>, %b: tensor<260x48xf16, #nm.encoding<unstructured, kept = 6000>>) -> tensor<?x48xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x260xf16>
  %e = tensor.empty(%m) : tensor<?x48xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x48xf16>) -> tensor<?x48xf16>
  %p = linalg.matmul ins(%a, %b : tensor<?x260xf16>, tensor<260x48xf16, #nm.encoding<unstructured, kept = 6000>>) outs(%f : tensor<?x48xf16>) -> tensor<?x48xf16>
  return %p : tensor<?x48xf16>
}
