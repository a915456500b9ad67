"""Conditions on one text, one list or one value: what can't hold together is proved, and nothing else is."""

import random
import sys

import pytest
from tests.rounds import rounds

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DOUBLE, DYN, SCORE, STRING, TIMESTAMP, ListType, MapType, RecordType
from rulewright.lower.expressions import MESSAGE_TYPE
from rulewright.proving.atoms import FALSE, TRUE, bits_of
from rulewright.proving.domains import Domains, text
from rulewright.proving.search import Search
from rulewright.proving.static_types import failures_of
from rulewright.proving.text_conditions import VARIATION_SELECTORS, WITH_LETTERS
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program
from rulewright_runtime.matching.unspaced import is_part_of_word
from rulewright_runtime.values import NANOS, Timestamp

VARIABLES = {
    "a": STRING,
    "d": MapType(STRING, DYN),
    "texts": ListType(STRING),
    "messages": ListType(MESSAGE_TYPE),
    "calls": ListType(MapType(STRING, DYN)),
    "t": TIMESTAMP,
    "s": SCORE,
    "e": DOUBLE,
    "o": RecordType(
        "o", {"r": RecordType("r", {"n": STRING, "m": STRING, "b": BOOL}, frozenset({"n", "m"}))}, frozenset({"r"})
    ),
}
DOMAINS = Domains(VARIABLES, {("a",): text(absent=True)})


def program(condition: str) -> Program:
    return build(condition, Environment(variables=VARIABLES), expect=BOOL).program


def is_refuted(condition: str, bits: int = TRUE) -> bool:
    """Whether it is proved that a condition never has a result."""
    return Search([program(condition)], DOMAINS, by_terms=True).find([(0, bits)]) is None


