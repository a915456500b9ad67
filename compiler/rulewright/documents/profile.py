"""A scan profile: which checks run and how often judges vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from rulewright.documents.base import Document, flag, number, scalar, texts
from rulewright.load import Mapping, Scalar, load_text


@dataclass(frozen=True, slots=True, eq=False)
class Profile(Document):
    """A profile. An empty list selects by nothing; `repetitions` None leaves every check its own number;
    `include_expectations` brings `include_rubrics`."""

    name: str
    exclude_modes: tuple[str, ...]
    include_modes: tuple[str, ...]
    include_all: bool
    hard_fail_only: bool
    include_routes: tuple[str, ...]
    include_buckets: tuple[str, ...]
    select: Scalar | None
    repetitions: int | None
    use_dev_repetitions: bool
    adaptive: bool
    llm_edge: bool
    include_rubrics: bool
    include_expectations: bool
    input_tokens: int | None
    output_tokens: int | None


def read_profile(node: Mapping, name: str) -> Profile:
    """The model of a profile's mapping; `name` is the file's stem or the key it stands under."""
    repetitions = number(node, "llm_repetitions")
    edge = flag(node, "llm_edge")
    prose = flag(node, "include_expectations") or False
    return Profile(
        node=node,
        name=name,
        exclude_modes=texts(node, "exclude_modes"),
        include_modes=texts(node, "include_modes"),
        include_all=flag(node, "include_all") or False,
        hard_fail_only=flag(node, "hard_fail_only") or False,
        include_routes=texts(node, "include_routes"),
        include_buckets=texts(node, "include_buckets"),
        select=scalar(node, "select"),
        repetitions=repetitions,
        use_dev_repetitions=flag(node, "use_dev_repetitions") or False,
        adaptive=flag(node, "adaptive_repetitions") or False,
        llm_edge=repetitions != 0 if edge is None else edge,
        include_rubrics=prose or flag(node, "include_rubrics") or False,
        include_expectations=prose,
        input_tokens=number(node, "input_tokens_per_llm_call"),
        output_tokens=number(node, "output_tokens_per_llm_call"),
    )


def read_profiles(node: Mapping) -> tuple[Profile, ...]:
    """The models of a file that maps names to profiles."""
    return tuple(read_profile(entry.value, entry.name) for entry in node.entries if isinstance(entry.value, Mapping))


def every_check() -> Profile:
    """The profile of a project that has none: every check, as often as it says."""
    root = load_text("include_all: true", "the profile of every check").root
    return read_profile(cast("Mapping", root), "all")
