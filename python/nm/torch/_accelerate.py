"""What accelerate says of files with condensed weights."""

from __future__ import annotations

import functools
from typing import Any

from .._errors import Error
from .._safetensors import SafetensorsFile
from .._weightfile import is_weight_file


def register() -> None:
    """Has accelerate's load_checkpoint_and_dispatch and load_checkpoint_in_model name the
    calls that load such files: they fill the layers that a model has."""
    from accelerate.utils import modeling
    read = modeling.load_state_dict

    @functools.wraps(read)
    def load_state_dict(checkpoint_file: Any, *args: Any, **options: Any) -> Any:
        path = str(checkpoint_file)
        if path.endswith(".safetensors") and is_weight_file(SafetensorsFile(path).metadata):
            raise Error(
                f"{path}: expected dense weights, but it has condensed ones, for layers that "
                "accelerate does not make; from_pretrained(folder, device_map=...) of "
                "transformers loads and places them; for other models nm.torch.load(path, "
                "model) does, and accelerate.dispatch_model(model, device_map) after it")
        return read(checkpoint_file, *args, **options)

    modeling.load_state_dict = load_state_dict
