// RUN: nm-opt %s --allow-unregistered-dialect --nm-check-ops -split-input-file -verify-diagnostics
// RUN: not nm-opt %s --allow-unregistered-dialect --nm-to-cpu -split-input-file 2>&1 | FileCheck %s --implicit-check-not="Stack dump"
// RUN: not nm-opt %s --allow-unregistered-dialect --nm-to-nvvm="chip=sm_90a format=isa" -split-input-file 2>&1 | FileCheck %s --implicit-check-not="Stack dump"
// RUN: not nm-opt %s --allow-unregistered-dialect --nm-to-sim=chip=sm_80 -split-input-file 2>&1 | FileCheck %s --implicit-check-not="Stack dump"
// RUN: not nm-opt %s --allow-unregistered-dialect --nm-bufferized-to-llvm -split-input-file 2>&1 | FileCheck %s --implicit-check-not="Stack dump"
// RUN: not nm-compile %S/Inputs/f8-fnuz.mlir --target=cuda:sm_90 --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: f8-fnuz.mlir:5:12: error: 'arith.bitcast' op expected floats of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'f8E4M3FNUZ'

// CHECK: error: 'foo.bar' op is not registered
// expected-error @below {{'foo.bar' op is not registered: expected ops that have a lowering}}
"foo.bar"() : () -> ()

// -----

func.func @inside(%x: f32) -> f32 {
  // CHECK: error: 'foo.yield' op is not registered
  %0 = "foo.loop"(%x) ({
  ^bb0(%y: f32):
    %1 = math.exp %y : f32
    // expected-error @below {{'foo.yield' op is not registered}}
    "foo.yield"(%1) : (f32) -> ()
  }) : (f32) -> f32
  return %0 : f32
}

// -----

// CHECK: error: 'func.func' op expected floats of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<4xf8E4M3FNUZ>'
// expected-error @below {{op expected floats of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<4xf8E4M3FNUZ>'}}
func.func @argument(%x: tensor<4xf8E4M3FNUZ>) {
  return
}

// -----

func.func @result(%x: f32) -> f32 {
  // CHECK: error: 'arith.truncf' op expected floats
  // expected-error @below {{'arith.truncf' op expected floats of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'f4E2M1FN'}}
  %0 = arith.truncf %x : f32 to f4E2M1FN
  %1 = arith.extf %0 : f4E2M1FN to f32
  return %1 : f32
}

// -----

func.func @wide(%x: f32) -> f32 {
  // CHECK: error: 'arith.fptosi' op expected integers
  // expected-error @below {{'arith.fptosi' op expected integers of at most 64 bits to convert or divide, but got 'f32' and 'i128'}}
  %0 = arith.fptosi %x : f32 to i128
  %1 = arith.sitofp %0 : i128 to f32
  return %1 : f32
}
