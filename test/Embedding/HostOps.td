//===- HostOps.td - The dialect of a compiler that embeds nm --------------===//

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Host_Dialect : Dialect {
  let name = "host";
  let cppNamespace = "::host";
  let useDefaultAttributePrinterParser = 1;
}

def Host_ScratchAttr : AttrDef<Host_Dialect, "Scratch"> {
  let summary = "the memory space of kernels' scratch memory";
  let mnemonic = "scratch";
}

def Host_SaturateOp : Op<Host_Dialect, "saturate", [
    Pure, SameOperandsAndResultType]> {
  let summary = "limits elements to -limit..limit";
  let arguments = (ins RankedTensorOf<[F32]>:$input, F32Attr:$limit);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$input `to` $limit attr-dict `:` type($input)";
}

def Host_KernelOp : Op<Host_Dialect, "kernel", [
    NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "what one core does";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
