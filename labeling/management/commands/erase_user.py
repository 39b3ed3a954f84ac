"""``python manage.py erase_user``: erase a person, whose annotations stay under a pseudonym."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from labeling.errors import MembershipError
from labeling.models import User
from labeling.services.erasing import erase_person


class Command(BaseCommand):
    help = "Erase a person: account, e-mail, tokens and name go; annotations stay under their pseudonym."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="user name")

    def handle(self, *, name: str, **_: Any) -> None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user {name}.")
        try:
            kept = erase_person(user=user)
        except MembershipError as error:
            raise CommandError(error.message) from error
        self.stdout.write(
            f"Erased {name}. {kept} membership{'' if kept == 1 else 's'} stay under a pseudonym."
        )
