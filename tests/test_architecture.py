"""Imports follow the arrows, answers are read through ``visible_to``, and the web process stays light."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db import models

from labeling.models import (
    Annotation,
    AnnotationCategory,
    Assignment,
    CategoryProposal,
    Comment,
    Decision,
    DecisionProposal,
    DecisionVersion,
    Evidence,
    Submission,
)

ROOT = Path(settings.BASE_DIR)
ANSWERS = (Submission, Annotation, Evidence, Decision, DecisionProposal, Comment)
#: Rows that are read with the answer they belong to, or hold one that is nobody else's.
PARTS = (AnnotationCategory, Assignment, CategoryProposal, DecisionVersion)

#: What each part of the code may import of the others.
ARROWS = {
    "annotator": {"annotator", "labeling", "ingest"},
    "ingest": {"annotator", "ingest", "labeling"},
    "labeling": {"annotator", "labeling"},
}
PURE = (
    "labeling.agreement",
    "labeling.sampling",
    "labeling.export",
    "labeling.codebooks",
    "labeling.charts",
    "labeling.demo.content",
)


def modules(package: str) -> Iterator[Path]:
    yield from (path for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts)


def imports(path: Path) -> Iterator[str]:
    """Absolute names of all that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def run_python(code: str) -> str:
    """Run code in a process of its own, which has loaded nothing yet."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# The arrows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_a_package_imports_only_what_its_arrow_points_at(package):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        for name in imports(path)
        if name.split(".")[0] in ARROWS and name.split(".")[0] not in ARROWS[package]
    ]
    assert not wrong, wrong


def test_labeling_takes_only_the_helpers_of_pages_and_queries_from_annotator():
    taken = {
        name
        for path in modules("labeling")
        for name in imports(path)
        if name.split(".")[0] == "annotator" and OPERATING.isdisjoint(path.relative_to(ROOT).parts)
    }
    assert taken == {"annotator.http", "annotator.repeated"}


#: Commands and checks are about the installation, which is annotator's.
OPERATING = {"management", "checks.py"}


def pure_modules() -> list[str]:
    found = []
    for name in PURE:
        path = ROOT / name.replace(".", "/")
        files = [path.with_suffix(".py")] if path.with_suffix(".py").exists() else list(path.rglob("*.py"))
        assert files, f"{name} is not there"
        names = [".".join(each.relative_to(ROOT).with_suffix("").parts) for each in files]
        found += [each.removesuffix(".__init__") for each in names if not each.endswith("__main__")]
    return sorted(found)


def test_the_pure_packages_load_no_django():
    code = f"""
import importlib, sys
for name in {pure_modules()!r}:
    importlib.import_module(name)
print(*sorted(name for name in sys.modules if name.split(".")[0] == "django"))
"""
    assert run_python(code).split() == []


def test_importing_django_would_be_noticed():
    assert "django" in run_python("import sys, django; print(*sys.modules)").split()


# The web process --------------------------------------------------------------------------------------------

REQUEST = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
from annotator.wsgi import application
status = []
environ = {{
    "REQUEST_METHOD": "GET", "PATH_INFO": "/sign-in/", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
    "wsgi.input": __import__("io").BytesIO(), "wsgi.url_scheme": "http", "HTTP_HOST": "localhost",
}}
body = b"".join(application(environ, lambda line, headers: status.append(line)))
assert status == ["200 OK"] and body, status
print(*sorted(set(name.split(".")[0] for name in sys.modules)))
"""


def test_the_web_process_loads_neither_scikit_learn_nor_matplotlib():
    loaded = set(run_python(REQUEST.format()).split())
    assert "django" in loaded
    assert not loaded & {"sklearn", "matplotlib", "scipy", "pandas"}


# Answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ANSWERS, ids=lambda model: model.__name__)
def test_a_queryset_that_holds_answers_can_be_asked_for_what_a_member_may_read(model):
    assert callable(getattr(model.objects.all(), "visible_to", None))


def test_every_model_that_says_something_about_a_unit_is_named_here():
    """A new model that hangs on one of these holds an answer, or says why not."""
    known = {*ANSWERS, *PARTS}
    hangs = {
        model
        for model in apps.get_app_config("labeling").get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
        and field.related_model in {*ANSWERS, *PARTS, apps.get_model("labeling", "RoundUnit")}
    }
    assert hangs <= known, hangs - known


def test_the_admin_registers_no_model_that_holds_an_answer():
    registered = {model for model in admin.site._registry if model._meta.app_label == "labeling"}
    names = {model.__name__ for model in registered}
    assert names == {"ExportJob", "Heartbeat", "Job", "Study", "User"}


READERS = ("labeling/views", "labeling/forms", "labeling/api", "labeling/templatetags", "ingest")
DIRECTLY = re.compile(
    rf"\b({'|'.join(model.__name__ for model in ANSWERS)})\s*\.\s*(?:objects|_default_manager)"
    r"(?!\s*\.\s*visible_to\()"
)


def direct_reads(text: str) -> list[str]:
    return [found.group(1) for found in DIRECTLY.finditer(text)]


@pytest.mark.parametrize("package", READERS)
def test_what_answers_a_request_reads_answers_through_visible_to_alone(package):
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in modules(package)
        if (found := direct_reads(path.read_text()))
    }
    assert not wrong, wrong


def test_a_direct_read_is_noticed():
    assert direct_reads("Decision.objects.filter(pk=1)") == ["Decision"]
    assert direct_reads("Comment.objects\n    .all()") == ["Comment"]
    assert direct_reads("Submission.objects.visible_to(member)") == []
    assert direct_reads("Submission.objects\n  .visible_to(member)") == []


#: From a row of the study back to what was said about it.
BACKWARDS = re.compile(
    r"\.(submissions|annotations|evidence|decisions|decisionproposals|comments|assignments)(?:\.|_set\b)\w+"
)


def test_no_template_walks_from_a_unit_back_to_its_answers():
    wrong = {
        str(path.relative_to(ROOT)): sorted(
            {found.group(0) for found in BACKWARDS.finditer(path.read_text())}
        )
        for path in (ROOT / "templates").rglob("*.html")
        if BACKWARDS.search(path.read_text())
    }
    assert not wrong, wrong


def test_blinding_is_written_in_one_place():
    """Whoever filters answers by the state of a round beside ``blinding`` writes the rule a second time."""
    callers = {
        path.relative_to(ROOT).as_posix()
        for path in modules("labeling")
        if re.search(r"\b(settled|readable|sealing_assignments)\b", path.read_text())
        and "labeling.blinding" in set(imports(path))
    }
    assert "labeling/models/annotation.py" in callers
    assert not [
        path for path in callers if path.startswith(("labeling/views", "labeling/api", "labeling/forms"))
    ]
