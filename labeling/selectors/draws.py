"""What of a draw is used for what: units of the sample, and those drawn beside it for pilots alone."""

from django.db.models import QuerySet

from labeling.models import Round, Sample, SampleUnit

PILOTS = (Round.Kind.PILOT, Round.Kind.TRAINING)


def sampled_units(sample: Sample) -> "QuerySet[SampleUnit]":
    """What the sample describes the corpus with: drawn, not replaced, not for pilots alone."""
    return sample.sample_units.filter(replaced_by__isnull=True).exclude(drawn=SampleUnit.Drawn.PILOT)


def units_for(sample: Sample, kind: str) -> "QuerySet[SampleUnit]":
    """What a round of this kind takes: where some were drawn for pilots alone, a pilot takes only these."""
    if sample.pilot and kind in PILOTS:
        return sample.sample_units.filter(replaced_by__isnull=True, drawn=SampleUnit.Drawn.PILOT)
    return sampled_units(sample)
