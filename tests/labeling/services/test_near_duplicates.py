"""Issues that nearly say the same: found by a worker, settled by a lead."""

import subprocess
import sys

import pytest
from django.urls import reverse

from labeling.models import Event, Job
from labeling.records import IssueRecord
from labeling.selectors.corpus import Corpus
from labeling.selectors.near_duplicates import candidates
from labeling.services.corpus import mark_duplicates
from labeling.services.issues import add_issues
from labeling.services.near_duplicates import kept_apart, last_look, look_for_duplicates
from labeling.services.similar_issues import find_near_duplicates
from labeling.similarity import near_pairs
from tests.factories import lead_of, make_study

SAME = "The convolution kernel crashes with an illegal memory access on empty batches"
TEXTS = (
    SAME,
    "Documentation of the scheduler misses the warmup argument",
    f"{SAME} again",
    "Tokenizer drops trailing whitespace in streaming mode",
    "Checkpoint cannot be loaded after renaming a parameter group",
    "",
)


def test_the_nearest_texts_come_first_each_pair_once():
    pairs = near_pairs([*TEXTS, TEXTS[1]], threshold=0.6, most=10)

    assert [pair[:2] for pair in pairs] == [(1, 6), (0, 2)]
    assert pairs[0][2] == pytest.approx(1)
    assert 0.6 < pairs[1][2] < 1


def test_only_so_many_pairs_are_kept():
    assert len(near_pairs([SAME] * 9, threshold=0.5, most=4)) == 4


def test_pairs_are_found_across_blocks(monkeypatch):
    monkeypatch.setattr("labeling.similarity.BLOCK", 2)
    assert [pair[:2] for pair in near_pairs(TEXTS, threshold=0.6, most=10)] == [(0, 2)]


@pytest.mark.parametrize("texts", [[], ["", ""], ["one"]])
def test_nothing_is_near_to_nothing(texts):
    assert near_pairs(texts, threshold=0.5, most=4) == []


def test_pages_and_imports_do_not_load_scikit_learn():
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup();"
        "import annotator.urls, ingest.tasks; sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture
def study(db):
    study = make_study()
    records = [
        IssueRecord(repository="acme/train", number=number, title=title)
        for number, title in enumerate(TEXTS, 1)
    ]
    add_issues(study=study, records=records)
    return study


def looked(study):
    job = look_for_duplicates(study=study, by=lead_of(study))
    find_near_duplicates(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job


def found(study):
    pairs = candidates(Corpus(lead_of(study)))
    return [(pair.original.number, pair.copy.number) for pair in pairs]


def test_a_worker_finds_the_pair_and_the_older_issue_stays(study):
    assert looked(study).progress["compared"] == len(TEXTS)
    assert found(study) == [(1, 3)]


def test_a_pair_that_was_settled_is_no_longer_offered(study):
    looked(study)
    original, copy = study.issues.get(number=1), study.issues.get(number=3)
    mark_duplicates(study=study, issues=[copy], duplicate_of=original, by=lead_of(study))
    assert found(study) == []


def test_a_pair_that_is_marked_is_not_told_apart_in_a_window_that_is_behind(client, study):
    original, copy = study.issues.get(number=1), study.issues.get(number=3)
    mark_duplicates(study=study, issues=[copy], duplicate_of=original, by=lead_of(study))
    client.force_login(lead_of(study).user)
    asked = {"original": original.pk, "copy": copy.pk, "distinct": "yes"}
    answer = client.post(reverse("labeling:issue-duplicates", args=[study.slug]), asked, follow=True)
    assert "acme/train#3 is marked as a duplicate of acme/train#1. Take the mark back" in answer.text
    assert not kept_apart(study)


def test_asking_twice_looks_once(study):
    lead = lead_of(study)
    assert look_for_duplicates(study=study, by=lead) == look_for_duplicates(study=study, by=lead)
    assert Job.objects.filter(kind=Job.Kind.DUPLICATES).count() == 1


def test_a_lead_compares_and_marks_in_the_page(client, study):
    client.force_login(lead_of(study).user)
    url = reverse("labeling:issue-duplicates", args=[study.slug])
    assert "not compared yet" in client.get(url).content.decode()
    client.post(reverse("labeling:issue-compare", args=[study.slug]))
    assert "A worker compares" in client.get(url).content.decode()
    find_near_duplicates(last_look(study).pk)
    assert "acme/train#3" in client.get(url).content.decode()

    original, copy = study.issues.get(number=1), study.issues.get(number=3)
    assert client.post(url, {"original": original.pk, "copy": copy.pk}).status_code == 302

    copy.refresh_from_db()
    assert (copy.duplicate_of, copy.eligible) == (original, False)
    assert "no pair is left" in client.get(url).content.decode()


def test_the_api_gives_the_pairs(client, study):
    client.force_login(lead_of(study).user)
    asked = client.post(f"/api/v1/studies/{study.slug}/issues/duplicates/compare/")
    assert asked.status_code == 202
    find_near_duplicates(last_look(study).pk)
    (pair,) = client.get(f"/api/v1/studies/{study.slug}/issues/duplicates/").json()
    assert (pair["original_key"], pair["copy_key"]) == ("github.com/acme/train#1", "github.com/acme/train#3")


def test_what_was_told_apart_is_not_offered_again(client, study, monkeypatch):
    add_issues(study=study, records=[IssueRecord(repository="acme/train", number=9, title=f"{SAME} again")])
    looked(study)
    assert found(study) == [(3, 9), (1, 3), (1, 9)]
    client.force_login(lead_of(study).user)
    pk = dict(study.issues.values_list("number", "pk"))
    url = reverse("labeling:issue-duplicates", args=[study.slug])
    client.post(url, {"original": pk[3], "copy": pk[9], "distinct": "yes"})
    api = f"/api/v1/studies/{study.slug}/issues/duplicates/"
    # In any order, and twice: it is the same pair.
    for _ in range(2):
        told = {"issues": [pk[3], pk[1]], "distinct": True}
        assert client.post(api, told, content_type="application/json").status_code == 200
    assert found(study) == [(1, 9)]

    monkeypatch.setattr("labeling.services.similar_issues.MOST_PAIRS", 1)
    assert looked(study).progress["pairs"] == [[pk[1], pk[9], pytest.approx(0.9, abs=0.1)]]
    assert not study.issues.filter(eligible=False).exists()
    said = Event.objects.filter(study=study, verb="issues.kept_apart").values_list("data__issues", flat=True)
    assert list(said) == [[pk[1], pk[3]], [pk[1], pk[3]], [pk[3], pk[9]]]


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"distinct": True, "issues": [1]}, "issues"),
        ({"distinct": True, "issues": [1, 2], "duplicate_of": 3}, "duplicate_of"),
        ({"issues": [1]}, "duplicate_of"),
    ],
)
def test_the_api_refuses_what_says_both_or_nothing(client, study, told, field):
    client.force_login(lead_of(study).user)
    numbers = dict(study.issues.values_list("number", "pk"))
    told = told | {"issues": [numbers[each] for each in told["issues"]]}
    url = f"/api/v1/studies/{study.slug}/issues/duplicates/"
    answer = client.post(url, told, content_type="application/json")
    assert answer.status_code == 422
    assert field in answer.json()["errors"]
