"""The keyboard: one table of what each key does, for the controls, their hints and the overview."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@dataclass(frozen=True)
class Shortcut:
    """``keys`` are alternatives as in aria-keyshortcuts; ``own`` may be changed in the account."""

    action: str
    label: str
    keys: str
    own: bool = True


GROUPS: tuple[tuple[str, tuple[Shortcut, ...]], ...] = (
    (
        "Code",
        (
            Shortcut("dimension", "Open dimension 1 to 9", "1 9", own=False),
            Shortcut("category", "Choose or clear a category; quote selected text", "a z", own=False),
            Shortcut("none_of_these", "None of these categories", "0"),
            Shortcut("unclear", "Unclear", "Shift+U"),
            Shortcut("not_applicable", "Not applicable", "Shift+A"),
            Shortcut("filter", "Filter categories", "/"),
            Shortcut("propose", "Propose a category", "Shift+P"),
            Shortcut("codebook", "Read the codebook", "Shift+C"),
            Shortcut("find_own", "Where did I use this category?", "Shift+F"),
        ),
    ),
    (
        "Quote",
        (
            Shortcut("quote_open", "Add selected text to the open dimension", "Shift+W"),
            Shortcut("pick", "Pick a line without mouse; arrows move, Shift+arrows add", "Shift+Q"),
            Shortcut("show_quotes", "Show or hide quotes", "Shift+E"),
            Shortcut("next_quote", "Next quote", "Shift+J"),
            Shortcut("previous_quote", "Previous quote", "Shift+K"),
        ),
    ),
    (
        "Unit",
        (
            Shortcut("submit", "Submit and next", "Enter", own=False),
            Shortcut("skip", "Skip", "Shift+S"),
            Shortcut("exclude", "Exclude…", "Shift+X"),
            Shortcut("confidence_low", "Confidence low", "Shift+L"),
            Shortcut("confidence_medium", "Confidence medium", "Shift+M"),
            Shortcut("confidence_high", "Confidence high", "Shift+H"),
            Shortcut("memo", "Memo", "Shift+N"),
            Shortcut("undo", "Undo", "Control+Z"),
            Shortcut("redo", "Redo", "Control+Y"),
        ),
    ),
    (
        "Move",
        (
            Shortcut("previous", "Previous unit or disagreement", "["),
            Shortcut("next", "Next unit or disagreement", "]"),
            Shortcut("queue", "All your units: jump to one", "Shift+O"),
            Shortcut("find", "Find in this unit", "Shift+G"),
            Shortcut("previous_part", "Previous part: issue, comments, fix", ","),
            Shortcut("next_part", "Next part", "."),
            Shortcut("shortcuts", "This list", "?"),
            Shortcut("leave", "Leave a field, close", "Escape", own=False),
        ),
    ),
    (
        "Reconciliation",
        (
            Shortcut("agree_a", "Agree on A", "a"),
            Shortcut("agree_b", "Agree on B", "b"),
            Shortcut("other", "Other category…", "o"),
            Shortcut("discuss", "Write to the discussion", "Shift+D"),
        ),
    ),
)
DEFAULT_KEYS = {shortcut.action: shortcut.keys for _, shortcuts in GROUPS for shortcut in shortcuts}
SINGLE_KEYS = "single_keys"
"""Entry of a key map that is no action: "off" where keys without Ctrl do nothing."""
SIGNS = {"Enter": "↵", "Escape": "Esc", "Shift": "⇧", "Control": "Ctrl "}


def keys_of(action: str, key_map: Mapping[str, str]) -> str:
    """Keys of an action for one user, whose own choice beats the default."""
    return key_map.get(action) or DEFAULT_KEYS[action]


@register.simple_tag(takes_context=True)
def keys(context: Context, action: str) -> SafeString:
    """Attributes that give a control its key: ``<button {% keys "skip" %}>``."""
    return key_attributes(keys_of(action, context.get("key_map") or {}))


@register.simple_tag
def key_attributes(combination: str) -> SafeString:
    """As ``keys``, for keys that come from data: the letter of a category, the digit of a dimension."""
    return format_html('data-keys="{0}" aria-keyshortcuts="{0}"', combination)


@register.simple_tag(takes_context=True)
def key(context: Context, action: str) -> SafeString:
    """Print the key of an action as keycaps."""
    return keycaps(keys_of(action, context.get("key_map") or {}))


@register.simple_tag
def keycaps(combination: str) -> SafeString:
    """Print keys as keycaps, one for each alternative."""
    return format_html_join(
        "", '<kbd class="key">{}</kbd>', ((key_label(keys),) for keys in combination.split())
    )


@register.filter
def key_label(combination: str) -> str:
    """Shift+S as ⇧S, Control+Z as Ctrl Z."""
    return "".join(SIGNS.get(part, part) for part in combination.split("+"))


@register.simple_tag(takes_context=True)
def shortcut_list(context: Context) -> SafeString:
    """Everything the keyboard does, with the reader's own keys."""
    key_map = context.get("key_map") or {}
    return _shortcut_list(tuple(sorted(key_map.items())))


@lru_cache(maxsize=256)
def _shortcut_list(own_keys: tuple[tuple[str, str], ...]) -> SafeString:
    """Every page ends with it, and it follows from the keys alone."""
    key_map = dict(own_keys)
    groups = [
        (title, [(shortcut.label, keys_of(shortcut.action, key_map)) for shortcut in shortcuts])
        for title, shortcuts in GROUPS
    ]
    context = {"single_keys": key_map.get(SINGLE_KEYS) != "off", "groups": groups}
    return render_to_string("components/shortcut_list.html", context)
