"""Well-typed expressions at random: for each kind of value the ways to write one, with `<kind>` for its parts.

What the C++ engine is known to do otherwise is left out where it would be written, with its reason.
"""

import re
from functools import cache
from typing import Final

from hypothesis import strategies as st

_PART: Final = re.compile(r"<(\w+)>")
_ORDER: Final = ("<", "<=", ">", ">=", "==", "!=")
_QUANTIFIERS: Final = ("all", "exists", "exists_one")
_CLOCK: Final = ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
_CALENDAR: Final = ("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear")

# The first way of a kind is the simplest: failing examples shrink towards it.
LEAVES: Final[dict[str, list[str]]] = {
    "int": [
        "0", "1", "-1", "2", "3", "-7", "63", "64", "i", "j", "0x7f", "86400", "9007199254740993",
        "9223372036854775807", "-9223372036854775808",
    ],
    "small": ["0", "1", "2", "3", "5", "-1"],
    "uint": ["0u", "1u", "7u", "0xffu", "u", "18446744073709551615u"],
    "double": [
        "0.0", "1.0", "-1.0", "-0.0", "0.5", "2.5", "-2.5", "1e300", "0.1", "2.675", "5e-324", "1e19", "d",
        "9007199254740992.0", "-9223372036854775808.0", "(0.0 / 0.0)", "(-1.0 / 0.0)",
    ],
    # that engine writes infinities and NaN of a double as C does, and six digits of it in `%s`
    "digits": ["0.0", "-0.0", "0.5", "1e6", "123456.0", "-2.5e-7", "1e21", "0.0001"],
    "bool": ["true", "false", "b"],
    "string": [
        "''", "'a'", "'ab'", "'aXbXc'", "'é'", "'😀b'", "'a,b,c'", "' \\t\\u00a0'", "'-7'", "'1.5'", "'true'",
        "'\\x41\\101\\u00e9\\U0001F600'", "r'\\d'", "'\"\\\\\\''", "'''a'b'''", "'\\u0000'", "s",
    ],
    "bytes": ["b''", "b'a'", "b'\\xff'", "b'é'", "b'\\303\\251'", "br'\\x'", "b'\\xed\\xa0\\x80'", "y"],
    "timestamp": [
        "timestamp(0)", "timestamp('2009-02-13T23:31:30Z')", "timestamp('1969-12-31T23:59:59.5Z')", "t",
        "timestamp('2024-02-29T12:00:00+02:00')", "timestamp('9999-12-31T23:59:59.999999999Z')",
        "timestamp('0001-01-01T00:00:00Z')", "timestamp('2024-03-10T07:30:00.001Z')",
    ],
    # that engine's spans overflow without a word beyond 292 years, and it does not know `µs`
    "duration": [
        "duration('0')", "duration('1s')", "duration('-1h30m')", "duration('1.5s')", "duration('1us')", "r",
        "duration('1h2m3s4ms5us')", "duration('-0.5s')", "duration('9000000000s')",
    ],
    "type": ["int", "string", "list", "map", "null_type", "type", "google.protobuf.Timestamp"],
    "ints": ["[]", "[1, 2, 3]", "[0]", "[3, 1, 2, 1]", "li"],
    "words": ["[]", "['a', 'b']", "['']", "['b', 'a', 'é']", "ls"],
    "doubles": ["[0.5]", "[1.0, 2.5]", "[-0.0, 0.0]", "[0.0 / 0.0]"],
    "mixed": ["[1, 'a', 2.0]", "[1, 1u, 1.0]", "[null]", "[[1], [2, [3]]]", "[{'a': 1}]", "[true, 1]"],
    "counts": ["{'a': 1}", "{'a': 1, 'b': 2}", "{'': 0}", "m"],
    "one": ["{'a': 1}", "{'b': -1}"],  # the order of larger maps is nobody's business
    "names": ["{1: 'a'}", "{-1: 'n'}", "{0: 'z', 1: 'o'}"],
    "record": ["{'a': dyn(1)}", "{'a': {'b': {'c': 1}}}", "{'a': null}", "{'a': dyn([1]), 'b': dyn('x')}"],
    "maybe": ["optional.none()", "optional.of(1)", "m.?a", "li[?0]"],
    "perhaps": ["optional.none()", "optional.of('a')", "ls[?1]"],
    "dyn": ["x", "dyn(null)"],
    "zone": [
        "'UTC'", "'Australia/Sydney'", "'-09:30'", "'02:00'", "'America/New_York'", "'no/where'", "'+14:00'", "''",
        "'Asia/Kolkata'", "'America/St_Johns'", "'Z'",
    ],
    "pattern": [
        "'a'", "'^a'", "'b$'", "'[a-c]+'", "'a|B'", "'a{2}'", r"r'\w'", r"r'\d+'", "'(?i)A'", "'(?m)^b'", "'(?s)a.b'",
        "'(?U)a+'", r"r'\pL'", r"r'\p{Greek}'", r"r'\PN'", r"r'\Q.\E'", "'(?P<n>a)'", r"r'\z'", r"r'a\b'",
        "'[[:alpha:]]'", "'[^[:^digit:]]'", "'x*'", "''", "'(?i:A)b'", "'é'", r"r'\x{e9}'", r"r'\C'",
        "'['", "'a**'", "'(?=a)'", r"r'(a)\1'", r"r'\Z'", "'a{1001}'", "'(?x)a'", "'[z-a]'", "')'", r"r'\p{Foo}'",
    ],
    # that engine's replacement of empty matches never ends, and its list of them is empty
    "word": ["'a'", "'[a-c]+'", "'B|X'", "'a{2}'", "'(b)'", r"r'\d'", "'['", "'(?i)A'"],
    "moment": [
        "'2009-02-13T23:31:30Z'", "'2009-02-13t23:31:30z'", "'2009-02-13T23:31:30'", "'2009-02-29T00:00:00Z'",
        "'10000-01-01T00:00:00Z'", "'0000-01-01T00:00:00Z'", "'0001-01-01T00:00:00+00:01'", "'2009-02-13'", "''",
        "'9999-12-31T23:59:59.999999999Z'", "'9999-12-31T23:59:59-00:01'", "'2009-13-01T00:00:00Z'",
    ],
    "span": [
        "'1s'", "'1.5h'", "'1h30m'", "'1m1h'", "'1'", "'1d'", "'.5s'", "''", "'-'", "'+1s'", "'-1h-1m'", "'0'", "'1.5'",
        "'0.1us'", "'--1s'", "'inf'",
    ],
    "number": [
        "'1'", "'-1'", "'+1'", "'1.0'", "'1e5'", "'1E+5'", "'NaN'", "'inf'", "'-Infinity'", "'1_000'", "''", "'.5'",
        "'1.'", "'--1'", "'e5'", "'9223372036854775808'", "'18446744073709551616'", "'0b1'", "'1u'",
    ],
    "truth": ["'true'", "'True'", "'TRUE'", "'tRuE'", "'t'", "'1'", "'0'", "'false'", "'yes'", "''"],
    "base64": ["'aGk='", "'aGk'", "''", "'!!!'", "'a'", "'Zg=='", "'_-8='", "'aGkx'"],
    "key": ["'a'", "'b'", "1", "2u", "true", "dyn(1)", "dyn('a')", "dyn(1.0)", "dyn(null)"],
    "place": ["0", "1", "-1", "5", "dyn(0u)", "dyn(1.0)", "dyn(0.5)", "dyn('a')", "i"],
}  # fmt: skip

