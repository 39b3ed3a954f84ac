"""Where the categories of the newest frozen version went in the draft.

Rename, move and archive are read off the draft itself, however it was changed. Only merge and split cannot
be: they are kept from the act that made them, and follow what is done to their targets later.
"""

from collections.abc import Mapping
from uuid import UUID

from labeling.models import Category, CategoryMapping, CategoryProposal, Codebook, Study

Act = CategoryMapping.Act
LASTING = (Act.MERGE, Act.SPLIT)
Went = Mapping[str, str | None]
Row = tuple[str, str | None, Act]
Rows = list[tuple[str, str, str | None, str]]
"""Dimension, from, to, act: as they are kept to be put back. A ``Row`` is one without its from."""


def known_concepts(study: Study) -> set[str]:
    """Concepts that answers may have been given with: of frozen versions, or proposed by a coder."""
    frozen = Category.objects.filter(
        dimension__codebook__study=study, dimension__codebook__frozen_at__isnull=False
    )
    proposed = CategoryProposal.objects.filter(round__study=study)
    rows = (*frozen.values_list("concept", flat=True), *proposed.values_list("concept", flat=True))
    return {str(concept) for concept in rows}


def stored_mappings(draft: Codebook) -> Rows:
    rows = CategoryMapping.objects.filter(to_codebook=draft).order_by("pk")
    return [
        (each.dimension, str(each.from_concept), str(each.to_concept) if each.to_concept else None, each.act)
        for each in rows
    ]


def put_back(draft: Codebook, rows: Rows) -> None:
    """Store mappings that were there before."""
    frozen = _frozen(draft)
    CategoryMapping.objects.filter(to_codebook=draft).delete()
    if frozen is not None:
        CategoryMapping.objects.bulk_create(
            CategoryMapping(
                from_codebook=frozen,
                to_codebook=draft,
                dimension=dimension,
                from_concept=UUID(source),
                to_concept=UUID(target) if target else None,
                act=act,
            )
            for dimension, source, target, act in rows
        )


def write_mappings(draft: Codebook, *, act: str, dimension: str, went: Went) -> None:
    """Bring the mappings up to the draft as it is now; ``went`` is what an act of merge or split did."""
    frozen = _frozen(draft)
    if frozen is None:
        return
    rows = _read_off(frozen, draft)
    for key, source, target, made in stored_mappings(draft):
        if made in LASTING and not _is_offered_again(draft, source, made):
            rows[source] = _followed((key, target, Act(made)), Act(act) if act in Act.values else None, went)
    if act in LASTING:
        known = known_concepts(draft.study)
        rows |= {each: (dimension, target, Act(act)) for each, target in went.items() if each in known}
    put_back(draft, [(key, source, to, made) for source, (key, to, made) in sorted(rows.items())])


def _followed(row: Row, act: Act | None, went: Went) -> Row:
    """Where a merged category is, now that something was done to what it was merged into.

    What was split then is named as the target: answers cannot follow, but it can be told what happened.
    """
    key, target, made = row
    if target is None or target not in went or act is None:
        return row
    if act == Act.SPLIT:
        return key, target, act
    return key, went[target], made if went[target] else act


def _is_offered_again(draft: Codebook, concept: str, act: str) -> bool:
    """Whether a merged category was brought back since."""
    rows = Category.objects.filter(dimension__codebook=draft, concept=concept, archived=False)
    return act == Act.MERGE and rows.exists()


def _read_off(frozen: Codebook, draft: Codebook) -> dict[str, Row]:
    now = {(each.dimension.key, each.concept): each for each in _categories(draft)}
    rows: dict[str, Row] = {}
    for was in _categories(frozen):
        category = now.get((was.dimension.key, was.concept))
        act = _act(was, category)
        if act is not None:
            target = None if act == Act.ARCHIVE else str(was.concept)
            rows[str(was.concept)] = (was.dimension.key, target, act)
    return rows


def _act(was: Category, category: Category | None) -> Act | None:
    if category is None or (category.archived and not was.archived):
        return Act.ARCHIVE
    if _parent(category) != _parent(was):
        return Act.MOVE
    return Act.RENAME if (category.code, category.name) != (was.code, was.name) else None


def _parent(category: Category) -> UUID | None:
    return category.parent.concept if category.parent is not None else None


def _categories(codebook: Codebook) -> list[Category]:
    rows = Category.objects.filter(dimension__codebook=codebook)
    return list(rows.select_related("dimension", "parent"))


def _frozen(draft: Codebook) -> Codebook | None:
    earlier = Codebook.objects.filter(study=draft.study_id, version__lt=draft.version)
    return earlier.filter(frozen_at__isnull=False).order_by("-version").first()
