"""From the rules of a service to the fields of a form."""

from django import forms

from labeling.errors import InvalidInputError


def add_errors(form: forms.BaseForm, error: InvalidInputError) -> None:
    """Put each sentence at its field; what belongs to no field stands above the form."""
    for field, sentences in error.errors.items():
        for sentence in sentences:
            form.add_error(field if field in form.fields else None, sentence)
