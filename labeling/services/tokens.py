"""GitHub tokens of users: encrypted with the installation's secret key, never shown again."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from labeling.errors import InvalidInputError, StudyRuleError
from labeling.models import SourceToken, User


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"intercoder source tokens\0" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def store_token(*, user: User, api_base: str, value: str) -> SourceToken:
    """Keep a token for one allowed API base; a second one for the same base takes its place."""
    if api_base not in settings.GITHUB_API_URLS:
        allowed = ", ".join(settings.GITHUB_API_URLS)
        raise InvalidInputError(
            {
                "api_base": [
                    f"Tokens may be sent to {allowed} only. The setting GITHUB_API_URLS allows others."
                ]
            }
        )
    clean = value.strip()
    if not clean or not clean.isascii() or any(character.isspace() for character in clean):
        raise InvalidInputError(
            {"value": ["Paste the token as GitHub shows it: letters, digits and underscores."]}
        )
    token, _ = SourceToken.objects.update_or_create(
        user=user, api_base=api_base, defaults={"value_encrypted": _cipher().encrypt(clean.encode())}
    )
    return token


def reveal(token: SourceToken) -> str:
    """The token in clear, for the worker that sends it to its own base."""
    try:
        return _cipher().decrypt(bytes(token.value_encrypted)).decode()
    except InvalidToken as error:
        raise StudyRuleError(
            "The stored GitHub token cannot be read: the secret key of this installation has changed. "
            "Store the token again."
        ) from error


def token_for(user: User | None, api_base: str) -> str | None:
    """The user's token for a base, else the installation's own, which belongs to the first base."""
    stored = SourceToken.objects.filter(user=user, api_base=api_base).first() if user is not None else None
    if stored is not None:
        return reveal(stored)
    if settings.GITHUB_TOKEN and api_base == settings.GITHUB_API_URLS[0]:
        return str(settings.GITHUB_TOKEN)
    return None
