"""What HTML may stand in a text: an allow list, kept short."""

import re

import nh3

TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "li", "ol", "p", "pre", "q", "s"),
    *("samp", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead"),
    *("tr", "tt", "ul", "var"),
}
# No id: two texts on one page must not collide, and none may pass for an element of the page itself.
ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "details": {"open"},
    "img": {"alt", "src"},
    "input": {"checked", "type"},
    "ol": {"start"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
}
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")


def sanitise(html: str) -> str:
    """Keep what is on the list; links leave without telling where they come from."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_filter_attribute,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="nofollow noopener noreferrer",
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if _LANGUAGE.fullmatch(value) else None
    return value
