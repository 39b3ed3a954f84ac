"""Colours of code: classes around the text, which stays what it was."""

from time import process_time

import pytest

from labeling.markdown import highlight, highlight_patch, render_markdown, text_content
from labeling.markdown.highlight import LONGEST_LINE, language_of

PATCH = '@@ -1,3 +1,4 @@\n def f():\n-    return "old"\n'
PATCH += '+    x = 1  # é🚀\r\n+    """new\n+    more"""\n \n\\ No newline'


def test_a_patch_is_coloured_line_by_line_and_its_text_is_the_patch():
    html = highlight_patch(PATCH, "src/a.py")
    assert text_content(html) == PATCH
    lines = html.split("\n")
    assert lines[1] == ' <span class="k">def</span> f():'
    assert lines[3] == '+    x = <span class="n">1</span>  <span class="c"># é🚀&#13;</span>'
    # A text that runs over lines is seen as one, and each line closes what it opens.
    assert lines[5] == '+<span class="s">    more"""</span>'


def test_fenced_code_is_coloured_by_its_language_alone():
    rendered = render_markdown("```py\nif x < 1:\n```\n\n```\nif x\n```\n\n```unheard\nif x\n```\n\n`if`")
    assert '<span class="k">if</span> x &lt; <span class="n">1</span>:' in rendered.html
    assert rendered.html.count("<span") == 2
    assert text_content(rendered.html) == rendered.text


def test_a_language_is_told_by_the_name_of_a_file():
    names = ["kernels/Attn.CU", "Dockerfile", "Makefile", "a/b.tar.gz", "LICENSE", "x.h"]
    assert [language_of(name) for name in names] == ["cuda", "docker", "make", "", "", "c"]


def test_what_an_author_writes_gets_no_colours_of_its_own():
    written = '<pre><code class="k gi">x</code></pre> <span class="k">y</span>'
    assert "class" not in render_markdown(written).html


UNITS = ("(", '"', "'", "/*", "`", "<a ", "\\\n", "${", "int f(", " ", 'f"{', "a<", "{%", "r#")


@pytest.mark.parametrize("name", ["a.cpp", "a.py", "a.js", "a.rb", "a.html", "a.css", "a.yml", "a.sh"])
def test_hostile_code_takes_less_than_a_second_and_stays_what_it_was(name):
    for unit in UNITS:
        code = "\n".join([(unit * LONGEST_LINE)[:LONGEST_LINE]] * 10)
        started = process_time()
        html = highlight_patch(code, name)
        assert process_time() - started < 1, unit
        assert text_content(html) == code


def test_what_takes_too_long_stays_plain(monkeypatch):
    monkeypatch.setattr(highlight, "SECONDS", 0)
    assert "<span" not in highlight_patch(PATCH, "a.py")
    monkeypatch.undo()
    started = process_time()
    html = highlight_patch("+x = 1\n" * 1_500_000, "a.py")
    assert "<span" not in html
    assert process_time() - started < 1, "ten megabytes"
