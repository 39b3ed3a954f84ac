"""Forms that know what was stored when their page was opened."""

import json
from hashlib import sha256
from typing import Any

from django import forms

SHOWN = (forms.CharField, forms.FloatField, forms.IntegerField, forms.DateField)
STALE = (
    "This was changed in another window or by somebody else since the page was opened. What you typed is "
    "kept, and nothing was saved. Save again to put it in the place of what is stored now."
)


class StartedForm(forms.Form):
    """A form whose page carries ``started_from``: it is refused once something else is stored.

    ``initial`` is what is stored now, so the page that says so can be saved as it stands.
    """

    @property
    def started_from(self) -> str:
        stored = {name: self._stored(name) for name in self.fields}
        return sha256(json.dumps(stored, sort_keys=True, default=str).encode()).hexdigest()[:20]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.data.get("started_from", self.started_from) != self.started_from:
            self.add_error(None, STALE)
            for name in self.changed_data:
                self.add_error(name, self._told(name))
        return cleaned

    def _stored(self, name: str) -> Any:
        value = self.get_initial_for_field(self.fields[name], name)
        return sorted(map(str, value)) if isinstance(value, list | tuple) else value

    def _told(self, name: str) -> str:
        stored = self._stored(name)
        if not isinstance(self.fields[name], SHOWN):
            return "Something else is stored."
        return f"Stored now: {stored}" if stored not in ("", None) else "Nothing is stored here."
