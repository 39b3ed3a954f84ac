"""Labelling studies: corpus, codebook, coding, agreement, reconciliation and export."""