@pytest.mark.parametrize(
    "condition",
    [
        "a.startsWith('sure') && !a.matches('^(sure|of course)')", "a.contains('refund') && !a.contains('fund')",
        "a.matches('https?://') && !a.contains('http')", "a.lowerAscii().contains('AI')",
        "a.contains('As an AI') && !a.lowerAscii().contains('as an ai')",
        "a.upperAscii() == 'YES' && a.startsWith('n')", "a.trim() == 'yes' && !a.contains('yes')",
        "a.trim() != '' && a == '  '", r"a.matches('\\bsorry\\b') && !a.contains('sorry')",
        "a.matches('(?i)thank') && !a.lowerAscii().contains('thank') && !a.contains('\\u212a')",
        "['refund', 'return'].exists(w, a.contains(w)) && !['refund', 'return', 'money'].exists(w, a.contains(w))",
        "['refund', 'return'].all(w, a.contains(w)) && size(a) < 6", "a in ['yes', 'no'] && a.endsWith('?')",
        "a.startsWith('abc') && a == 'abd'", "contains_any(a, ['Refund']) && contains_none(a, ['refund', 'money'])",
        "contains_all(a, ['one', 'two']) && !contains_any(a, ['one'])",
        "substring_ci(a, 'Hello') && !substring_ci(a, 'hell')", "size(a) < 3 && a.endsWith('word')",
        "d.n > 3 && !(d.n > 2)", "d.n == 'one' && d.n > 3", "d.n in ['x'] && d.n == 'x' && d.n == 'y'",
        "messages.all(m, size(m.text) < 500) && messages.exists(m, size(m.text) > 600)",
        "messages.exists_one(m, m.role == user) && messages.all(m, m.role == assistant)",
        "texts.exists(t, t.startsWith('ab')) && texts.all(t, !t.contains('a'))",
        "has_any_word(a, ['refund']) && !contains_any(a, ['refund', 'return'])",
        "contains_any(a, ['refunds']) && !contains_any(a, ['refund'])",
        "a.startsWith('Dear ') && a.substring(0, 4) != 'Dear'", "a.substring(0, 4) == 'Dear' && size(a) < 4",
        "a.substring(2).startsWith('b') && !a.contains('b')", "a < 'b' && a.startsWith('bc')",
        "a >= 'refund' && a < 'refunds' && a.startsWith('s')",
        "t < timestamp('2026-01-01T00:00:00Z') && t > timestamp('2026-02-01T00:00:00Z')",
        "texts[0] == 'a' && texts.all(t, t != 'a')", "texts.exists(t, t == 'a') && size(texts) <= 1 && texts[0] == 'b'",
        "size(texts.filter(t, t == 'a')) > 2 && size(texts) < 3",
        "size(texts.filter(t, t == 'a')) > 1 && texts.exists_one(t, t == 'a')", "texts[1] == 'b' && size(texts) == 1",
        "calls.exists(c, c.name == 'pay' && c.n > 200) && !calls.exists(c, c.name == 'pay' && c.n > 100)",
        "texts[0].startsWith('ab') && !texts[0].contains('a')",
        "texts.exists(t, t.contains('a') && t.contains('b') && !t.contains('c')) && !texts.exists(t, t.contains('a'))",
        "texts.map(t, size(t)).exists(n, n > 9) && !texts.exists(t, size(t) > 9)",
        "texts.filter(t, t.startsWith('a')).all(t, t.contains('b')) && texts.exists(t, t == 'ac')",
        "texts.filter(t, size(t) > 1).map(t, t.trim()).exists(t, t == 'ab') && texts.all(t, !t.contains('a'))",
        "texts.filter(t, t.contains('a'))[0] == 'b' && size(texts) < 3",
        "texts.filter(t, t != 'a')[1] == 'b' && size(texts) == 1",
    ],
)  # fmt: skip
def test_what_excludes_each_other_is_proved(condition: str) -> None:
    assert is_refuted(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "a.startsWith('sure') && !a.matches('^(sure|of course)$')",
        "a.contains('fund') && !a.contains('refund')",
        "a.lowerAscii().contains('ai') && !a.contains('AI')",
        "a.matches('(?i)thank') && !a.lowerAscii().contains('thank')",  # the Kelvin sign is a k
        "contains_any(a, ['refund']) && !a.contains('refund')",
        "size(a) < 5 && a.endsWith('word')",
        "d.n > 3 && !(d.n > 4)",
        "d.n != 3 && !(d.n == 'x')",
        "d.n > 9007199254740992",
        "d.n < -1e300",
        "d.n > 9007199254740992 && d.n < 9007199254740994",
        "d.n > 9007199254740992 && !(d.n > 9007199254740992.0)",  # an int is compared with a double as its nearest one
        "d.n > 9223372036854775807 && !(d.n > 9223372036854775808.0)",  # a uint
        "t == timestamp('9999-12-31T23:59:59.999999999Z')",
        "o.?r.b == o.?r.b",  # without `r`, both are none
        "texts[0] > 'b'",
        "contains_any(a, ['refund']) && !has_any_word(a, ['refund'])",
        "contains_any(a, [' \u0915\u093f']) && !has_any_word(a, ['\u0915'])",  # a letter with its vowel sign
        "a > 'b' && a < 'ba'",
        "a.substring(0, 4) != 'Dear' && a.contains('Dear')",
        "texts.exists(t, t == 'a') && size(texts) <= 2 && texts[0] == 'b'",
        "size(texts.filter(t, t == 'a')) > 2 && size(texts) < 5",
        "texts[1] == 'b' && !texts.exists(t, t == 'a') && size(texts) > 5",
        "['p'].exists(i, v, (a + string(i)) == 'x0') && ['p', 'q'].exists(i, v, (a + string(i)) == 'x1')",
        "texts.sortBy(t, size(t)).size() > texts.filter(t, t == 'a').size()",
        "texts.all(i, t, ['b'].exists(i, w, t != w && i == 0) && ['c'].all(w, t.contains(w)))",
        "a.matches('\\\\B') && a.matches('^\\u00df$')",  # RE2 also finds \\B between the bytes of a character
        "messages.exists(m, m.role == user) && messages.exists(m, m.role == assistant)",
        "texts.exists(t, t == 'a') && texts.exists(t, t == 'b') && !texts.exists(t, t == 'a' && t == 'b')",
        "!texts.exists(t, t == 'a') && !texts.exists(t, t != 'a')",  # an empty list
        "calls.exists(c, c.n > 100) && calls.exists(c, c.n < 50)",
        "texts.filter(t, size(t) > 1).exists(t, t == 'ab') && texts.exists(t, t == 'b')",
        "texts.exists(t, t.substring(1) == 'b') && !texts.map(t, t.substring(1)).exists(t, t == 'b')",  # no value
        "texts.exists(s, texts.exists(t, s < t)) && !texts.exists(s, texts.exists(t, s < s))",
        "texts.all(s, texts.exists(t, t == s)) && !texts.all(s, texts.all(t, t == s))",
    ],
)
def test_what_some_input_shows_is_not_refuted(condition: str) -> None:
    assert not is_refuted(condition)


