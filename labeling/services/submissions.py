"""Checking what a coder says, and writing it down for good."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from labeling.drafts import ANNOTATION, EMPTY, Draft
from labeling.errors import InvalidInputError
from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    Dimension,
    Evidence,
    Round,
    SnapshotDocument,
    Submission,
)
from labeling.selectors.issues import DocumentNames
from labeling.selectors.questions import CODED, Question, Questions, asked_of, stage_of

LONGEST_TEXT = 100_000
AROUND_QUOTE = 32
SAME_QUOTE = ("dimension", "category", "document", "start", "end")
NOT_ASKED = Annotation.State.NOT_ASKED.value

Errors = dict[str, list[str]]


def read_changes(
    assignment: Assignment, changes: Mapping[str, Any], asked: Questions, hidden: frozenset[str]
) -> dict[str, Any]:
    """Bring changed fields into the form in which they are kept; raise InvalidInputError by field."""
    errors: Errors = {}
    read: dict[str, Any] = {}
    for name, value in changes.items():
        try:
            read[name] = _read(assignment, name, value, asked, hidden)
        except ValueError as error:
            errors[name] = [str(error)]
    if errors:
        raise InvalidInputError(errors)
    return read


def _read(assignment: Assignment, name: str, value: Any, asked: Questions, hidden: frozenset[str]) -> Any:
    if name.startswith(ANNOTATION):
        question = asked.get(name.removeprefix(ANNOTATION))
        if question is None:
            raise ValueError("This round does not ask this dimension.")
        return _read_answer(question, value)
    if name == "memo":
        return _read_text(value)
    if name == "confidence":
        return _read_confidence(value)
    if name == "exclude":
        return _read_exclusion(assignment.round_unit.round, value)
    if name == "evidence":
        return _read_evidence(assignment, value, asked, hidden)
    raise ValueError("There is no such field.")


def _read_text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError("Give a text.")
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"A text may have at most {LONGEST_TEXT:,} characters.")
    # Neither database keeps NUL or half of a surrogate pair.
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def _read_confidence(value: Any) -> str:
    if value in (None, ""):
        return ""
    if value not in Submission.Confidence.values:
        raise ValueError("Choose low, medium or high.")
    return str(value)


def _read_exclusion(coding_round: Round, value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or value.get("reason") not in coding_round.study.exclusion_reasons:
        reasons = ", ".join(coding_round.study.exclusion_reasons)
        raise ValueError(f"Give a reason to exclude the unit, one of: {reasons}.")
    return {"reason": value["reason"], "note": _read_text(value.get("note"))}


def _read_answer(question: Question, value: Any) -> dict[str, Any] | None:
    """Read a list of codes or a mapping; None takes the answer back."""
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = {"categories": value}
    if not isinstance(value, Mapping):
        raise ValueError("Give a list of categories, or categories, state and text.")
    state, text = value.get("state") or CODED, _read_text(value.get("text"))
    codes = _read_codes(question, value.get("categories") or [])
    dimension = question.dimension
    if state not in (CODED, *dimension.states):
        raise ValueError(f"{dimension.name} takes {' or '.join((CODED, *dimension.states))}.")
    if state != CODED and codes:
        raise ValueError("Give either categories or a state.")
    if text and dimension.kind != Dimension.Kind.TEXT:
        raise ValueError(f"{dimension.name} takes no text. Write it into the memo.")
    if dimension.is_exclusive and len(codes) > 1:
        raise ValueError(f"{dimension.name} takes one category.")
    # An empty set of a multiple choice is an answer; nothing chosen or written elsewhere is none.
    is_empty = state == CODED and not codes and not text.strip()
    if is_empty and dimension.kind != Dimension.Kind.MULTIPLE:
        return None
    return {"categories": codes, "state": state, "text": text}


def _read_codes(question: Question, codes: Any) -> list[str]:
    if not isinstance(codes, Sequence) or isinstance(codes, str):
        raise ValueError("Give the categories as a list of their codes.")
    known = question.codes
    unknown = [str(code) for code in codes if code not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no category of {question.dimension.name} you can choose.")
    return sorted(set(codes), key=known.index)


def _read_evidence(
    assignment: Assignment, value: Any, asked: Questions, hidden: frozenset[str]
) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Sequence) or not all(isinstance(quote, Mapping) for quote in value):
        raise ValueError("Give a list of quotes.")
    texts = _texts(assignment, {str(quote.get("document")) for quote in value}, hidden)
    return _each_once(_read_quote(quote, texts, asked) for quote in value)


def _each_once(quotes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what says the same of the same words again, as quotes do when their answers fall together."""
    once = {tuple(quote[name] for name in SAME_QUOTE): quote for quote in quotes}
    return list(once.values())


