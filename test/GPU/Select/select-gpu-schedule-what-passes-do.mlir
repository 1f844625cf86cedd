// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s

// What passes behind selection do beyond a product's own code, its schedule
// says.

// Blocks of the first product store the splits of its C, which only the second
// takes. The second's C is whole, and its estimate has no kernel that splits A.
// CHECK-LABEL: func.func @chain
// CHECK: nm.spmm {{.*}}schedule #nm.wgmma<{{.*}}split_c = true, packing
// CHECK: nm.spmm {{.*}}schedule #nm.wgmma<{{.*}}group_m = 1, packing{{.*}}source = model, {{.*}}estimate_us = 8.{{[0-9]+}}, dense
// CHECK: return
func.func @chain(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %w: tensor<256x1024xf32> {nm.values_of = 2 : i64}, %j: tensor<256x16xi8> {nm.indices_of = 2 : i64}) -> tensor<1000x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %b = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>) outs(%f : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %r = nm.spmm <8:32, block = 1x64> ins(%b, %w, %j : tensor<1000x1024xf32>, tensor<256x1024xf32>, tensor<256x16xi8>) outs(%f : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// -----

// Someone else takes it, too.
// CHECK-LABEL: func.func @taken
// CHECK-NOT: split_c
// CHECK: estimate_us = 11.{{[0-9]+}}, dense
// CHECK-NOT: split_c
// CHECK: return
func.func @taken(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %w: tensor<256x1024xf32> {nm.values_of = 2 : i64}, %j: tensor<256x16xi8> {nm.indices_of = 2 : i64}) -> (tensor<1000x1024xf32>, tensor<1000x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %b = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>) outs(%f : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %r = nm.spmm <8:32, block = 1x64> ins(%b, %w, %j : tensor<1000x1024xf32>, tensor<256x1024xf32>, tensor<256x16xi8>) outs(%f : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %b, %r : tensor<1000x1024xf32>, tensor<1000x1024xf32>
}

// -----

// Rows of an A that is made here start at multiples of 64 elements, or of 8 of
// a row-major one; an argument stays as it comes.
// CHECK-LABEL: func.func @padded
// CHECK: nm.spmm <2:4> transpose_a {{.*}}pad_a = 64
// CHECK: nm.spmm <2:4> schedule {{.*}}pad_a = 8
// CHECK: nm.spmm <2:4> transpose_a
// CHECK-NOT: pad_a
// CHECK: return
func.func @padded(%given: tensor<256x100xf16>, %v: tensor<128x256xf16> {nm.values_of = 1 : i64}, %i: tensor<128x256xi8> {nm.indices_of = 1 : i64}, %c: tensor<100x256xf16>, %w: tensor<50x256xf16> {nm.values_of = 2 : i64}, %j: tensor<50x256xi8> {nm.indices_of = 2 : i64}, %half: tensor<100x100xf16>) -> (tensor<100x256xf16>, tensor<100x256xf16>, tensor<100x256xf16>) {
  %e = tensor.empty() : tensor<256x100xf16>
  %a = linalg.exp ins(%given : tensor<256x100xf16>) outs(%e : tensor<256x100xf16>) -> tensor<256x100xf16>
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<256x100xf16>, tensor<128x256xf16>, tensor<128x256xi8>) outs(%c : tensor<100x256xf16>) -> tensor<100x256xf16>
  %d = tensor.empty() : tensor<100x100xf16>
  %b = linalg.exp ins(%half : tensor<100x100xf16>) outs(%d : tensor<100x100xf16>) -> tensor<100x100xf16>
  %s = nm.spmm <2:4> ins(%b, %w, %j : tensor<100x100xf16>, tensor<50x256xf16>, tensor<50x256xi8>) outs(%c : tensor<100x256xf16>) -> tensor<100x256xf16>
  %t = nm.spmm <2:4> transpose_a ins(%given, %v, %i : tensor<256x100xf16>, tensor<128x256xf16>, tensor<128x256xi8>) outs(%c : tensor<100x256xf16>) -> tensor<100x256xf16>
  return %r, %s, %t : tensor<100x256xf16>, tensor<100x256xf16>, tensor<100x256xf16>
}

// -----

// Roles of an op's own schedule, which leaves their registers out, get them.
// CHECK-LABEL: func.func @roles
// CHECK: producers = 4, blocks = 132, {{.*}}promote = true, {{.*}}producer_registers = 40, consumer_registers = 232, overlap = true
func.func @roles(%a: tensor<256x256xf8E4M3FN>, %v: tensor<128x256xf8E4M3FN>, %i: tensor<128x256xi8>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, producers = 4, blocks = 132, promote = true>
    ins(%a, %v, %i : tensor<256x256xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<128x256xi8>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// An op's own schedule that leaves `pad_a` out gets it, too, and one of splits of
// an unknown number of rows, of which others are whole lines.
// CHECK-LABEL: func.func @own
// CHECK: nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 32, 32], {{.*}}pad_a = 64
// CHECK: nm.spmm {{.*}}schedule #nm.wgmma<{{.*}}pad_a = 64
// CHECK: return
func.func @own(%given: tensor<256x100xf16>, %v: tensor<128x256xf16>, %i: tensor<128x256xi8>, %c: tensor<100x256xf16>, %f: tensor<?x4096xf32>, %w: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %j: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %d: tensor<?x1024xf32>) -> (tensor<100x256xf16>, tensor<?x1024xf32>) {
  %e = tensor.empty() : tensor<256x100xf16>
  %a = linalg.exp ins(%given : tensor<256x100xf16>) outs(%e : tensor<256x100xf16>) -> tensor<256x100xf16>
  %r = nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 32, 32], warp = [32, 32], thread = [4, 8], stages = 2>
    ins(%a, %v, %i : tensor<256x100xf16>, tensor<128x256xf16>, tensor<128x256xi8>) outs(%c : tensor<100x256xf16>) -> tensor<100x256xf16>
  %s = nm.spmm <8:32, block = 1x64> ins(%f, %w, %j : tensor<?x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>) outs(%d : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r, %s : tensor<100x256xf16>, tensor<?x1024xf32>
}
