"""Filters that put the record into words: ``{{ event|event_text }}``, ``{{ notice|notice_text }}``."""

from django import template

from labeling import wording

register = template.Library()
register.filter(wording.event_text)
register.filter(wording.notice_text)
