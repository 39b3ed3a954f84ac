"""What of a draw is used for what: units of the sample, and those drawn beside it for pilots alone."""

from django.db.models import Exists, Q, QuerySet

from labeling.models import Round, RoundUnit, Sample, SampleUnit, Study, Unit

PILOTS = (Round.Kind.PILOT, Round.Kind.TRAINING)
#: Kinds of rounds that describe the corpus also with units of no sample.
NAMED = (Round.Kind.MAIN, Round.Kind.IMPORTED)


def sampled_units(sample: Sample) -> "QuerySet[SampleUnit]":
    """What the sample describes the corpus with: drawn, not replaced, not for pilots alone."""
    return sample.sample_units.filter(replaced_by__isnull=True).exclude(drawn=SampleUnit.Drawn.PILOT)


def sampled_count(study: Study) -> int:
    """How many units describe the corpus of the study, each counted once.

    They are those of the samples that rounds use (while none does, of the newest frozen sample), without what
    is drawn for pilots alone; and what was imported, or named for a main round, without a sample.
    """
    using = study._state.db
    rounds = Round.objects.using(using).filter(study=study, discarded_at__isnull=True)
    used = rounds.filter(sample__isnull=False)
    newest = Sample.objects.using(using).filter(study=study, state=Sample.State.FROZEN).order_by("-pk")
    drawn = (
        SampleUnit.objects.using(using)
        .filter(sample__study=study, replaced_by__isnull=True)
        .filter(Q(sample__in=used.values("sample")) | ~Exists(used) & Q(sample__in=newest.values("pk")[:1]))
        .exclude(drawn=SampleUnit.Drawn.PILOT)
    )
    named = RoundUnit.objects.using(using).filter(
        round__in=rounds.filter(sample__isnull=True, based_on__isnull=True, kind__in=NAMED)
    )
    units = Unit.objects.using(using).filter(study=study)
    return units.filter(Q(pk__in=drawn.values("unit")) | Q(pk__in=named.values("unit"))).count()


def units_for(sample: Sample, kind: str) -> "QuerySet[SampleUnit]":
    """What a round of this kind takes: where some were drawn for pilots alone, a pilot takes only these."""
    if sample.pilot and kind in PILOTS:
        return sample.sample_units.filter(replaced_by__isnull=True, drawn=SampleUnit.Drawn.PILOT)
    return sampled_units(sample)
