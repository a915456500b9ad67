"""A sentence model small enough to compute by hand, and a plain reading of the arithmetic to compare with."""

import json
import math
import random
import struct
from pathlib import Path
from typing import Any

Vector = list[float]
HEADS, LAYERS = 2, 2
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "fever", "high", "fe", "##ver", "##ish", "no", ".", "漢"]


def tensors(chance: random.Random) -> dict[str, list[Any]]:
    """Weights of a model with 4 numbers a token: matrices as lists of rows."""

    def matrix(rows: int, columns: int) -> list[Vector]:
        return [[chance.gauss(0, 0.6) for _ in range(columns)] for _ in range(rows)]

    def norm(name: str) -> dict[str, list[Any]]:
        return {f"{name}.LayerNorm.weight": matrix(1, 4)[0], f"{name}.LayerNorm.bias": matrix(1, 4)[0]}

    def dense(name: str, rows: int, columns: int) -> dict[str, list[Any]]:
        return {f"{name}.weight": matrix(rows, columns), f"{name}.bias": matrix(1, rows)[0]}

    found = {
        "embeddings.word_embeddings.weight": matrix(len(VOCABULARY), 4),
        "embeddings.position_embeddings.weight": matrix(8, 4),
        "embeddings.token_type_embeddings.weight": matrix(2, 4),
        **norm("embeddings"),
    }
    for at in range(LAYERS):
        layer = f"encoder.layer.{at}"
        for part in ("query", "key", "value"):
            found |= dense(f"{layer}.attention.self.{part}", 4, 4)
        found |= dense(f"{layer}.attention.output.dense", 4, 4) | norm(f"{layer}.attention.output")
        found |= dense(f"{layer}.intermediate.dense", 6, 4) | dense(f"{layer}.output.dense", 4, 6)
        found |= norm(f"{layer}.output")
    return found


def safetensors(weights: dict[str, list[Any]]) -> bytes:
    """The weights as a file of safetensors."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, values in weights.items():
        rows = values if isinstance(values[0], list) else [values]
        flat = [number for row in rows for number in row]
        shape = [len(rows), len(rows[0])] if isinstance(values[0], list) else [len(values)]
        start = len(body)
        body += struct.pack(f"<{len(flat)}f", *flat)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def write_model(folder: Path, weights: dict[str, list[Any]], **changes: Any) -> Path:
    """The model's folder; `changes` replace settings of its `config.json`."""
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": 4,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": 8,
        "layer_norm_eps": 1e-12,
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(safetensors(weights))
    return folder


def plain_direction(weights: dict[str, list[Any]], numbers: list[int]) -> Vector:
    """What the model makes of a text, number by number."""

    def dense(state: list[Vector], name: str) -> list[Vector]:
        rows, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return [
            [sum(a * b for a, b in zip(token, row, strict=True)) + c for row, c in zip(rows, bias, strict=True)]
            for token in state
        ]

    def normed(state: list[Vector], name: str) -> list[Vector]:
        result = []
        for token in state:
            mean = sum(token) / len(token)
            deviation = math.sqrt(sum((x - mean) ** 2 for x in token) / len(token) + 1e-12)
            factors, bias = weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"]
            result.append([(x - mean) / deviation * f + b for x, f, b in zip(token, factors, bias, strict=True)])
        return result

    def added(one: list[Vector], two: list[Vector]) -> list[Vector]:
        return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(one, two, strict=True)]

    words, places, kinds = (
        weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
    )
    state = [
        [a + b + c for a, b, c in zip(words[number], places[at], kinds[0], strict=True)]
        for at, number in enumerate(numbers)
    ]
    state = normed(state, "embeddings")
    size = 4 // HEADS
    for at in range(LAYERS):
        layer = f"encoder.layer.{at}"
        query, key, value = (dense(state, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        seen: list[Vector] = [[] for _ in state]
        for head in range(0, 4, size):
            for token, asking in enumerate(query):
                likeness = [
                    sum(a * b for a, b in zip(asking[head : head + size], k[head : head + size], strict=True))
                    / math.sqrt(size)
                    for k in key
                ]
                shares = [math.exp(each) for each in likeness]
                for number in range(head, head + size):
                    total = sum(s * v[number] for s, v in zip(shares, value, strict=True))
                    seen[token].append(total / sum(shares))
        output = f"{layer}.attention.output"
        state = normed(added(state, dense(seen, f"{output}.dense")), output)
        inner = [
            [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in token]
            for token in dense(state, f"{layer}.intermediate.dense")
        ]
        state = normed(added(state, dense(inner, f"{layer}.output.dense")), f"{layer}.output")
    mean = [sum(token[number] for token in state) / len(state) for number in range(4)]
    length = math.sqrt(sum(x * x for x in mean))
    return [x / length for x in mean]
