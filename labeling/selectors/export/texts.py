"""Files that are texts rather than tables: how the study was done, and its newest frozen codebook."""

from labeling.codebook_files import FORMATS
from labeling.methods import methods_text
from labeling.models import Study
from labeling.selectors.export.reader import Reader
from labeling.selectors.methods import methods_facts
from labeling.services.codebooks import codebook_data, current


def methods_md(reader: Reader) -> str:
    """The paragraphs on method; what they tell is frozen, so it is the same wherever it is read from."""
    study = Study.objects.get(pk=reader.study.pk)
    return methods_text(methods_facts(study, pseudonyms=reader.pseudonyms))


def codebook_yaml(reader: Reader) -> str:
    return _codebook(reader, "yaml")


def codebook_qdc(reader: Reader) -> str:
    return _codebook(reader, "qdc")


def _codebook(reader: Reader, name: str) -> str:
    """The file; before the first freeze, and of a version without dimensions, it is empty."""
    newest = current(reader.study)
    data = codebook_data(newest) if newest is not None else {"dimensions": []}
    return FORMATS[name].write(data).decode() if data["dimensions"] else ""
