"""Samples, dealt assignments and their sizes: pure functions of recorded inputs.

The algorithm is written down in ``docs/sampling.md``, so that another program can repeat every draw.
"""

from labeling.sampling.allocate import (
    allocate_equal,
    allocate_numbers,
    allocate_proportional,
    allocate_top_up,
)
from labeling.sampling.deal import Redealt, coder_order, deal_units, overlap_units, redeal
from labeling.sampling.draw import (
    Ranked,
    draw_sample,
    draw_stratified,
    frame_hash,
    next_ranks,
    ranking,
    score,
)
from labeling.sampling.size import margin_of, sample_size, stratum_margins, units_for_kappa_halfwidth

__all__ = [
    "Ranked",
    "Redealt",
    "allocate_equal",
    "allocate_numbers",
    "allocate_proportional",
    "allocate_top_up",
    "coder_order",
    "deal_units",
    "draw_sample",
    "draw_stratified",
    "frame_hash",
    "margin_of",
    "next_ranks",
    "overlap_units",
    "ranking",
    "redeal",
    "sample_size",
    "score",
    "stratum_margins",
    "units_for_kappa_halfwidth",
]
