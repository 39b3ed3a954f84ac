"""Verbs are data; the inbox says each in a sentence."""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from labeling.models import Notice
from labeling.wording import NOTICES, notice_text


def notified_verbs() -> Iterator[str]:
    """Every literal verb of a call that notifies members."""
    for path in Path(settings.BASE_DIR, "labeling").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id.lstrip("_").startswith("notify"):
                words = [*node.args, *(each.value for each in node.keywords if each.arg == "verb")]
                constants = [each.value for each in words if isinstance(each, ast.Constant)]
                yield from (each for each in constants if isinstance(each, str) and "." in each)


def test_every_notice_has_a_sentence():
    found = set(notified_verbs())
    assert {"round.opened", "comment.mentioned", "decision.escalated"} <= found
    assert found <= set(NOTICES)


def test_a_notice_names_what_it_is_about():
    assert notice_text(Notice(verb="decision.recorded", object="unit:a/b#1")) == "Decided: a/b#1"
    assert notice_text(Notice(verb="round.opened", object="round:3")) == "Opened for coding: round 3"
