import pytest

from labeling.errors import InvalidInputError, StudyRuleError
from labeling.models import SourceToken
from labeling.services.tokens import reveal, store_token, token_for
from tests.factories import make_user

pytestmark = pytest.mark.django_db
GITHUB = "https://api.github.com"


def test_a_token_is_stored_encrypted_and_replaced_by_the_next():
    user = make_user()
    store_token(user=user, api_base=GITHUB, value=" ghp_one ")
    token = store_token(user=user, api_base=GITHUB, value="ghp_two")
    assert b"ghp_two" not in bytes(SourceToken.objects.get().value_encrypted)
    assert reveal(token) == "ghp_two"
    assert token_for(user, GITHUB) == "ghp_two"


def test_a_token_goes_only_to_an_allowed_base():
    with pytest.raises(InvalidInputError, match="GITHUB_API_URLS"):
        store_token(user=make_user(), api_base="https://evil.example", value="ghp_one")


@pytest.mark.parametrize("value", ["", "  ", "two words", "tökén"])
def test_what_is_no_token_is_refused(value):
    with pytest.raises(InvalidInputError, match="Paste the token"):
        store_token(user=make_user(), api_base=GITHUB, value=value)


def test_the_token_of_the_installation_belongs_to_the_first_base(settings):
    settings.GITHUB_TOKEN = "ghp_ours"
    settings.GITHUB_API_URLS = [GITHUB, "https://ghe.example/api/v3"]
    assert token_for(None, GITHUB) == "ghp_ours"
    assert token_for(None, "https://ghe.example/api/v3") is None


def test_a_changed_secret_key_is_told_in_a_sentence(settings):
    token = store_token(user=make_user(), api_base=GITHUB, value="ghp_one")
    settings.SECRET_KEY = "another-key" * 5
    with pytest.raises(StudyRuleError, match="Store the token again"):
        reveal(token)
