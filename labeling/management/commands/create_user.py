"""``python manage.py create_user``: an account, with a password or with a one-time sign-in link."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError

from annotator.sign_in import sign_in_link
from labeling.models import User


class Command(BaseCommand):
    help = "Create an account. Without a password it prints a one-time sign-in link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="user name, without blanks")
        parser.add_argument("--email", default="", help="address for notices")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from stdin")
        parser.add_argument("--superuser", action="store_true", help="manages accounts, reads no answers")

    def handle(self, *, name: str, email: str, password_stdin: bool, superuser: bool, **_: Any) -> None:
        user = User(username=name, email=email, is_staff=superuser, is_superuser=superuser)
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        user.set_password(password)
        try:
            user.full_clean(exclude=["password"])
            if password is not None:
                validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.save()
        self.stdout.write(f"Created {name}.")
        if password is None:
            self.stdout.write(f"Sign in once, within seven days: {sign_in_link(user)}")
