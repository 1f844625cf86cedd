// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the constraint of nm.repeated_rows in NMPatches.td
// that it breaks.

func.func @c1_odd(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{expected windows of an even number of rows, 4 or more, but got 5}}
  %r = nm.repeated_rows windows 5 %a : tensor<240x64xf16> -> tensor<320x64xf16>
  return
}

// -----

func.func @c1_short(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{expected windows of an even number of rows, 4 or more, but got 2}}
  %r = nm.repeated_rows windows 2 %a : tensor<240x64xf16> -> tensor<320x64xf16>
  return
}

// -----

func.func @c2_vector(%a: tensor<240xf16>) {
  // expected-error @+1 {{expected an A [k x m] of a known k, but got 'tensor<240xf16>'}}
  %r = nm.repeated_rows windows 6 %a : tensor<240xf16> -> tensor<320xf16>
  return
}

// -----

func.func @c2_unknown(%a: tensor<?x64xf16>) {
  // expected-error @+1 {{expected an A [k x m] of a known k, but got 'tensor<?x64xf16>'}}
  %r = nm.repeated_rows windows 6 %a : tensor<?x64xf16> -> tensor<320x64xf16>
  return
}

// -----

func.func @c2_rows(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{expected a result of 384 rows of 'tensor<240x64xf16>', but got 'tensor<320x64xf16>'}}
  %r = nm.repeated_rows windows 6 %a : tensor<240x64xf16> -> tensor<320x64xf16>
  return
}

// -----

func.func @c2_columns(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{expected a result of 384 rows of 'tensor<240x64xf16>', but got 'tensor<384x32xf16>'}}
  %r = nm.repeated_rows windows 6 %a : tensor<240x64xf16> -> tensor<384x32xf16>
  return
}

// -----

func.func @c3_element(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{expected an A and a result of one element type}}
  %r = nm.repeated_rows windows 6 %a : tensor<240x64xf16> -> tensor<384x64xbf16>
  return
}

// -----

func.func @c3_memory(%a: tensor<240x64xf16>) {
  // expected-error @+1 {{both tensors, or both memrefs of one memory space and the same strides}}
  %r = nm.repeated_rows windows 6 %a : tensor<240x64xf16> -> memref<384x64xf16>
  return
}

// -----

func.func @c3_strides(%a: memref<240x64xf16, strided<[128, 1]>>) {
  // expected-error @+1 {{both tensors, or both memrefs of one memory space and the same strides}}
  %r = nm.repeated_rows windows 6 %a : memref<240x64xf16, strided<[128, 1]>> -> memref<384x64xf16>
  return
}
