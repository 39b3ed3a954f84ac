"""What a version changed, how often its categories were used, and when new ones stopped coming."""

from typing import Any

from django.db.models import QuerySet

from labeling.codebook_diff import Changed, Went, differences
from labeling.models import CategoryMapping, Codebook
from labeling.services.codebooks import codebook_data


def wanted_version(versions: QuerySet[Codebook], number: str | None) -> Codebook | None:
    """The version of that number, the newest where none is named."""
    if number is None:
        return versions.order_by("-version").first()
    is_number = number.isascii() and number.isdecimal() and len(number) < 10
    return versions.filter(version=number).first() if is_number else None


def no_version(versions: QuerySet[Codebook], number: str | None) -> str:
    """Say that a version is not among those one may read, and which is."""
    newest = versions.order_by("-version").first()
    if newest is None or number is None:
        return "There is no codebook yet, or none that is frozen."
    return f"There is no version {number[:20]}; the newest is {newest.version}."


def version_changes(earlier: Codebook, later: Codebook) -> list[Changed]:
    """What is new in the later version, by dimension."""
    return differences(codebook_data(earlier), codebook_data(later), _went(earlier, later))


def _went(earlier: Codebook, later: Codebook) -> Went:
    """Merges and splits between the two, step by step."""
    rows = CategoryMapping.objects.filter(
        from_codebook__study=earlier.study_id,
        from_codebook__version__gte=earlier.version,
        to_codebook__version__lte=later.version,
    ).order_by("from_codebook__version")
    went: dict[str, tuple[str, str | None]] = {}
    for row in rows.filter(act__in=(CategoryMapping.Act.MERGE, CategoryMapping.Act.SPLIT)):
        source, target = str(row.from_concept), str(row.to_concept) if row.to_concept else None
        then = source if row.act == CategoryMapping.Act.SPLIT else target
        for concept, (_, to) in list(went.items()):
            if to == source:
                went[concept] = (row.act, then)
        went[source] = (row.act, target)
    return went


def changed_data(changed: Changed) -> dict[str, Any]:
    """A change in the shape of the API."""
    return {"dimension": changed.key, "name": changed.name, "sentences": list(changed.sentences)}
