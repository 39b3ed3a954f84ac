"""What a study knows already, for an import that fetches only the rest and notices what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from ingest.sources.github.rest_records import time_of
from labeling.models import Study
from labeling.services.known import HAS_NODE


class StudyKnows:
    """Answers of one study to the questions of ``ingest.sources.github.known.Knows``."""

    def __init__(self, study: Study) -> None:
        self._issues = study.issues.filter(gone=False, transferred_to="")

    def numbers(self, repository: str, repository_id: int | None, kind: str) -> set[int]:
        """Give the numbers of a repository that were there when somebody last looked."""
        named = Q(repository__iexact=repository)
        rows = self._issues.filter(
            named | Q(repository_id=repository_id) if repository_id else named, kind=kind
        )
        return {number for number in rows.values_list("number", flat=True) if number is not None}

    def changed(self, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Leave out rows whose issue is here as of the same change, with its comments and its timeline."""
        nodes = [row.get("node_id") for row in rows if row.get("node_id")]
        known = self._issues.filter(HAS_NODE, node_id__in=nodes, redacted_at=None)
        whole = {
            node: at
            for node, at, carries in known.values_list("node_id", "latest__updated_at", "latest__carries")
            if {"comments", "timeline"} <= set(carries or ())
        }
        return [row for row in rows if not _is_as_of(row, whole.get(str(row.get("node_id"))))]


def _is_as_of(row: Mapping[str, Any], at: Any) -> bool:
    return at is not None and time_of(row.get("updated_at")) == at
