"""Models of transformers beside those of measure_models.py, in their true widths with a few
of their layers: what makes one, what draws its argument for a batch, and the batch."""

import torch
import transformers

WORDS = {"vocab_size": 1000}
SPECIAL = {"eos_token_id": 1, "bos_token_id": 1, "pad_token_id": 0}


def decoder(config, **sizes):
    return config(use_cache=False, **WORDS, **SPECIAL, **sizes)


def words(length):
    return lambda batch: torch.randint(5, 1000, (batch, length))


def images(batch):
    return torch.randn(batch, 3, 224, 224)


OTHERS = {
    "ModernBERT-base, 6 layers": (lambda: transformers.ModernBertModel(
        transformers.ModernBertConfig(num_hidden_layers=6, cls_token_id=1, sep_token_id=2,
                                      **WORDS, **SPECIAL)), words(512), 4),
    "DeBERTa-v3-base, 4 layers": (lambda: transformers.DebertaV2Model(
        transformers.DebertaV2Config(
            hidden_size=768, num_hidden_layers=4, num_attention_heads=12,
            intermediate_size=3072, relative_attention=True, pos_att_type=["p2c", "c2p"],
            position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True, **WORDS)),
        words(256), 4),
    "DistilBERT": (lambda: transformers.DistilBertModel(
        transformers.DistilBertConfig(**WORDS)), words(128), 8),
    "T5-large encoder, 4 layers": (lambda: transformers.T5EncoderModel(
        transformers.T5Config(d_model=1024, d_kv=64, d_ff=4096, num_layers=4, num_heads=16,
                              **WORDS)), words(512), 4),
    "Gemma-2-2B, 2 blocks": (lambda: transformers.Gemma2Model(decoder(
        transformers.Gemma2Config, hidden_size=2304, num_hidden_layers=2,
        num_attention_heads=8, num_key_value_heads=4, head_dim=256,
        intermediate_size=9216)), words(512), 1),
    "Gemma-3-4B, 2 blocks": (lambda: transformers.Gemma3TextModel(decoder(
        transformers.Gemma3TextConfig, hidden_size=2560, num_hidden_layers=2,
        num_attention_heads=8, num_key_value_heads=4, head_dim=256,
        intermediate_size=10240, sliding_window=256)), words(512), 1),
    "Phi-3-mini, 1 block": (lambda: transformers.Phi3Model(decoder(
        transformers.Phi3Config, hidden_size=3072, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=32, intermediate_size=8192)),
        words(512), 1),
    "Mistral-7B, 1 block": (lambda: transformers.MistralModel(decoder(
        transformers.MistralConfig, hidden_size=4096, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336,
        sliding_window=256)), words(512), 1),
    "Falcon-7B, 1 block": (lambda: transformers.FalconModel(transformers.FalconConfig(
        hidden_size=4544, num_hidden_layers=1, num_attention_heads=71, use_cache=False,
        **WORDS)), words(512), 1),
    "Pythia-1.4B, 2 blocks": (lambda: transformers.GPTNeoXModel(decoder(
        transformers.GPTNeoXConfig, hidden_size=2048, num_hidden_layers=2,
        num_attention_heads=16, intermediate_size=8192)), words(512), 1),
    "OPT-1.3B, 2 blocks": (lambda: transformers.OPTModel(decoder(
        transformers.OPTConfig, hidden_size=2048, num_hidden_layers=2, ffn_dim=8192,
        num_attention_heads=32, word_embed_proj_dim=2048)), words(512), 1),
    "BLOOM-1.7B, 2 blocks": (lambda: transformers.BloomModel(transformers.BloomConfig(
        hidden_size=2048, n_layer=2, n_head=16, use_cache=False, **WORDS)), words(512), 1),
    "StableLM-3B, 1 block": (lambda: transformers.StableLmModel(decoder(
        transformers.StableLmConfig, hidden_size=2560, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=32, intermediate_size=6912)),
        words(512), 1),
    "OLMoE, 1 block of 16 experts": (lambda: transformers.OlmoeModel(decoder(
        transformers.OlmoeConfig, hidden_size=2048, num_hidden_layers=1,
        num_attention_heads=16, num_key_value_heads=16, intermediate_size=1024,
        num_experts=16, num_experts_per_tok=4)), words(256), 1),
    "Swin-base, 12 layers": (lambda: transformers.SwinModel(transformers.SwinConfig(
        embed_dim=128, depths=[2, 2, 6, 2], num_heads=[4, 8, 16, 32])), images, 8),
    "ConvNeXt-base, 18 layers": (lambda: transformers.ConvNextModel(
        transformers.ConvNextConfig(hidden_sizes=[128, 256, 512, 1024],
                                    depths=[3, 3, 9, 3])), images, 8),
    "DINOv2-base, 4 layers": (lambda: transformers.Dinov2Model(transformers.Dinov2Config(
        hidden_size=768, num_hidden_layers=4, num_attention_heads=12, image_size=224,
        patch_size=14)), images, 8),
    "BEiT-base, 4 layers": (lambda: transformers.BeitModel(transformers.BeitConfig(
        num_hidden_layers=4, use_relative_position_bias=True)), images, 8),
    "Segformer-b2, 8 layers": (lambda: transformers.SegformerModel(
        transformers.SegformerConfig(
            hidden_sizes=[64, 128, 320, 512], depths=[2, 2, 2, 2],
            num_attention_heads=[1, 2, 5, 8], decoder_hidden_size=768)), images, 8),
    "wav2vec2-base, 4 layers": (lambda: transformers.Wav2Vec2Model(
        transformers.Wav2Vec2Config(num_hidden_layers=4)),
        lambda batch: torch.randn(batch, 80000), 4),
}
