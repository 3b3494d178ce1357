"""Every word comes out of the shell as it went in, and is printable on the way."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.shell_words import shell_word


def by_bash(text: str) -> bytes:
    done = subprocess.run(["bash", "-c", "printf %s " + text], stdout=subprocess.PIPE, check=True)
    return done.stdout


WORDS = ["", "a b", "it's", "a\nb", "\x1b[31mred", "한글", "$HOME", "a\\b\n'c'", "\udcff.gguf", "!1"]


@pytest.mark.parametrize("word", WORDS)
def test_bash_reads_the_same_word(word: str) -> None:
    quoted = shell_word(word)
    assert quoted.isprintable()
    assert by_bash(quoted) == os.fsencode(word)


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00")))
def test_no_word_reaches_the_terminal_raw(word: str) -> None:
    assert shell_word(word).isprintable()
