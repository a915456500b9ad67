from fnmatch import fnmatchcase
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import scalar
from rulewright.load import Mapping, walk
from rulewright.project import Project
from rulewright.workflow import Workflow

# Models that only their maker serves under its own name; others, and open models, are served by many.
MODELS: Final = {
    "anthropic": ("claude-*",),
    "google": ("gemini-*",),
    "openai": ("chatgpt-*", "gpt-[1-9]*", "o[1-9]", "o[1-9]-*"),
}


def model_of_another_provider(subject: Project | Workflow) -> Findings:
    """The provider of an agent or of the judge does not have the model: `provider: openai` and `model: claude-...`.

    Why it matters: the provider refuses the first call.
    Instead: name the provider of the model, or a model of the provider. A server with models of several makers is
    another provider, or `openai:MODEL@ADDRESS` for a judge.
    """
    if hasattr(subject, "scripts"):
        for node in (each for loaded in subject.loaded if loaded.root is not None for each in walk(loaded.root)):
            provider, model = scalar(node, "llm", "provider"), scalar(node, "llm", "model")
            if isinstance(node, Mapping) and provider is not None and model is not None:
                maker = _other_maker(provider.text, model.text)
                message, notes = f"`{provider.value}` has no model `{model.value}`", [(model, "the model")]
                yield from [warning(provider, message, notes=notes, help=Guess(maker))] if maker else ()
    else:
        source = scalar(subject.file.node if subject.file is not None else None, "judge", "source")
        provider_name, _, model_name = str(source.value if source else "").partition(":")
        maker = None if "@" in model_name else _other_maker(provider_name, model_name)
        if source is not None and maker:
            help = Guess(f"{maker}:{model_name}")
            yield warning(source, f"`{provider_name}` has no model `{model_name}`", help=help)


def _other_maker(provider: str, model: str) -> str | None:
    """The provider that alone has the model, if it is another one than this maker."""
    made = (maker for maker, names in MODELS.items() if any(fnmatchcase(model.lower(), each) for each in names))
    maker = next(made, None)
    is_resold = (provider.lower(), maker) == ("google", "anthropic")
    return maker if provider.lower() in MODELS and maker != provider.lower() and not is_resold else None
