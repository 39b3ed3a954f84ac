"""Bodies of requests."""

import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

from annotator.repeated import LARGEST_NUMBER

CHARACTER = (
    "The text holds NUL or half of a character (a lone surrogate), which cannot be stored. Leave it out."
)
NUMBER = f"The number is out of range. Give one from {-LARGEST_NUMBER - 1} to {LARGEST_NUMBER}."

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StorableJSONParser(JSONParser):
    """JSON that no database stores, or no reader follows, is a mistake of the sender, not of the server."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            body: Any = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        fields = body if isinstance(body, dict) else {"body": body}
        if errors := {
            _shown(name): [said] for name, value in fields.items() if (said := misfit([name, value]))
        }:
            raise ValidationError(errors)
        return body


def misfit(value: Any) -> str:
    """Say what in a value of JSON, its keys included, no database stores; nothing where all is well."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += [*each, *each.values()]
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str):
            if _UNSTORABLE.search(each):
                return CHARACTER
        elif isinstance(each, int | float) and not -LARGEST_NUMBER - 1 <= each <= LARGEST_NUMBER:
            return NUMBER
    return ""


def _shown(name: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", name)
