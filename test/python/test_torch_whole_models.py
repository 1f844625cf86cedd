"""Models of transformers, narrow, as one shared object on a CPU and on simulated GPUs,
beside PyTorch in float64 on their pruned weights."""

import copy
import os

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import nm  # noqa: E402
import nm.torch  # noqa: E402

TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
SMALL = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
             intermediate_size=176)
WORDS = dict(SMALL, vocab_size=100)
DECODER = dict(WORDS, num_key_value_heads=2, use_cache=False, eos_token_id=1,
               bos_token_id=1)


def words(batch):
    return torch.randint(1, 100, (batch, 9))


def sentences(batch):
    """Words of sentences that end one after the other, and which places have one."""
    lengths = torch.arange(9, 9 - batch, -1)
    return words(batch), (torch.arange(9) < lengths[:, None]).long()


def whisper_encoder(config):
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return WhisperEncoder(config)


#: What makes a model, and what draws its arguments for a batch.
MODELS = {
    "minilm": (lambda: transformers.BertModel(transformers.BertConfig(
        **dict(WORDS, num_attention_heads=8))), sentences),
    "bert": (lambda: transformers.BertModel(transformers.BertConfig(**WORDS)), sentences),
    "vit": (lambda: transformers.ViTModel(transformers.ViTConfig(
        image_size=32, patch_size=8, **SMALL), add_pooling_layer=False),
        lambda batch: (torch.randn(batch, 3, 32, 32),)),
    "llama": (lambda: transformers.LlamaModel(transformers.LlamaConfig(**DECODER)),
              lambda batch: (words(batch),)),
    "qwen2": (lambda: transformers.Qwen2Model(transformers.Qwen2Config(**DECODER)),
              sentences),
    "qwen3": (lambda: transformers.Qwen3Model(transformers.Qwen3Config(
        head_dim=16, **DECODER)), lambda batch: (words(batch),)),
    "gpt2": (lambda: transformers.GPT2Model(transformers.GPT2Config(
        n_embd=64, n_layer=2, n_head=4, vocab_size=100, n_positions=64, use_cache=False,
        eos_token_id=1, bos_token_id=1)), lambda batch: (words(batch),)),
    "whisper": (lambda: whisper_encoder(transformers.WhisperConfig(
        d_model=64, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=128,
        num_mel_bins=16, max_source_positions=30)),
        lambda batch: (torch.randn(batch, 16, 60),)),
}
#: In turn, so that each model has several, and each chip and type all.
PATTERNS = ["2:4", "8:32, block = 1x32", None, "1:2, block = 16x16"]
SEED = int(os.environ.get("NM_TEST_SEED", 0))


def cases():
    """Each model in each type for both chips, and for a CPU in one of the types. In f16 a
    chip has a batch that is known and one that is not, and else one of the two, in turn,
    which an odd seed turns round."""
    for number, name in enumerate(MODELS):
        for turn, dtype in enumerate(TOLERANCES):
            targets = ["sim:sm_80", "sim:sm_90a"]
            targets += ["cpu"] if (number + SEED) % 3 == turn else []
            for place, target in enumerate(targets, number + turn + SEED):
                has_both = dtype == torch.float16 and target != "cpu"
                for dynamic in (True, False) if has_both else (place % 2 == 0,):
                    yield pytest.param(
                        name, dtype, target, PATTERNS[(number + place) % 4], dynamic,
                        id=f"{name}-{dtype}-{target}-{'dynamic' if dynamic else 'static'}"
                        .replace("torch.", ""))


def cast(args, dtype):
    return tuple(arg.to(dtype) if arg.is_floating_point() else arg for arg in args)


@pytest.mark.parametrize("name,dtype,target,pattern,dynamic", list(cases()))
def test_models(name, dtype, target, pattern, dynamic):
    torch.manual_seed(SEED)
    make, draw = MODELS[name]
    model = make().to(dtype).eval()
    if pattern:
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    expected = copy.deepcopy(model)
    nm.torch.densify(expected)
    expected.double()
    compiled = nm.torch.export(model, cast(draw(2), dtype), dynamic_batch=dynamic).compile(
        target=target, opt_level=1)
    for batch in (2, 3) if dynamic else (2,):
        args = cast(draw(batch), dtype)
        with torch.no_grad():
            got, want = compiled(*args)[0], expected(*cast(args, torch.double))[0]
        assert got.dtype == dtype
        assert relative_error(got.double().numpy(), want.numpy()) < TOLERANCES[dtype]
