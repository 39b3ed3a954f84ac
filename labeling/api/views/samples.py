"""Samples: draw, look, add, replace."""

import secrets
from typing import Any

from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.access import get_study_or_404
from labeling.api.base import ApiView
from labeling.api.serializers.samples import (
    PLAIN_FIELDS,
    CalculatorInput,
    ReplaceInput,
    SampleInput,
    SampleOutput,
    SampleUnitOutput,
    SizeOutput,
    TopUpInput,
)
from labeling.errors import InvalidInputError
from labeling.models import Membership, Role, Sample, User
from labeling.selectors.samples import listed_units, samples_of, size_plan
from labeling.services import samples


def sample_data(sample: Sample, member: Membership) -> dict[str, Any]:
    units = listed_units(member, sample.sample_units.all())
    return plain_data(sample) | {
        "statement": samples.statement(sample),
        "strata_table": samples.strata_table(sample),
        "units": SampleUnitOutput(units, many=True).data,
    }


def plain_data(sample: Sample) -> dict[str, Any]:
    """All that a list needs: units and strata are of the sample's own address."""
    return {name: getattr(sample, name) for name in PLAIN_FIELDS}


def get_sample_or_404(user: User, sample_id: int) -> tuple[Sample, Membership]:
    sample = Sample.objects.select_related("study").filter(pk=sample_id).first()
    if sample is None:
        raise Http404("There is no such sample.")
    _, lead = get_study_or_404(user, sample.study.slug, role=Role.LEAD)
    return sample, lead


class SampleList(ApiView):
    @extend_schema(responses=SampleOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study, _ = get_study_or_404(self.user, slug, role=Role.LEAD)
        return self.paged(
            samples_of(study), ordering="-id", into=lambda page: [plain_data(sample) for sample in page]
        )

    @extend_schema(request=SampleInput, responses={201: SampleOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Draw, or give back the same draw that was made before and that no round uses."""
        study, lead = get_study_or_404(self.user, slug, role=Role.LEAD)
        options = self.read(SampleInput)
        options.setdefault("seed", secrets.randbelow(1_000_000))
        sample = samples.draw(study=study, by=lead, **options)
        place = {"Location": f"/api/v1/samples/{sample.pk}/"}
        return Response(sample_data(sample, lead), status=201, headers=place)


class SampleSize(ApiView):
    @extend_schema(request=CalculatorInput, responses=SizeOutput)
    def post(self, request: Request, slug: str) -> Response:
        """The size a margin needs, or the margin a size gives, of the issues eligible now; draws nothing.

        ``population`` asks of so many issues instead.
        """
        study, _ = get_study_or_404(self.user, slug, role=Role.LEAD)
        asked = {name: value for name, value in self.read(CalculatorInput).items() if value is not None}
        try:
            plan = size_plan(study, **asked)
        except ValueError as error:
            raise InvalidInputError({"size": [str(error)]}) from None
        return Response(SizeOutput(plan).data)


class SampleDetail(ApiView):
    @extend_schema(responses=SampleOutput)
    def get(self, request: Request, sample_id: int) -> Response:
        sample, lead = get_sample_or_404(self.user, sample_id)
        return Response(sample_data(sample, lead))


class SampleTopUp(ApiView):
    @extend_schema(request=TopUpInput, responses=SampleOutput)
    def post(self, request: Request, sample_id: int) -> Response:
        sample, lead = get_sample_or_404(self.user, sample_id)
        grown = samples.top_up(sample=sample, size=self.read(TopUpInput)["size"], by=lead)
        return Response(sample_data(grown, lead))


class SampleReplace(ApiView):
    @extend_schema(request=ReplaceInput, responses=SampleOutput)
    def post(self, request: Request, sample_id: int) -> Response:
        sample, lead = get_sample_or_404(self.user, sample_id)
        body = self.read(ReplaceInput)
        unit = sample.units.filter(pk=body["unit"]).first()
        if unit is None:
            raise InvalidInputError({"unit": ["This unit is not in the sample. Give the id of one that is."]})
        changed = samples.replace(sample=sample, unit=unit, reason=body["reason"], by=lead)
        return Response(sample_data(changed, lead))


urlpatterns: list[URLPattern] = [
    path("studies/<slug:slug>/samples/", SampleList.as_view(), name="sample-list"),
    path("studies/<slug:slug>/samples/size/", SampleSize.as_view(), name="sample-size"),
    path("samples/<int:sample_id>/", SampleDetail.as_view(), name="sample-detail"),
    path("samples/<int:sample_id>/top_up/", SampleTopUp.as_view(), name="sample-top-up"),
    path("samples/<int:sample_id>/replace/", SampleReplace.as_view(), name="sample-replace"),
]
