// RUN: nm-opt %s --nm-normalize-slices --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-normalize-slices --split-input-file

func.func @insert(%s: tensor<?x1xf32>, %a: tensor<2x?x6xf32>) -> tensor<2x?x6xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %s, %c0 : tensor<?x1xf32>
  // expected-error @+1 {{expected known strides where 2 dimensions have one element and 1 of them drop, but one is computed at run time}}
  %r = tensor.insert_slice %s into %a[0, 0, 0] [1, %m, 1] [%m, %m, 6] : tensor<?x1xf32> into tensor<2x?x6xf32>
  return %r : tensor<2x?x6xf32>
}

// -----

func.func @extract(%a: tensor<1x1x?xf32>) -> tensor<1x2xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %a, %c2 : tensor<1x1x?xf32>
  // expected-error @+1 {{expected known strides where 2 dimensions have one element and 1 of them drop}}
  %r = tensor.extract_slice %a[0, 0, 0] [1, 1, 2] [1, 1, %n] : tensor<1x1x?xf32> to tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}
