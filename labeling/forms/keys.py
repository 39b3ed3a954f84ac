"""The form of one's own keys, with a check that no two of a page are the same."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from django import forms

from labeling.templatetags.shortcuts import DEFAULT_KEYS, GROUPS, SINGLE_KEYS, key_label, keys_of

LETTER_OR_SIGN = re.compile(r"(Shift|Control)\+[A-Z]|[^\sA-Za-z1-9]")
#: In reconciliation letters choose no category, so they are free.
LETTER = re.compile(r"[a-z]")
#: What browsers keep for themselves, or everybody needs.
TAKEN = {f"Control+{letter}" for letter in "ACFLNPRTVWX"}
RECONCILIATION = "Reconciliation"
#: Groups that are on a page together.
PAGES = (
    {title for title, _ in GROUPS} - {RECONCILIATION},
    {RECONCILIATION, "Move"},
)


class KeyMapForm(forms.Form):
    """One field for each key that may be changed; an empty one takes the default."""

    single_keys = forms.BooleanField(
        label="Single-key shortcuts",
        required=False,
        help_text="Off: only keys with Ctrl act. For speech input, or if keys act when you do not want it.",
    )

    def __init__(self, data: Mapping[str, Any] | None, key_map: Mapping[str, str]) -> None:
        super().__init__(data, initial={"single_keys": key_map.get(SINGLE_KEYS) != "off"})
        self.group_of = {}
        for title, shortcuts in GROUPS:
            for shortcut in shortcuts:
                if shortcut.own:
                    self.group_of[shortcut.action] = title
                    self.fields[shortcut.action] = forms.CharField(
                        label=shortcut.label,
                        required=False,
                        initial=keys_of(shortcut.action, key_map),
                        widget=forms.TextInput(attrs={"data-key-field": "", "autocomplete": "off"}),
                    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        chosen = {action: given.get(action) or DEFAULT_KEYS[action] for action in self.group_of}
        for action, keys in chosen.items():
            if not self._is_allowed(action, keys):
                self.add_error(action, "Press one sign, or Shift or Ctrl with a letter that is free.")
        for one, other in combinations(chosen, 2):
            if chosen[one] == chosen[other] and self._share_a_page(one, other):
                label = self.fields[one].label
                self.add_error(other, f"{key_label(chosen[one])} is taken: {label}. Choose another key.")
        return given

    def _is_allowed(self, action: str, keys: str) -> bool:
        if self.group_of[action] == RECONCILIATION and LETTER.fullmatch(keys):
            return True
        return keys == DEFAULT_KEYS[action] or bool(LETTER_OR_SIGN.fullmatch(keys) and keys not in TAKEN)

    def _share_a_page(self, one: str, other: str) -> bool:
        return any({self.group_of[one], self.group_of[other]} <= page for page in PAGES)

    def key_map(self) -> dict[str, str]:
        """Give what differs from the defaults, as it is kept with the account."""
        given = self.cleaned_data
        chosen = {action: given[action] for action in self.group_of if given[action]}
        own = {action: keys for action, keys in chosen.items() if keys != DEFAULT_KEYS[action]}
        return own if given["single_keys"] else own | {SINGLE_KEYS: "off"}
