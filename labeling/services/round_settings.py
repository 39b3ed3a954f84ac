"""What a round can be set to, checked field by field."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from labeling.errors import InvalidInputError
from labeling.models import CODING_ROLES, Codebook, Membership, Round, Study
from labeling.selectors.issues import MASKABLE

ALWAYS = ("counts_in_results", "due_on")
"""What may change at any time."""

UNTIL_CLOSED = (*ALWAYS, "goal", "instructions")
"""What may change while coders work: once the agreement can be known, no goal is one set before."""

IN_DRAFT = (
    *UNTIL_CLOSED,
    "anonymous",
    "coders_per_unit",
    "decide",
    "dimensions",
    "majority",
    "masked_fields",
    "overlap",
    "overlap_seed",
    "own_answer_first",
    "rationale_required",
    "sample",
    "seed",
    "stages",
)

#: Changed without a trace of what stood there: free text, and what tells which units several code.
UNTOLD = ("instructions", "overlap_seed", "seed")
#: Sets of keys, kept without repetitions.
KEY_SETS = ("dimensions", "masked_fields")
LONGEST_INSTRUCTIONS = 100_000
#: Beyond this, numbers change on their way through JSON.
LARGEST_SEED = 2**53

Problem = str | None


def changeable(coding_round: Round) -> tuple[str, ...]:
    """What of a round may be set in the state it is in."""
    if coding_round.state == Round.State.DRAFT:
        return IN_DRAFT
    return ALWAYS if coding_round.is_unblinded else UNTIL_CLOSED


def without_repetitions(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings with every key named once."""
    return {name: list(dict.fromkeys(value)) if name in KEY_SETS else value for name, value in fields.items()}


def recorded(coding_round: Round, names: Iterable[str]) -> dict[str, Any]:
    """Settings as an event keeps them: ids, numbers and keys."""
    return {name: _recorded(coding_round, name) for name in names if name not in UNTOLD}


def _recorded(coding_round: Round, name: str) -> Any:
    if name == "coders":
        return sorted(coding_round.coders.values_list("pk", flat=True))
    if name == "sample":
        return coding_round.sample_id
    value = getattr(coding_round, name)
    return value.isoformat() if isinstance(value, date) else value


def refuse_invalid_settings(fields: Mapping[str, Any], *, codebook: Codebook | None) -> None:
    """Raise InvalidInputError for values that make no sense, by field."""
    errors: dict[str, list[str]] = {}
    for name, value in fields.items():
        check = _CHECKS.get(name)
        problem = check(value) if check is not None else "This field cannot be set."
        if problem is not None:
            errors[name] = [problem]
    if not errors:
        errors = _wrong_keys(fields, codebook) | _wrong_overlap(fields)
    if errors:
        raise InvalidInputError(errors)


def refuse_unfit_coders(study: Study, coders: Iterable[Membership]) -> None:
    """Raise InvalidInputError unless each is a present member who may code, or a group of such."""
    for coder in coders:
        is_fit = coder.kind == Membership.Kind.GROUP or (
            coder.kind == Membership.Kind.PERSON and coder.role in CODING_ROLES
        )
        if coder.study_id != study.pk or not is_fit or coder.left_at is not None:
            raise InvalidInputError(
                {"coders": [f"{coder.name} cannot code: name leads, coders or adjudicators of this study."]}
            )


def wrong_keys(settings: Mapping[str, Any], known: Collection[str]) -> dict[str, list[str]]:
    """Find dimensions that the codebook does not have or that two stages claim."""
    errors: dict[str, list[str]] = {}
    asked = settings.get("dimensions") or []
    if unknown := [key for key in asked if key not in known]:
        errors["dimensions"] = [f"The codebook has no dimension {', '.join(unknown)}."]
    staged = [key for stage in settings.get("stages") or [] for key in stage["dimensions"]]
    if unknown := [key for key in staged if key not in (asked or known)]:
        errors["stages"] = [f"The round does not ask {', '.join(unknown)}."]
    elif len(set(staged)) != len(staged):
        errors["stages"] = ["A dimension stands in two stages. Name each once."]
    return errors


def _wrong_keys(fields: Mapping[str, Any], codebook: Codebook | None) -> dict[str, list[str]]:
    if codebook is None:
        return {}
    return wrong_keys(fields, set(codebook.dimensions.values_list("key", flat=True)))


def _wrong_overlap(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    if fields.get("coders_per_unit") == 1 and fields.get("overlap"):
        return {"overlap": ["With one coder for each unit nothing overlaps. Leave it out, or give 0."]}
    return {}


def _is_one_of(values: Collection[str]) -> Callable[[Any], Problem]:
    return lambda value: None if value in values else f"Choose one of {', '.join(values)}."


def _is_truth(value: Any) -> Problem:
    return None if isinstance(value, bool) else "Say true or false."


def _is_list_of_texts(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(each, str) for each in value)
    )


def _keys(value: Any) -> Problem:
    return None if _is_list_of_texts(value) else "Give a list of the keys of dimensions."


def _masks(value: Any) -> Problem:
    if not _is_list_of_texts(value) or set(value) - set(MASKABLE):
        return f"Give a list of {', '.join(MASKABLE)}."
    return None


def _stages(value: Any) -> Problem:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) == 1:
        return "Give two stages or more, or none."
    for stage in value:
        if not isinstance(stage, Mapping) or not _is_list_of_texts(stage.get("dimensions")):
            return "Each stage names its dimensions and what it reveals."
        if not stage["dimensions"]:
            return "A stage asks at least one dimension."
        if (problem := _masks(stage.get("reveals", []))) is not None:
            return problem
    return None


def _share(value: Any) -> Problem:
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return None if is_share else "Give a number from 0 to 1."


def _goal(value: Any) -> Problem:
    return None if value is None else _share(value)


def _count(value: Any) -> Problem:
    return None if type(value) is int and 1 <= value <= 100 else "Give a whole number, 1 or more."


def _seed(value: Any) -> Problem:
    return None if type(value) is int and abs(value) < LARGEST_SEED else "Give a whole number."


def _due(value: Any) -> Problem:
    return None if value is None or isinstance(value, date) else "Give a day, for example 2025-03-31."


def _instructions(value: Any) -> Problem:
    if not isinstance(value, str):
        return "Give a text."
    too_long = len(value) > LONGEST_INSTRUCTIONS
    return f"A text may have at most {LONGEST_INSTRUCTIONS:,} characters." if too_long else None


_CHECKS: dict[str, Callable[[Any], Problem]] = {
    "anonymous": _is_truth,
    "coders_per_unit": _count,
    "counts_in_results": _is_truth,
    "decide": _is_one_of(Round.Decide.values),
    "dimensions": _keys,
    "due_on": _due,
    "goal": _goal,
    "instructions": _instructions,
    "majority": _is_truth,
    "masked_fields": _masks,
    "overlap": _share,
    "overlap_seed": _seed,
    "own_answer_first": _is_truth,
    "rationale_required": _is_truth,
    "seed": _seed,
    "stages": _stages,
}
