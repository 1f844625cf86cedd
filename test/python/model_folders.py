"""The folders that two ways write of one model of transformers."""

import nm
import nm.torch


def write_folders(model, folder):
    """The paths of what nm.torch.save writes of `model`, whose layers are condensed, and
    of what nm.convert makes of its dense checkpoint; `model` is dense afterwards."""
    nm.torch.save(model, folder / "saved")
    nm.torch.densify(model)
    model.save_pretrained(folder / "dense")
    nm.convert(folder / "dense", folder / "converted", "2:4", skip=True)
    return [folder / "saved", folder / "converted"]
