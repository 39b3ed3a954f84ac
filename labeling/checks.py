"""Checks of this installation: each names the setting that is wrong and what to write instead."""
