"""What of a draw is used for what: units of the sample, and those drawn beside it for pilots alone."""

from django.db.models import QuerySet

from labeling.models import Round, Sample, SampleUnit, Study

PILOTS = (Round.Kind.PILOT, Round.Kind.TRAINING)


def sampled_units(sample: Sample) -> "QuerySet[SampleUnit]":
    """What the sample describes the corpus with: drawn, not replaced, not for pilots alone."""
    return sample.sample_units.filter(replaced_by__isnull=True).exclude(drawn=SampleUnit.Drawn.PILOT)


def sampled_count(study: Study) -> int:
    """How many units of the study describe its corpus, whatever sample or file they come from."""
    for_pilots = SampleUnit.objects.filter(sample__study=study, drawn=SampleUnit.Drawn.PILOT)
    return study.units.filter(part=0).exclude(pk__in=for_pilots.values("unit")).count()


def units_for(sample: Sample, kind: str) -> "QuerySet[SampleUnit]":
    """What a round of this kind takes: where some were drawn for pilots alone, a pilot takes only these."""
    if sample.pilot and kind in PILOTS:
        return sample.sample_units.filter(replaced_by__isnull=True, drawn=SampleUnit.Drawn.PILOT)
    return sampled_units(sample)