FORMS: Final[dict[str, list[str]]] = {
    "int": [
        *(f"(<int> {op} <int>)" for op in "+-*/%"), "-(<int>)", "size(<string>)", "<bytes>.size()", "<ints>.size()",
        "size(<counts>)", "int(<double>)", "int(<uint>)", "int(<number>)", "int(<timestamp>)",
        "(<bool> ? <int> : <int>)", "<ints>[<place>]", "<counts>[<string>]", "{1: <int>}[<place>]", "{'k': <int>}.k",
        "<maybe>.orValue(<int>)", "<maybe>.value()", "<maybe>.or(<maybe>).orValue(<int>)",
        "{'a': {'b': <int>}}.?a.?b.orValue(0)", "optional.of(<counts>).a.orValue(<int>)", "<record>.a.b.c",
        "math.greatest(<int>, <int>)", "math.least(<int>, <int>, <int>)", "math.greatest([<int>, <int>])",
        "math.abs(<int>)", "math.sign(<int>)", "math.bitAnd(<int>, <int>)", "math.bitOr(<int>, <int>)",
        "math.bitXor(<int>, <int>)", "math.bitNot(<int>)", "math.bitShiftLeft(<int>, <int>)",
        "math.bitShiftRight(<int>, <int>)", "<string>.indexOf(<string>)", "<string>.indexOf(<string>, <int>)",
        "<string>.lastIndexOf(<string>)", "<string>.lastIndexOf(<string>, <int>)",
        *(f"<timestamp>.{get}(<zone>)" for get in (*_CALENDAR, *_CLOCK)),
        *(f"<timestamp>.{get}()" for get in (*_CALENDAR, *_CLOCK)), *(f"<duration>.{get}()" for get in _CLOCK),
        "cel.bind(v, <int>, v + <int>)", "<ints>.first().orValue(<int>)", "<ints>.last().value()",
    ],
    "uint": [
        *(f"(<uint> {op} <uint>)" for op in "+-*/%"), "uint(<int>)", "uint(<double>)", "uint(<number>)",
        "math.bitOr(<uint>, <uint>)", "math.bitNot(<uint>)", "math.bitShiftRight(<uint>, <int>)",
        "math.bitShiftLeft(<uint>, <int>)", "math.abs(<uint>)", "math.greatest(<uint>, <uint>)",
    ],
    "double": [
        *(f"(<double> {op} <double>)" for op in "+-*/"), "-(<double>)", "double(<int>)", "double(<uint>)",
        "double(<number>)", "(<bool> ? <double> : <double>)", "math.greatest(<double>, <double>)",
        *(f"math.{name}(<double>)" for name in ("ceil", "floor", "round", "trunc", "abs", "sign", "sqrt")),
        "math.least(<doubles>)", "math.sqrt(<int>)",
    ],
    "string": [
        "(<string> + <string>)", "string(<int>)", "string(<bool>)", "string(<uint>)", "string(<digits>)",
        "string(<timestamp>)", "string(<duration>)", "string(<bytes>)", "string(<duration> + <duration>)",
        "string(<timestamp> - <timestamp>)", "string(timestamp(<moment>))", "string(duration(<span>))",
        "<string>.charAt(<int>)", "<string>.substring(<int>)",
        "(<string> + 'zzzzzz').substring(<int>, <small>)",  # that engine refuses an end at the very end
        "<string>.replace(<string>, <string>)", "<string>.replace(<string>, <string>, <small>)",
        "<string>.upperAscii()", "<string>.lowerAscii()", "<string>.trim()", "<string>.reverse()",
        "<words>.join(<string>)", "<words>.join()", "strings.quote(<string>)", "base64.encode(<bytes>)",
        "(<bool> ? <string> : <string>)", "<words>[<place>]", "<names>[<place>]", "<perhaps>.orValue(<string>)",
        "regex.replace(<string>, <word>, '<\\\\\\\\0>')", "regex.replace(<string>, <word>, 'x', <small>)",
        "regex.extract(<string>, <word>).orValue('none')",
        "'%s-%d'.format([<string>, <int>])", "'%x %b %o'.format([<int>, <int>, <uint>])",
        # in `%s` that engine writes exponents of doubles and thousandths of seconds, which the specification doesn't
        "'%.2f %.3e'.format([<digits>, <digits>])", "'%s %s'.format([<bool>, t])",
        "'%X %x'.format([<bytes>, <string>])", "'%s'.format([[<int>, <string>]])", "'%f'.format([<int>])",
        "'%s'.format([{<key>: <int>}])", "'%s'.format([type(<any>)])",
    ],
    "bytes": ["bytes(<string>)", "(<bytes> + <bytes>)", "base64.decode(<base64>)"],
    "timestamp": ["(<timestamp> + <duration>)", "(<timestamp> - <duration>)", "timestamp(<int>)"],
    "duration": ["(<duration> + <duration>)", "(<duration> - <duration>)"],
    "type": ["type(<any>)", "type(type(<any>))"],
    "ints": [
        "[<int>, <int>]", "(<ints> + <ints>)", "<ints>.map(e, e * <int>)", "<ints>.map(e, e > <int>, e + 1)",
        "<ints>.filter(e, e < <int>)", "<ints>.filter(e, <ints>.exists(f, f == e))", "[?<maybe>, <int>]",
        "<ints>.slice(<small>, <small>)", "<ints>.distinct()", "<ints>.sort()", "<ints>.reverse()",
        "[<ints>, <ints>].flatten()", "lists.range(5)", "<ints>.sortBy(e, -e)", "<ints>.sortBy(e, e % 2 == 0)",
        "<ints>.transformList(k, v, k + v)", "<ints>.transformList(k, v, k > <int>, v)", "<counts>.map(k, 1)",
        "<one>.transformList(k, v, v)",
    ],
    "words": [
        "[<string>, <string>]", "<string>.split(<string>)", "<string>.split(<string>, <small>)", "<words>.sort()",
        "<words>.distinct()", "<ints>.map(e, string(e))", "[<string>, <string>].sortBy(e, e.size())",
        "[?<perhaps>, <string>]", "regex.extractAll(<string>, <word>)",
    ],
    "doubles": ["[<double>, <double>]", "<doubles>.distinct()", "<ints>.map(e, double(e))"],
    "mixed": [
        "[<any>, <any>]", "<mixed>.distinct()", "<mixed> + [dyn(<any>)]", "<mixed>.flatten()",
        "dyn(<mixed>).flatten(<small>)", "<mixed>.filter(e, e == <any>)", "[<dyn>, <dyn>].sort()",
    ],
    # that engine, as it is packaged, has no `transformMap` and no `transformMapEntry`
    "counts": [
        "{'a': <int>, 'b': <int>}", "{<string>: <int>, <string>: <int>}", "{'a': <int>, ?'b': <maybe>}",
    ],
    "names": ["{<int>: <string>}"],
    "record": ["{'a': dyn(<any>)}", "{'a': {'b': <any>}}"],
    "maybe": [
        "optional.of(<int>)", "optional.ofNonZeroValue(<int>)", "<counts>[?<string>]", "<ints>[?<small>]",
        "<maybe>.or(<maybe>)", "<maybe>.optMap(v, v + <int>)", "<maybe>.optFlatMap(v, <maybe>)",
    ],
    "perhaps": ["optional.of(<string>)", "<words>[?<small>]", "<perhaps>.optMap(v, v + <string>)"],
    "bool": [
        *(f"(<{kind}> {op} <{kind}>)" for op in _ORDER
          for kind in ("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration")),
        *(f"(dyn(<any>) {op} dyn(<any>))" for op in _ORDER), *(f"(dyn(<int>) {op} <double>)" for op in _ORDER),
        *(f"(dyn(<uint>) {op} <int>)" for op in _ORDER), *(f"(<dyn> {op} <int>)" for op in _ORDER),
        *(f"(<{kind}> == <{kind}>)" for kind in ("ints", "mixed", "counts", "record", "maybe", "type", "doubles")),
        "(<bool> && <bool>)", "(<bool> || <bool>)", "!<bool>", "(<bool> ? <bool> : <bool>)",
        "(<bool> && <int> / <int> > 0)", "(<int> / <int> > 0 || <bool>)", "(<dyn> && <bool>)", "(<bool> || <dyn>)",
        "(<int> in <ints>)", "(<string> in <words>)", "(<string> in <counts>)", "(<int> in <names>)",
        "(dyn(<any>) in <mixed>)", "(dyn(<double>) in <ints>)", "(<place> in <names>)", "has(<counts>.a)",
        "has(<record>.a.b)", "has(<dyn>.a)", "has(optional.of(<counts>).a)", "<string>.contains(<string>)",
        "<string>.startsWith(<string>)", "<string>.endsWith(<string>)", "<string>.matches(<pattern>)",
        *(f"<ints>.{q}(e, <int> / e > <int>)" for q in _QUANTIFIERS),
        *(f"<mixed>.{q}(e, e == <any>)" for q in _QUANTIFIERS), *(f"<mixed>.{q}(e, e > <int>)" for q in _QUANTIFIERS),
        *(f"<counts>.{q}(k, <counts>[k] > <int>)" for q in _QUANTIFIERS), "<counts>.all(k, v, v > <int>)",
        "<ints>.exists(k, v, v / k > <int>)", "<ints>.existsOne(k, v, v > <int>)",
        "math.isNaN(<double>)", "math.isInf(<double>)", "math.isFinite(<double>)", "bool(<truth>)",
        "<maybe>.hasValue()", "optional.ofNonZeroValue(<any>).hasValue()", "sets.contains(<ints>, <ints>)",
        "sets.equivalent(<mixed>, <mixed>)", "sets.intersects(<words>, <words>)", "sets.contains(<doubles>, <doubles>)",
        "cel.bind(v, <any>, v == <any>)", "(timestamp(<moment>) < <timestamp>)", "(duration(<span>) < <duration>)",
    ],
    "dyn": [
        "dyn(<any>)", "(<bool> ? dyn(<any>) : dyn(<any>))", "<mixed>[<place>]", "<record>.a", "<record>['b']",
        *(f"(<dyn> {op} <dyn>)" for op in "+-*/%"), "-(<dyn>)", "dyn(size(<dyn>))", "dyn(int(dyn(<double>)))",
        "dyn(double(<dyn>))", "math.greatest(<dyn>, <dyn>)", "dyn(math.ceil(<dyn>))", "dyn(<dyn>.getHours())",
        "<dyn>.reverse()", "dyn(<dyn>.charAt(<dyn>))",
        "dyn({<key>: 1}[<key>])", "dyn({'a': 1, <key>: 2}['a'])", "<dyn>.?a.orValue(0)", "<dyn>.filter(e, e == 1)",
    ],
}  # fmt: skip
ANY: Final = (
    "int", "uint", "double", "bool", "string", "bytes", "ints", "mixed", "counts", "record", "timestamp",
)  # fmt: skip
WHOLE: Final = ("bool", "int", "string", "dyn", "uint", "double", "ints", "words", "counts", "bytes", "timestamp")


