from rulewright.diagnostics import Findings, error
from rulewright.expression.syntax_tree import Call, Expr, ListLiteral, Literal, MapLiteral, last_name
from rulewright.lower.expressions_of import DocumentWithExpressions, WrittenExpression, parts_of
from rulewright.spelling import did_you_mean
from rulewright_runtime.english import plural


def weights_for_other_values(document: DocumentWithExpressions) -> Findings:
    """The values and weights of a mean differ in their number, order or keys.

    Why it matters: with different lengths the mean is not defined, so the expression fails every time; in another order
    a value has the weight of another one. A value without a weight is left out of the mean.
    Instead: give every value a weight, in the same order, or under the same key.
    """
    for written, part in parts_of(document):
        if isinstance(part, Call) and part.function == "wmean_present" and len(part.args) == 2:
            yield from _of_maps(written, *part.args)
        if not isinstance(part, Call) or part.function != "wmean" or len(part.args) != 2:
            continue
        values, weights = part.args
        if not isinstance(values, ListLiteral) or not isinstance(weights, ListLiteral):
            continue
        counts = len(values.items), len(weights.items)
        if counts[0] != counts[1] and not values.optional and not weights.optional:
            message = f"`wmean` has {plural(counts[0], 'value')} and {plural(counts[1], 'weight')}"
            yield error(written.span(weights), message)
        names = [last_name(each).lower() for each in values.items]
        for value, weight in zip(names, weights.items, strict=False):
            owner = next((each for each in names if each and last_name(weight).lower().startswith(f"{each}_")), value)
            own = value + last_name(weight)[len(owner) :]
            if owner != value and any(last_name(each).lower() == own.lower() for each in weights.items):
                message = f"`{value}` has the weight `{last_name(weight)}` of `{owner}`"
                yield error(written.span(weight), message, help="write the weights in the order of the values")
                break


def _of_maps(written: WrittenExpression, values: Expr, weights: Expr) -> Findings:
    """The first key that only one of two maps has, if all keys are texts."""
    keys = [_keys(each) for each in (values, weights)]
    own, others = keys
    if own is None or others is None or own.keys() == others.keys():
        return
    key, place = next(
        (key, place) for key, place in (*others.items(), *own.items()) if not (key in own and key in others)
    )
    lacking = "weight" if key in own else "value"
    help = did_you_mean(key, (own if lacking == "value" else others).keys() - (own.keys() & others.keys()))
    yield error(written.span(place), f"`{key}` has no {lacking} in the other map", help=help)


def _keys(part: Expr) -> dict[str, Expr] | None:
    entries = part.entries if isinstance(part, MapLiteral) else ()
    keys: dict[str, Expr] = {
        key.value: key for key, _ in entries if isinstance(key, Literal) and isinstance(key.value, str)
    }
    return keys if keys and len(keys) == len(entries) else None
