"""Groups of checks that conditions over verdicts can't distinguish, so that a claim is decided once for each group.

A condition distinguishes checks only by the facts that it reads, such as `v.check_id` or `v.check.hard_fail`. Where it
only compares a fact with constant texts, or looks for them in a list, all checks with other texts are alike.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rulewright.proving.domains import Path
from rulewright.proving.program_parts import EQUALITY, SELECTIONS, path_at, value_of
from rulewright_runtime.ir import Program

# The fields of a verdict that don't identify its check.
RESULT_FIELDS: Final = frozenset(
    {
        "eligible", "verdict", "confidence", "evidence", "scorer_version", "prompt_hash", "rationale_code",
        "adjudication_required", "extra",
    }
)  # fmt: skip
Group: TypeAlias = frozenset[int]  # indices of checks in the plan
Facts: TypeAlias = Mapping[Path, object]
Words: TypeAlias = frozenset[str] | None  # the constants that a fact is compared with; None if its value itself matters

_LISTED: Final = ("a list of texts",)
_ABSENT: Final = object()  # which `has` distinguishes from null


def facts_of_check(check: str, fields: Mapping[str, object]) -> Facts:
    """What a condition reads of the check's verdicts that is the same for all of them."""
    facts: dict[Path, object] = {("v", "check_id"): check, ("v", "mode_id"): check, ("v", "check"): fields}
    facts |= {("v", name): fields[name] for name in ("primary_bucket", "severity") if name in fields}
    facts["v", "secondary_tags"] = fields.get("secondary_tags", [])
    return facts


@dataclass(slots=True)
class CheckGroups:
    """The checks of a plan by what their facts hold."""

    checks: Mapping[str, Mapping[str, object]]
    ids: list[str] = field(init=False)
    places: dict[str, int] = field(init=False)
    every: Group = field(init=False)
    indices: dict[tuple[Path, bool], dict[object, Group]] = field(default_factory=dict)
    others: dict[tuple[Path, bool], tuple[object, ...]] = field(default_factory=dict)  # keys of an index but texts

    def __post_init__(self) -> None:
        """Number the checks in their order."""
        self.ids = list(self.checks)
        self.places = {check: at for at, check in enumerate(self.ids)}
        self.every = frozenset(range(len(self.ids)))

    def group(self, checks: Iterable[str]) -> Group:
        """The indices of some checks."""
        return frozenset([self.places[check] for check in checks])

    def divided(self, among: Group, facts: Mapping[Path, Words]) -> list[Group]:
        """The groups of some checks that conditions on these facts can't distinguish, in the order of the plan."""
        parts: dict[int, list[int]] = {}  # which parts a check belongs to, if any
        for number, part in enumerate(self._parts(facts)):
            for at in part & among:
                parts.setdefault(at, []).append(number)
        groups: dict[tuple[int, ...], set[int]] = {}
        for at, numbers in parts.items():
            groups.setdefault(tuple(numbers), set()).add(at)
        return sorted(filter(None, (among.difference(parts), *map(frozenset, groups.values()))), key=min)

    def _parts(self, facts: Mapping[Path, Words]) -> Iterator[Group]:
        """The checks that have each of the words, or each other value, as a fact."""
        for fact, words in facts.items():
            index = self._index(fact, exactly=words is None)
            yield from (index[word] for word in words or () if word in index)
            yield from (index[key] for key in self.others[fact, words is None])

    def _index(self, fact: Path, *, exactly: bool) -> dict[object, Group]:
        """The checks by the texts that a fact is or lists, as texts; by any other value, or exactly, as tuples."""
        if (fact, exactly) not in self.indices:
            found: dict[object, set[int]] = {}
            for at, (check, fields) in enumerate(self.checks.items()):
                for key in _keys(_fact(check, fields, fact), exactly=exactly):
                    found.setdefault(key, set()).add(at)
            self.indices[fact, exactly] = {key: frozenset(each) for key, each in found.items()}
            self.others[fact, exactly] = tuple([key for key in found if not isinstance(key, str)])
        return self.indices[fact, exactly]


def _fact(check: str, fields: Mapping[str, object], fact: Path) -> object:
    """A fact of a check; `_ABSENT` where it has none."""
    if len(fact) == 3:
        return fields.get(fact[2], _ABSENT)
    return facts_of_check(check, fields).get(fact, _ABSENT) if len(fact) == 2 else (check, fields)


def _keys(value: object, *, exactly: bool) -> Iterator[object]:
    if exactly or not isinstance(value, str | list | tuple):
        yield (repr(value),)
    elif isinstance(value, str):
        yield value
    elif all(isinstance(item, str) for item in value):
        yield from (_LISTED, *value)
    else:
        yield (repr(value),)


def distinguished(conditions: Iterable[Program]) -> dict[Path, Words]:
    """The facts of a check that the conditions read, each with the constants that they compare it with."""
    found: dict[Path, Words] = {}
    for condition in conditions:
        for fact, words in _reads(condition):
            known = found.get(fact, frozenset())
            found[fact] = None if known is None or words is None else known | words
    return found


def _reads(condition: Program) -> Iterator[tuple[Path, Words]]:
    """The facts that a condition reads, with the constants with which each is compared there."""
    paths = [path_at(condition, at) for at in range(len(condition.nodes))]
    if (path := paths[-1]) is not None and _is_fact(path):
        yield path[: _depth(path)], None
    for at, node in enumerate(condition.nodes):
        for number, arg in enumerate(node.args):
            path = paths[arg]
            is_longer = number == 0 and node.op in SELECTIONS and paths[at] is not None
            if path is not None and not is_longer and _is_fact(path):
                is_whole = len(path) == _depth(path)
                yield path[: _depth(path)], _compared_with(condition, at, number) if is_whole else None


def _is_fact(path: Path) -> bool:
    return path[0] == "v" and (len(path) == 1 or path[1] not in RESULT_FIELDS)


def _depth(path: Path) -> int:
    """How many parts of a path name the fact."""
    return min(len(path), 3 if path[1:2] == ("check",) else 2)


def _compared_with(condition: Program, at: int, operand: int) -> Words:
    """The constant texts with which node `at` compares an operand; None if it does anything else with it."""
    node = condition.nodes[at]
    if node.op != "call" or len(node.args) != 2 or not (node.value in EQUALITY or node.value == "@in"):
        return None
    other = value_of(condition, node.args[1 - operand])
    if isinstance(other, str) and (node.value in EQUALITY or operand == 1):
        return frozenset([other])
    if isinstance(other, list) and node.value == "@in" and operand == 0 and all(isinstance(w, str) for w in other):
        return frozenset(other)
    return None
