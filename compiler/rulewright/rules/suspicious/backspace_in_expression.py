from rulewright.diagnostics import Findings, warning
from rulewright.expression.syntax_tree import Literal
from rulewright.lower.expressions_of import DocumentWithExpressions, parts_of


def backspace_in_expression(document: DocumentWithExpressions) -> Findings:
    """A string in an expression contains a backspace.

    Why it matters: in an expression's quotes, `\\b` is a backspace and not a word boundary. Nobody types a backspace,
    so the string is never found.
    Instead: write `\\\\b`, or a raw string such as `r"\\bno\\b"`.
    """
    for written, part in parts_of(document):
        if isinstance(part, Literal) and isinstance(part.value, str) and "\b" in part.value:
            is_unescaped = "\b" in written.scalar.text  # by the quotes around the expression
            ending = " and `r` before the inner quotes" if is_unescaped else ", or `r` before the quotes"
            help = f"write `\\\\b`{ending}"
            yield warning(written.span(part), "`\\b` in this string is a backspace, not a word boundary", help=help)