def _texts(assignment: Assignment, names: set[str], hidden: frozenset[str]) -> dict[str, tuple[str, str]]:
    """Give key and text of the documents, by the names under which the coder sees them."""
    snapshot = assignment.round_unit.unit.snapshot
    if snapshot is None or not names:
        return {}
    told = DocumentNames(snapshot, hidden)
    keys = {name: key for name in names if (key := told.stored(name)) is not None}
    rows = SnapshotDocument.objects.filter(snapshot=snapshot, key__in=keys.values(), text__isnull=False)
    texts = dict(rows.values_list("key", "text"))
    return {name: (key, texts[key] or "") for name, key in keys.items() if key in texts}


def _read_quote(
    quote: Mapping[str, Any], texts: Mapping[str, tuple[str, str]], asked: Questions
) -> dict[str, Any]:
    question = asked.get(str(quote.get("dimension")))
    if question is None:
        raise ValueError(f"{quote.get('dimension')} is no dimension of this round.")
    category = quote.get("category") or None
    if category is not None and category not in question.codes:
        raise ValueError(f"{category} is no category of {question.dimension.name} you can choose.")
    if str(quote.get("document")) not in texts:
        raise ValueError(f"The issue has no text {quote.get('document')}.")
    key, text = texts[str(quote["document"])]
    start, end = quote.get("start"), quote.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise ValueError("A quote starts and ends within its text, and is not empty.")
    if text[start:end] != quote.get("quote"):
        raise ValueError("The quote does not stand at this place of the text. Mark it again.")
    return {
        "dimension": question.key,
        "category": category,
        "document": key,
        "start": start,
        "end": end,
        "quote": text[start:end],
        "prefix": text[max(0, start - AROUND_QUOTE) : start],
        "suffix": text[end : end + AROUND_QUOTE],
    }


def follow_answers(draft: Draft, dimensions: Collection[str]) -> list[dict[str, Any]]:
    """Give the quotes as they follow the answers to some dimensions.

    One whose category is no longer chosen goes to the only one that is, or to none, as on the page.
    """
    quotes: list[dict[str, Any]] = draft.value("evidence")
    return _each_once(
        _followed(quote, draft) if quote["dimension"] in dimensions else quote for quote in quotes
    )


def _followed(quote: dict[str, Any], draft: Draft) -> dict[str, Any]:
    answer = draft.answer(quote["dimension"])
    chosen = answer["categories"] if answer is not None else []
    if quote["category"] is None or quote["category"] in chosen:
        return quote
    return quote | {"category": chosen[0] if len(chosen) == 1 else None}


@dataclass(frozen=True, slots=True)
class Payload:
    """What a submission says. Two are equal if handing in the second would say nothing new."""

    answers: Mapping[str, Mapping[str, Any]]
    memo: str
    confidence: str
    exclude: Mapping[str, str] | None
    evidence: Sequence[Mapping[str, Any]]


def refuse_incomplete(draft: Draft, asked: Questions, *, coding_round: Round) -> None:
    """Raise InvalidInputError if a required dimension that is due has no answer."""
    if draft.value("exclude") is not None:
        return
    is_asked = asked_of(asked, answers_of(draft, asked))
    missing = [
        key
        for key, question in asked.items()
        if is_asked[key]
        and question.dimension.required
        and draft.answer(key) is None
        and stage_of(coding_round, key) <= draft.stage
    ]
    if missing:
        raise InvalidInputError({ANNOTATION + key: [_what_to_do(asked[key].dimension)] for key in missing})


def _what_to_do(dimension: Dimension) -> str:
    if dimension.kind == Dimension.Kind.TEXT:
        return f"Write an answer for {dimension.name}."
    states = [Annotation.State(state).label.lower() for state in dimension.states]
    chosen = "categories, or none," if dimension.kind == Dimension.Kind.MULTIPLE else "a category"
    return f"Choose {chosen} for {dimension.name}" + (f", or say {' or '.join(states)}." if states else ".")


