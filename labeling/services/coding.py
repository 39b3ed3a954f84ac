"""Coding one unit: the draft that saves itself, handing in, skipping, giving back.

Every write of an answer takes the round's lock first, as closing does: none slips past a close.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.repeated import Given, RepeatedQuery
from labeling.drafts import ANNOTATION, Draft, dimensions_of, flat_changes
from labeling.errors import InvalidInputError, RoundStateError, StaleVersionError, StudyRuleError
from labeling.models import Assignment, Membership, Round, Submission, Unit
from labeling.selectors.issues import DocumentNames, hidden_at, hidden_fields, shown_ref, shown_url
from labeling.selectors.questions import Questions, last_stage, questions, stage_of
from labeling.services.events import record
from labeling.services.proposals import propose_category
from labeling.services.submissions import (
    follow_answers,
    payload_of,
    read_changes,
    refuse_incomplete,
    submitted_draft,
    write_submission,
)

__all__ = [
    "open_assignment",
    "propose_category",
    "resume",
    "return_assignment",
    "save_and_submit",
    "save_draft",
    "skip",
    "state_of",
    "submit",
]

PAUSE = timedelta(minutes=2)
"""Who does nothing for longer than this is not at work."""

STAGE = "stage"
"""The field of a draft whose version tells when the last stage was locked."""

Status = Assignment.Status


def open_assignment(*, assignment: Assignment, now: datetime | None = None) -> Assignment:
    """Note that its coder looks at the unit: from now on its pin stays, and the time at work is counted."""
    now = now or timezone.now()
    _count_active(assignment, now)
    assignment.opened_at = assignment.opened_at or now
    Assignment.objects.filter(pk=assignment.pk).update(
        opened_at=Coalesce("opened_at", assignment.opened_at),
        active_seconds=assignment.active_seconds,
        last_active_at=now,
    )
    return assignment


def _count_active(assignment: Assignment, now: datetime) -> None:
    before = assignment.last_active_at
    seconds = (now - before).total_seconds() if before is not None and now - before <= PAUSE else 0
    assignment.active_seconds += max(0, round(seconds))
    assignment.last_active_at = now


def save_draft(
    *,
    assignment: Assignment,
    changes: Mapping[str, Any],
    version: int,
    by: Membership,
    whole: bool = False,
) -> Assignment:
    """Merge changed fields into the draft, or refuse them all with both versions of each.

    ``whole`` says that the changes are everything there is: then any newer version is a conflict. What comes
    after the round closed is kept as a late draft, which does not count, and RoundStateError says so.
    """
    return _saved(assignment, changes, version, by=by, whole=whole).assignment


def save_and_tell(
    *, assignment: Assignment, by: Membership, changes: Mapping[str, Any], version: int
) -> dict[str, Any]:
    """Save the draft as ``save_draft`` does; give the unit's new state, as ``state_of`` does."""
    return _saved(assignment, changes, version, by=by).told()


def _saved(
    assignment: Assignment, changes: Mapping[str, Any], version: int, *, by: Membership, whole: bool = False
) -> "_Work":
    with transaction.atomic():
        work = _Work(assignment, by)
        if whole and version != work.assignment.version:
            raise StaleVersionError("This unit was saved elsewhere in the meantime. Load it again.")
        work.merge(changes, version)
        work.keep()
    work.refuse_late()
    return work


def submit(
    *,
    assignment: Assignment,
    by: Membership,
    changes: Mapping[str, Any] | None = None,
    version: int | None = None,
) -> Submission | None:
    """Hand the unit in. The same content handed in twice, or by two clicks at once, is one submission.

    In a round with stages, handing in an earlier one locks it and reveals the next: None is the answer then.
    """
    with transaction.atomic():
        work = _Work(assignment, by)
        if changes is not None:
            work.merge(changes, work.assignment.version if version is None else version)
        submission = work.hand_in_once(version)
        work.keep()
    work.refuse_late()
    return submission


def save_and_submit(
    *, assignment: Assignment, by: Membership, changes: Mapping[str, Any], version: int
) -> dict[str, Any]:
    """Save the draft and hand the unit in; give its new state, as ``state_of`` does.

    Where something is missing for handing it in, the draft is saved all the same, but for the end of an
    exclusion: that is only meant by handing in.
    """
    incomplete: InvalidInputError | None = None
    with transaction.atomic():
        work = _Work(assignment, by)
        excluded = work.draft.value("exclude")
        work.merge(changes, version)
        try:
            work.hand_in_once(version)
        except InvalidInputError as error:
            incomplete = error
            work.draft.fields["exclude"] = work.draft.value("exclude") or excluded
        work.keep()
    work.refuse_late()
    if incomplete is not None:
        raise incomplete
    return work.told()


