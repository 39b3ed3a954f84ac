"""Files that a worker makes, as far as a member may know of them."""

from django.db.models import QuerySet

from labeling.models import ExportJob, Membership


def reachable_jobs(member: Membership) -> QuerySet[ExportJob]:
    """What the member asked for; leads reach what anybody did."""
    jobs = ExportJob.objects.filter(study=member.study_id)
    return jobs if member.is_lead else jobs.filter(by=member)
