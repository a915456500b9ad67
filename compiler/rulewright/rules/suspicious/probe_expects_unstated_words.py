from rulewright.diagnostics import Findings, advice
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.spoken_words import all_known, is_name, spoken_words, words_of


def probe_expects_unstated_words(scenario: ScenarioDocument) -> Findings:
    """A probe expects a text none of whose words the user has said, in any form.

    Why it matters: an answer can only repeat what it was told. If the user said it in other words (`the tumor` for
    `lung cancer`), an answer that repeats the user's own words is marked as forgetful. Words for relatives are not
    checked.
    Instead: let the user say it first, or expect the words that the user says.
    """
    spoken = spoken_words(scenario)
    for probe in scenario.probes if all_known(scenario) else ():
        if probe.turn is None or probe.kind != "recall":
            continue
        for item in probe.written:
            words = words_of(phrase := item.text)
            if words and not is_name(phrase) and not any(spoken.is_spoken(word, probe.turn) for word in words):
                yield advice(item, f"no message up to turn {probe.turn} contains a word of `{phrase}`")
