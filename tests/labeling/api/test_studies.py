import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import IdempotentReply, Role, Study
from tests.factories import lead_of, make_member, make_round, make_study, make_user

pytestmark = pytest.mark.django_db


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def lead(study):
    return client_of(lead_of(study).user)


def test_a_study_is_made_read_and_changed():
    client = client_of(make_user())
    made = client.post(reverse("api:study-list"), {"title": "Kernel bugs", "template": "odc"})
    assert made.status_code == 201
    address = reverse("api:study-detail", args=[made.data["slug"]])
    assert made.headers["Location"] == address
    changed = client.patch(address, {"scale": "none", "exclusion_reasons": ["off topic"]})
    assert (changed.data["scale"], changed.data["exclusion_reasons"]) == ("none", ["off topic"])
    assert client.get(address).data["progress"]["issues"] == 0


def test_an_unknown_field_is_refused_with_the_known_ones(lead, study):
    answer = lead.patch(reverse("api:study-detail", args=[study.slug]), {"titel": "x"})
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert "Fields: title" in answer.json()["errors"]["titel"][0]


def test_errors_are_problems(lead, study):
    for answer, status in (
        (APIClient().get(reverse("api:study-list")), 401),
        (lead.get(reverse("api:study-detail", args=["nope"])), 404),
        (lead.delete(reverse("api:study-list")), 405),
        (lead.generic("POST", reverse("api:study-list"), "{", content_type="application/json"), 400),
    ):
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/problem+json"
        assert {"title", "status", "detail"} <= set(answer.json())


def test_roles_are_kept(study):
    coder = make_member(study)
    client = client_of(coder.user)
    assert client.get(reverse("api:study-detail", args=[study.slug])).data["role"] == Role.CODER
    refused = client.patch(reverse("api:study-detail", args=[study.slug]), {"title": "x"})
    assert refused.status_code == 403
    assert "Only a lead" in refused.json()["detail"]
    outsider = client_of(make_user())
    assert outsider.get(reverse("api:study-detail", args=[study.slug])).status_code == 404


def test_a_study_is_deleted_and_restored(lead, study):
    address = reverse("api:study-detail", args=[study.slug])
    assert lead.delete(address, {"confirm": "no"}).status_code == 422
    deleted = lead.delete(address, {"confirm": study.slug})
    assert deleted.status_code == 202
    assert deleted.data["purge_at"]
    assert lead.get(address).status_code == 404
    assert lead.post(reverse("api:study-restore", args=[study.slug])).status_code == 200
    assert lead.get(address).status_code == 200


def test_the_list_is_paged_by_a_cursor():
    user = make_user()
    for _ in range(3):
        make_study(lead=user)
    client = client_of(user)
    first = client.get(reverse("api:study-list"), {"page_size": 2})
    second = client.get(first.data["next"])
    slugs = [each["slug"] for page in (first, second) for each in page.data["results"]]
    assert slugs == list(Study.objects.order_by("-id").values_list("slug", flat=True))
    assert second.data["next"] is None


def test_the_same_key_makes_one_study():
    client = client_of(make_user())
    send = lambda title, key: client.post(  # noqa: E731 - one line says it
        reverse("api:study-list"), {"title": title}, headers={"Idempotency-Key": key}
    )
    first, again, other = send("A", "k1"), send("A", "k1"), send("B", "k1")
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert again.json() == first.json()
    assert again["Idempotent-Replay"] == "true"
    assert again["Location"] == first["Location"]
    assert Study.objects.count() == 1


def test_a_refused_post_may_be_tried_again_with_its_key():
    client = client_of(make_user())
    headers = {"Idempotency-Key": "k1"}
    assert client.post(reverse("api:study-list"), {"title": ""}, headers=headers).status_code == 422
    assert not IdempotentReply.objects.exists()
    assert client.post(reverse("api:study-list"), {"title": "A"}, headers=headers).status_code == 201