def answers_of(draft: Draft, asked: Questions) -> dict[str, Any]:
    return {key: answer for key in asked if (answer := draft.answer(key)) is not None}


def payload_of(draft: Draft, asked: Questions) -> Payload:
    """What the draft hands in: of an excluded unit only the exclusion, of a hidden question ``not_asked``."""
    exclude = draft.value("exclude")
    answers: dict[str, Any] = {}
    if exclude is None:
        given = answers_of(draft, asked)
        for key, is_asked in asked_of(asked, given).items():
            if not is_asked:
                answers[key] = {"categories": [], "state": NOT_ASKED, "text": ""}
            elif key in given:
                answers[key] = given[key]
    said = {key for key, answer in answers.items() if answer["state"] != NOT_ASKED}
    return Payload(
        answers=answers,
        memo=draft.value("memo"),
        confidence=draft.value("confidence"),
        exclude=exclude,
        evidence=[quote for quote in draft.value("evidence") if quote["dimension"] in said],
    )


def write_submission(assignment: Assignment, payload: Payload, asked: Questions, *, n: int) -> Submission:
    exclude = payload.exclude or {"reason": "", "note": ""}
    submission = Submission.objects.create(
        assignment=assignment,
        n=n,
        at=timezone.now(),
        memo=payload.memo,
        confidence=payload.confidence,
        exclude_reason=exclude["reason"],
        exclude_note=exclude["note"],
    )
    annotations = {
        key: Annotation(
            submission=submission,
            dimension=asked[key].dimension,
            state=answer["state"],
            text=answer["text"],
        )
        for key, answer in payload.answers.items()
    }
    Annotation.objects.bulk_create(annotations.values())
    AnnotationCategory.objects.bulk_create(
        AnnotationCategory(
            annotation=annotations[key],
            exclusive=asked[key].dimension.is_exclusive,
            **_source(asked[key], code),
        )
        for key, answer in payload.answers.items()
        for code in answer["categories"]
    )
    Evidence.objects.bulk_create(
        Evidence(
            submission=submission,
            **dict(quote)
            | {"dimension": asked[quote["dimension"]].dimension, "category": None}
            | (_source(asked[quote["dimension"]], quote["category"]) if quote["category"] else {}),
        )
        for quote in payload.evidence
    )
    return submission


def _source(question: Question, code: str) -> dict[str, Any]:
    """Name the category of the codebook, or the coder's own proposal, that a code stands for."""
    if code in question.categories:
        return {"category": question.categories[code]}
    return {"proposal": question.proposals[code]}


def submitted_draft(submission: Submission, *, version: int) -> Draft:
    """Read a submission back as the fields it was made of."""
    fields: dict[str, Any] = dict(EMPTY)
    fields["memo"], fields["confidence"] = submission.memo, submission.confidence
    if submission.exclude_reason:
        fields["exclude"] = {"reason": submission.exclude_reason, "note": submission.exclude_note}
    rows = submission.annotations.select_related("dimension").prefetch_related(
        "chosen__category", "chosen__proposal"
    )
    for annotation in rows:
        if annotation.state != NOT_ASKED:
            fields[ANNOTATION + annotation.dimension.key] = {
                "categories": _codes(annotation),
                "state": annotation.state,
                "text": annotation.text,
            }
    fields["evidence"] = [
        {
            "dimension": quote.dimension.key,
            "category": getattr(quote.category or quote.proposal, "code", None),
            **{
                name: getattr(quote, name)
                for name in ("document", "start", "end", "quote", "prefix", "suffix")
            },
        }
        for quote in submission.evidence.select_related("dimension", "category", "proposal").order_by("pk")
    ]
    return Draft(
        fields=fields,
        versions=dict.fromkeys(fields, version),
        saved=dict.fromkeys(fields, submission.at.isoformat()),
    )


def _codes(annotation: Annotation) -> list[str]:
    sources = [chosen.category or chosen.proposal for chosen in annotation.chosen.all()]
    # In the order of the codebook, proposals last: as a draft holds them.
    ordered = sorted(
        (source for source in sources if source is not None),
        key=lambda source: (getattr(source, "order", float("inf")), source.code),
    )
    return [source.code for source in ordered]
