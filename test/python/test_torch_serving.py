"""The plug-ins of vLLM and SGLang, with what they need of each server written here, from
their public interface: neither is installed where tests run."""

import abc
import copy
import json
import os
import re
import sys
import types
import warnings

import pytest
from conftest import ROOT, relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
METHODS = "fp8", "compressed-tensors"


class LinearMethodBase(abc.ABC):
    @abc.abstractmethod
    def create_weights(self, layer, input_size_per_partition, output_partition_sizes,
                       input_size, output_size, params_dtype, **extra_weight_attrs): ...

    @abc.abstractmethod
    def apply(self, layer, x, bias=None): ...

    def process_weights_after_loading(self, layer):
        return


class UnquantizedLinearMethod(LinearMethodBase):
    def create_weights(self, layer, input_size_per_partition, output_partition_sizes,
                       input_size, output_size, params_dtype, **extra_weight_attrs):
        layer.weight = nn.Parameter(torch.empty(
            sum(output_partition_sizes), input_size_per_partition, dtype=params_dtype),
            requires_grad=False)
        for name, value in extra_weight_attrs.items():
            setattr(layer.weight, name, value)

    def apply(self, layer, x, bias=None):
        return nn.functional.linear(x, layer.weight, bias)


class QuantizationConfig(abc.ABC):
    def __init__(self):
        self.packed_modules_mapping = {}

    @abc.abstractmethod
    def get_name(self): ...

    @abc.abstractmethod
    def get_supported_act_dtypes(self): ...

    @classmethod
    @abc.abstractmethod
    def get_min_capability(cls): ...

    @staticmethod
    @abc.abstractmethod
    def get_config_filenames(): ...

    @classmethod
    @abc.abstractmethod
    def from_config(cls, config): ...

    @abc.abstractmethod
    def get_quant_method(self, layer, prefix): ...

    @abc.abstractmethod
    def get_scaled_act_names(self): ...


