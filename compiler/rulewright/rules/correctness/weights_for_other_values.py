from rulewright.diagnostics import Findings, error
from rulewright.expression.syntax_tree import Call, ListLiteral, last_name
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of
from rulewright_runtime.english import plural


def weights_for_other_values(document: DocumentWithExpressions) -> Findings:
    """The two lists of a `wmean` have different lengths, or the weights are named in another order than the values.

    Why it matters: with different lengths the mean is not defined, so the expression fails every time; in another order
    a value has the weight of another one.
    Instead: give every value a weight, in the same order.
    """
    for written, part in parts_of(document):
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
