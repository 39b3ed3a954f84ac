"""The adapter that feeds the corpus: GitHub, and files of issues."""