@pytest.mark.parametrize(
    ("one", "two", "together"),
    [
        ("a.contains('x')", "a.startsWith('y')", True),
        ("texts[0].contains('x')", "texts[0].startsWith('y')", True),
        ("texts[0].contains('x')", "texts[1].startsWith('y')", False),
        ("d.n > 3", "d.n < 2", True),
        ("d.n > 3", "d.m > 3", False),
        ("d.n > 3", "d.n > 'x'", False),
        ("d.n.matches('x')", "d.n > 3", False),
        ("d.n.substring(0) == 'x'", "d.n != 'x'", False),  # a number differs from every text
        ("!d.n", "has(d.n.m)", False),  # a number has neither
        ("!d.n", "d.n == 'x'", False),
        ("d.n == 3", "[1, d.n].all(x, x > 0)", False),  # a text is not greater
        ("o.?r.?n.hasValue() && d.n == 3", "o.?r.?n.orValue(d.n).startsWith('x')", False),
        ("d.n > score(0.5)", "d.n > 0", False),  # a score has no order with infinity
        ("s == e", "s < e", False),
        ("o.r.n == o.r.m", "o.r.?n == o.r.?m", False),
        ("messages.exists(m, m.metadata.x > 1)", "messages.exists(m, m.metadata.x > 2)", False),
        ("calls.all(c, c.n > 3)", "calls.all(c, c.n > 4)", False),
        ("['x', 'y'].all(w, a.contains(w))", "a.startsWith('y')", True),
        ("['x', 'y'].exists(w, !a.contains(w))", "['z'].all(w, a.lowerAscii() != w)", True),
        ("['x', '('].exists(w, a.matches(w))", "a.startsWith('y')", False),
        ("['x', 'y'].exists(w, a.contains(w) && d.n > 3)", "a.startsWith('y')", False),
    ],
)
def test_what_lacks_the_same_part_has_no_value_together(one: str, two: str, together: bool) -> None:
    found = Search([program(one), program(two)], DOMAINS, by_terms=True)
    apart = [found.find([(0, 4), (1, TRUE | FALSE)]), found.find([(1, 4), (0, TRUE | FALSE)])]
    assert (apart == [None, None]) == together


TESTS = (
    "a.contains('ab')", "a.startsWith('a')", "a.endsWith('b')", "a.matches('^a+b')", r"a.matches('\\bb')", "a == 'ab'",
    "a.lowerAscii() == 'ab'", "a.trim() == 'a'", "size(a) > 2", "size(a) == 3", "a in ['b', 'ab']",
    "texts.exists(t, t == 'a')", "texts.all(t, t.contains('a'))", "texts.exists_one(t, t.startsWith('a'))",
    "texts.exists(t, size(t) > 1)", "texts[0] == 'a'", "texts[0].contains('b')", "d.n > 1", "d.n >= 2.5", "d.n == 'a'",
    "d.n != 2", "d.n < 'b'", "contains_any(a, ['ab', 'B'])", "has(d.n)", "size(texts) > 1", "size(texts) != 1",
    "has_any_word(a, ['ab', 'B'])", "a.substring(0, 2) == 'ab'", "a.substring(1).startsWith('b')", "a < 'ab'",
    "a.trim().substring(1, 2) == 'b'", "'b' >= a", "texts[1] == 'b'", "texts[0] in ['a', 'ab']", "texts[0] < 'b'",
    "texts.filter(t, t.contains('a'))[0] == 'ab'", "texts.filter(t, t != 'a')[1].endsWith('b')",
    "texts.filter(t, size(t) > 1)[0] != 'a'", "size(texts.filter(t, t == 'a')) > 1",
    "size(texts.filter(t, t.substring(1) != '')) < 1", "texts[1].size() > 1",
    "texts[0] == a", "t < timestamp('2026-01-01T00:00:00Z')", "timestamp('2026-01-02T00:00:00Z') <= t",
    "t != timestamp('2026-01-01T00:00:00Z')", "texts.exists(t, t.substring(0, 1) > 'a')",
    "texts.exists(s, texts.exists(t, s != t))", "texts.exists(s, texts.all(t, t.contains(s)))",
    "['a', 'ab'].all(w, a.contains(w))", "['a', ' '].exists(w, a.trim().endsWith(w))",
    "['a', '('].exists(w, a.matches(w))",
    "texts.map(t, size(t)).exists(n, n > 1)", "texts.filter(t, t.contains('a')).all(t, size(t) > 1)",
    "texts.map(t, t.substring(1)).exists(t, t == 'b')",
    "texts.filter(t, t != 'a').map(t, t.trim()).exists_one(t, t == 'b')",
    "texts.all(s, texts.exists(t, s < t && t.contains('a')))", "texts.exists(s, texts.exists(t, s < s))",
)  # fmt: skip


