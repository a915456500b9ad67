"""Captions: the cues of WebVTT and SRT as the lines of a plain text, `[TIME] SPEAKER: TEXT`.

Only the speaker of a cue's voice, or before its first colon, begins a message; cues of one speaker continue. A cue that
begins with another name is a line of its own and, where all cues begin with a name, a message.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

Lines = Sequence[tuple[int, str]]

_CUE: Final = re.compile(r"\ufeff?((?:[0-9]{1,4}:)?[0-9]{2}:[0-9]{2}[.,][0-9]{3})[ \t]+-->[ \t]+[0-9:.,]+(?:[ \t].*)?")
_VOICE: Final = re.compile(r"<v(?:\.[^<>\s]*)?[ \t]([^<>]*)>", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?[bciu](?:\.[^<>\s]{0,100})?>|</?(?:v|lang|ruby|rt|font)(?:[.\s][^<>]{0,100})?>|<[0-9:]{5,9}\.[0-9]{3}>",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s.*)?")  # a block that nobody says
_NOT_IN_NAMES: Final = re.compile(r"^[\W_]+|[:*_\[\]\s]+")


def are_captions(lines: Sequence[str]) -> bool:
    """Whether lines, without the empty ones, begin as WebVTT or with a cue of SRT."""
    first = lines[0].removeprefix("\ufeff") if lines else ""
    return first.split(" ")[0] == "WEBVTT" or (first.isdigit() and any(map(_CUE.fullmatch, lines[1:2])))


def out_of_order(lines: Lines) -> int | None:
    """The number of the line of the first cue that begins before the one above it; None if there is none."""
    before: tuple[int, list[str]] = (0, [])
    for number, line in lines:
        if cue := _CUE.fullmatch(line):
            *hours, minutes, seconds = cue[1].replace(",", ".").split(":")
            start = (int(hours[0]) if hours else 0, [minutes, seconds])
            if start < before:
                return number
            before = start
    return None


def spoken(lines: Lines, speaker_of: Callable[[str], tuple[str, int]]) -> list[tuple[int, str]]:
    """Return what each speaker says in turn, with the number of its first line. `lines` are the numbered lines that are
    not empty.

    `speaker_of` returns the speaker before the first colon of a line, and where the text begins: at 0 if the speaker is
    unknown.
    """
    utterances: list[tuple[int, list[str]]] = []
    captions = [*_captions(lines)]
    first = [each for at, each in enumerate(captions) if at == 0 or each[1] != captions[at - 1][1]]
    are_named = all(voice or speaker_of(text)[0] for _, _, voice, text in first)
    current = last = ""
    for number, time, voice, text in captions:
        speaker, start = (voice, 0) if voice else speaker_of(text)
        is_known = voice != "" or start > 0
        if not is_known and time == last:  # a further line of a cue
            speaker = ""
        elif not is_known and are_named:
            is_known, start = True, len(speaker) + 1
        last = time
        if speaker not in ("", current) or not utterances:
            current = speaker
            utterances.append((number, [f"[{time}] {speaker}: {text[start:]}" if is_known else text]))
        else:
            utterances[-1][1].append(text[start:])
    return [(number, "\n".join(texts)) for number, texts in utterances]


def _captions(lines: Lines) -> Iterator[tuple[int, str, str, str]]:
    """The texts of the captions, with their line, time and voice; a voice speaks until the next one or the next cue."""
    time = voice = ""
    has_asides = not lines[0][1].removeprefix("\ufeff").isdigit()  # SRT has none
    is_aside, last = has_asides, 0  # the header of WebVTT is one
    for at, (number, line) in enumerate(lines):
        begins, last = number > last + 1, number
        cue = _CUE.fullmatch(line)
        is_before = any(next == number + 1 and _CUE.fullmatch(text) for next, text in lines[at + 1 : at + 2])
        if cue or (is_before and (line.isdigit() or (begins and has_asides))):  # the identifier of a cue
            is_aside, time, voice = False, cue[1].replace(",", ".") if cue else "", ""
            continue
        is_aside = (is_aside and not begins) or (has_asides and begins and _ASIDE.fullmatch(line) is not None)
        before, *voices = [""] if is_aside else _VOICE.split(line)
        for name, text in [("", before), *zip(voices[::2], voices[1::2], strict=True)]:
            voice = _NOT_IN_NAMES.sub(" ", name).strip()[:40] or "a voice without a name" if name else voice
            if text := html.unescape(_TAG.sub("", text)).strip():
                yield number, time, voice, text
