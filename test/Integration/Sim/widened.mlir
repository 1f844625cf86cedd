// Operands of 8 bits that are widened to f16: results of 8 bits with an epilogue
// and without one, an m-major A, unknown rows, and sums of i8 as long as may be.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --dynamic-size=75 --function=%{function} --compile-options="schedule=wgmma"

// Rows of A that are multiples of eight elements are transposed in registers.
// REGISTERS: simulated {{.*}}_kernel: {{.*}} of 128 threads, 0 bytes of shared memory
// SHARED: simulated {{.*}}_kernel: {{.*}} of 256 threads, {{[1-9][0-9]*}} bytes of shared memory
// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = to_f8
// RUN: %{run} | FileCheck %s --check-prefixes=SHARED,CHECK
// REDEFINE: %{function} = e5m2_to_e5m2
// RUN: %{run} | FileCheck %s --check-prefixes=REGISTERS,CHECK
// REDEFINE: %{function} = to_i8
// RUN: %{run} | FileCheck %s --check-prefixes=SHARED,CHECK
// REDEFINE: %{function} = m_major
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = longest_sums
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = known_sums
// RUN: %{run} | FileCheck %s

#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>

// C of f8 is added to and rounded once.
func.func @to_f8(%a: tensor<?x204xf8E4M3FN>, %b: tensor<204x128xf8E4M3FN, #nm.encoding<8:32, block = 1x64>>, %c: tensor<?x128xf8E4M3FN>) -> tensor<?x128xf8E4M3FN> {
  %p = linalg.matmul ins(%a, %b : tensor<?x204xf8E4M3FN>, tensor<204x128xf8E4M3FN, #nm.encoding<8:32, block = 1x64>>) outs(%c : tensor<?x128xf8E4M3FN>) -> tensor<?x128xf8E4M3FN>
  return %p : tensor<?x128xf8E4M3FN>
}

func.func @e5m2_to_e5m2(%a: tensor<77x200xf8E5M2>, %b: tensor<200x128xf8E5M2, #nm.encoding<8:32, block = 1x128>>, %r: tensor<77xf32>) -> tensor<77x128xf8E5M2> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<77x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<77x128xf32>) -> tensor<77x128xf32>
  %p = linalg.matmul ins(%a, %b : tensor<77x200xf8E5M2>, tensor<200x128xf8E5M2, #nm.encoding<8:32, block = 1x128>>) outs(%f : tensor<77x128xf32>) -> tensor<77x128xf32>
  %o = tensor.empty() : tensor<77x128xf8E5M2>
  %q = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<77x128xf32>, tensor<77xf32>) outs(%o : tensor<77x128xf8E5M2>) {
  ^bb0(%x: f32, %y: f32, %w: f8E5M2):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.truncf %1 : f32 to f8E5M2
    linalg.yield %2 : f8E5M2
  } -> tensor<77x128xf8E5M2>
  return %q : tensor<77x128xf8E5M2>
}

func.func @to_i8(%a: tensor<37x204xi8>, %b: tensor<204x128xi8, #nm.encoding<8:32, block = 1x64>>, %s: tensor<128xf32>) -> tensor<37x128xi8> {
  %zero = arith.constant 0 : i32
  %small = arith.constant 0.0009765625 : f32
  %e = tensor.empty() : tensor<37x128xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x128xi32>) -> tensor<37x128xi32>
  %p = linalg.matmul ins(%a, %b : tensor<37x204xi8>, tensor<204x128xi8, #nm.encoding<8:32, block = 1x64>>) outs(%f : tensor<37x128xi32>) -> tensor<37x128xi32>
  %o = tensor.empty() : tensor<37x128xi8>
  %q = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<37x128xi32>, tensor<128xf32>) outs(%o : tensor<37x128xi8>) {
  ^bb0(%x: i32, %z: f32, %w: i8):
    %1 = arith.sitofp %x : i32 to f32
    %2 = arith.mulf %1, %z : f32
    %3 = arith.mulf %2, %small : f32
    %4 = arith.fptosi %3 : f32 to i8
    linalg.yield %4 : i8
  } -> tensor<37x128xi8>
  return %q : tensor<37x128xi8>
}

// What is m-major already is widened row by row.
func.func @m_major(%a: tensor<2x160x77xf8E4M3FN>, %b: tensor<160x64xf8E4M3FN, #nm.encoding<8:32, block = 1x64>>, %c: tensor<2x64x77xf32>) -> tensor<2x64x77xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, n, m)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<2x160x77xf8E4M3FN>, tensor<160x64xf8E4M3FN, #nm.encoding<8:32, block = 1x64>>) outs(%c : tensor<2x64x77xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %1 = arith.extf %x : f8E4M3FN to f32
    %2 = arith.extf %y : f8E4M3FN to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %3, %z : f32
    linalg.yield %4 : f32
  } -> tensor<2x64x77xf32>
  return %p : tensor<2x64x77xf32>
}

// Sums of 1024 products of -128 or -127 and -127, odd ones among them, have 24
// bits: as many as f32 has.
func.func @longest_sums(%odd: tensor<64x4096xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %one = arith.constant 1 : i8
  %low = arith.constant -128 : i8
  %e = tensor.empty() : tensor<64x4096xi8>
  %a = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%odd : tensor<64x4096xi8>) outs(%e : tensor<64x4096xi8>) {
  ^bb0(%x: i8, %o: i8):
    %1 = arith.andi %x, %one : i8
    %2 = arith.ori %1, %low : i8
    linalg.yield %2 : i8
  } -> tensor<64x4096xi8>
  %v = arith.constant dense<-127> : tensor<1024x64xi8>
  %all = arith.constant dense<3> : tensor<1024x1xi8>
  %p = nm.spmm <1:4, block = 1x64> ins(%a, %v, %all : tensor<64x4096xi8>, tensor<1024x64xi8>, tensor<1024x1xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %p : tensor<64x64xi32>
}

// More rows of k, of constant weights that add up to less.
func.func @known_sums(%a: tensor<20x4352xi8>, %c: tensor<20x128xi32>) -> tensor<20x128xi32> {
  %v = arith.constant dense<-112> : tensor<1088x128xi8>
  %i = arith.constant dense<2> : tensor<1088x2xi8>
  %r = nm.spmm <1:4, block = 1x64> ins(%a, %v, %i : tensor<20x4352xi8>, tensor<1088x128xi8>, tensor<1088x2xi8>) outs(%c : tensor<20x128xi32>) -> tensor<20x128xi32>
  return %r : tensor<20x128xi32>
}
