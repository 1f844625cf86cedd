// Transpositions by both kernels against the reference, with edges, batches,
// rows that are padded, and arithmetic on what is transposed.

// RUN: nm-run %s --target=sim --random --check --function=registers | FileCheck %s --check-prefix=REGISTERS
// REGISTERS-COUNT-5: simulated {{.*}} of 128 threads, 0 bytes of shared memory
// REGISTERS-COUNT-4: check: result {{.}} of {{.*}}: passed
func.func @registers(%a: tensor<128x256xf16>, %b: tensor<72x144xbf16>, %c: tensor<3x40x48xf16>,
                     %d: tensor<77x136xf16>, %bias: tensor<136xf32>, %scale: tensor<77xf32>,
                     %residual: tensor<77x136xf16>)
    -> (tensor<256x128xf16>, tensor<144x72xbf16>, tensor<48x3x40xf16>, tensor<77x136xf16>) {
  %ea = tensor.empty() : tensor<256x128xf16>
  %ta = linalg.transpose ins(%a : tensor<128x256xf16>) outs(%ea : tensor<256x128xf16>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<144x72xbf16>
  %tb = linalg.transpose ins(%b : tensor<72x144xbf16>) outs(%eb : tensor<144x72xbf16>) permutation = [1, 0]
  %ec = tensor.empty() : tensor<48x3x40xf16>
  %tc = linalg.transpose ins(%c : tensor<3x40x48xf16>) outs(%ec : tensor<48x3x40xf16>) permutation = [2, 0, 1]
  // Rows of 77 are padded to 80: written with a rest of 5, and read again.
  %rows = tensor.empty() : tensor<136x77xf16>
  %td = linalg.transpose ins(%d : tensor<77x136xf16>) outs(%rows : tensor<136x77xf16>) permutation = [1, 0]
  %ee = tensor.empty() : tensor<77x136xf16>
  %te = linalg.generic {indexing_maps = [affine_map<(m, k) -> (k, m)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%td, %bias, %scale, %residual : tensor<136x77xf16>, tensor<136xf32>, tensor<77xf32>, tensor<77x136xf16>)
    outs(%ee : tensor<77x136xf16>) {
  ^bb0(%x: f16, %b0: f32, %s: f32, %r: f16, %o: f16):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = arith.addf %1, %b0 : f32
    %3 = arith.truncf %2 : f32 to f16
    %4 = arith.addf %3, %r : f16
    linalg.yield %4 : f16
  } -> tensor<77x136xf16>
  return %ta, %tb, %tc, %te : tensor<256x128xf16>, tensor<144x72xbf16>, tensor<48x3x40xf16>, tensor<77x136xf16>
}

// RUN: nm-run %s --target=sim --random --check --function=shared | FileCheck %s --check-prefix=SHARED
// SHARED-COUNT-5: simulated {{.*}} of 256 threads, {{[1-9][0-9]*}} bytes of shared memory
// SHARED-COUNT-5: check: result {{.}} of {{.*}}: passed
func.func @shared(%a: tensor<33x65xf32>, %b: tensor<128x64xf32>, %c: tensor<2x20x3x24xf16>, %d: tensor<70x88xi8>, %e: tensor<77x130xf16>, %f: tensor<77x130xf32>)
    -> (tensor<65x33xf32>, tensor<64x128xf32>, tensor<2x3x24x20xf16>, tensor<88x70xi8>, tensor<130x77xf16>) {
  %ea = tensor.empty() : tensor<65x33xf32>
  %ta = linalg.transpose ins(%a : tensor<33x65xf32>) outs(%ea : tensor<65x33xf32>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<64x128xf32>
  %tb = linalg.transpose ins(%b : tensor<128x64xf32>) outs(%eb : tensor<64x128xf32>) permutation = [1, 0]
  %ec = tensor.empty() : tensor<2x3x24x20xf16>
  %tc = linalg.transpose ins(%c : tensor<2x20x3x24xf16>) outs(%ec : tensor<2x3x24x20xf16>) permutation = [0, 2, 3, 1]
  %ed = tensor.empty() : tensor<88x70xi8>
  %td = linalg.transpose ins(%d : tensor<70x88xi8>) outs(%ed : tensor<88x70xi8>) permutation = [1, 0]
  %ee = tensor.empty() : tensor<130x77xf16>
  %te = linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (k, m)>],
                        iterator_types = ["parallel", "parallel"]}
    ins(%e, %f : tensor<77x130xf16>, tensor<77x130xf32>) outs(%ee : tensor<130x77xf16>) {
  ^bb0(%x: f16, %y: f32, %o: f16):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.addf %0, %y : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<130x77xf16>
  return %ta, %tb, %tc, %td, %te : tensor<65x33xf32>, tensor<64x128xf32>, tensor<2x3x24x20xf16>, tensor<88x70xi8>, tensor<130x77xf16>
}

// Of an unknown m, the host decides: 83 rows have odd strides, of 88 all are
// multiples of 16 bytes.
// RUN: nm-run %s --target=sim --random --check --function=dynamic --dynamic-size=83 | FileCheck %s --check-prefix=ODD
// ODD: simulated {{.*}} of 256 threads
// ODD: check: result 0 of @dynamic: passed
// RUN: nm-run %s --target=sim --random --check --function=dynamic --dynamic-size=88 | FileCheck %s --check-prefix=EVEN
// EVEN: simulated {{.*}} of 128 threads
// EVEN: check: result 0 of @dynamic: passed
func.func @dynamic(%a: tensor<?x72xf16>) -> tensor<72x?xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x72xf16>
  %e = tensor.empty(%m) : tensor<72x?xf16>
  %t = linalg.transpose ins(%a : tensor<?x72xf16>) outs(%e : tensor<72x?xf16>) permutation = [1, 0]
  return %t : tensor<72x?xf16>
}

// A temporary of an unknown number of rows is padded, so that neither its
// writing nor its reading depends on it; the result's rows are odd.
// RUN: nm-run %s --target=sim --random --check --function=temporary --dynamic-size=37 | FileCheck %s --check-prefix=TEMPORARY
// TEMPORARY: simulated {{.*}} of 128 threads
// TEMPORARY: simulated {{.*}} of 128 threads
// TEMPORARY: check: result 0 of @temporary: passed
func.func @temporary(%a: tensor<?x72xf16>) -> tensor<?x72xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x72xf16>
  %e = tensor.empty(%m) : tensor<72x?xf16>
  %t = linalg.transpose ins(%a : tensor<?x72xf16>) outs(%e : tensor<72x?xf16>) permutation = [1, 0]
  %er = tensor.empty(%m) : tensor<?x72xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (k, m)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%t, %a : tensor<72x?xf16>, tensor<?x72xf16>) outs(%er : tensor<?x72xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    linalg.yield %0 : f16
  } -> tensor<?x72xf16>
  return %r : tensor<?x72xf16>
}
