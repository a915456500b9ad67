"""Lowers a corpus's document to the plan: resolves sources, compiles expressions, collects lexicons."""

from dataclasses import dataclass, field

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.corpus import CorpusDocument, FactDocument, ProgrammeDocument
from rulewright.documents.lexicon import PatternEntry, invalid_regex
from rulewright.load import Scalar
from rulewright.lower.lexicons import TEXT, lower_patterns
from rulewright.spelling import unknown_name
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.plan.verifiers import Corpus, Fact, Programme


def lower_corpus(document: CorpusDocument, findings: list[Diagnostic]) -> tuple[Corpus, dict[str, Lexicon]]:
    """Return the corpus and its lexicons; mistakes are added to `findings`."""
    lowering = _CorpusLowering(document, findings)
    corpus = Corpus(
        programmes=tuple(lowering.programme(part) for part in document.programmes),
        claims=lowering.patterns("claims", document.claims) or lowering.put("claims", ()),
        named=lowering.expression(document.named),
        closed=document.closed,
        hedges=lowering.patterns("hedges", document.hedges),
        promises=lowering.patterns("promises", document.promises),
        verify_at=lowering.patterns("verify_at", document.verify_at),
        refers_back=lowering.patterns("refers_back", document.refers_back),
        places={
            place: name
            for place, entries in document.places.items()
            if (name := lowering.patterns(f"places/{place}", entries)) is not None
        },
    )
    return corpus, lowering.lexicons


@dataclass(slots=True)
class _CorpusLowering:
    document: CorpusDocument
    findings: list[Diagnostic]
    lexicons: dict[str, Lexicon] = field(default_factory=dict)

    def programme(self, part: ProgrammeDocument) -> Programme:
        return Programme(
            id=part.id,
            names=self.put(f"{part.id}/names", part.names),
            jurisdictions=part.jurisdictions,
            facts=tuple(self.fact(part, fact) for fact in part.facts),
            verify_at=self.patterns(f"{part.id}/verify_at", part.verify_at),
            source=self.source(part, part.source),
        )

    def fact(self, programme: ProgrammeDocument, part: FactDocument) -> Fact:
        stem = f"{programme.id}/{part.id}"
        if bool(part.figures) != (part.figure is not None):
            message = f"the fact `{part.id}` needs both `figure` and `figures`, or neither"
            place = part.key_place("figures" if part.figures else "figure")
            self.findings.append(error(place, message, code="figures-without-figure"))
        return Fact(
            id=part.id,
            about=self.put(f"{stem}/about", part.about),
            agrees=self.patterns(f"{stem}/agrees", part.agrees),
            contradicts=self.patterns(f"{stem}/contradicts", part.contradicts),
            figure=self.expression(part.figure),
            figures=part.figures,
            closed=part.closed,
            source=self.source(part, part.source),
        )

    def source(self, part: ProgrammeDocument | FactDocument, key: str) -> str:
        """Return the title of a source; an unknown one is reported."""
        if key and key not in self.document.sources:
            place, known = part.place("source"), self.document.sources
            self.findings.append(unknown_name(place, "source", key, known, code="unknown-source"))
        return self.document.sources.get(key, key)

    def patterns(self, name: str, entries: tuple[PatternEntry, ...]) -> str | None:
        return self.put(name, entries) if entries else None

    def put(self, name: str, entries: tuple[PatternEntry, ...]) -> str:
        """Add a lexicon of the patterns to the plan and return its name."""
        name = f"corpora/{self.document.name}/{name}"
        self.lexicons[name] = lower_patterns(entries, TEXT, fold="text")
        for entry in entries:
            if entry.mode == "regex":
                self.expression(entry.scalar)
        return name

    def expression(self, scalar: Scalar | None) -> str | None:
        if scalar is None:
            return None
        finding = invalid_regex(scalar)
        if finding is not None:
            self.findings.append(finding)
        return scalar.text
