"""Rules of the study, one class each. Their message is the sentence a person reads."""

from collections.abc import Mapping
from typing import Any

NOT_STORED = "The database cannot store what was sent: a character or a number in it is out of range."


class StudyRuleError(Exception):
    """A rule of the study forbids this. ``extra`` goes into the answer of the API."""

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.extra: Mapping[str, Any] = extra


class RoundStateError(StudyRuleError):
    """The round is not in the state this needs."""


class CodebookFrozenError(StudyRuleError):
    """A frozen codebook version never changes."""


class CodebookError(StudyRuleError):
    """The codebook cannot be used as it is."""


class StaleVersionError(StudyRuleError):
    """Somebody saved a newer version; ``extra['conflicts']`` holds both versions of each field."""


class SampleError(StudyRuleError):
    """The sample cannot be drawn or used as asked."""


class MembershipError(StudyRuleError):
    """The membership cannot be changed as asked."""


class DecisionError(StudyRuleError):
    """The decision cannot be recorded as asked."""


class CorpusError(StudyRuleError):
    """The corpus cannot be changed as asked."""


class InvalidInputError(Exception):
    """Input that makes no sense; ``errors`` by field, each a list of sentences."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("; ".join(message for messages in errors.values() for message in messages))
        self.errors = errors
