"""Writing how units stand: all when reconciliation opens, one again when others waited for a decision."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from labeling.models import (
    UNIT,
    Decision,
    DecisionProposal,
    DecisionVersion,
    Dimension,
    Membership,
    Round,
    RoundUnit,
)
from labeling.selectors.frozen import FrozenRound, FrozenUnit, Said, frozen_round
from labeling.selectors.reconciliation import BY_PEOPLE
from labeling.selectors.standing import Standing, dimension_standing, unit_standing
from labeling.services.answers import Choices, Content

BATCH = 2_000
How, Type = Decision.How, Decision.Type
FOLLOWS_ANOTHER = (How.EXCLUDED, How.DERIVED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A standing with the rows its answer points at."""

    standing: Standing
    content: Content


def settle_round(coding_round: Round) -> None:
    """Write how every unit of a closed round stands in every dimension."""
    frozen, choices = frozen_round(coding_round), Choices.of(coding_round)
    decisions: list[Decision] = []
    contents: list[Content] = []
    for unit in independent_units(frozen):
        for key, outcome in _outcomes(unit, frozen, choices):
            decisions.append(_new_decision(unit.id, key, outcome))
            contents.append(outcome.content)
    written = Decision.objects.bulk_create(decisions, batch_size=BATCH)
    _write_chosen(written, contents)


def independent_units(frozen: FrozenRound) -> Iterator[FrozenUnit]:
    """The units without reference answers: those were known before and settle nothing."""
    reference = {each.pk for each in frozen.coders if each.kind == Membership.Kind.REFERENCE}
    for unit in frozen.units:
        yield replace(
            unit,
            coders=tuple(coder for coder in unit.coders if coder not in reference),
            handed=tuple(each for each in unit.handed if each.coder not in reference),
        )


def _outcomes(unit: FrozenUnit, frozen: FrozenRound, choices: Choices) -> Iterator[tuple[str, Outcome]]:
    majority = frozen.coding_round.majority
    decided: dict[str, Standing] = {}
    whole = unit_standing(unit, majority=majority)
    if whole is not None:
        decided[UNIT] = whole
        yield UNIT, _outcome(UNIT, whole, choices)
    for dimension in frozen.dimensions:
        standing = dimension_standing(dimension, unit, decided, majority=majority)
        if standing is not None:
            outcome = _outcome(dimension.key, standing, choices)
            decided[dimension.key] = outcome.standing
            yield dimension.key, outcome


def _outcome(key: str, standing: Standing, choices: Choices) -> Outcome:
    """Find the rows; an answer that names a rejected proposal settles nothing."""
    if standing.excluded is not None:
        content = Content(excluded=standing.excluded, exclude_reason=standing.exclude_reason)
        return Outcome(standing, content)
    if standing.said is None:
        return Outcome(standing, Content())
    content_or_none = choices.content(key, standing.said)
    if content_or_none is None:
        return Outcome(Standing(Type.ONE_SIDED, cell=standing.cell), Content())
    return Outcome(standing, content_or_none)


def _new_decision(round_unit: int, key: str, outcome: Outcome) -> Decision:
    standing, content = outcome.standing, outcome.content
    return Decision(
        round_unit_id=round_unit,
        dimension=key,
        type=standing.type,
        cell=standing.cell,
        waits_for=standing.waits_for,
        how=standing.how,
        state=content.state,
        text=content.text,
        excluded=content.excluded,
        exclude_reason=content.exclude_reason,
        decided_at=timezone.now() if standing.how else None,
        version=1 if standing.how else 0,
    )


def _write_chosen(rows: Iterable[Decision], contents: Iterable[Content]) -> None:
    categories, proposals = Decision.categories.through, Decision.category_proposals.through
    chosen, proposed = [], []
    for row, content in zip(rows, contents, strict=True):
        chosen += [categories(decision_id=row.pk, category_id=pk) for pk in content.categories]
        proposed += [proposals(decision_id=row.pk, categoryproposal_id=pk) for pk in content.proposals]
    categories._default_manager.bulk_create(chosen, batch_size=BATCH)
    proposals._default_manager.bulk_create(proposed, batch_size=BATCH)


def settle_unit(round_unit: RoundUnit) -> None:
    """Bring the dimensions that wait for others in line with what is decided now. The round is locked."""
    coding_round = round_unit.round
    frozen, choices = frozen_round(coding_round, only=round_unit), Choices.of(coding_round)
    rows = {
        row.dimension: row
        for row in Decision.objects.filter(round_unit=round_unit).prefetch_related(
            "categories", "category_proposals"
        )
    }
    decided = {UNIT: _standing_of(rows[UNIT], choices)} if UNIT in rows else {}
    for unit in independent_units(frozen):
        for dimension in frozen.dimensions:
            row = _settled_row(rows.get(dimension.key), dimension, unit, decided, choices, coding_round)
            if row is not None:
                decided[dimension.key] = _standing_of(row, choices)