def skip(*, assignment: Assignment, by: Membership) -> Assignment:
    """Put the unit off; it comes back once when all others are done."""
    with transaction.atomic():
        work = _Work(assignment, by)
        work.refuse_unless_open()
        if work.assignment.status == Status.SUBMITTED:
            raise StudyRuleError("This unit is submitted. Change your answer instead of skipping it.")
        work.draft.skips += 1
        work.save(status=Status.SKIPPED)
    return work.assignment


def resume(*, assignment: Assignment, by: Membership) -> Assignment:
    """Take a skipped unit back into work."""
    with transaction.atomic():
        work = _Work(assignment, by)
        work.refuse_unless_open()
        if work.assignment.status == Status.SKIPPED:
            work.draft.skips = 0
            work.save(status=work.status_of_draft())
    return work.assignment


def return_assignment(*, assignment: Assignment, reason: str, by: Membership) -> Assignment:
    """Ask a coder to look again, without having seen the answer. What they submitted stays and counts."""
    if not reason.strip():
        raise InvalidInputError({"reason": ["Say what the coder should look at again."]})
    with transaction.atomic():
        coding_round = Round.objects.select_for_update().get(pk=assignment.round_unit.round_id)
        locked = Assignment.objects.select_for_update().get(pk=assignment.pk)
        if coding_round.state != Round.State.OPEN:
            raise RoundStateError(f"Round {coding_round.number} is not open; nothing can be returned in it.")
        if coding_round.kind == Round.Kind.TRAINING:
            raise StudyRuleError("A submission in a training round is final: its coder saw the known answer.")
        if not locked.submissions.exists():
            raise StudyRuleError("The coder has not submitted this unit yet. Return it once they have.")
        locked.status, locked.return_reason = Status.RETURNED, reason.strip()
        locked.save(update_fields=["status", "return_reason"])
        _record(assignment, "unit.returned", by, coder=locked.coder_id)
    return locked


def state_of(assignment: Assignment) -> dict[str, Any]:
    """Give the coder's own state of a unit in the shape of the API."""
    last = _last_of(assignment)
    return _told(assignment, _draft_of(assignment, last), last)


def _last_of(assignment: Assignment) -> Submission | None:
    if assignment.version == 0:
        return None  # whatever is saved or handed in has a version
    # There are a few at most: sorted here, not in SQL.
    return max(assignment.submissions.all(), key=attrgetter("n"), default=None)


def _told(assignment: Assignment, draft: Draft, last: Submission | None) -> dict[str, Any]:
    hidden = hidden_fields(assignment, assignment.coder)
    unit = assignment.round_unit.unit
    answers = {key: draft.answer(key) for key in dimensions_of(draft.fields)}
    return {
        "version": assignment.version,
        "status": assignment.status,
        "annotations": {key: answer for key, answer in answers.items() if answer is not None},
        "memo": draft.value("memo"),
        "confidence": draft.value("confidence"),
        "evidence": _shown_quotes(draft.value("evidence"), unit, hidden),
        "exclude": draft.value("exclude"),
        "submitted_at": last.at if last is not None else None,
        "changed": draft.changed,
        "return_reason": assignment.return_reason,
        "stage": draft.stage,
        "active_seconds": assignment.active_seconds,
        "unit": {"id": unit.pk, "ref": shown_ref(unit, hidden), "url": shown_url(unit, hidden)},
    }


def _shown_quotes(quotes: list[dict[str, Any]], unit: Unit, hidden: frozenset[str]) -> list[dict[str, Any]]:
    # Most units are without quotes, and a snapshot is long: it is read where it is needed.
    if not quotes or unit.snapshot is None:
        return quotes
    names = DocumentNames(unit.snapshot, hidden)
    return [quote | {"document": names.shown(quote["document"])} for quote in quotes]


def _draft_of(assignment: Assignment, last: Submission | None) -> Draft:
    if assignment.draft is not None:
        return Draft.of(assignment.draft)
    return Draft() if last is None else submitted_draft(last, version=assignment.version)


