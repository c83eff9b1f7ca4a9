# SPDX-License-Identifier: Apache-2.0
"""The same tokenizers made by other software: the Python packages tokenizers (Hugging Face) and sentencepiece.

make_bpe and make_sentencepiece train a small vocabulary and answer (vocabulary, encode): the vocabulary as data,
which write_model puts into a GGUF file, and a function from a text to the ids of the other software.
"""

import io
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import make_gguf  # noqa: E402

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

# From the files tokenizer.json of Llama 3, Qwen 2, Mistral NeMo and DeepSeek LLM.
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [
    "[\r\n]",
    "\\s?[A-Za-zµ\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377"
    "\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"
    "\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    "\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    "\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    "\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    "\\s+$",
    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
]
PRE_TOKENISERS = ["gpt-2", "llama-bpe", "qwen2", "smollm", "tekken", "deepseek-llm"]
WHOLE_WORDS = ["llama-bpe", "tekken"]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def pre_tokeniser(name):
    from tokenizers import Regex, pre_tokenizers as pre
    patterns = {"llama-bpe": [LLAMA3], "qwen2": [QWEN2], "tekken": [TEKKEN], "deepseek-llm": DEEPSEEK}
    steps = [pre.Split(Regex(pattern), "isolated") for pattern in patterns.get(name, [])]
    if name in ("smollm", "deepseek-llm"):
        steps.append(pre.Digits(individual_digits=True))
    return pre.Sequence(steps + [pre.ByteLevel(add_prefix_space=False, use_regex=name in ("gpt-2", "smollm"))])


def bpe_of(vocabulary, special=False):
    """The tokenizer of the package for a vocabulary; control tokens are looked for in texts if `special` says so."""
    from tokenizers import AddedToken, Tokenizer, models
    kinds = vocabulary["types"]
    ids = {token: index for index, token in enumerate(vocabulary["tokens"])
           if kinds[index] in (NORMAL, USER_DEFINED, *([CONTROL] if special else []))}
    merges = [tuple(merge.split(" ")) for merge in vocabulary["merges"]]
    tokenizer = Tokenizer(models.BPE(ids, merges, ignore_merges=vocabulary["pre"] in WHOLE_WORDS))
    tokenizer.pre_tokenizer = pre_tokeniser(vocabulary["pre"])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token, index in ids.items()
                          if kinds[index] in (USER_DEFINED, CONTROL)])
    return tokenizer


def make_bpe(name, lines, size):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokeniser(name)
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    import json
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    vocabulary = {"model": "gpt2", "pre": name, "tokens": tokens,
                  "types": [CONTROL if token in SPECIALS else NORMAL for token in tokens],
                  "merges": [" ".join(merge) for merge in model["merges"]]}
    other = bpe_of(vocabulary)
    return vocabulary, lambda text: other.encode(text, add_special_tokens=False).ids


def make_sentencepiece(lines, size, space_prefix):
    import sentencepiece
    out = io.BytesIO()
    user_defined = [] if space_prefix else ["<table>", "\u2581\u2581\u2581", "\n\n", "<tab"]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, model_type="bpe", vocab_size=size, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=space_prefix,
        character_coverage=0.98, user_defined_symbols=user_defined, allow_whitespace_only_pieces=True,
        split_digits=True, minloglevel=2, num_threads=1)
    other = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())

    def kind(index):
        if other.is_unknown(index):
            return UNKNOWN
        if other.is_control(index):
            return CONTROL
        if other.is_byte(index):
            return BYTE
        return USER_DEFINED if other.id_to_piece(index) in user_defined else NORMAL
    count = other.get_piece_size()
    vocabulary = {"model": "llama", "pre": "", "space_prefix": space_prefix,
                  "tokens": [other.id_to_piece(index) for index in range(count)],
                  "types": [kind(index) for index in range(count)],
                  "scores": [other.get_score(index) for index in range(count)]}
    return vocabulary, other.encode


def write_model(path, vocabulary):
    writer = make_gguf.Writer()
    writer.value("tokenizer.ggml.model", "string", vocabulary["model"])
    writer.list("tokenizer.ggml.tokens", "string", vocabulary["tokens"])
    writer.list("tokenizer.ggml.token_type", "i32", vocabulary["types"])
    if vocabulary["model"] == "gpt2":
        writer.value("tokenizer.ggml.pre", "string", vocabulary["pre"])
        writer.list("tokenizer.ggml.merges", "string", vocabulary["merges"])
        writer.value("tokenizer.ggml.eos_token_id", "u32", 0)
    else:
        writer.list("tokenizer.ggml.scores", "f32", vocabulary["scores"])
        writer.value("tokenizer.ggml.add_space_prefix", "bool", vocabulary["space_prefix"])
        writer.value("tokenizer.ggml.unknown_token_id", "u32", 0)
        writer.value("tokenizer.ggml.bos_token_id", "u32", 1)
        writer.value("tokenizer.ggml.eos_token_id", "u32", 2)
    pathlib.Path(path).write_bytes(writer.bytes())


def training_lines(texts):
    lines = list(texts)
    for path in sorted((ROOT / "docs").glob("*.md")):
        lines += path.read_text(encoding="utf-8").splitlines()
    return lines
