"""Quotes marked in HTML: the text stays what it was, whatever the marks run over."""

import re
from html import escape, unescape

import pytest

from labeling.markdown import render_markdown
from labeling.quotes import Quote, mark_html, mark_lines

TAG = re.compile(r'<a class="tag[^"]*" [^>]*>\w+</a>')


def quote(text: str, part: str, name: str = "SA1", **fields) -> Quote:
    start = text.index(part)
    return Quote(start, start + len(part), name, "look", "tag", "#answer", **fields)


def text_of(html: str) -> str:
    """What a browser reads in it, without the names of the quotes."""
    return unescape(re.sub(r"<[^>]*>", "", TAG.sub("", html)))


def marked(html: str, name: str = "look") -> str:
    """The text within marks."""
    depth, found = 0, []
    for piece in re.split(r"(<[^>]*>)", TAG.sub("", html)):
        if piece.startswith("<mark") and f'"{name}"' in piece:
            depth += 1
        elif piece == "</mark>" and depth:
            depth -= 1
        elif depth and not piece.startswith("<"):
            found.append(piece)
    return unescape("".join(found))


def test_a_quote_is_marked_and_named_where_it_ends():
    html = mark_html("<p>It stops at step 400.</p>", [quote("It stops at step 400.", "stops at")])
    assert html == (
        '<p>It <mark class="look" id="quote-sa1">stops at</mark>'
        '<a class="tag" href="#answer" title="">SA1</a> step 400.</p>'
    )


def test_a_quote_runs_over_elements_and_paragraphs_but_not_over_their_breaks():
    rendered = render_markdown("It **stops** at `step`\n\nfour hundred")
    html = mark_html(rendered.html, [quote(rendered.text, "stops at step\nfour")])
    assert text_of(html) == rendered.text
    assert marked(html) == "stops at stepfour"
    assert '</p>\n<p dir="auto">' in html
    assert html.count('id="quote-sa1"') == 1
    assert html.index(">SA1<") > html.index("four<")


def test_overlapping_quotes_keep_both_marks():
    text = "most belong to requests that finished"
    first, second = quote(text, "belong to requests"), quote(text, "requests that", "SB1")
    html = mark_html(f"<p>{text}</p>", [second, Quote(first.start, first.end, "SA1", "a", "tag", "#a")])
    assert text_of(html) == text
    assert marked(html, "a") == "belong to requests"
    assert '<mark class="a"><mark class="look" id="quote-sb1">requests</mark></mark>' in html
    assert '<mark class="look"> that</mark>' in html
    # The name of the first stands within the mark of the second, whose line is not broken by it.
    assert '<mark class="look"><a class="tag" href="#a" title="">SA1</a></mark>' in html


def test_the_same_words_quoted_twice_have_two_anchors():
    html = mark_html("<p>crash</p>", [quote("crash", "crash"), quote("crash", "crash", "SB1")])
    assert html.count("<mark") == 2
    assert {"quote-sa1", "quote-sb1"} == set(re.findall(r'id="([^"]*)"', html))


def test_positions_count_code_points():
    text = "a 👩\N{ZERO WIDTH JOINER}🚀 & <b> b"
    html = mark_html("<p>a 👩\N{ZERO WIDTH JOINER}🚀 &amp; &lt;b&gt; b</p>", [quote(text, "& <b>")])
    assert text_of(html) == text
    assert marked(html) == "& <b>"


def test_no_link_is_put_into_a_link():
    rendered = render_markdown("See #12 and more", repository="acme/train")
    html = mark_html(rendered.html, [quote(rendered.text, "#12")])
    assert re.search(r"</mark></a><a class=\"tag\"", html)
    assert text_of(html) == rendered.text


def test_white_space_of_a_table_takes_no_mark():
    rendered = render_markdown("| a | b |\n|---|---|\n| one | two |")
    html = mark_html(rendered.html, [Quote(0, len(rendered.text), "SA1", "look", "tag", "#a")])
    assert marked(html) == "abonetwo"
    assert text_of(html) == rendered.text


@pytest.mark.parametrize("place", [(0, 0), (500, 600)])
def test_what_lies_outside_the_text_is_not_marked(place):
    assert mark_html("<p>short</p>", [Quote(*place, "SA1")]) == "<p>short</p>"


def test_lines_of_a_patch_are_marked_one_by_one():
    patch = ["@@ -1 +1 @@", "-  if x < 1:", "+  if x < 2:"]
    over_two = quote("\n".join(patch), "x < 1:\n+  if")
    lines = mark_lines([escape(line, quote=False) for line in patch], [over_two])
    assert [text_of(line) for line in lines] == patch
    assert [marked(line) for line in lines] == ["", "x < 1:", "+  if"]
    assert ["SA1" in line for line in lines] == [False, False, True]
