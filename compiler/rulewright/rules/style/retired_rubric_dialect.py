from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.base import first_place, items
from rulewright.documents.scenario import ScenarioDocument
from rulewright.load import Mapping


def retired_rubric_dialect(scenario: ScenarioDocument) -> Findings:
    """A rubric is written in a retired format.

    Why it matters: nothing reads an `autofail_rubric` or criteria without `kind`, so their questions are never asked.
    Instead: write one `rubric` whose criteria have a `kind`: binary, ordinal or autofail.
    """
    for turn in scenario.turns:
        for node in turn.nodes:
            if isinstance(node, Mapping) and "autofail_rubric" in node:
                yield warning(
                    node.key_span("autofail_rubric"),
                    "nothing reads `autofail_rubric`: it belongs to a retired format",
                    help="write `rubric` with `kind: autofail`",
                )
            for item in items(node, "rubric"):
                if isinstance(item, Mapping) and "kind" not in item:
                    yield error(
                        first_place(item),
                        "the criterion has no `kind`",
                        help="add `kind: binary`, `ordinal` or `autofail`",
                    )
