# SPDX-License-Identifier: Apache-2.0
"""Comments and messages in the English of the field: no phrase of the lists below in a folder that is done."""

import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("TESELA_SOURCE", "."))

# Folders whose comments follow the list, and those whose string literals do.
FOLDERS = ["include/tesela", "ops", "cli"] + [
    f"src/{folder}" for folder in "layout cute linear xla relayout kernels solve gpu device draw base file infer report notation graph".split()]
MESSAGE_FOLDERS = ["src", "ops", "cli"]

# A forbidden phrase (a regular expression over one comment, its line breaks read as blanks), and what to write.
WORDS = [
    (r"\b(is|are|was) none\b", "name it: 'invalid X', 'unknown X', 'or -1', 'or NULL'"),
    (r"\bthere is none\b", "'no X', 'without X', 'or NULL'"),
    (r"(?<![tT]here )\b(is|are) no (?!more|longer|less|greater|larger|wider|higher|better)\w", "'is not a X', 'X other than Y', 'unless it is a X'"),
    (r"\bunless told\b", "'by default', '(default: X)'"),
    (r"\b(is|are) told\b", "'receives X', 'the caller sets X'"),
    (r"\bpassed over\b", "'skipped', 'ignored'"),
    (r"\bbehind\b", "'after'"),
    (r"\bin front\b", "'before', 'leading', 'a prefix'"),
    (r"\bwhat of it\b", "name it"),
    (r"\b(is|are) gone\b(?! through)", "'is removed', 'is lost'"),
    (r"\b(is|are) fine\b", "'is allowed', 'is accepted'"),
    (r"(?<!nothing )\b(has|have) not\b(?! (been|yet))", "'lacks X', 'does not have X'"),
    (r"\bthat there (is|are) not\b", "'unknown X', 'X out of range'"),
    (r"\bas (one|you) likes?\b", "'any', 'free'"),
    (r"\ba number that is no\b", "'an unknown number'"),
    (r"\bwhatever lies\b", "say what is read or ignored"),
    (r"\b(nobody|somebody)\b", "name who: 'the caller', 'no operand', or 'unknown', 'unused'"),
    (r"\bdear(er|est)\b", "'more expensive', 'highest price'"),
    (r"-1(:| for) none\b", "'or -1'"),
    (r"\b(of late|as yet|none yet)\b", "'recently', 'so far', 'or -1'"),
    (r"\bat hand\b|\bwhat there is\b", "'given', 'current', or name it"),
    (r"\bby turns\b", "'alternately', 'in turn'"),
    (r"\b(does|do) not do\b(?! \w)|\bwould do\b(?! \w)", "'is enough', 'is possible'"),
    (r"(?<!not )\bbut for\b", "'except', 'except for'"),
    (r"\b(thereby|hence|taken over|holds? none|in company|met most)\b", "'so', 'copied', 'without X', 'together', 'most frequent'"),
    (r"\b(has|have) to do\b|\bgive or take\b", "'must'; 'plus or minus'"),
]

# The same for messages, in string literals alone. A comment may say that a text takes or stands for something.
MESSAGE_WORDS = [
    (r"\b(is|are) possible\b", "'expected X to Y'"),
    (r"\b(are|is) allowed\b|\ballowed: |\ballowed are\b", "'expected X to Y'"),
    (r"; (it|they|this) (is|are) \S+ or more\b", "'expected X or more'"),
    (r"\bit may (be|have)\b|\bthere (may|must) be\b", "'expected X to Y'"),
    (r"\bstands?\b", "'is given', 'is listed'"),
    (r"\b(says?|said|tells?|told)\b(?! (how|whether)\b)", "'has', 'expresses', 'is given'"),
    (r"\bthere (is|are) (no|nothing)\b", "'unknown X', 'missing X', 'X out of range'"),
    (r"\bis missing; it takes\b|\ba word\b(?! has)", "'missing argument X'"),
    (r"\b(announced|cut off)\b", "'truncated'"),
    (r"\bwould do\b|\bsuits?\b", "'compatible'"),
    (r"\btaken\b|\bgoes on\b|\bas far as\b|\bnot settled\b|\bnot decided\b", "'used', 'continues', 'cannot decide'"),
]

COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|(?://[^\n]*\n?[ \t]*)+', re.S)


def comments(text):
    """Each comment of a C text as (line, one line of words)."""
    for match in COMMENT.finditer(text):
        if not match[0].startswith('"'):
            words = re.sub(r"\s*\n\s*(\*(?!/)|//+)?<?\s*", " ", match[0])
            yield text.count("\n", 0, match.start()) + 1, words


STRING = r'"(?:\\.|[^"\\\n])*"'
JOIN = r'\s*(?:PRI\w+\s*)?'  # of two literals that are one message
LITERAL = re.compile(rf"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|#include[^\n]*|{STRING}(?:{JOIN}{STRING})*", re.S)


def messages(text):
    """Each string literal of a C text as (line, text), joined where the compiler joins."""
    for match in LITERAL.finditer(text):
        if match[0].startswith('"'):
            yield text.count("\n", 0, match.start()) + 1, re.sub(rf'"{JOIN}"', "", match[0])[1:-1]


def faults(text, parts=comments, lists=WORDS):
    return [(line, found[0], better)
            for line, words in parts(text) for phrase, better in lists for found in [re.search(phrase, words)] if found]  # fmt: skip


def test_comments_follow_the_list():
    files = sorted(file for folder in FOLDERS for file in (SOURCE / folder).rglob("*.[ch]"))
    assert len(files) >= 15
    wrong = [f"{file.relative_to(SOURCE)}:{line}: '{found}': write {better}" for file in files
             for line, found, better in faults(file.read_text())]  # fmt: skip
    assert wrong == [], "\n" + "\n".join(wrong)


def test_messages_follow_the_list():
    files = sorted(file for folder in MESSAGE_FOLDERS for file in (SOURCE / folder).rglob("*.[ch]"))
    assert len(files) >= 300
    assert sum(len(list(messages(file.read_text()))) for file in files) > 3000
    wrong = [f"{file.relative_to(SOURCE)}:{line}: '{found}': write {better}" for file in files
             for line, found, better in faults(file.read_text(), messages, WORDS + MESSAGE_WORDS)]  # fmt: skip
    assert wrong == [], "\n" + "\n".join(wrong)


def test_a_phrase_in_a_message_is_found():
    def found(text):
        return [fault[:2] for fault in faults(text, messages, WORDS + MESSAGE_WORDS)]

    assert found('x;\nfail("fill %d is "\n     "none");') == [(2, "is none")]
    assert found('fail("dim %" PRId32 "; it is 0 or "\n "more");') == [(1, "; it is 0 or more")]
    assert found('fail("rank %d; 0 to 4 are possible"); // are possible') == [(1, "are possible")]
    assert found('#include "behind.h"\n/* "behind" */ x = \'"\'; y = "after"; // "behind"\n') == []


def test_a_phrase_is_found():
    assert [fault[:2] for fault in faults("int a; // NULL if it is\n// none\n")] == [(1, "is none")]
    assert [fault[:2] for fault in faults('/* x */\n/* the place\n * behind the last */')] == [(2, "behind")]
    assert [fault[1] for fault in faults("int a; ///< of a digit\n       ///< in front\n")] == ["in front"]
    assert faults('puts("/* behind */"); // the place after the last; it is no longer used\n') == []
    for phrase, _ in WORDS:
        assert re.compile(phrase)


# Outside the library: C and C++, Python, shell, CMake, and pages.
AROUND = "README.md SECURITY.md Makefile CMakeLists.txt bootstrap .ci bench cmake docs examples fuzz tests tools".split()
C_SUFFIXES = (".c", ".h", ".cpp")


def hash_comments(text):
    """Each run of lines that begin with #, each # after a blank, and each docstring of Python, as comments() has them."""
    for match in re.finditer(r'(?:^[ \t]*#(?!!).*\n?)+|(?<=\s)# .*|^[ \t]*"""(?:.|\n)*?"""', text, re.M):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"\s+", " ", re.sub(r"^[ \t]*#+ ?", " ", match[0], flags=re.M))


def prose(text):
    """Each paragraph or table of a page, without blocks of code and words in backquotes."""
    text = re.sub(r"^ *(```|~~~)(?:.|\n)*?^ *\1.*$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", "``", text)
    for match in re.finditer(r"(?:^.*\S.*\n?)+", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"\s+", " ", match[0])


def parts(file):
    if file.suffix == ".md":
        return prose
    return comments if file.suffix in C_SUFFIXES else hash_comments


def test_pages_and_the_comments_around_the_library_follow_the_list():
    files = [file for name in AROUND for top in [SOURCE / name] for file in ([top] if top.is_file() else sorted(top.rglob("*")))
             if file.suffix in (*C_SUFFIXES, ".py", ".sh", ".txt", ".cmake", ".in", ".md", ".kernel", ".target", "") and file.is_file()
             and not {"corpus", "data", "golden", "vectors", "__pycache__"} & set(file.parts)]  # fmt: skip
    assert len(files) > 400
    wrong = [f"{file.relative_to(SOURCE)}:{line}: '{found}': write {better}"
             for file in files for line, found, better in faults(file.read_text(), parts(file))]  # fmt: skip
    assert wrong == [], "\n" + "\n".join(wrong)


def test_a_phrase_is_found_in_a_page_and_in_a_script():
    page = "The last\nis none.\n\n```text\nbehind\n```\n\nx `behind` y\n~~~\nbehind\n~~~\n   ```c\n   behind\n   ```\n* behind\n"
    assert [fault[:2] for fault in faults(page, prose)] == [(1, "is none"), (15, "behind")]
    script = "#!behind\nx = 'behind'  # of none\n# that is\n# told\n\"\"\"What\nis fine.\"\"\"\n"
    assert [fault[:2] for fault in faults(script, hash_comments)] == [(3, "is told"), (5, "is fine")]


def words_of(glossary):
    """The words that a glossary's tables define, in order; those with a qualifier in brackets count with it."""
    rows = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", glossary, re.M)
    return [word for row in rows if row not in ("word", "---") for word in row.split(", ")]


def test_the_glossary_gives_a_word_one_meaning():
    text = (SOURCE / "docs/glossary.md").read_text()
    words = words_of(text)
    assert len(words) > 100
    assert sorted(word for word in set(words) if words.count(word) > 1) == []
    assert not re.search(r"\b[Ss]ee below\b", text)


def test_a_second_meaning_is_found():
    assert words_of("| word | meaning |\n| --- | --- |\n| lane | a |\n| need, yield | b |\n| lane | c |\n") == ["lane", "need", "yield", "lane"]
