"""Markdown as GitHub shows it, without what could harm the reader."""

from html.parser import HTMLParser
from time import process_time

import pytest

from labeling.markdown import render_markdown, render_plain, text_content, with_images, without_references


class TextContent(HTMLParser):
    """What a browser gives as textContent, found a second way."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data):
        self.pieces.append(data)


def parsed_text(html):
    parser = TextContent()
    parser.feed(html)
    parser.close()
    return "".join(parser.pieces)


ORDINARY = [
    "# Title\n\nLine one\nline *two* & `a < b`",
    "- [x] done\n- [ ] open :tada:",
    "| a | b |\n|:--|--:|\n| 1 | 2 |",
    "<details><summary>Log</summary>\n\n```py\n" + "x < 1\n" * 40 + "```\n\n</details>",
    "![a shot](https://example.org/a.png) and &amp;#39;1 &nbsp; é 👍 #12",
    "> quote\n>> deeper\n\n1. one\n2. two\n\n~~gone~~ <kbd>Ctrl</kbd>",
]


@pytest.mark.parametrize("source", ORDINARY)
def test_text_is_what_a_browser_would_read_from_the_html(source):
    rendered = render_markdown(source, repository="octo/spoon")
    assert rendered.text == parsed_text(rendered.html)
    assert text_content(with_images(without_references(rendered.html))) == rendered.text


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        '<a href="data:text/html,x">x</a>',
        "<img src=x onerror=alert(1)>",
        '<p style="position:fixed" class="page" id="coding" onclick="x()">hi</p>',
        '<svg onload="alert(1)"></svg><math><mi xlink:href="javascript:x">a</mi></math>',
        "<iframe src=https://example.org></iframe><form action=/x><button>go</button></form>",
        '<input type="text" name="cause" value="x"><input type="submit">',
        '```"onclick=alert(1)\nx\n```',
        '<a title="a > b" href=https://example.org onclick=x>x</a>',
        '![x"onerror="alert(1)](https://example.org/"x)',
    ],
)
def test_nothing_that_runs_or_poses_as_the_page_survives(source):
    html = render_markdown(source).html
    tags = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append((tag, dict(attrs)))

    Tags().feed(html)
    assert not {tag for tag, _ in tags} & {
        "script",
        "iframe",
        "form",
        "button",
        "svg",
        "math",
        "style",
        "img",
    }
    for tag, attributes in tags:
        assert not {name for name in attributes if name.startswith("on")} | (
            {"style", "id"} & set(attributes)
        )
        assert attributes.get("href", "https:").startswith(("https:", "http:", "mailto:"))
        assert tag != "input" or attributes["type"] == "checkbox"
        assert attributes.get("class", "language-") != "page"


def test_links_do_not_tell_where_they_come_from():
    html = render_markdown("https://example.org and [x](https://example.org/y)").html
    assert html.count('rel="nofollow noopener noreferrer"') == 2


def test_a_relative_link_never_leads_into_our_own_pages():
    assert "href" not in render_markdown("[delete](/studies/x/delete/) [top](#top)").html


def test_numbers_of_issues_are_links_where_the_repository_is_known():
    html = render_markdown("see #12, gcc/cc#3 and `#5`, not a#6", repository="octo/spoon").html
    assert 'href="https://github.com/octo/spoon/issues/12"' in html
    assert 'href="https://github.com/gcc/cc/issues/3"' in html
    assert html.count("<a ") == 2
    assert "<a " not in render_markdown("see #12").html
    assert "<a " not in without_references(html)


def test_numbers_of_character_references_are_no_issues():
    assert "<a " not in render_markdown("&amp;#39;1 and &#35;x", repository="octo/spoon").html


def test_emoji_names_become_emoji_except_in_code():
    assert render_markdown(":+1: :no_such_thing: `:+1:`").text == "👍 :no_such_thing: :+1:\n"


def test_images_are_only_places_until_they_are_asked_for():
    html = render_markdown("![a shot](https://example.org/a.png) ![b](http://example.org/b.png)").html
    assert "<img" not in html
    assert '<span class="image-placeholder" data-src="https://example.org/a.png">a shot</span>' in html
    assert with_images(html).count("<img") == 1, "plain http is not loaded"


def test_boxes_of_task_lists_are_shown_and_cannot_be_ticked():
    html = render_markdown("- [x] a\n- [ ] b").html
    assert '<input type="checkbox" disabled aria-label="done" checked>' in html
    assert '<input type="checkbox" disabled aria-label="not done">' in html


def test_code_of_more_than_thirty_lines_is_folded_and_shorter_code_is_not():
    long = render_markdown("```\n" + "line\n" * 31 + "```")
    assert '<details class="folded-code"><summary data-lines="31"' in long.html
    assert long.text == "line\n" * 31 + "\n"
    short = render_markdown("```\n" + "line\n" * 30 + "```\n" + "\n\nmore text" * 40)
    assert "<details" not in short.html


def test_a_paragraph_of_more_than_thirty_lines_is_folded_as_a_log_without_a_fence_is():
    long = render_markdown("\n".join(["at line"] * 31))
    assert '<details class="folded-code"><summary data-lines="31"' in long.html
    assert long.html.count("<p") == long.html.count("</p>") == long.html.count("</details>") == 1
    assert long.text == "\n".join(["at line"] * 31) + "\n"
    assert "<details" not in render_markdown("\n".join(["at line"] * 30)).html


def test_a_text_too_long_to_be_formatted_says_so_and_shows_its_first_lines():
    source = "**line**\n" * 30_000
    told = render_markdown(source)
    assert 'role="note" aria-label="This text is too long to be formatted' in told.html
    assert '<details class="folded-code"><summary data-lines="30001"' in told.html
    assert told.text == text_content(told.html) == source


def test_raw_details_keep_their_summary():
    html = render_markdown("<details><summary>Log</summary>\n\n**x**\n</details>").html
    assert '<details><summary dir="auto">Log</summary>' in html


def test_comments_of_issue_templates_are_not_shown():
    assert render_markdown("<!-- fill in -->\n\nIt broke <!-- here -->").text == "\nIt broke \n"


def test_line_breaks_a_browser_would_drop_are_not_in_the_text():
    assert render_markdown("<pre>\n\n\n  x\n</pre>").text == "  x\n\n"


def test_a_plain_text_stands_as_it_is_written():
    rendered = render_plain("\n*a* <b>\r\n#1")
    assert rendered.text == "\n*a* <b>\n#1"
    assert parsed_text(rendered.html) == rendered.text


N = 262_144
HOSTILE = {
    "ten thousand quotes": ">" * 10_000 + "a",
    "quotes deeper line by line": "".join(">" * depth + "a\n\n" for depth in range(700)),
    "list markers": "- " * 10_000 + "a",
    "brackets": "[" * N,
    "open links": "[a](" * (N // 4),
    "open images": "![[" * (N // 3),
    "emphasis": "**a*" * (N // 4),
    "open divs": "<div>" * (N // 5),
    "divs closed by another name": "<div></span>" * (N // 12),
    "misnested tags": "<b><p></b>" * (N // 10),
    "formatting": "<b><i><u><s><em><strong></b>" * (N // 28),
    "open attributes": '<a b="' * (N // 6),
    "open comments": "<!--" * (N // 4),
    "cells": "<table><tr><td>" * (N // 15),
    "a wide table": "|" + "a|" * 2000 + "\n|" + "-|" * 2000 + "\n" + "|a\n" * 20_000,
    "open code": "<pre>\n" * (N // 6),
    "emoji": ":+1: " * (N // 5),
    "references": "#1 " * (N // 3),
    "a line of a megabyte": "word " * 200_000,
    "colons of a megabyte": ":a" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rendered_in_less_than_a_second(name):
    started = process_time()
    rendered = render_markdown("It broke.\n\n" + HOSTILE[name], repository="octo/spoon")
    assert process_time() - started < 1
    assert rendered.text.startswith("It broke.")


def test_nesting_ends_at_the_hundredth_level():
    html = render_markdown("> " * 10_000 + "deep").html
    assert html.count("<blockquote>") <= 100
    assert "deep" in html
    html = render_markdown("<div>" * 10_000 + "deep").html
    assert html.count("<div>") == html.count("</div>") == 100
    assert "deep" in html


@pytest.mark.browser
def test_the_stored_text_is_what_chromium_reads(page):
    broken = ["<pre>\n\n\n x\n</pre>", "<b><p>x</b>y</p>", "<table>a<tr><td>b</table>", "a\r\n&#13;&#0;b"]
    cut = [text[:5_000] for text in HOSTILE.values()]
    for source in [*ORDINARY, *broken, *cut]:
        rendered = render_markdown(source, repository="octo/spoon")
        page.set_content(f'<!doctype html><body><div id="text">{rendered.html}</div><p id="after"></p>')
        assert page.evaluate("document.getElementById('text').textContent") == rendered.text, source[:80]
        assert page.evaluate("document.body.children.length") == 2, "nothing leaves its place"
