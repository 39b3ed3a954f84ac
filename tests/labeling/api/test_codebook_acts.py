"""Acts on the codebook draft over the API."""

import pytest
from rest_framework.test import APIClient

from labeling.models import Round
from tests.factories import lead_of, make_study
from tests.labeling.closing import close, coded_round, coder_called

pytestmark = pytest.mark.django_db

FOUR = {"ada": ["crash", "crash", "hang", "warning"], "ben": ["hang", "crash", "hang", "crash"]}


@pytest.fixture
def study():
    study = make_study()
    coded_round(FOUR, study=study, state=Round.State.CLOSED)
    return study


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


def post(study, act, user=None, **body):
    client = client_of(user or lead_of(study).user)
    return client.post(f"/api/v1/studies/{study.slug}/codebook/{act}/", body, format="json")


def get(study, path, user=None, **query):
    return client_of(user or lead_of(study).user).get(f"/api/v1/studies/{study.slug}/{path}", query)


MERGE = {"dimension": "symptom", "categories": ["hang"], "into": "crash"}


def test_a_dry_run_says_units_annotations_and_agreement(study):
    answer = post(study, "merge", dry_run=True, **MERGE).json()
    assert (answer["act"], answer["units"], answer["annotations"]) == ("merge", 2, 3)
    assert answer["rounds"] == [{"round": 1, "units": 2, "annotations": 3}]
    (change,) = answer["agreement"]
    assert change["before"]["value"] == pytest.approx(0.2)
    assert change["after"] == {"statistic": "cohen_kappa", "value": 0.0, "n_both": 4, "undefined": ""}
    assert study.codebooks.count() == 1


def test_an_act_answers_with_the_draft(study):
    answer = post(study, "merge", **MERGE).json()
    assert (answer["version"], answer["frozen_at"]) == (2, None)
    archived = [each["code"] for each in answer["dimensions"][0]["categories"] if each["archived"]]
    assert archived == ["hang"]
    assert answer["summary"] == "Hang is merged into Crash."


def test_each_act_has_its_address(study):
    crash = {"dimension": "symptom", "category": "crash"}
    assert (
        post(study, "rename", **crash, name="Abort").json()["summary"] == "Crash is now called Abort (crash)."
    )
    assert post(study, "move", **crash, parent="output").status_code == 200
    parts = [{"name": "Early"}, {"code": "late", "name": "Late", "definition": "After start."}]
    assert post(study, "split", **crash, into=parts).status_code == 200
    assert post(study, "archive", dimension="symptom", category="hang").status_code == 200
    assert post(study, "undo", dry_run=True).json()["act"] == "archive"
    back = post(study, "undo").json()
    assert back["act"] == "archive"
    assert {each["code"] for each in back["dimensions"][0]["categories"]} >= {"early", "late"}
    assert post(study, "freeze", dry_run=True).json()["units"] == 3
    assert post(study, "freeze").json()["frozen_at"] is not None
    assert post(study, "undo").status_code == 409


def test_a_name_like_another_is_warned_of(study):
    parts = [{"name": "Warnings"}, {"name": "Core dump"}]
    answer = post(study, "split", dry_run=True, dimension="symptom", category="crash", into=parts).json()
    assert answer["warnings"] == [
        "Warnings is easily taken for Warning. Give a name that tells them apart, or keep one of them."
    ]


def test_a_new_category_named_like_another_is_warned_of(study):
    data = get(study, "codebook/").json()
    for name in ("Hangs", "Wrong-outputs", "Leak"):
        data["dimensions"][0]["categories"].append({"code": name.lower(), "name": name})
    url = f"/api/v1/studies/{study.slug}/codebook/"
    client = client_of(lead_of(study).user)
    warnings = client.put(url, data, format="json").json()["warnings"]
    assert [each.split(".")[0] for each in warnings] == [
        "Hangs is easily taken for Hang",
        "Wrong-outputs is easily taken for Wrong output",
    ]
    assert client.put(url, get(study, "codebook/").json(), format="json").json()["warnings"] == []


@pytest.mark.parametrize("body", [{}, MERGE | {"into": "nope"}, MERGE | {"target": "crash"}])
def test_a_body_that_makes_no_sense_is_refused(study, body):
    assert post(study, "merge", **body).status_code == 422


def test_only_a_lead_acts(study):
    ada = coder_called(study, "ada").user
    assert post(study, "merge", ada, **MERGE).status_code == 403
    assert get(study, "codebook/recode/", ada).status_code == 403


def test_a_split_lists_the_units_to_code_again(study):
    parts = [{"name": "Early"}, {"name": "Late"}]
    post(study, "split", dimension="symptom", category="crash", into=parts)
    (listed,) = get(study, "codebook/recode/").json()["rounds"]
    assert (listed["round"], listed["dimensions"], listed["hidden"]) == (1, ["symptom"], 0)
    refs = [each.unit.ref for each in study.rounds.get().round_units.order_by("pk")]
    said = {each["ref"]: each["coders"] for each in listed["units"]}
    assert said == {refs[0]: ["ada"], refs[1]: ["ada", "ben"], refs[3]: ["ben"]}


def test_agreement_is_given_in_the_words_of_a_later_version(study):
    post(study, "merge", **MERGE)
    post(study, "freeze")
    round_id = study.rounds.get().pk
    client = client_of(lead_of(study).user)
    mapped = client.get(f"/api/v1/rounds/{round_id}/agreement/", {"to_version": 2}).json()
    assert (mapped["kind"], mapped["dimensions"][0]["kappa"]["value"]) == ("mapped", 0.0)
    own = client.get(f"/api/v1/rounds/{round_id}/agreement/").json()
    assert own["kind"] == "as_coded"
    for wrong in ("x", "7", "-1"):
        asked = client.get(f"/api/v1/rounds/{round_id}/agreement/", {"to_version": wrong})
        assert asked.status_code == 422


def test_several_rounds_give_one_figure():
    study = make_study()
    close(coded_round(FOUR, study=study))
    close(coded_round(FOUR, study=study))
    pooled = get(study, "agreement/").json()
    assert pooled["rounds"] == [1, 2]
    assert pooled["dimensions"][0]["n_both"] == 8
    assert pooled["dimensions"][0]["coders"] == ["ada", "ben"]
    assert get(study, "agreement/", rounds="2").json()["dimensions"][0]["n_both"] == 4
    assert get(study, "agreement/", rounds="2;3").status_code == 422
    assert get(study, "agreement/", coder_called(study, "ada").user).status_code == 200
    assert get(study, "agreement/", coder_called(study, "newcomer").user).status_code == 403
    assert get(make_study(), "agreement/").status_code == 409
