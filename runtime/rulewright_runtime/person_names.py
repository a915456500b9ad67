"""Names of people, agents and models, compared as a reader sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

_BLANK_LETTERS: Final = "\u115f\u1160\u2800\u3164"  # Hangul fillers and the empty Braille cell
# Small letters of other alphabets (Cyrillic, Greek, Armenian, Cherokee, Latin of other shapes), each before the Latin
# letter that it or its capital looks like.
_LOOK_ALIKES: Final = (
    "аa вb сc еe һh нh іi јj кk мm оo рp ѕs тt хx уy үy ԛq ԝw ԁd ӏl ьb гr пn ѵv αa βb εe ζz ιi κk μm νv οo ρp τt υu χx "
    "γy ηn ωw ϳj օo տs լl սu ոn հh ցg յj զq ԍg ϲc Ꭺa Ꮐg Ᏼb Ꮯc Ꭼe Ꮋh Ꭻj Ꮶk Ꮮl Ꮇm Ꮲp Ꮪs Ꭲt Ꮩv Ꮃw Ꮓz "
    "ıi ɑa ɡg ɩi ʟl ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"
)
_BESIDE_LATIN: Final = ("LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")  # first words of the names of letters
_LATIN: Final = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKES.split()}


def folded_name(name: str) -> str:
    """The name without case, accents, further white space and invisible characters, in Latin letters where others look
    the same, so that look-alikes are equal."""
    name = name.casefold()
    if not name.isascii():
        name = unicodedata.normalize("NFKD", name.translate(_LATIN)).casefold().translate(_LATIN)
    return " ".join("".join(_visible(name)).split())


def _visible(name: str) -> Iterator[str]:
    """Yield the characters without those that show nothing and marks on Latin letters; other letters need theirs."""
    base = ""
    for char in name:
        kind = unicodedata.category(char)[0]
        if kind != "M" and char not in _BLANK_LETTERS and (kind != "C" or char.isspace()):
            base = char
            yield char
        elif kind == "M" and not base.isascii():
            yield char


def is_readable(name: str) -> bool:
    """Whether a name can be distinguished from others: it has letters and no other signs than ASCII, and next to Latin
    letters only those of languages that use them in names."""
    others = [char for char in folded_name(name) if not char.isascii() and unicodedata.category(char)[0] not in "MN"]
    is_mixed = any(char.isascii() and char.isalpha() for char in name)
    scripts = _BESIDE_LATIN if is_mixed else ("",)
    return all(char.isalpha() and unicodedata.name(char, "?").startswith(scripts) for char in others)
