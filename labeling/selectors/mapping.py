"""What the categories of a round became in a later version of the codebook."""

from collections.abc import Iterator
from itertools import pairwise
from uuid import UUID

from labeling.models import Category, CategoryMapping, CategoryProposal, Codebook, Dimension, Round
from labeling.selectors.frozen import Label, Names, names_of, round_dimensions

Act = CategoryMapping.Act


def dimensions_in(codebook: Codebook, coding_round: Round) -> list[Dimension]:
    """The dimensions a round asks, as a later version has them; those it no longer has are left out."""
    keys = {each.key for each in round_dimensions(coding_round)}
    return list(codebook.dimensions.filter(key__in=keys))


def mapped_names(coding_round: Round, codebook: Codebook) -> Names:
    """Call what the round's coders said as ``codebook`` calls it; ``lost`` holds what has no name there."""
    own = names_of(coding_round, tuple(round_dimensions(coding_round)))
    later = names_of(coding_round, tuple(dimensions_in(codebook, coding_round)))
    steps = list(_steps(coding_round, codebook))
    became: dict[UUID, UUID | Act] = {}
    for key, labels in own.of_concept.items():
        present = set(_concepts(codebook, key))
        for concept in labels:
            became[concept] = _follow(concept, steps, present)
    for proposal in coding_round.proposals.select_related("target", "dimension"):
        present = set(_concepts(codebook, proposal.dimension.key))
        became[proposal.concept] = _settled(proposal, steps, present)
    return _renamed(own, later, became)


def _renamed(own: Names, later: Names, became: dict[UUID, "UUID | Act"]) -> Names:
    of_concept: dict[str, dict[UUID, Label]] = {}
    for key, labels in later.of_concept.items():
        of_concept[key] = dict(labels)
        for concept in own.of_concept.get(key, {}):
            target = became[concept]
            if not isinstance(target, Act) and target in labels:
                of_concept[key][concept] = labels[target]
    lost = {concept: act.value for concept, act in became.items() if isinstance(act, Act)}
    return Names(of_concept, later.parents, own.proposals, lost)


def _steps(coding_round: Round, codebook: Codebook) -> Iterator[dict[UUID, tuple[UUID | None, Act]]]:
    """The mappings from each version to the next one, from the round's to ``codebook``."""
    first = coding_round.codebook.version if coding_round.codebook is not None else codebook.version
    versions = coding_round.study.codebooks.filter(version__gte=first, version__lte=codebook.version)
    for earlier, later in pairwise(versions.order_by("version")):
        rows = CategoryMapping.objects.filter(from_codebook=earlier, to_codebook=later)
        # Which part of what was split an answer is, only its coder can say.
        yield {
            each.from_concept: (None if each.act == Act.SPLIT else each.to_concept, Act(each.act))
            for each in rows
        }


def _follow(
    concept: UUID, steps: list[dict[UUID, tuple[UUID | None, Act]]], present: set[UUID]
) -> "UUID | Act":
    """Where a concept went: by the mappings, else it stayed what it was, else it is gone."""
    for step in steps:
        target, act = step.get(concept, (concept, Act.RENAME))
        if target is None:
            return act
        concept = target
    return concept if concept in present else Act.ARCHIVE


def _settled(
    proposal: CategoryProposal, steps: list[dict[UUID, tuple[UUID | None, Act]]], present: set[UUID]
) -> "UUID | Act":
    if proposal.state == CategoryProposal.State.REJECTED:
        return Act.REJECT
    if proposal.state == CategoryProposal.State.PROPOSED:
        return proposal.concept
    target = proposal.target.concept if proposal.target is not None else proposal.concept
    return _follow(target, steps, present)


def _concepts(codebook: Codebook, key: str) -> Iterator[UUID]:
    rows = Category.objects.filter(dimension__codebook=codebook, dimension__key=key)
    yield from rows.values_list("concept", flat=True)