class LinearBase(nn.Module):
    """As servers split and merge: some of the outputs, or of the inputs."""

    def __init__(self, k, sizes, config, prefix, split, rank, processes, dtype):
        super().__init__()
        self.sizes, self.split, self.rank, self.processes = sizes, split, rank, processes
        self.method = config.get_quant_method(self, prefix)
        rows = [size // (processes if split == "n" else 1) for size in sizes]
        self.method.create_weights(
            self, k // (processes if split == "k" else 1), rows, k, sum(sizes),
            dtype, weight_loader=self.load)

    def load(self, parameter, loaded, shard=0):
        if self.split == "n":
            loaded = loaded.chunk(self.processes, 0)[self.rank]
            begin = sum(self.sizes[:shard]) // self.processes
            parameter.data[begin:begin + len(loaded)] = loaded
        else:
            parameter.data.copy_(loaded.chunk(self.processes, 1)[self.rank])

    def process(self):
        self.method.process_weights_after_loading(self)

    def forward(self, x):
        return self.method.apply(self, x)


class LayerwiseReload:
    """As vLLM loads other weights into a model that runs: each layer has the tensors again
    that it was created with, without memory; what comes for it is kept until all of it is
    there, loaded into new memory and processed, and copied to the tensors that were there
    before, whose writes PyTorch does not count. Buffers that are in no state stay."""

    def __init__(self, model):
        self.layers = [each for each in model.modules() if isinstance(each, LinearBase)]
        self.created = [self.without_memory(layer._parameters) for layer in self.layers]

    def without_memory(self, parameters):
        found = {}
        for name, parameter in parameters.items():
            found[name] = nn.Parameter(parameter.detach().to("meta"), requires_grad=False)
            found[name].__dict__.update(parameter.__dict__)
        return found

    def start(self):
        for layer, created in zip(self.layers, self.created):
            before = dict(layer._parameters), dict(layer._buffers)
            layer._parameters.clear()
            layer._buffers.clear()
            for name, parameter in self.without_memory(created).items():
                layer.register_parameter(name, parameter)
            load_layerwise(layer, before)


def load_layerwise(layer, before=None):
    """Keeps what comes for a layer until all of it is there; then loads and processes it."""
    kept, missing = [], [sum(each.numel() for each in layer.parameters())]

    def finish():
        for name, parameter in list(layer.named_parameters()):
            setattr(layer, name, nn.Parameter(torch.empty_like(parameter, device="cpu"),
                                              requires_grad=False))
        for name, own, loaded, shard in kept:
            own(getattr(layer, name), loaded, *shard)
        layer.__dict__.pop("_already_called_process_weights_after_loading", None)
        layer.process()
        if before is None:
            return
        for name, parameter in before[0].items():
            if parameter.data_ptr() != getattr(layer, name).data_ptr():
                parameter.data.copy_(getattr(layer, name))
        layer._parameters.clear()
        layer._parameters.update(before[0])
        layer._buffers.update(before[1])

    for name, parameter in layer.named_parameters():
        def load(parameter, loaded, *shard, name=name, own=layer.load):
            assert parameter.is_meta
            kept.append((name, own, loaded, shard))
            missing[0] -= loaded.numel() // layer.processes
            if not missing[0]:
                finish()

        parameter.weight_loader = load


class Model(nn.Module):
    """The middle of a transformer: a merged layer, one that is split along its inputs,
    and one that others read."""

    packed = {"qkv_proj": ["q_proj", "k_proj", "v_proj"]}

    def __init__(self, config, rank=0, processes=1, dtype=torch.float32):
        super().__init__()
        config.packed_modules_mapping = self.packed
        for name, sizes, split in (("qkv_proj", [32, 16, 16], "n"), ("o_proj", [32], "k"),
                                   ("kv_b_proj", [32], "n")):
            self.add_module(name, LinearBase(32, sizes, config, f"model.{name}", split,
                                             rank, processes, dtype))
        self.embed = nn.Embedding(8, 32, dtype=dtype)

    def load_weights(self, weights):
        for name, tensor in weights:
            _, layer, part = name.split(".")
            if layer in self.packed["qkv_proj"]:
                parameter = getattr(self.qkv_proj, part)
                parameter.weight_loader(parameter, tensor,
                                        self.packed["qkv_proj"].index(layer))
            elif layer == "embed":
                self.embed.weight.data.copy_(tensor)
            else:
                parameter = getattr(getattr(self, layer), part)
                parameter.weight_loader(parameter, tensor)
        for layer in self.children():
            if isinstance(layer, LinearBase):
                layer.process()


class Dense(nn.Module):
    """The same layers in a checkpoint."""

    def __init__(self):
        super().__init__()
        self.model = nn.ModuleDict({
            name: nn.Linear(32, n, bias=False) for name, n in (
                ("q_proj", 32), ("k_proj", 16), ("v_proj", 16), ("o_proj", 32),
                ("kv_b_proj", 32))})
        self.model["embed"] = nn.Embedding(8, 32)


class BaseModelLoader(abc.ABC):
    def __init__(self, load_config):
        self.load_config = load_config

    @abc.abstractmethod
    def download_model(self, model_config): ...

    @abc.abstractmethod
    def load_weights(self, model, model_config): ...


def add_modules(monkeypatch, modules):
    for name, values in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(values, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)


@pytest.fixture
def vllm(monkeypatch):
    return register_in_vllm(monkeypatch)


def register_in_vllm(monkeypatch, modules=None):
    torch.manual_seed(SEED)
    found = types.SimpleNamespace(configs={}, loaders={}, methods=list(METHODS))

    def register_quantization_config(name):
        def wrapper(kind):
            assert issubclass(kind, QuantizationConfig) and name not in found.methods
            found.configs[name] = kind
            found.methods.append(name)
            return kind
        return wrapper

    def register_model_loader(name):
        def wrapper(kind):
            assert issubclass(kind, BaseModelLoader)
            found.loaders[name] = kind
            return kind
        return wrapper

    executor = "vllm.model_executor"
    add_modules(monkeypatch, {
        "vllm": {}, executor: {}, f"{executor}.layers": {},
        f"{executor}.layers.quantization": dict(
            QUANTIZATION_METHODS=found.methods,
            register_quantization_config=register_quantization_config),
        f"{executor}.layers.quantization.base_config": dict(
            QuantizationConfig=QuantizationConfig),
        f"{executor}.layers.linear": dict(
            LinearBase=LinearBase, LinearMethodBase=LinearMethodBase,
            UnquantizedLinearMethod=UnquantizedLinearMethod),
        f"{executor}.model_loader": dict(register_model_loader=register_model_loader),
        f"{executor}.model_loader.base_loader": dict(BaseModelLoader=BaseModelLoader),
        **(modules or {})})
    from nm.vllm import register
    register()
    register()  # As each process of a server does, maybe twice.
    return found


def assert_same(model, dense, rank=0, processes=1, kept="qkv_proj o_proj", limit=1e-5):
    x = torch.randn(5, 32, dtype=model.embed.weight.dtype)
    weights = {name: layer.weight for name, layer in dense.model.items()}
    merged = torch.cat([weights[name].chunk(processes)[rank]
                        for name in ("q_proj", "k_proj", "v_proj")])
    for name, weight, given in (
            ("qkv_proj", merged, x),
            ("o_proj", weights["o_proj"].chunk(processes, 1)[rank],
             x.chunk(processes, 1)[rank].contiguous()),
            ("kv_b_proj", weights["kv_b_proj"].chunk(processes)[rank], x)):
        layer = getattr(model, name)
        got, want = layer(given), given.double() @ weight.detach().double().T
        assert relative_error(got.detach().double().numpy(), want.numpy()) < limit
        assert hasattr(layer, "nm_values") == (name in kept.split()), name
        assert hasattr(layer, "weight") != hasattr(layer, "nm_values")


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("form", ["condensed", "converted", "bitmask", "masked", "dense"])
def test_vllm(vllm, tmp_path, form, processes):
    dense = Dense()
    for layer in dense.model.values():
        layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    nm.torch.save(dense, tmp_path / "masked")
    quantization = None
    if form != "masked":
        (tmp_path / "masked" / "config.json").write_text("{}")
        options = {"bitmask": dict(format="compressed-tensors"),
                   "dense": dict(format="dense")}.get(form, {})
        nm.convert(tmp_path / "masked", tmp_path / form, "2:4", names="*_proj*",
                   **options)
        quantization = json.loads((tmp_path / form / "config.json").read_text()).get(
            "quantization_config")
    folder = str(tmp_path / form)
    kind = vllm.configs["nm"]
    user = None if form in ("bitmask", "condensed", "converted") else "nm"
    if form == "bitmask" or user:
        assert kind.override_quantization_method(quantization, user, hf_config=None) == "nm"
    config = kind() if quantization is None else kind.from_config(quantization)
    assert config.get_name() == "nm" and torch.bfloat16 in config.get_supported_act_dtypes()
    assert config.get_quant_method(nn.Embedding(2, 2), "model.embed") is None
    for rank in range(processes):
        model = Model(config, rank, processes)
        loader = vllm.loaders["nm"](types.SimpleNamespace(download_dir=None))
        settings = types.SimpleNamespace(model=folder, revision=None)
        loader.download_model(settings)
        loader.load_weights(model, settings)
        assert_same(model, dense, rank, processes)
        assert torch.equal(model.embed.weight, dense.model["embed"].weight)


def quantized_folder(tmp_path, group, bits=4):
    """And the dense layers of the weights that its integers make."""
    sparse, dense = Dense().to(torch.bfloat16), Dense().to(torch.bfloat16)
    rules = {"*kv_b_proj": None, "*": "2:4"}
    nm.torch.sparsify(sparse, rules, prune=True)
    nm.torch.quantize(sparse, {"*o_proj": 8, "*": bits}, group)
    nm.torch.save(sparse, tmp_path)
    layers = {f"model.{name}": str(layer.pattern) for name, layer in sparse.model.items()
              if isinstance(layer, nm.torch.NMQuantizedLinear)}
    config = {"quant_method": "nm", "layers": layers, "quantized": {
        name: {"bits": 8 if "o_proj" in name else bits, "group": min(group, 32)}
        for name in layers}}
    nm.torch.densify(sparse)
    dense.load_state_dict(sparse.state_dict())
    return config, dense


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("group", [8, 16, 128])
def test_integers(vllm, tmp_path, group, processes):
    """They stay integers, merged and split, unless a group is split over processes."""
    config, dense = quantized_folder(tmp_path, group)
    kind = vllm.configs["nm"]
    for rank in range(processes):
        model = Model(kind.from_config(config), rank, processes, torch.bfloat16)
        vllm.loaders["nm"](None).load_weights(
            model, types.SimpleNamespace(model=str(tmp_path)))
        assert_same(model, dense, rank, processes, limit=1e-2)
        assert model.qkv_proj.nm_values.dtype == torch.int8
        assert model.qkv_proj.nm_scales.shape == (64 // processes, max(32 // group, 1))
        is_split = processes > 1 and group == 128
        assert (model.o_proj.nm_values.dtype == torch.int8) != is_split
        for layer in (model.qkv_proj, model.o_proj):
            assert not hasattr(layer, "weight_scale")


@pytest.mark.parametrize("kind", ["condensed", "integers"])
def test_layerwise_loading(monkeypatch, tmp_path, kind):
    """Where vLLM can load layer by layer, dense weights have no memory before, and each
    layer is condensed as soon as it is whole."""
    loader_modules = "vllm.model_executor.model_loader.reload"
    vllm = register_in_vllm(monkeypatch, {loader_modules: {}, f"{loader_modules}.layerwise": {
        "initialize_online_processing": load_layerwise}})
    if kind == "integers":
        config, dense = quantized_folder(tmp_path, 16)
        dtype, limit = torch.bfloat16, 1e-2
    else:
        dense, dtype, limit = Dense(), torch.float32, 1e-5
        for layer in dense.model.values():
            layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
        sparse = copy.deepcopy(dense)
        nm.torch.sparsify(sparse, {"*kv_b*": None, "*": "2:4"})
        nm.torch.save(sparse, tmp_path)
        config = {}
    for rank in range(2):
        model = Model(vllm.configs["nm"].from_config(config), rank, 2, dtype)
        layers = [model.qkv_proj, model.o_proj]
        assert all(layer.method.uses_meta_device and layer.weight.is_meta
                   for layer in layers)
        most, process = [], LinearBase.process

        def watch(layer):
            most.append(sum(hasattr(each, "weight") and not each.weight.is_meta
                            for each in layers))
            process(layer)

        with monkeypatch.context() as patch:
            patch.setattr(LinearBase, "process", watch)
            vllm.loaders["nm"](None).load_weights(
                model, types.SimpleNamespace(model=str(tmp_path)))
        assert max(most) == 1
        assert_same(model, dense, rank, 2, limit=limit)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no map of memory")
def test_condensed_weights_leave_memory(vllm, tmp_path, monkeypatch):
    monkeypatch.setattr(nm.torch._serving, "LEAST_BYTES", 0)
    monkeypatch.setattr(nm.torch._mapped, "LEAST_BYTES", 0)
    monkeypatch.setattr(nm.torch._mapped, "_is_in_memory", lambda folder: False)
    dense = Dense()
    for layer in dense.model.values():
        layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    nm.torch.save(dense, tmp_path)
    model = Model(vllm.configs["nm"]())
    vllm.loaders["nm"](None).load_weights(model, types.SimpleNamespace(model=str(tmp_path)))
    with open("/proc/self/maps") as file:
        files = [tuple(int(end, 16) for end in line.split()[0].split("-"))
                 for line in file if "/nm-" in line or "(deleted)" in line]
    for layer in (model.qkv_proj, model.o_proj):
        assert any(begin <= layer.nm_values.data_ptr() < end for begin, end in files)
    assert_same(model, dense)


def packed_places(model):
    return [sorted(bound.packed_parts()) for layer in (model.qkv_proj, model.o_proj)
            for bound in nm.torch._weights.known_weight(layer.nm_values)._bound.values()]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("kind", ["named", "detected", "integers"])
def test_layerwise_reload(vllm, tmp_path, kind, processes):
    """Other weights, at other places, reach the tensors and the packed forms that are
    there, which a CUDA graph would read."""
    folders = []
    for i in range(2):
        torch.manual_seed(SEED + i)
        folders.append(str(tmp_path / str(i)))
        if kind == "integers":
            config, dense = quantized_folder(folders[-1], 16)
            continue
        dense, config = Dense(), {}
        for layer in dense.model.values():
            layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
        nm.torch.save(dense, folders[-1])
        if kind == "named":
            config = {"quant_method": "nm", "layers": {
                f"model.{name}": "2:4, dim = 1" for name in dense.model
                if name not in ("embed", "kv_b_proj")}}
    dtype, limit = ((torch.bfloat16, 1e-2) if kind == "integers" else
                    (torch.float32, 1e-5))
    for rank in range(processes):
        model = Model(vllm.configs["nm"].from_config(config), rank, processes, dtype)
        reload, loader = LayerwiseReload(model), vllm.loaders["nm"](None)
        loader.load_weights(model, types.SimpleNamespace(model=folders[0]))
        for rows in (1, 5):  # Packed.
            model.qkv_proj(torch.randn(rows, 32, dtype=dtype))
            model.o_proj(torch.randn(rows, 32 // processes, dtype=dtype))
        places = packed_places(model)
        tensors = [id(each) for each in model.parameters()]
        reload.start()
        loader.load_weights(model, types.SimpleNamespace(model=folders[1]))
        assert [id(each) for each in model.parameters()] == tensors
        assert_same(model, dense, rank, processes, limit=limit)
        assert packed_places(model) == places


def test_a_reload_that_breaks_the_pattern(vllm, tmp_path):
    """A layer that became sparse is to stay so; one that is dense stays dense."""
    for name, pattern in (("a", "2:4"), ("b", "1:4"), ("c", None)):
        dense = Dense()
        for part, layer in dense.model.items():
            if pattern and part != "o_proj":
                layer.weight.data = nm.prune(layer.weight.data, pattern, axis=1).weight
        nm.torch.save(dense, tmp_path / name)
    model = Model(vllm.configs["nm"]())
    reload, loader = LayerwiseReload(model), vllm.loaders["nm"](None)
    for name in "ab":
        loader.load_weights(model, types.SimpleNamespace(model=str(tmp_path / name)))
        assert model.qkv_proj.nm_form == "64x32, 2:4, dim = 1"
        assert not hasattr(model.o_proj, "nm_form")
        reload.start()
    with pytest.raises(nm.PatternError, match="expected 'model.qkv_proj' to have at most 2"):
        loader.load_weights(model, types.SimpleNamespace(model=str(tmp_path / "c")))


def test_integers_of_several_kinds(vllm, tmp_path):
    """A merged layer whose parts are quantized otherwise, or not all, is of floats."""
    config, dense = quantized_folder(tmp_path, 16)
    del config["quantized"]["model.k_proj"]
    loader, settings = vllm.loaders["nm"](None), types.SimpleNamespace(model=str(tmp_path))
    model = Model(vllm.configs["nm"].from_config(config), dtype=torch.bfloat16)
    loader.load_weights(model, settings)
    assert_same(model, dense, limit=1e-2)
    assert model.qkv_proj.nm_values.dtype == torch.bfloat16
    assert model.o_proj.nm_values.dtype == torch.int8
    # Integers that break the pattern that the configuration says.
    config["layers"]["model.o_proj"] = "1:4, dim = 1"
    model = Model(vllm.configs["nm"].from_config(config), dtype=torch.bfloat16)
    with pytest.warns(UserWarning, match="model.o_proj stays dense: its integers break"):
        loader.load_weights(model, settings)
    assert_same(model, dense, kept="qkv_proj", limit=1e-2)


def test_layers_of_other_patterns(vllm, tmp_path):
    """A merged layer stays dense where one of its parts is, or has no pattern of all."""
    dense = Dense()
    for name, layer in dense.model.items():
        if name != "k_proj" and name != "embed":
            layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    nm.torch.save(dense, tmp_path)
    kind = vllm.configs["nm"]
    loader = vllm.loaders["nm"](None)
    settings = types.SimpleNamespace(model=str(tmp_path))
    layers = {f"model.{name}": "2:4, dim = 1" for name in ("q_proj", "v_proj", "o_proj")}
    for config in (kind.from_config({"quant_method": "nm", "layers": layers}), kind()):
        model = Model(config)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loader.load_weights(model, settings)
        assert_same(model, dense, kept="o_proj")
    layers["model.k_proj"] = "2:4, dim = 1"
    model = Model(kind.from_config({"quant_method": "nm", "layers": layers}))
    with pytest.warns(UserWarning, match="model.qkv_proj stays dense: expected"):
        loader.load_weights(model, settings)
    assert_same(model, dense, kept="o_proj")
    assert kind.override_quantization_method({"quant_method": "awq"}, None) is None
    assert kind.override_quantization_method(
        {"config_groups": {"group_0": {}}, "sparsity_config": {
            "format": "sparse-24-bitmask"}}, None) is None


class DefaultModelLoader:
    """As SGLang's, which is told of no other."""

    def _prepare_weights(self, path, revision, fall_back_to_pt):
        return path, [], True

    def _get_all_weights(self, model_config, model):
        raise AssertionError("what SGLang reads itself")

    def load(self, model_config, model):
        model.load_weights(self._get_all_weights(model_config, model))


@pytest.mark.parametrize("form", ["masked", "condensed", "quantized"])
def test_sglang(monkeypatch, tmp_path, form):
    torch.manual_seed(SEED)
    methods, choices, layers = {"fp8": object}, ["fp8"], "sglang.srt.layers"
    loaders = type("Loader", (DefaultModelLoader,), {})
    add_modules(monkeypatch, {
        "sglang": {}, "sglang.srt": {}, layers: {}, "sglang.srt.model_loader": {},
        "sglang.srt.model_loader.loader": dict(DefaultModelLoader=loaders),
        "sglang.srt.server_args": dict(add_quantization_method_choices=choices.extend),
        f"{layers}.quantization": dict(QUANTIZATION_METHODS=methods),
        f"{layers}.linear": dict(LinearBase=LinearBase),
        f"{layers}.quantization.base_config": dict(
            LinearMethodBase=LinearMethodBase, QuantizationConfig=QuantizationConfig),
        f"{layers}.quantization.unquant": dict(
            UnquantizedLinearMethod=UnquantizedLinearMethod)})
    from nm.sglang import register
    register()
    register()
    assert choices == ["fp8", "nm"] and set(methods) == {"fp8", "nm"}
    kind = methods["nm"]
    assert kind.override_quantization_method(None, "nm") == "nm"
    assert kind.override_quantization_method(
        {"sparsity_config": {"format": "sparse-24-bitmask"}}, None) is None
    settings = types.SimpleNamespace(model_path=str(tmp_path), revision=None,
                                     quantization="fp8")
    dtype, limit = torch.float32, 1e-5
    if form == "quantized":
        config, dense = quantized_folder(tmp_path, 16)
        made, dtype, limit = kind.from_config(config), torch.bfloat16, 1e-2
    else:
        dense, made = Dense(), kind()
        for layer in dense.model.values():
            layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
        sparse = copy.deepcopy(dense)
        if form == "condensed":
            nm.torch.sparsify(sparse, "2:4")
        nm.torch.save(sparse, tmp_path)
    model = Model(made, dtype=dtype)
    with pytest.raises(AssertionError, match="reads itself"):
        loaders().load(settings, model)
    settings.quantization = "nm"
    loaders().load(settings, model)
    assert_same(model, dense, limit=limit)


def test_entry_points():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for group, module in (("vllm.general_plugins", "vllm"), ("sglang.srt.plugins",
                                                             "sglang")):
        assert re.search(rf'\[project.entry-points."{group}"\]\nnm = "nm.{module}:register"',
                         text)
        assert "register" in (ROOT / "python" / "nm" / f"{module}.py").read_text()
