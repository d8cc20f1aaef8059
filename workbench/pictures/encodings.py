"""Guess of the encoding of bytes that do not name it, by what the letters are.

Names in archives, cells of tables, labels in arrays and records: a ZIP file says of a name only
whether it is UTF-8, and many programs write it without saying even that; the others have bytes.
Each encoding that can decode all texts strictly is scored by how usual its letters are, alone and
beside each other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

ENCODINGS: Mapping[str, str] = {
    "utf-8": "UTF-8",
    "gb18030": "GBK, simplified Chinese",
    "cp932": "Shift-JIS, Japanese",
    "cp949": "EUC-KR, Korean",
    "big5": "Big5, traditional Chinese",
    "cp850": "CP850, western Europe",
    "cp437": "CP437, DOS",
    "cp1252": "Windows-1252, western Europe",
    "mac_roman": "Mac Roman, western Europe",
    "cp866": "CP866, Cyrillic",
    "cp1251": "Windows-1251, Cyrillic",
    "koi8-r": "KOI8-R, Russian",
    "cp852": "CP852, central Europe",
    "cp1250": "Windows-1250, central Europe",
    "cp737": "CP737, Greek",
    "cp1253": "Windows-1253, Greek",
    "cp857": "CP857, Turkish",
    "cp1254": "Windows-1254, Turkish",
    "cp862": "CP862, Hebrew",
    "cp1255": "Windows-1255, Hebrew",
    "cp1256": "Windows-1256, Arabic",
    "cp874": "Windows-874, Thai",
}
"""Encodings that are tried, the likelier first where two are as good, with words for people."""

_CLOSE = 0.12
"""Difference of scores (per letter, -1 to 1) below which it may as well be the other one."""

_CLOSE_OF_FEW = 1.2
"""How much larger that is for one byte that is not ASCII; half of it for two."""

_LEAST = 0.45
"""Score below which even the best is doubtful."""

_SAMPLED = 2000  # different pieces of names
_OTHERS = 4
_CERTAIN_MARKS = 3  # bytes beyond the first of letters in UTF-8: no accident

_LATIN: Mapping[str, float] = {
    "äöüß": 0.0,
    "éèêàâçëïîôûùœ": 0.0,
    "ñáíóúüé": 0.0,
    "ãõáâàçéêíóôú": 0.0,
    "åäöøæé": 0.0,
    "àèéìòù": 0.0,
    "ąęłśćżźńó": -0.08,
    "ěščřžýáíéůúťďňóľĺŕô": -0.08,
    "öőüűáéíóú": -0.08,
    "ăâîșțşţ": -0.1,
    "čćžšđ": -0.1,
    "çğışöü": -0.08,
}
"""Letters with marks of languages in Latin script, and how much rarer the language is."""

_CYRILLIC: Mapping[str, float] = {
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё": 0.0,
    "оеаинтсрвлкмдпуяьгзбчйхжшюцщфіїєґ": -0.1,
    "оеаинтсрвлкмдпугзбчхжшцфђјљњћџ": -0.15,
}
_OTHER_SCRIPTS: Mapping[str, float] = {
    "αειοτησρπλνκυμδωγχθβφξζψςάέήίόύώ": -0.12,
    "אבגדהוזחטיכלמנסעפצקרשתםןךףץ": -0.25,
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإآءئؤ": -0.25,
    "กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวศษสหอฮะัาำิีึืุูเแโใไ่้็์": -0.25,
}
_RARE = frozenset("ъёэщцћђѓѕќљњџґюф")
"""Letters of these alphabets that are rare enough to speak for another encoding."""

_ALPHABETS: Mapping[str, Mapping[str, float]] = {
    **dict.fromkeys(("cp850", "cp437", "cp1252", "cp852", "cp1250", "cp857", "cp1254"), _LATIN),
    "mac_roman": _LATIN,
    **dict.fromkeys(("cp866", "cp1251", "koi8-r"), _CYRILLIC),
    **dict.fromkeys(("cp737", "cp1253", "cp862", "cp1255", "cp1256", "cp874"), _OTHER_SCRIPTS),
    "utf-8": {**_LATIN, **_CYRILLIC, **_OTHER_SCRIPTS},
}
_DOS = frozenset({"cp850", "cp852", "cp437", "cp866", "cp737", "cp857", "cp862"})
_MOST_MARKED = 0.5  # share of the letters of a word in Latin script that have marks

_HANGUL = frozenset(
    "이다의는에가을로를고하지사리한도기자대나어시서인스라해아수정일부제주구전보원상동장비여그유마조소"
    "성만관개있은경공과신안생교용중무선실연요우세계국민모물미방영화진학강식발위내분드트양꽃나무새토끼"
    "곰말돼닭오고벌튤립바파딸박들레국화란난초잎씨열매포도감귤배추파당근콩쥐뱀용호랑늑여우펭귄"
)


@dataclass(frozen=True)
class FoundEncoding:
    """What was found out about some texts.

    Attributes:
        key: The encoding that was taken.
        others: Other encodings that are nearly as likely and give other names.
        ranked: All that can decode them, the likeliest first.
        example: A text as it reads now, "" where there is none.
        count: How many texts do not say what they are encoded in.
    """

    key: str
    others: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    example: str = ""
    count: int = 0


def find_encoding(
    names: Sequence[bytes], *, is_dos: bool = False, can_be_utf8: bool = True
) -> FoundEncoding:
    """The encoding of some texts that are not all ASCII.

    Args:
        names: They, as bytes.
        is_dos: They are out of a ZIP file, where those of DOS are likelier than those of Windows.
        can_be_utf8: False where it is known that not all are UTF-8.
    """
    pieces = list(dict.fromkeys(piece for name in names for piece in name.split(b"/")))
    pieces = [piece for piece in pieces if not piece.isascii()][:_SAMPLED]
    tried = [key for key in ENCODINGS if key != "utf-8" or can_be_utf8]
    texts = {key: text for key in tried if (text := _decoded(pieces, key)) is not None}
    unicode = "".join(texts.get("utf-8", ()))
    if sum(len(letter.encode()) - 1 for letter in unicode) >= _CERTAIN_MARKS:
        return FoundEncoding("utf-8", (), ("utf-8",), texts["utf-8"][0], len(names))
    scores = {key: _score(text, key, is_dos=is_dos) for key, text in texts.items()}
    ranked = sorted(scores, key=lambda key: -scores[key])
    best = ranked[0] if ranked else "cp437"
    if not ranked:  # no encoding has all of them: each byte is shown
        return FoundEncoding(best, (), (), pieces[0].decode("cp437"), len(names))
    is_weak = scores[best] < _LEAST
    close = _CLOSE + _CLOSE_OF_FEW / sum(byte > 127 for piece in pieces for byte in piece)
    others = [
        key
        for key in ranked[1:]
        if texts[key] != texts[best]
        and (scores[best] - scores[key] < close or (is_weak and scores[key] > 0))
    ]
    example = next(filter(has_inner_capital, texts[best]), texts[best][0])
    shown = dict.fromkeys(tuple(texts[key]) for key in others)
    first = {tuple(texts[key]): key for key in reversed(others)}
    others_shown = tuple(first[text] for text in shown)[:_OTHERS]
    return FoundEncoding(best, others_shown, tuple(ranked), example, len(names))


def has_inner_capital(name: str) -> bool:
    """Whether a capital that is not ASCII is behind a small letter, as of a wrong encoding."""
    pairs = pairwise(name)
    return any(one.islower() and two.isupper() and not two.isascii() for one, two in pairs)


def _decoded(pieces: Iterable[bytes], encoding: str) -> list[str] | None:
    """The pieces as text; None where one cannot be decoded, or decodes to no text."""
    try:
        texts = [piece.decode(encoding) for piece in pieces]
    except UnicodeDecodeError:
        return None
    is_text = all(unicodedata.category(letter) not in _NO_TEXT for t in texts for letter in t)
    return texts if is_text else None


_NO_TEXT = {"Cc", "Cn", "Co", "Cs"}


def _score(texts: Sequence[str], encoding: str, *, is_dos: bool) -> float:
    """How usual the letters that are not ASCII are: -1 to 1 on average."""
    if encoding in _FIRST_LEVEL:
        return _wide_score(texts, encoding)
    score = max(
        _alphabet_score(texts, alphabet, is_latin=alphabet in _LATIN) + prior
        for alphabet, prior in _ALPHABETS[encoding].items()
    )
    if encoding == "utf-8":
        has_ascii = any(letter.isascii() and letter.isalpha() for text in texts for letter in text)
        return score + (0.4 if has_ascii else 0.0)
    return score + (0.05 if (encoding in _DOS) == is_dos else 0.0)


def _alphabet_score(texts: Sequence[str], alphabet: str, *, is_latin: bool) -> float:
    """How plausible texts are in a language with this alphabet: the mean over their letters beyond
    ASCII, at most 1.
    """
    values = []
    for text in texts:
        letters = [letter for letter in text if letter.isalpha()]
        marked = sum(not letter.isascii() for letter in letters)
        is_strange = is_latin and marked > max(1, _MOST_MARKED * len(letters))
        values += [
            _letter(text, place, alphabet) - 0.6 * is_strange
            for place, letter in enumerate(text)
            if not letter.isascii()
        ]
    return sum(values) / max(1, len(values))


def _letter(text: str, place: int, alphabet: str) -> float:
    """How usual one letter is beside its neighbors."""
    letter = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if not unicodedata.category(letter).startswith(("L", "M")):
        return -1.0
    value = 1.0 if letter.lower() in alphabet else -0.3
    value -= 0.4 if letter.lower() in _RARE else 0.0
    if letter.isupper():
        value -= 0.8 if before.islower() else 0.3 if before.isupper() else 0.1
    script = _script(letter)
    if any(each.isalpha() and _script(each) != script for each in (before, after)):
        value -= 1.5
    return max(-1.0, value)


def _wide_score(texts: Sequence[str], encoding: str) -> float:
    """How plausible texts are in an encoding of several bytes."""
    places = [
        (text, place) for text in texts for place, letter in enumerate(text) if not letter.isascii()
    ]
    values = [
        _wide(text[place], encoding) - 0.6 * _is_beside_latin(text, place) for text, place in places
    ]
    score, number = sum(values) / max(1, len(values)), len(values)
    if encoding == "big5" and all(
        text[place].encode(encoding)[-1] >= 0xA1 for text, place in places
    ):
        score -= min(0.5, 0.12 * number)  # half of them have a smaller second byte
    if encoding == "cp949" and all(_script(text[place]) == "HANGUL" for text, place in places):
        score += min(0.5, 0.1 * number) - 0.1  # other text would have more leading bytes
    return score


def _wide(letter: str, encoding: str) -> float:
    """How usual a letter of an encoding of several bytes is."""
    code = letter.encode(encoding)
    lead, trail = code[0], code[-1]
    script = _script(letter)
    if len(code) == 1 or len(code) > 2:  # half-width katakana, rare characters
        return -0.5
    if script == "HANGUL":
        is_usual = lead >= _USUAL_HANGUL and trail > 0xA0
        return 1.0 if letter in _HANGUL else 0.5 if is_usual else -0.3
    if script in {"HIRAGANA", "KATAKANA"} or letter == "ー":
        return 1.0 if encoding == "cp932" else 0.1
    if script == "CJK":
        first, last, least = _FIRST_LEVEL[encoding]
        return 0.9 if first <= lead <= last and trail >= least else -0.3
    return -0.6


_USUAL_HANGUL = 0xB0  # the leading byte of the first syllable of KS X 1001
_FIRST_LEVEL = {
    "gb18030": (0xB0, 0xD7, 0xA1),
    "cp932": (0x88, 0x97, 0x40),
    "cp949": (0xFF, 0x00, 0x00),  # Chinese characters are rare in Korean
    "big5": (0xA4, 0xC6, 0x40),
}
"""The leading bytes of the usual characters, and the least second byte."""


def _is_beside_latin(text: str, place: int) -> bool:
    """Whether an ASCII letter is beside it: words of one script are read as another."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return any(each.isascii() and each.isalpha() for each in (before, after))


def _script(letter: str) -> str:
    """The script of a letter, as the first word of its name: LATIN, CYRILLIC, CJK, HANGUL."""
    return unicodedata.name(letter, "").split(" ")[0].removesuffix("-A")
