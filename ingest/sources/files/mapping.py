"""Which column of a table holds what, guessed from the names researchers give them."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What a column may hold, and names under which it is found without a mapping.
FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("id", "issueid", "key", "issuekey"),
    "title": ("title", "summary", "subject", "issuetitle"),
    "body": ("body", "description", "text", "content", "issuebody"),
    "url": ("url", "htmlurl", "link", "issueurl", "issuelink", "address"),
    "repository": ("repository", "repo", "project", "fullname", "repositoryname", "reponame"),
    "number": ("number", "issuenumber", "no", "issueno", "nr"),
    "state": ("state", "status"),
    "state_reason": ("statereason", "reason"),
    "author": ("author", "user", "reporter", "login", "creator", "userlogin", "openedby"),
    "github_labels": ("labels", "githublabels", "tags", "issuelabels"),
    "milestone": ("milestone",),
    "created_at": ("createdat", "created", "openedat", "opened", "date"),
    "closed_at": ("closedat", "closed"),
    "updated_at": ("updatedat", "updated"),
    "comments": ("comments", "discussion", "commentbodies"),
}


def guess_mapping(header: Sequence[str]) -> dict[str, str]:
    """Return ``{column: field}`` for the columns that are understood, each field once."""
    found: dict[str, str] = {}
    for field, names in FIELDS.items():
        columns = {_plain(column): column for column in reversed(header)}
        column = next((columns[name] for name in names if name in columns), None)
        if column is not None and column not in found:
            found[column] = field
    return {column: found[column] for column in header if column in found}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
