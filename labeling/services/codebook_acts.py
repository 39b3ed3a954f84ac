"""Acts on the draft: tried first, done then, and undone until the draft is frozen."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from labeling import codebook_edits as edits
from labeling.codebook_acts import Act, Done
from labeling.codebook_edits import Data
from labeling.codebook_input import read_codebook
from labeling.errors import CodebookError
from labeling.models import Category, CategoryProposal, Codebook, CodebookAct, Membership, Round, Study
from labeling.selectors.codebook_impact import Impact, Views, closed_rounds, impact_between, views_of
from labeling.services.agreement import mark_read
from labeling.services.codebook_mappings import known_concepts, put_back
from labeling.services.codebooks import (
    codebook_data,
    current,
    draft_or_current,
    save_draft,
    write_draft,
)
from labeling.services.events import record


def perform(*, study: Study, act: Act, by: Membership) -> tuple[Codebook, Done]:
    """Do an act on the draft; where only frozen versions exist it begins the next one."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        newest = draft_or_current(study)
        data: Data = codebook_data(newest) if newest is not None else {"dimensions": []}
        done = act(data)
        _take_out_new(data, done, known_concepts(study))
        return save_draft(study=study, data=data, by=by, done=done), done


def _take_out_new(data: Data, done: Done, known: set[str]) -> None:
    """What nobody can have used is not kept as archived."""
    dimension = edits.find_dimension(data, done.dimension)
    if dimension is None:
        return
    for concept in done.retired:
        category = edits.find_category(dimension, concept)
        if category is not None and category["archived"] and concept not in known:
            edits.remove_category(dimension, concept)


def preview(*, study: Study, act: Act, by: Membership) -> tuple[Done, Impact]:
    """What an act would do to the answers and the agreement of closed rounds; nothing is stored.

    It is done and taken back in one short transaction; the numbers are computed after that.
    """
    rounds = closed_rounds(study)
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        newest = draft_or_current(study)
        before = views_of(newest, rounds) if newest is not None else {}
        draft, done = perform(study=study, act=act, by=by)
        after = views_of(draft, rounds)
        transaction.set_rollback(True)
    return done, _shown(rounds, before, after, by)


def preview_freeze(*, study: Study, by: Membership) -> Impact:
    """What the draft as it is means for answers that were given with earlier versions."""
    rounds = closed_rounds(study)
    frozen, newest = current(study), draft_or_current(study)
    if frozen is None or newest is None:
        return Impact()
    return _shown(rounds, views_of(frozen, rounds), views_of(newest, rounds), by)


def _shown(rounds: list[Round], before: Views, after: Views, by: Membership) -> Impact:
    """Whoever is shown the numbers of a round has read it: its close is final."""
    impact = impact_between(rounds, before, after)
    told = {each.round for each in impact.rounds}
    for coding_round in rounds:
        if coding_round.number in told:
            mark_read(coding_round, by)
    return impact


def last_act(study: Study) -> CodebookAct | None:
    """What undo would undo."""
    acts = CodebookAct.objects.filter(codebook__study=study, codebook__frozen_at__isnull=True)
    return acts.filter(undone_at__isnull=True).select_related("codebook", "by__user").order_by("-n").first()


def undo(*, study: Study, by: Membership) -> tuple[Codebook | None, CodebookAct]:
    """Put back what was there before the newest change of the draft; a draft it began is given up."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        act = last_act(study)
        if act is None:
            raise CodebookError("There is nothing to undo: the draft has not changed since the last freeze.")
        draft = act.codebook
        _refuse_losing_proposals(act)
        record(study=study, verb="codebook.undone", by=by, object=f"codebook:{draft.version}", act=act.act)
        if act.before is None:
            draft.delete()
            return draft_or_current(study), act
        write_draft(draft, read_codebook(act.before), {})
        put_back(draft, [tuple(row) for row in act.before["mappings"]])
        act.undone_at = timezone.now()
        act.save(update_fields=["undone_at"])
    return draft, act


def _refuse_losing_proposals(act: CodebookAct) -> None:
    """Accepted proposals of a round have no other place, and its notes on definitions neither."""
    draft = act.codebook
    if act.before is None and draft.note:
        raise CodebookError("The draft holds notes on unclear definitions from reconciliation. It stays.")
    before = act.before["dimensions"] if act.before else ()
    kept = {UUID(category["concept"]) for dimension in before for category in dimension["categories"]}
    frozen = Category.objects.filter(dimension__codebook__study=draft.study_id).exclude(
        dimension__codebook=draft
    )
    lost = (
        CategoryProposal.objects.filter(round__study=draft.study_id, state=CategoryProposal.State.ACCEPTED)
        .filter(concept__in=Category.objects.filter(dimension__codebook=draft).values("concept"))
        .exclude(concept__in=kept)
        .exclude(concept__in=frozen.values("concept"))
        .select_related("round")
        .first()
    )
    if lost is not None:
        raise CodebookError(
            f"This change brought in {lost.name}, which was accepted from {lost.round}. Archive it instead."
        )