@cache
def expressions(kind: str, depth: int) -> st.SearchStrategy[str]:
    """Expressions of a kind, whose parts nest up to `depth`."""
    if kind == "any":
        return st.sampled_from(ANY).flatmap(lambda each: expressions(each, depth))
    leaves = st.sampled_from(LEAVES[kind])
    if depth == 0 or kind not in FORMS:
        return leaves
    return st.one_of(leaves, st.sampled_from(FORMS[kind]).flatmap(lambda form: _written(form, depth - 1)))


def _written(form: str, depth: int) -> st.SearchStrategy[str]:
    texts = _PART.split(form)
    parts = [st.just(text) if at % 2 == 0 else expressions(text, depth) for at, text in enumerate(texts)]
    return st.tuples(*parts).map("".join)


# The checkers of that engine and of cel-go differ about these: it refuses orders of numbers across types, points at
# `&&` and its kin themselves and not at their operand, and reports `has` and odd keys twice.
_DISPUTED: Final = re.compile(
    r"&&|\|\||all\(|exists|[<>]=? <|\? |sortBy|format|in <|filter|math.greatest|math.least|has\(|<key>"
)
_FORMS_AGREED: Final = [form for forms in FORMS.values() for form in forms if not _DISPUTED.search(form)]


@st.composite
def mistyped(draw: st.DrawFn) -> str:
    """An expression with a part of any kind in the place of one of its own: it may check or not."""
    texts = _PART.split(draw(st.sampled_from(_FORMS_AGREED)))
    wrong = draw(st.integers(0, len(texts) // 2)) * 2 + 1
    kinds = [draw(st.sampled_from(ANY)) if at == wrong else text for at, text in enumerate(texts)]
    return "".join([text if at % 2 == 0 else draw(expressions(text, 0)) for at, text in enumerate(kinds)])
