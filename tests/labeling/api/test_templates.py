"""The templates through the API: a study made from one is coded, closed and reported without another word."""

from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Role, Study
from tests.factories import make_member, make_unit, make_user

pytestmark = pytest.mark.django_db


def client_of(user) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def address(name: str, *args: Any) -> str:
    return reverse(f"api:{name}", args=args)


def answers_to(book: dict[str, Any]) -> dict[str, Any]:
    """The first category of every question that these answers make one."""
    said: dict[str, Any] = {}
    for dimension in book["dimensions"]:
        condition = dimension["asked_if"]
        parent = said.get(condition["dimension"]) if condition else None
        if condition and (parent is None or not set(parent["categories"]) & set(condition["any_of"])):
            continue
        headings = {each["parent"] for each in dimension["categories"]}
        codes = [each["code"] for each in dimension["categories"] if each["code"] not in headings]
        said[dimension["key"]] = {"categories": codes[:1]} if codes else {"text": "As reported."}
    return said


@pytest.mark.parametrize("template", ["llm-training-systems", "gpu-kernel-libraries", "dl-compilers"])
def test_a_template_is_loaded_coded_with_and_reported(template):
    user = make_user()
    lead = client_of(user)
    slug = lead.post(address("study-list"), {"title": "Kernel bugs", "template": template}).data["slug"]
    study = Study.objects.get(slug=slug)
    coders = [make_member(study, role=Role.CODER) for _ in range(2)]
    book = lead.get(address("codebook-detail", slug)).data
    body = {"kind": "main", "units": [make_unit(study).pk], "coders": [each.pk for each in coders]}
    planned = lead.post(address("round-list", slug), body, format="json").data
    opened = lead.post(address("round-open", planned["id"]), {"freeze": True}, format="json").data
    assert (opened["state"], opened["codebook_version"]) == ("open", 1)
    for coder in coders:
        client = client_of(coder.user)
        assignment = client.get(address("queue-next", planned["id"])).data
        handed_in = client.patch(
            address("assignment-detail", assignment["id"]),
            {"version": assignment["version"], "annotations": answers_to(book), "status": "submitted"},
            format="json",
        )
        assert handed_in.status_code == 200, handed_in.data
    assert lead.post(address("round-close", planned["id"])).data["state"] == "closed"
    told = lead.get(address("agreement", planned["id"])).data["dimensions"]
    assert [each["key"] for each in told] == [each["key"] for each in book["dimensions"]]
    assert {each["observed"]["value"] for each in told if each["n_both"]} == {1.0}