def test_letters_and_marks_are_where_they_are_searched() -> None:
    blocks = range(WITH_LETTERS, sys.maxunicode + 1, 16)  # characters are assigned by sixteen
    assert [code for code in blocks if is_part_of_word(chr(code))] == [*VARIATION_SELECTORS][::16]


def an_input(chance: random.Random) -> dict[str, object]:
    """A random input; some parts are missing."""

    def words() -> str:
        return "".join(chance.choices("abAB ", k=chance.randrange(4)))

    values = [1, 2, 2.5, 3.0, "a", "b", True, None, [1]]
    found: dict[str, object] = {"d": {"n": chance.choice(values)} if chance.random() < 0.8 else {}}
    found["texts"] = [words() for _ in range(chance.randrange(4))]
    found["t"] = Timestamp(1_767_225_600 * NANOS + chance.choice([-1, 0, 1, 86_400 * NANOS, 86_401 * NANOS]))
    return {**found, "a": words()} if chance.random() < 0.8 else found


def test_no_random_input_contradicts_a_proof() -> None:
    chance = random.Random(7)
    inputs = [an_input(chance) for _ in range(150)]
    refuted = 0
    for _ in range(rounds(50, 4_000)):
        several = [program(each) for each in chance.sample(TESTS, 3)]
        search = Search(several, DOMAINS, by_terms=True)
        evaluators = [prepare(each) for each in several]
        seen = {tuple([bits_of(each, given) for each in evaluators]) for given in inputs}
        for bits in seen:
            assert search.find(list(enumerate(bits))) is not None, (several, bits)
        everything = [(one, two, three) for one in (1, 2, 4) for two in (1, 2, 4) for three in (1, 2, 4)]
        refuted += sum(search.find(list(enumerate(bits))) is None for bits in everything)
    assert refuted > 100


def test_relations_of_too_many_macros_are_given_up() -> None:
    several = " && ".join(f"texts.exists_one(t, t.contains('{each}'))" for each in "abcdefg")
    assert not is_refuted(f"{several} && !texts.exists(t, t.contains('a'))")
    assert is_refuted("texts.exists_one(t, t.contains('a')) && !texts.exists(t, t.contains('a'))")


@pytest.mark.parametrize(
    ("holds", "fails", "is_possible"),
    [
        ("numbers(a).exists(x, x == '1')", "numbers(a).exists(x, numbers(a).exists(y, y < x))", False),
        ("contains_all(a, [d.n])", "contains_any(a, ['x', d.n])", False),
        ("texts.exists(x, x == 'a')", "texts.exists(x, numbers(a).exists(y, y < x))", True),
        ("!numbers(a).exists(x, x == '1')", "numbers(a).exists(x, d.n.startsWith(x))", True),
    ],
)
def test_a_loop_has_a_value_where_its_list_and_its_condition_have_one(
    holds: str, fails: str, is_possible: bool
) -> None:
    needed, has = failures_of(program(fails), DOMAINS), failures_of(program(holds), DOMAINS, is_sure=True)
    assert (not needed <= has) == is_possible


@pytest.mark.parametrize(
    ("condition", "given"),
    [
        ("size(a.split(' ')) > 1 && size(a.split('  ')) < 2", "x y"),
        ("a.replace(' ', '') == 'x' && a.replace('  ', '') != 'x'", "x "),
        ("a.replace(' ', '') == 'xy' && a.replace('\\u00a0', '') != 'xy'", "x y"),
    ],
)
def test_parts_that_differ_in_white_space_alone_are_not_one(condition: str, given: str) -> None:
    assert bits_of(prepare(program(condition)), {"a": given}) == TRUE
    assert not is_refuted(condition)
