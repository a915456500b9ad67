"""A sentence model: a BERT encoder with mean pooling, read from a folder of plain data.

The folder holds the usual files of such models: `config.json`, `vocab.txt` and `model.safetensors` (Reimers and
Gurevych 2019). No code of a model is run and nothing is downloaded. The arithmetic is numpy's, so the last digits
depend on the machine: compare rounded values.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import BertWordPieceTokenizer

from rulewright_runtime import strict_json
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import InputError

_T = TypeVar("_T")
Numbers = NDArray[np.float32]
_BATCH: Final = 64  # texts encoded at once
_CACHE_SIZE: Final = 8192  # vectors: windows of a text are needed again for the next phrase
_SPECIAL_TOKENS: Final = ("[UNK]", "[CLS]", "[SEP]")


class _Config(msgspec.Struct):
    """The keys of a model's `config.json` that are used."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"


class _Tokens(msgspec.Struct):
    do_lower_case: bool = True


class _Sentences(msgspec.Struct):
    max_seq_length: int | None = None


class _Pooling(msgspec.Struct):
    pooling_mode_mean_tokens: bool = True


class SentenceModel:
    """An embedding of whole texts."""

    near = 0.55  # for short clinical phrases: above all unrelated ones, below most paraphrases

    def __init__(self, folder: str) -> None:
        """Read the model in `folder`. Raises InputError for a damaged one, and for another kind of model."""
        self._config = config = _read(folder, "config.json", _Config)
        if (config.model_type, config.hidden_act) != ("bert", "gelu"):
            raise InputError("is not a BERT model with the activation `gelu`", os.path.join(folder, "config.json"))
        if not _read(folder, os.path.join("1_Pooling", "config.json"), _Pooling, _Pooling()).pooling_mode_mean_tokens:
            raise InputError("does not use mean pooling", folder)
        self._tokenizer = _tokenizer(folder, config.max_position_embeddings)
        self._weights = _weights(os.path.join(folder, "model.safetensors"))
        self._cache: dict[str, list[float]] = {}
        try:
            self.embed(["a"])
        except KeyError as missing:
            raise InputError(f"the weights contain no tensor {missing}", folder) from None
        except (ValueError, IndexError, TypeError, ZeroDivisionError):
            raise InputError("the weights don't fit `config.json`", folder) from None
        self._cache.clear()

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """Return a unit vector for each text."""
        if len(self._cache) > _CACHE_SIZE:
            self._cache.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._cache]
        encoded = [(each.ids, text) for each, text in zip(self._tokenizer.encode_batch(new), new, strict=True)]
        encoded.sort(key=lambda each: len(each[0]))
        for _, group in groupby(encoded, key=lambda each: len(each[0])):  # texts of one length need no padding
            same_length = list(group)
            for at in range(0, len(same_length), _BATCH):
                batch = same_length[at : at + _BATCH]
                vectors = self._encode(np.array([ids for ids, _ in batch]))
                self._cache.update(zip((text for _, text in batch), vectors.tolist(), strict=True))
        return [self._cache[text] for text in texts]

    def fits(self, text: str) -> bool:
        """Whether the model reads a text to its end."""
        return not self._tokenizer.encode(text).overflowing

    def _encode(self, ids: NDArray[np.int64]) -> Numbers:
        """Return unit vectors (texts x dimensions) for token ids (texts x tokens) of texts of one length."""
        weights = self._weights
        words, positions, types = (weights[f"embeddings.{name}_embeddings.weight"] for name in _EMBEDDINGS)
        state = self._normalize(words[ids] + positions[: ids.shape[1]] + types[0], "embeddings")
        for layer in range(self._config.num_hidden_layers):
            state = self._layer(state, f"encoder.layer.{layer}")
        mean = state.mean(axis=1)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12), np.float32)

    def _layer(self, state: Numbers, name: str) -> Numbers:
        """Apply one layer of the encoder: self-attention, then the feed-forward network."""
        texts, tokens, size = state.shape
        heads = self._config.num_attention_heads
        query, key, value = (
            self._dense(state, f"{name}.attention.self.{part}")
            .reshape(texts, tokens, heads, size // heads)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // heads))
        attention = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attention /= attention.sum(axis=-1, keepdims=True)
        context = (attention @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, size)
        output = f"{name}.attention.output"
        state = self._normalize(state + self._dense(context, f"{output}.dense"), output)
        inner = _gelu(self._dense(state, f"{name}.intermediate.dense"))
        return self._normalize(state + self._dense(inner, f"{name}.output.dense"), f"{name}.output")

    def _dense(self, state: Numbers, name: str) -> Numbers:
        rows = state.reshape(-1, state.shape[-1]) @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return np.asarray(rows.reshape(*state.shape[:-1], -1))

    def _normalize(self, state: Numbers, name: str) -> Numbers:
        """Apply layer normalization."""
        centered = state - state.mean(axis=-1, keepdims=True)
        variance = np.square(centered).mean(axis=-1, keepdims=True)
        scaled = centered / np.sqrt(variance + np.float32(self._config.layer_norm_eps))
        return np.asarray(scaled * self._weights[f"{name}.LayerNorm.weight"] + self._weights[f"{name}.LayerNorm.bias"])


_EMBEDDINGS: Final = ("word", "position", "token_type")
# The error function to 1.5e-7, a polynomial in 1 / (1 + p x) (Abramowitz and Stegun 1964, 7.1.26).
_ERF: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_ERF_SCALE: Final = np.float32(0.3275911)


def _gelu(values: Numbers) -> Numbers:
    """Apply the Gaussian error linear unit: each value times the normal distribution function at it."""
    size = np.abs(values) * np.float32(np.sqrt(0.5))
    step = 1 / (1 + _ERF_SCALE * size)
    total = np.zeros_like(step)
    for factor in _ERF:
        total = (total + np.float32(factor)) * step
    erf = np.copysign(1 - total * np.exp(-np.square(size)), values)
    return np.asarray(values * (1 + erf) / 2, np.float32)


def _read(folder: str, name: str, kind: type[_T], otherwise: _T | None = None) -> _T:
    """Read a JSON file as `kind`; `otherwise`, if given, replaces a missing file. Raises InputError."""
    path = os.path.join(folder, name)
    if otherwise is not None and not os.path.exists(path):
        return otherwise
    try:
        with open(path, "rb") as file:
            return strict_json.decode(file.read(), type=kind)
    except OSError as error:
        raise InputError(reason_of(error), path) from None
    except strict_json.UNDECODED as error:
        raise InputError(f"is not a file of a sentence model: {error}", path) from None


def _tokenizer(folder: str, limit: int) -> BertWordPieceTokenizer:
    """Return the tokenizer of the model's vocabulary, which truncates texts to the model's maximum length."""
    lower = _read(folder, "tokenizer_config.json", _Tokens, _Tokens()).do_lower_case
    limit = min(limit, _read(folder, "sentence_bert_config.json", _Sentences, _Sentences()).max_seq_length or limit)
    path = os.path.join(folder, "vocab.txt")
    try:
        os.stat(path)
        tokenizer = BertWordPieceTokenizer(path, lowercase=lower)
    except OSError as error:
        raise InputError(reason_of(error), path) from None
    except Exception:  # the library raises undocumented errors
        raise InputError("is not a vocabulary of word pieces", path) from None
    if any(tokenizer.token_to_id(token) is None for token in _SPECIAL_TOKENS):
        raise InputError("is not a vocabulary of word pieces", path)
    tokenizer.enable_truncation(limit)
    return tokenizer


def _weights(path: str) -> dict[str, Numbers]:
    """Return the tensors of a safetensors file. Raises InputError for any other file, and for weights other than
    float32."""
    try:
        os.stat(path)
        tensors = load_file(path)
    except OSError as error:
        raise InputError(reason_of(error), path) from None
    except Exception:  # the library raises undocumented errors
        raise InputError("is not a file of safetensors", path) from None
    for name, tensor in tensors.items():
        if name.endswith((".weight", ".bias")) and tensor.dtype != np.float32:
            raise InputError(f"the tensor `{name}` is not float32", path)
    return tensors
