"""Weights in safetensors that are laid out for one library, and what to do instead."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping

from .._errors import FileFormatError
from .._safetensors import SafetensorsFile

_MARLIN = ".B_24"
# The parts of torch's semi-structured tensors, behind the weight's name.
_PACKED, _META = "packed", "meta"


def refuse_laid_out(file: SafetensorsFile) -> None:
    """Refuses what would be read as other weights than it stands for.

    Raises:
        FileFormatError: the file has marlin-24, parts of torch's semi-structured tensors,
            or tensors of a class of torchao.
    """
    _refuse_classes(file)
    for name in file:
        base = name.removesuffix(_PACKED)
        has_meta = base != name and f"{base}{_META}" in file
        if name.endswith(_MARLIN) or name.endswith(".weight_packed") and (
                f"{name.removesuffix('weight_packed')}{_META}" in file):
            raise FileFormatError(
                f"{file.path}: {name}: expected dense or bitmask weights, but "
                "these are of marlin-24, which is laid out for one kernel; save "
                "the model with save_compressed=False, or with quantization "
                "format 'pack-quantized' in place of 'marlin-24'")
        if has_meta and base.endswith((".", "_")):
            raise FileFormatError(
                f"{file.path}: {name}: expected dense or bitmask weights, but "
                f"{base}{_PACKED} and {base}{_META} are parts of a "
                "SparseSemiStructuredTensor of torch; nm.io.from_cutlass(packed, meta) "
                "gives the dense weight, and tensor.to_dense() does in torch")


def refuse_parts(file: SafetensorsFile, parts: Container[str]) -> None:
    """Refuses parts of condensed weights whose patterns the file does not tell: another
    program wrote the tensors anew, without metadata that it does not know.

    Args:
        parts: those whose patterns it tells.

    Raises:
        FileFormatError: there are others.
    """
    lost = sorted(base for name in file
                  if (base := name.removesuffix(".values")) != name and name not in parts
                  and f"{base}.indices" in file and f"{base}._extra_state" not in file
                  and file.info(f"{base}.indices")[0] in ("u8", "i8", "uint8"))
    if lost:
        more = f" and of {len(lost) - 1} more" if len(lost) > 1 else ""
        raise FileFormatError(
            f"{file.path}: expected metadata with the pattern of {lost[0]}{more}, whose values "
            "and indices it has, but there is none: another program wrote the tensors anew. "
            "Take the file as nm wrote it; for other programs, python -m nm convert "
            "--format=dense writes one")


def _refuse_classes(file: SafetensorsFile) -> None:
    """torchao tells the class of each tensor that it wrote in parts."""
    for name, text in file.metadata.items():
        kind = _class_of(text)
        if kind not in (None, "Tensor"):
            raise FileFormatError(
                f"{file.path}: {name}: expected dense or bitmask weights, but it is a "
                f"{kind} of torchao, in parts; load the model as it was saved, with "
                "torchao, and give it to nm.torch.sparsify, or to "
                "nm.torch.save after it, which take its weights")


def _class_of(text: object) -> str | None:
    if not isinstance(text, str) or '"_type"' not in text:
        return None
    try:
        entry = json.loads(text)
    except ValueError:
        return None
    kind = entry.get("_type") if isinstance(entry, Mapping) else None
    return kind if isinstance(kind, str) else None
