"""Loading by transformers 4.57, which knows of no conversions of weights.

It is given the dense weights by the names that the files have, and brings them to its
model in its own way. The condensed ones then take the places of those that they became.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

from safetensors import safe_open
from torch import Tensor, nn
from transformers import modeling_utils
from transformers.modeling_utils import PreTrainedModel

from .._errors import Error
from .._sparse import SparseTensor
from .._weightfile import FORMAT
from ..io import WeightSource, open_weights
from ..io._shards import check_shards
from ._arrived import cast, condense_attentions, condense_stacks
from ._convolution import as_filter, convolution_of_stored, unfold_stored
from ._layers import is_conv1d, is_linear
from ._linear import NMLinear
from ._load import _tensor, sparse_of_stored
from ._quantizer import Quantizer, config_of
from ._replace import replace_layer


class Quantizer4(Quantizer):
    """The same for transformers 4.57."""

    def _process_model_before_weight_loading(self, model: nn.Module, **_: Any) -> None:
        self._condensed: dict[str, SparseTensor] = {}
        self._names: dict[str, str] = {}

    def dense_state(self, model: Any, files: Any) -> dict[str, Tensor]:
        """The tensors of the files, condensed ones dense."""
        sources = [open_weights(path) for path in files]
        self._find_condensed(sources, files)
        for name, w in self._condensed.items():
            if w._quantization is not None:
                raise Error(f"expected transformers 5.17 or newer, which loads {name} of "
                            f"{w._quantization[0]} bits, but it is older")
        self._remember_names(model)
        filters = self._filters = self._find_filters(model)
        return {filters.get(name, name): self._tensor(model, source, name, filters)
                for source in sources for name in source}

    def _find_filters(self, model: Any) -> dict[str, str]:
        """The model's names of the tensors of convolutions whose filters are condensed."""
        found, prefix = {}, model.base_model_prefix
        for name in self._condensed:
            for each in (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}.")):
                around = convolution_of_stored(model, each)
                if around is not None:
                    stored = name.removesuffix("weight")
                    found.update({f"{stored}{part}": f"{around}.{part}"
                                  for part in ("weight", "bias")})
                    break
        return found

    @staticmethod
    def _tensor(model: Any, source: WeightSource, name: str, filters: dict[str, str]
                ) -> Tensor:
        w = source.condensed(name)
        if w is None or name not in filters:
            return _tensor(source, name)
        module = model.get_submodule(filters[name].removesuffix(".weight"))
        return as_filter(NMLinear.from_sparse(w).dense_weight().detach(), module)

    def _remember_names(self, model: Any) -> None:
        """Has the model say what becomes of the names of the files."""
        rename = model._get_key_renaming_mapping

        def remember(*arguments: Any, **options: Any) -> dict[str, str]:
            del model._get_key_renaming_mapping
            self._names = rename(*arguments, **options)
            return self._names

        model._get_key_renaming_mapping = remember

    def _process_model_after_weight_loading(self, model: Any, **_: Any) -> None:
        if not self.pre_quantized:
            self._sparsify(model)
        else:
            model._nm_attentions = {}
            for name, w in self._condensed.items():
                name = self._filters.get(name, self._names.get(name, name))
                self._put(model, unfold_stored(model, name) or name, w)
            condense_attentions(model)
            condense_stacks(model, self.quantization_config.layers or {})
            self._densify(model)
        model.config.quantization_config = config_of(model)

    @staticmethod
    def _put(model: Any, name: str, w: SparseTensor) -> None:
        layer_name = name.removesuffix(".weight")
        try:
            layer = model.get_submodule(layer_name)
        except AttributeError:  # It is a part of another, or transformers has told of it.
            model._nm_attentions[name] = w.pattern
            return
        if isinstance(layer, NMLinear) or not (is_linear(layer) or is_conv1d(layer)):
            return
        if layer.weight.is_meta or w.pattern.axis != (0 if is_conv1d(layer) else 1):
            return
        sparse = sparse_of_stored(w, layer)
        cast(sparse.values, layer.weight.dtype)
        replace_layer(model, layer_name, sparse.to(layer.weight.device))


class _File:
    """A file of safetensors that may have condensed weights: transformers opens none whose
    format it does not know."""

    def __init__(self, *arguments: Any, **options: Any):
        self._file = safe_open(*arguments, **options)

    def __enter__(self) -> _File:
        self._file.__enter__()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self._file.__exit__(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def metadata(self) -> dict[str, str] | None:
        found = self._file.metadata()
        return {**found, "format": "pt"} if found and found.get("format") == FORMAT else found


_tie = PreTrainedModel._tie_or_clone_weights


@functools.wraps(_tie)
def _tie_dense(self: Any, output_embeddings: Any, input_embeddings: Any) -> None:
    """A sparse head is tied to nothing. The configuration goes on to say that the head is
    tied: some models scale what they give it then."""
    if not isinstance(output_embeddings, NMLinear):
        _tie(self, output_embeddings, input_embeddings)


_resize = PreTrainedModel._resize_token_embeddings


@functools.wraps(_resize)
def _resize_head_too(self: Any, *arguments: Any, **options: Any) -> Any:
    """The head has rows of its own."""
    is_tied = self.config.get_text_config(decoder=True).tie_word_embeddings
    if isinstance(self.get_output_embeddings(), NMLinear) and is_tied:
        if self.config.is_encoder_decoder:
            raise Error("expected a model whose head is dense or not tied, but that of "
                        f"{type(self).__name__} is sparse; nm.torch.densify makes it dense")
        # Another model may have been made of the same configuration.
        self.config = copy.deepcopy(self.config)
        self.config.get_text_config(decoder=True).tie_word_embeddings = False
    return _resize(self, *arguments, **options)


_load_weights = PreTrainedModel._load_pretrained_model.__func__


@functools.wraps(_load_weights)
def _load_dense(cls: type, model: Any, state_dict: Any, checkpoint_files: Any,
                *arguments: Any, **options: Any) -> Any:
    quantizer = options.get("hf_quantizer")
    if isinstance(quantizer, Quantizer4) and checkpoint_files:
        check_shards(file for file in checkpoint_files
                     if str(file).endswith(".safetensors"))
        if quantizer.pre_quantized:
            state_dict = quantizer.dense_state(model, checkpoint_files)
            checkpoint_files, options["sharded_metadata"] = None, None
    return _load_weights(cls, model, state_dict, checkpoint_files, *arguments, **options)


def register_loading() -> type[Quantizer]:
    """Has transformers load condensed weights; gives the quantizer that does."""
    modeling_utils.safe_open = _File
    PreTrainedModel._tie_or_clone_weights = _tie_dense
    PreTrainedModel._resize_token_embeddings = _resize_head_too
    PreTrainedModel._load_pretrained_model = classmethod(_load_dense)
    return Quantizer4