def test_keys_of_two_users_do_not_meet():
    answers = [
        client_of(make_user()).post(
            reverse("api:study-list"), {"title": "A"}, headers={"Idempotency-Key": "same"}
        )
        for _ in range(2)
    ]
    assert [answer.data["slug"] for answer in answers] == ["a", "a-2"]


def test_the_record_of_an_open_round_shows_a_lead_only_their_own_acts(lead, study):
    from labeling.services.events import record

    ada = make_member(study)
    coding_round = make_round(study, state="open", coders=[ada, make_member(study)])
    record(study=study, verb="unit.submitted", by=ada, round=coding_round, object="unit:o/r#1")
    address = reverse("api:event-list", args=[study.slug])
    assert "unit.submitted" not in lead.get(address).content.decode()
    assert "unit.submitted" in client_of(ada.user).get(address).content.decode()
    coding_round.move_to(coding_round.State.CLOSED)
    assert "unit.submitted" in lead.get(address).content.decode()


def test_members_are_added_changed_and_invited(lead, study):
    ada = make_user("ada", email="ada@example.org")
    members = reverse("api:member-list", args=[study.slug])
    added = lead.post(members, {"email": "ADA@example.org", "role": "coder"})
    assert (added.status_code, added.data["username"], added.data["number"]) == (201, "ada", 2)
    assert lead.post(members, {"username": "nobody"}).json()["errors"]["username"]
    member = reverse("api:member-detail", args=[added.data["id"]])
    assert lead.patch(member, {"experience": "six years"}).data["experience"] == "six years"
    assert lead.patch(member, {"may_publish": True}).status_code == 403
    own = client_of(ada)
    assert own.patch(member, {"may_publish": True}).data["may_publish_at"]
    assert own.patch(member, {"role": "lead"}).status_code == 403
    invited = lead.post(reverse("api:invitation-list", args=[study.slug]), {"role": "observer"})
    assert invited.status_code == 201
    assert invited.data["url"].startswith("http")
    assert lead.get(reverse("api:invitation-list", args=[study.slug])).data["results"][0]["url"] is None
    assert lead.delete(reverse("api:invitation-detail", args=[invited.data["id"]])).status_code == 204


def test_a_codebook_is_written_frozen_and_hidden_from_coders_until_then(lead, study):
    address = reverse("api:codebook-detail", args=[study.slug])
    coder = client_of(make_member(study).user)
    body = {"dimensions": [{"key": "cause", "name": "Cause", "categories": [{"code": "api", "name": "API"}]}]}
    assert lead.put(address, body).data["version"] == 1
    assert coder.get(address).status_code == 404
    assert coder.put(address, body).status_code == 403
    assert lead.put(address, {"dimensions": [{"key": ""}]}).status_code == 422
    assert lead.post(reverse("api:codebook-freeze", args=[study.slug])).data["frozen_at"]
    assert lead.post(reverse("api:codebook-freeze", args=[study.slug])).status_code == 409
    assert coder.get(address).data["dimensions"][0]["categories"][0]["code"] == "api"
    assert lead.get(address, {"version": "9"}).status_code == 404


def test_tokens_are_write_only():
    client = client_of(make_user())
    body = {"api_base": "https://api.github.com", "value": "ghp_secret"}
    made = client.post(reverse("api:token-list"), body)
    assert made.status_code == 201
    assert "ghp_secret" not in (made.content + client.get(reverse("api:token-list")).content).decode()
    assert (
        client_of(make_user()).delete(reverse("api:token-detail", args=[made.data["id"]])).status_code == 404
    )
    assert client.delete(reverse("api:token-detail", args=[made.data["id"]])).status_code == 204


def test_only_a_lead_copies_a_design_with_its_draft_and_its_rules():
    study = make_study()
    for role, status in ((Role.CODER, 403), (Role.OBSERVER, 403), (Role.LEAD, 201)):
        client = client_of(make_member(study, role=role).user)
        body = {"title": f"Copy of {role}", "copy_of": study.slug}
        assert client.post(reverse("api:study-list"), body).status_code == status
