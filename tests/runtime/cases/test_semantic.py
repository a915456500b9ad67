"""Semantic matches: hints with their similarity, off by default, never counted."""

from pathlib import Path
from typing import Any

import pytest
from tests.safe_cases import case, safe, settings, write

from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import score_batches
from rulewright_runtime.cases.second_opinions import cosine
from rulewright_runtime.embedding.opening import WordVectors
from rulewright_runtime.errors import InputError

VECTORS = """fever 1 0 0
temperature 0.9 0.1 0
high 0 1 0
raised 0.1 0.9 0
bed 0 0 1
not 0 0 0.1
"""


@pytest.fixture
def vectors(tmp_path: Path) -> WordVectors:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    return WordVectors(str(path))


def test_a_paraphrase_is_a_hint_and_changes_no_score(vectors: WordVectors, tmp_path: Path) -> None:
    record = case("T1", must=["high fever", "bed"], signals=["The temperature was raised"], summary="Seen late.")
    path = write(tmp_path / "b.json", [record])
    plain, hinted = (
        next(
            score_batches(
                settings(), CaseReader(safe().plan), [Batch("b", str(path))], embedding=embedding
            ).spool.results()
        )
        for embedding in (None, vectors)
    )
    (match,) = hinted["semantic_matches"]["CR"]
    assert (match["phrase"], match["in"]) == ("high fever", "signals[0]")
    assert "temperature" in match["text"]
    assert match["similarity"] > 0.9
    assert hinted["semantic_matches"]["AH"] == hinted["semantic_matches"]["AC"] == []
    assert plain == {key: value for key, value in hinted.items() if key != "semantic_matches"}


def test_a_negation_is_as_near_as_the_phrase_which_is_why_it_is_only_a_hint(vectors: WordVectors) -> None:
    one, two = vectors.embed(["fever", "not fever"])
    assert one is not None
    assert two is not None
    assert cosine(one, two) > 0.9


def hints(vectors: WordVectors, tmp_path: Path, must: str, *signals: str) -> list[dict[str, Any]]:
    path = write(tmp_path / "b.json", [case("T1", must=[must], signals=list(signals), summary="")])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))], embedding=vectors)
    found: list[dict[str, Any]] = next(done.spool.results())["semantic_matches"]["CR"]
    return found


def test_a_hint_at_a_negation_says_so(vectors: WordVectors, tmp_path: Path) -> None:
    (said,) = hints(vectors, tmp_path, "high fever", "raised temperature")
    (denied,) = hints(vectors, tmp_path, "high fever", "not a raised temperature")
    (denying,) = hints(vectors, tmp_path, "not high fever", "raised temperature")
    (both,) = hints(vectors, tmp_path, "not high fever", "not raised temperature")
    assert ["negated" in each for each in (said, denied, denying, both)] == [False, True, True, False]


def test_words_that_say_it_are_preferred_to_likelier_words_that_deny_it(vectors: WordVectors, tmp_path: Path) -> None:
    (match,) = hints(vectors, tmp_path, "fever bed", "not the fever of the bed", "bed temperature")
    assert (match["in"], "negated" in match) == ("signals[1]", False)


@pytest.mark.parametrize("before", range(12))
def test_the_most_similar_words_are_found_anywhere(before: int, vectors: WordVectors, tmp_path: Path) -> None:
    text = f"{'word ' * before}raised temperature{' word' * (11 - before)}"
    (match,) = hints(vectors, tmp_path, "high fever", text)
    assert match["text"] == "raised temperature"


def test_what_has_no_known_word_has_no_vector(vectors: WordVectors) -> None:
    assert vectors.embed(["unheard", ""]) == [None, None]
    assert cosine([0.0], [1.0]) == 0.0


def test_the_header_of_word2vec_is_not_a_word(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("1 2\nfever 0.5 0.5\n")
    assert WordVectors(str(path)).embed(["fever"]) == [[0.5, 0.5]]


@pytest.mark.parametrize("text", ["", "fever x\n", "fever 1 2\nbed 1\n", "fever nan\n", "fever\n"])
def test_a_file_that_holds_no_vectors_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(InputError):
        WordVectors(str(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        WordVectors(str(tmp_path / "no.txt"))
