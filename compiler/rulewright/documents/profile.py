"""A scan profile: which checks run, and how many votes judges have."""

from typing import Annotated, cast

from rulewright.documents.base import Document, flag, number
from rulewright.documents.typed_reader import At, Key, read
from rulewright.load import Mapping, Scalar, load_text


class Profile(Document, frozen=True, eq=False):
    """A profile. An empty list selects nothing; `repetitions` None keeps each check's own number;
    `include_expectations` implies `include_rubrics`."""

    name: Key
    exclude_modes: tuple[str, ...]
    include_modes: tuple[str, ...]
    include_all: bool
    hard_fail_only: bool
    include_routes: tuple[str, ...]
    include_buckets: tuple[str, ...]
    select: Scalar | None
    repetitions: Annotated[int | None, At("llm_repetitions")]
    use_dev_repetitions: bool
    adaptive: Annotated[bool, At("adaptive_repetitions")]
    llm_edge: bool
    include_rubrics: bool
    include_expectations: bool
    input_tokens: Annotated[int | None, At("input_tokens_per_llm_call")]
    output_tokens: Annotated[int | None, At("output_tokens_per_llm_call")]

    @property
    def holds_expressions(self) -> bool:
        """Whether the profile selects checks by a condition."""
        return self.select is not None


def read_profile(node: Mapping, name: str) -> Profile:
    """The model of a profile's mapping; `name` is the file's stem or the mapping's key."""
    edge, prose = flag(node, "llm_edge"), flag(node, "include_expectations") or False
    return read(
        Profile,
        node,
        name=name,
        llm_edge=number(node, "llm_repetitions") != 0 if edge is None else edge,
        include_rubrics=prose or flag(node, "include_rubrics") or False,
    )


def read_profiles(node: Mapping) -> tuple[Profile, ...]:
    """The models of a file that maps names to profiles."""
    return tuple(read_profile(entry.value, entry.name) for entry in node.entries if isinstance(entry.value, Mapping))


def every_check() -> Profile:
    """The profile of a project without profiles: every check with its own number of votes."""
    root = load_text("include_all: true", "the profile of every check").root
    return read_profile(cast("Mapping", root), "all")
