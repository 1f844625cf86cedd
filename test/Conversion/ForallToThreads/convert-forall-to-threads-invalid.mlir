// RUN: nm-opt %s --convert-forall-to-threads --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-forall-to-threads --split-input-file 2>/dev/null

func.func @tensors(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{'scf.forall' op expected no results, which bufferization removes, but got 1}}
  %r = scf.forall (%i) in (64) shared_outs(%out = %x) -> (tensor<64xf32>) {
    %slice = tensor.extract_slice %x[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %slice into %out[%i] [1] [1] : tensor<1xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}

// -----

func.func @uncaptured(%x: tensor<64xf32>, %m: memref<64xf32>) {
  // expected-error @+1 {{'scf.forall' op expected captured values of types that LLVM can hold, but got 'tensor<64xf32>'}}
  scf.forall (%i) in (64) {
    %v = tensor.extract %x[%i] : tensor<64xf32>
    memref.store %v, %m[%i] : memref<64xf32>
  }
  return
}

// -----

// expected-error @+1 {{'func.func' op expected the name of the runtime's @nmParallelFor to be free}}
func.func @nmParallelFor() {
  return
}

func.func @taken(%m: memref<64xf32>, %v: f32) {
  scf.forall (%i) in (64) {
    memref.store %v, %m[%i] : memref<64xf32>
  }
  return
}
