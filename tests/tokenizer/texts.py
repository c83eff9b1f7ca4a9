# SPDX-License-Identifier: Apache-2.0
"""Texts for tests of tokenizers: a fixed list, and random mixtures of its parts."""

import random
import unicodedata

# Written for this test; each line is a kind of text that cutters of words treat in its own way.
PARTS = [
    "The quick brown fox jumps over the lazy dog.", "Hello, world!  Two spaces; and\ta tab.",
    "it's I'm you're we've they'll he'd don't IT'S I'M YOU'RE WE'VE THEY'LL HE'D DON'T 'S 'Re 'vE",
    "'\u017f ’s ’T o’clock '' ' s 't'll''d", "CamelCaseWords HTTPServer XMLHttpRequest ABCdef aBC éÀü",
    "0 1 12 123 1234 12345 1234567890 3.14159 1,000,000 2024-11-30 0x1F 1e-9", "١٢٣ ४५६ ๑๒๓ Ⅷ ½ ² ① 一二三 𝟘𝟙",
    "for (int i = 0; i < n; i++) {\n\ta[i] += b[i] * 2;\n\n}\n", "def f(x):\n    return x ** 2 if x else None  # ok\n",
    "<html lang=\"en\"><body>&amp;</body></html> {\"a\": [1, 2.5, null]}", "https://example.org/a/b?c=d&e=%20#f user@example.org",
    "a+b=c; x->y::z !@#$%^&*()_+-=[]{}|\\;':\",./<>?`~ ... --- === ///\n/\r\n//", "\n\n\n   \n \t \n", "   leading", "trailing   ",
    "\r\n\r\nDOS\r\nlines\rold\n", " \u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000x\u180ey\u200bz\ufeff\u0085w\x0b\x0c\x1c",
    "Größe Straße ÀÉÎÕÜ ñandú façade naïve ĳ ŉ ǆ ß ẞ", "e\u0301 a\u0308\u0323 n\u0303o\u0302 Z\u0351\u036b\u0343 \u0301x",
    "Съешь ещё этих мягких французских булок, ЁЖ", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΆΈΉ ὕ ᾳ ῖ", "Οὐχὶ ταὐτὰ ΐ Ί ώ ι Ω K ℭ",
    "نصٌّ حكيمٌ لهُ سِرٌّ قاطِعٌ، وَذُو شَأنٍ", "דג סקרן שט בים מאוכזב, שָׁלוֹם", "ऋषियों को सताने वाले दुष्ट राक्षसों क्ष त्र ज्ञ", "நல்ல தமிழ் উৎস",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์", "敏捷的棕色狐狸跳過了懶狗。「你好」，世界！", "いろはにほへと チリヌルヲ 日本語のテスト。ｶﾅ", "키스의 고유조건은 입술끼리 만나야 한다 ㄱㄴ ᄀ",
    "ႠႡ აბგ Ⴧ ᲐᲑ Ꭰꭰ 𐐀𐐨 𞤀𞤢 Ա ա Ⰰ ⰰ Ꙁ ꙁ", "😀 😃😄 👩\u200d👩\u200d👧\u200d👦 👍🏽 🏳️\u200d🌈 🇩🇪🇫🇷 ❤️ ☺", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → ∑ √ ∞ ≈ © ™ € £ ¥",
    "𝒜𝓑𝕮 𠜎𠜱 🂡 \U0001f9ff\U000e0041 \U0010ffff", "\x00\x01\x1b[31m\x7f\x80\x9f", "ＡＢｃ１２！～　。、‘’“”‟…", "ǅ ǈ ʰ ˀ ª º ᵃ ℓ ⅎ Ↄ", "\u0378\u0e3f\uffff",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbb", "        eight  three   sp", "<|im_start|>user\nhi<|im_end|>\n<s>[INST] x [/INST]</s>",
    "_snake_case__dunder__ kebab-case $var ${var} @at #hash", "Mr. O'Neil's rock'n'roll 90's '90s", "x", " ", "\n", "",
]


def assigned(rng):
    """A random character. What is not assigned in this Python's Unicode may be a letter in a newer one."""
    while True:
        character = chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x250, 0xd800),
                                    rng.randrange(0xe000, 0x110000)]))
        if unicodedata.category(character) != "Cn":
            return character


def texts(seed, count):
    """PARTS, then mixtures of pieces of them and of random characters."""
    rng = random.Random(seed)
    result = list(PARTS)
    whole = "".join(PARTS)
    while len(result) < count:
        pieces = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.randrange(8)
            at = rng.randrange(len(whole))
            if kind < 3:
                pieces.append(whole[at:at + rng.randint(1, 30)])
            elif kind < 5:
                pieces.append(whole[at] * rng.choice([1, 1, 2, 3, 7]))
            elif kind == 5:
                pieces.append(rng.choice([" ", "\n", "\t", "  ", "\r\n", "'", "'s", "'S", "1", "\u3000", "\u00a0"]))
            elif kind == 6:
                pieces.append(rng.choice(whole[at:at + 40].split() or [" "]).swapcase())
            else:
                pieces.append(assigned(rng))
        result.append("".join(pieces))
    return result
