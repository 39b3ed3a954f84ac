"""Studies: made by any user, who leads them; deleted in two steps."""

import itertools
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from zoneinfo import available_timezones

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.text import slugify

from labeling import codebooks as templates
from labeling.errors import InvalidInputError, StudyRuleError
from labeling.models import CorpusRule, Issue, Membership, Role, Round, Study, User
from labeling.services.codebooks import codebook_data, draft_or_current, save_draft
from labeling.services.events import record
from labeling.services.purging import plan_purge
from labeling.services.round_plans import copy_round_settings

KEPT_AFTER_DELETE = timedelta(days=30)
# Words that stand where a slug stands in an address.
RESERVED_SLUGS = {"new"}
UPDATABLE = (
    "title",
    "zone",
    "unit_kinds",
    "exclusion_reasons",
    "count_states",
    "scale",
    "coders_see_corpus",
    "consensus",
)


def create_study(
    *,
    title: str,
    by: User,
    slug: str | None = None,
    template: str | None = None,
    codebook: Mapping[str, Any] | None = None,
    copy_of: Study | None = None,
) -> Study:
    """Make a study whose lead is ``by``, with a codebook draft from a template, a body or another study."""
    values = {"title": title.strip()}
    with transaction.atomic():
        study = Study(slug=_free_slug(slug, title), title=values["title"])
        if copy_of is not None:
            _copy_settings(copy_of, study)
        _refuse_invalid(study)
        study.save()
        lead = Membership.objects.create(study=study, user=by, role=Role.LEAD, number=1, pseudonym="C1")
        record(study=study, verb="study.created", by=lead, object=f"study:{study.slug}")
        data = _codebook_to_start_from(template, codebook, copy_of)
        if data is not None:
            save_draft(study=study, data=data, by=lead)
        if copy_of is not None:
            _copy_rules(copy_of, study)
            copy_round_settings(copy_of, study, by=lead)
    return study


def _codebook_to_start_from(
    template: str | None, codebook: Mapping[str, Any] | None, copy_of: Study | None
) -> Mapping[str, Any] | None:
    if template:
        if template not in {entry.name for entry in templates.available()}:
            raise InvalidInputError({"template": ["There is no codebook template of this name."]})
        return templates.load(template)
    if codebook is not None:
        return codebook
    source = draft_or_current(copy_of) if copy_of is not None else None
    return codebook_data(source) if source is not None else None


def _copy_settings(source: Study, target: Study) -> None:
    for field in UPDATABLE:
        if field != "title":
            setattr(target, field, getattr(source, field))


def _copy_rules(source: Study, target: Study) -> None:
    newest = source.corpus_rules.aggregate(Max("version"))["version__max"] or 0
    CorpusRule.objects.bulk_create(
        CorpusRule(
            study=target,
            version=1,
            position=rule.position,
            field=rule.field,
            op=rule.op,
            value=rule.value,
            text=rule.text,
        )
        for rule in source.corpus_rules.filter(version=newest)
    )


def _free_slug(wanted: str | None, title: str) -> str:
    if wanted:
        if slugify(wanted) != wanted or wanted in RESERVED_SLUGS or len(wanted) > 60:
            raise InvalidInputError(
                {"slug": ["Use up to 60 lower-case letters, digits and hyphens, for example llm-failures."]}
            )
        if Study.objects.filter(slug=wanted).exists():
            raise InvalidInputError({"slug": [f"The address {wanted} is taken. Choose another one."]})
        return wanted
    base = slugify(title)[:50] or "study"
    names = itertools.chain([base], (f"{base}-{n}" for n in itertools.count(2)))
    return next(
        name for name in names if name not in RESERVED_SLUGS and not Study.objects.filter(slug=name).exists()
    )


def update_study(*, study: Study, by: Membership, **fields: Any) -> Study:
    """Change settings. How states count is fixed once a round opened: agreement must not move."""
    unknown = set(fields) - set(UPDATABLE)
    if unknown:
        raise InvalidInputError({name: ["This field cannot be changed."] for name in sorted(unknown)})
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        changed = sorted(name for name, value in fields.items() if getattr(locked, name) != value)
        _refuse_fixed(locked, changed)
        for name in changed:
            setattr(locked, name, fields[name])
        _refuse_invalid(locked)
        if changed:
            locked.save(update_fields=changed)
            record(study=locked, verb="study.changed", by=by, object=f"study:{locked.slug}", fields=changed)
    return locked


def _refuse_fixed(study: Study, changed: list[str]) -> None:
    fixed = {"count_states", "consensus"} & set(changed)
    if fixed and study.rounds.exclude(state=Round.State.DRAFT).exists():
        raise StudyRuleError(
            "How states count, and consensus coding, are fixed once the first round was opened."
        )


def _refuse_invalid(study: Study) -> None:
    errors: dict[str, list[str]] = {}
    if not study.title:
        errors["title"] = ["Give the study a title."]
    elif len(study.title) > 200:
        errors["title"] = ["A title may have at most 200 characters."]
    if study.zone not in available_timezones():
        errors["zone"] = [f"{study.zone} is no time zone. Write it as in Europe/Berlin."]
    if not study.unit_kinds or set(study.unit_kinds) - set(Issue.Kind.values):
        errors["unit_kinds"] = ["Name issue, pull_request, or both."]
    if study.count_states not in Study.CountStates.values:
        errors["count_states"] = ["Choose category or leave_out."]
    if study.scale not in Study.Scale.values:
        errors["scale"] = [f"Choose one of {', '.join(Study.Scale.values)}."]
    reasons = study.exclusion_reasons
    if not isinstance(reasons, list) or any(
        not isinstance(text, str) or not text.strip() for text in reasons
    ):
        errors["exclusion_reasons"] = ["Give a list of reasons, each a short text."]
    elif len(set(reasons)) != len(reasons):
        errors["exclusion_reasons"] = ["Each reason may stand there once."]
    if errors:
        raise InvalidInputError(errors)


def delete_study(*, study: Study, confirm: str, by: Membership) -> Study:
    """Hide the study at once; it is purged after 30 days unless the same lead brings it back."""
    if confirm != study.slug:
        raise InvalidInputError({"confirm": [f"Type {study.slug} to delete this study."]})
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        locked.deleted_at = timezone.now()
        locked.purge_at = locked.deleted_at + KEPT_AFTER_DELETE
        locked.deleted_by = by.user
        locked.save(update_fields=["deleted_at", "purge_at", "deleted_by"])
        plan_purge(locked)
        record(study=locked, verb="study.deleted", by=by, object=f"study:{locked.slug}")
    return locked


def restore_study(*, study: Study, by: User) -> Study:
    """Bring a deleted study back, for the lead who deleted it."""
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk, deleted_by=by, deleted_at__isnull=False)
        locked.deleted_at = locked.purge_at = locked.deleted_by = None
        locked.save(update_fields=["deleted_at", "purge_at", "deleted_by"])
        lead = locked.memberships.get(user=by)
        record(study=locked, verb="study.restored", by=lead, object=f"study:{locked.slug}")
    return locked
