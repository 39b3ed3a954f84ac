"""What must be there before a round opens: a frozen sample, pinned units, coders, one codebook version."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef

from labeling.errors import InvalidInputError, RoundStateError
from labeling.models import Assignment, Codebook, Membership, Round, Sample, Unit
from labeling.selectors.planning import could_read
from labeling.services import codebooks
from labeling.services.rendering import render_documents
from labeling.services.round_settings import wrong_keys


def refuse_unready(coding_round: Round) -> None:
    """Raise RoundStateError while anything is missing that coders need."""
    sample = coding_round.sample
    if sample is not None and sample.state != Sample.State.FROZEN:
        total = sample.sample_units.count()
        raise RoundStateError(
            f"The sample is still being prepared: {sample.prepared} of {total} issues are fetched. "
            "Open the round once it is frozen.",
            prepared=sample.prepared,
            total=total,
        )
    if not coding_round.round_units.filter(left_out=False).exists():
        raise RoundStateError("The round has no units. Add some before opening it.")
    coders = coding_round.coders.count()
    if coders < coding_round.coders_per_unit or not coders:
        raise RoundStateError(
            f"Coders needed for each unit: {coding_round.coders_per_unit}, named: {coders}. Name more coders."
        )
    if coding_round.kind == Round.Kind.TRAINING:
        _refuse_without_reference(coding_round)


def _refuse_without_reference(coding_round: Round) -> None:
    reference = Assignment.objects.active().filter(
        round_unit=OuterRef("pk"), coder__kind=Membership.Kind.REFERENCE
    )
    unknown = coding_round.round_units.filter(~Exists(reference), left_out=False).count()
    if unknown:
        raise RoundStateError(
            f"Units without a known answer: {unknown}. Give them before opening the training."
        )


def pin_units(coding_round: Round) -> None:
    """Pin what was named without a sample; parts show what their whole shows."""
    unpinned = Unit.objects.filter(
        round_units__round=coding_round, round_units__left_out=False, snapshot__isnull=True
    ).select_related("issue__latest", "split_from__snapshot")
    for unit in unpinned:
        whole = unit.split_from.snapshot if unit.split_from is not None else None
        snapshot = whole or unit.issue.latest
        if snapshot is not None:
            render_documents(snapshot)
            Unit.objects.filter(pk=unit.pk, snapshot__isnull=True).update(snapshot=snapshot)


def codebook_of(coding_round: Round, by: Membership, *, freeze: bool, version: int | None) -> Codebook:
    """Find the version the round will have for life, freezing the draft if asked to."""
    versions = coding_round.study.codebooks
    if version is not None:
        named = versions.filter(version=version, frozen_at__isnull=False).first()
        if named is None:
            raise InvalidInputError({"codebook_version": [f"There is no frozen version {version}."]})
    elif versions.filter(frozen_at__isnull=True).exists():
        if not freeze:
            raise RoundStateError(
                "The codebook has a draft that is not frozen. "
                "Freeze it with this round, or name the version to code with."
            )
        named = codebooks.freeze(study=coding_round.study, by=by)
    else:
        named = codebooks.current(coding_round.study)
        if named is None:
            raise RoundStateError("The study has no codebook yet. Write one before opening a round.")
    if coding_round.codebook is not None and coding_round.codebook != named:
        raise RoundStateError(
            f"The known answers were given under codebook version {coding_round.codebook.version}. "
            f"Take them back and give them anew under version {named.version}, or open with the earlier one."
        )
    return named


def refuse_settings_the_codebook_lacks(coding_round: Round, codebook: Codebook) -> None:
    """Raise RoundStateError if the round asks a dimension that its codebook version does not have."""
    known = set(codebook.dimensions.values_list("key", flat=True))
    settings = {"dimensions": coding_round.dimensions, "stages": coding_round.stages}
    if problems := wrong_keys(settings, known):
        raise RoundStateError(" ".join(text for texts in problems.values() for text in texts))


def is_after_unblinding(coding_round: Round, coders: Iterable[Membership]) -> bool:
    """Whether one of the coders could read the answers of the round this one is based on."""
    earlier = coding_round.based_on
    return earlier is not None and any(could_read(coder, earlier) for coder in coders)