def _settled_row(
    row: Decision | None,
    dimension: Dimension,
    unit: FrozenUnit,
    decided: Mapping[str, Standing],
    choices: Choices,
    coding_round: Round,
) -> Decision | None:
    standing = dimension_standing(dimension, unit, decided, majority=coding_round.majority)
    if standing is None:
        return _without_answers(row)
    outcome = _outcome(dimension.key, standing, choices)
    if row is None:
        new = _new_decision(unit.id, dimension.key, outcome)
        new.save()
        _write_chosen([new], [outcome.content])
        return new
    if _is_overtaken(row, outcome.standing):
        _overwrite(row, outcome)
    return row


def _without_answers(row: Decision | None) -> Decision | None:
    """End the waiting for a question nobody answered: what people decided once is theirs to decide again.

    Anything else that waited goes, for there is nothing to decide.
    """
    if row is None or not row.waits_for:
        return row
    if not row.versions.filter(said__how__in=[how.value for how in BY_PEOPLE]).exists():
        row.delete()
        return None
    row.type, row.waits_for = Type.ONE_SIDED, ""
    row.save(update_fields=["type", "waits_for"])
    return row


def _is_overtaken(row: Decision, standing: Standing) -> bool:
    """Whether what follows from other decisions replaces what the row says."""
    if standing.how in FOLLOWS_ANOTHER:
        return row.how != standing.how
    if row.how in BY_PEOPLE:
        return False
    in_hands_of_people = row.is_open and not row.waits_for
    if in_hands_of_people:
        return bool(standing.waits_for)
    return (row.how, row.waits_for) != (standing.how, standing.waits_for)


def _overwrite(row: Decision, outcome: Outcome) -> None:
    standing, content = outcome.standing, outcome.content
    if not row.is_open:
        keep_version(row, by=None, reason="")
    clear(row)
    if row.type == Type.WAITING:
        row.type, row.cell = standing.type, standing.cell
    row.waits_for = standing.waits_for
    if standing.how:
        row.how, row.decided_at, row.version = standing.how, timezone.now(), row.version + 1
    write_content(row, content)


def write_content(row: Decision | DecisionProposal, content: Content) -> None:
    """Save a row with what it says."""
    row.state, row.text = content.state, content.text
    row.excluded, row.exclude_reason = content.excluded, content.exclude_reason
    row.save()
    row.categories.set(content.categories)
    row.category_proposals.set(content.proposals)  # type: ignore[arg-type] # ids are UUIDs here


def clear(row: Decision) -> None:
    """Make a decision open again; ``version`` goes on counting."""
    row.how = row.rationale = row.disagreement_reason = row.waits_for = ""
    row.decided_by = row.recorded_by = row.decided_at = row.escalated_at = None


def keep_version(row: Decision, *, by: Membership | None, reason: str) -> None:
    """Keep what a decision says before it changes."""
    DecisionVersion.objects.create(decision=row, version=row.version, said=said_of(row), by=by, reason=reason)


def said_of(row: Decision | DecisionProposal) -> dict[str, Any]:
    """What a decision or a proposal says, as plain data."""
    categories = [each.code for each in row.categories.all()]
    proposals = [each.code for each in row.category_proposals.all()]
    said: dict[str, Any] = {
        "categories": sorted(categories + proposals),
        "state": row.state,
        "text": row.text,
        "excluded": row.excluded,
        "reason": row.exclude_reason,
        "rationale": row.rationale,
        "disagreement_reason": row.disagreement_reason,
    }
    if isinstance(row, Decision):
        said |= {
            "how": row.how,
            "decided_by": row.decided_by_id,
            "recorded_by": row.recorded_by_id,
            "decided_at": row.decided_at.isoformat() if row.decided_at else None,
        }
    return said


def _standing_of(row: Decision, choices: Choices) -> Standing:
    """A stored decision as others see it that depend on it."""
    return Standing(
        type=Type(row.type),
        how=row.how,
        said=Said(row.state, _labels(row, choices), row.text) if row.how and row.dimension != UNIT else None,
        excluded=row.excluded,
        exclude_reason=row.exclude_reason,
        cell=row.cell,
        waits_for=row.waits_for,
    )


def _labels(row: Decision, choices: Choices) -> frozenset[str]:
    of_concept = choices.names.of_concept.get(row.dimension, {})
    categories = [of_concept.get(each.concept, each.code) for each in row.categories.all()]
    return frozenset(categories + [choices.names.proposals[each.pk] for each in row.category_proposals.all()])
