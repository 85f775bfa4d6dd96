"""Character ranges of scripts, for the `[...]` of a regular expression."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
CJK = HAN + KANA + HANGUL + BOPOMOFO

# Thai, Lao, Tibetan, Burmese and Khmer put no spaces between words either.
SPACELESS = CJK + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u109d\u1780-\u17d3"

# Indian scripts write vowels as signs inside a word, which `\w` leaves out.
VOWEL_SIGNS = "\u0900-\u0963\u0966-\u0df3"