_WRITTEN = [
    "active_seconds",
    "draft",
    "draft_at",
    "last_active_at",
    "opened_at",
    "return_reason",
    "status",
    "version",
]


_ROUND = RepeatedQuery(
    lambda: Round.objects.select_for_update(of=("self",)).filter(pk=Given("pk")).select_related("codebook")
)
_ASSIGNMENT = RepeatedQuery(lambda: Assignment.objects.select_for_update().defer(None).filter(pk=Given("pk")))


class _Work:
    """One assignment under the round's lock."""

    def __init__(self, assignment: Assignment, by: Membership) -> None:
        self.by = by
        known = assignment.round_unit
        (self.round,) = _ROUND.all(pk=known.round_id)
        # What never changes while a round runs was read before the lock: the study and the texts.
        self.round.study = known.round.study
        locked = _ASSIGNMENT.first(pk=assignment.pk)
        if locked is None:
            raise RoundStateError(f"Round {self.round.number} was taken back to be planned anew.")
        self.assignment = locked
        self.assignment.round_unit, self.assignment.coder = known, assignment.coder
        self.assignment.round_unit.round = self.round
        if self.assignment.status == Status.WITHDRAWN:
            raise StudyRuleError("This unit was given to another coder. What you typed is kept.")
        self.asked: Questions | None = None
        self.last = _last_of(self.assignment)
        self.draft = _draft_of(self.assignment, self.last)
        self.is_unsaved = False

    def told(self) -> dict[str, Any]:
        return _told(self.assignment, self.draft, self.last)

    @property
    def is_late(self) -> bool:
        return self.round.is_unblinded and self.assignment.purpose == Assignment.Purpose.CODING

    def merge(self, changes: Mapping[str, Any], version: int) -> None:
        """Take the changes into the draft; ``keep`` writes it."""
        self._refuse_not_running()
        self.asked = questions(self.round, self.by)
        if "evidence" in changes:
            # Until the first coder opens a unit, it may be pinned to a newer text.
            self.assignment.round_unit.unit.refresh_from_db(fields=["snapshot"])
        read = read_changes(
            self.assignment, flat_changes(changes), self.asked, hidden_at(self.round, self.draft.stage)
        )
        changed = self.draft.differing(read)
        if changed:
            self._refuse_final()
        if version > self.assignment.version:
            raise InvalidInputError({"version": ["There is no such version of this unit yet."]})
        if conflicts := self._conflicts(changed, version):
            raise StaleVersionError(
                "This unit was saved elsewhere in the meantime. Choose which version to keep.",
                conflicts=conflicts,
            )
        self._refuse_locked(changed)
        if changed:
            now = timezone.now()
            self.assignment.version += 1
            self.assignment.draft_at = now
            self.draft.merge(changed, self.assignment.version, now.isoformat())
            followed = {"evidence": follow_answers(self.draft, dimensions_of(changed))}
            self.draft.merge(self.draft.differing(followed), self.assignment.version, now.isoformat())
            self.draft.skips, self.draft.changed = 0, self.last is not None
            self.is_unsaved = True

    def keep(self) -> None:
        """Write what was merged, unless handing it in has done so."""
        if not self.is_unsaved:
            return
        if self.assignment.status == Status.RETURNED:
            self.save(status=Status.RETURNED)  # until it is handed in again
        elif self._says_what_was_submitted():
            self._done()
        else:
            self.save(status=Status.DRAFT)

    def _says_what_was_submitted(self) -> bool:
        """Whether the draft went back to what was handed in last, as by undo and redo."""
        if self.last is None or self.asked is None:
            return False
        before = payload_of(submitted_draft(self.last, version=0), self.asked)
        return before == payload_of(self.draft, self.asked)

    def _conflicts(self, changed: Mapping[str, Any], version: int) -> dict[str, dict[str, Any]]:
        """Find conflicting fields, their quotes under the names the coder knows the texts by."""
        conflicts = self.draft.conflicts(changed, version)
        hidden = hidden_at(self.round, self.draft.stage)
        for side in ("yours", "theirs"):
            if "evidence" in conflicts:
                quotes = conflicts["evidence"][side]
                conflicts["evidence"][side] = _shown_quotes(quotes, self.assignment.round_unit.unit, hidden)
        return conflicts

    def hand_in_once(self, version: int | None) -> Submission | None:
        # A second click on the button that revealed a stage does not hand in the next one.
        is_repeated = version is not None and version < self.draft.versions.get(STAGE, 0)
        return None if self.is_late or is_repeated else self._hand_in()

    def _hand_in(self) -> Submission | None:
        self._refuse_not_running()
        asked = self.asked or questions(self.round, self.by)
        refuse_incomplete(self.draft, asked, coding_round=self.round)
        if self.draft.value("exclude") is None and self.draft.stage < last_stage(self.round):
            self.draft.stage += 1
            self.assignment.version += 1
            self.draft.versions[STAGE] = self.assignment.version
            self.save(status=Status.DRAFT)
            return None
        return self._submit(asked)

    def _submit(self, asked: Questions) -> Submission:
        if self.draft.value("evidence"):
            # Quotes may have been given without their answers, which came before or after them.
            self.draft.fields["evidence"] = follow_answers(self.draft, asked)
        payload = payload_of(self.draft, asked)
        if self.last is not None:
            if payload_of(submitted_draft(self.last, version=0), asked) == payload:
                self._done()
                return self.last
            self._refuse_final()
        submission = write_submission(
            self.assignment, payload, asked, n=self.last.n + 1 if self.last is not None else 1
        )
        self.last = submission
        self.assignment.version += 1
        self._done()
        _record(self.assignment, "unit.submitted", self.by, n=submission.n)
        return submission

    def _done(self) -> None:
        self.assignment.return_reason = ""
        self.draft.skips, self.draft.changed = 0, False
        self.save(status=Status.SUBMITTED)

    def save(self, *, status: str) -> None:
        """Write the draft, the status and the time spent."""
        assignment, now = self.assignment, timezone.now()
        assignment.draft = self.draft.stored()
        if not self.is_late:
            # What comes late changes neither where the round stood nor how long it took.
            assignment.status = status
            assignment.opened_at = assignment.opened_at or now
            _count_active(assignment, now)
        assignment.save(update_fields=_WRITTEN)
        self.is_unsaved = False

    def status_of_draft(self) -> Status:
        return Status.DRAFT if self.draft.fields else Status.TODO

    def refuse_late(self) -> None:
        """Say, after it was kept, that what came is too late."""
        if self.is_late:
            raise RoundStateError(
                f"Round {self.round.number} is closed. What you typed is kept as a late draft and does not "
                "count; the lead sees that there is one."
            )

    def refuse_unless_open(self) -> None:
        self._refuse_not_running()
        if self.round.is_unblinded:
            raise RoundStateError(f"Round {self.round.number} is closed.")

    def _refuse_not_running(self) -> None:
        if self.round.state == Round.State.DRAFT or self.round.discarded_at is not None:
            raise RoundStateError(f"Round {self.round.number} is not open for coding.")
        if self.round.state == Round.State.RECONCILED and not self.is_late:
            raise RoundStateError(f"Round {self.round.number} is done.")

    def _refuse_final(self) -> None:
        if self.round.kind == Round.Kind.TRAINING and self.last is not None:
            raise StudyRuleError("This submission is final: you saw the known answer of the unit.")

    def _refuse_locked(self, changed: Mapping[str, Any]) -> None:
        if not self.round.stages:
            return
        for key in dimensions_of(changed):
            stage = stage_of(self.round, key)
            if stage < self.draft.stage:
                raise StudyRuleError(f"{ANNOTATION}{key} is locked: the next stage was revealed.")
            if stage > self.draft.stage:
                raise StudyRuleError(f"{ANNOTATION}{key} comes in a later stage.")
        if "evidence" in changed and self._quotes_of_locked(changed) != self._quotes_of_locked(
            self.draft.fields
        ):
            raise StudyRuleError("Quotes of a locked dimension stay: the next stage was revealed.")

    def _quotes_of_locked(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        quotes = fields.get("evidence", [])
        return [each for each in quotes if stage_of(self.round, each["dimension"]) < self.draft.stage]


def _record(assignment: Assignment, verb: str, by: Membership, **data: Any) -> None:
    coding_round = assignment.round_unit.round
    record(
        study=coding_round.study,
        round=coding_round,
        by=by,
        verb=verb,
        object=f"unit:{assignment.round_unit.unit.ref}",
        **data,
    )
