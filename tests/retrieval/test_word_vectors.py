"""Words of like meaning point the same way, and what is not known says nothing."""

from __future__ import annotations

import numpy as np

from lethe_app.retrieval.word_vectors import mean_vector


def test_words_of_like_meaning_are_nearer_than_others():
    nurse, doctor, trout = mean_vector(["nurse"]), mean_vector(["doctor"]), mean_vector(["trout"])

    assert float(nurse @ doctor) > float(nurse @ trout) + 0.2


def test_the_mean_of_words_is_a_unit_vector_whatever_their_order():
    there, back = mean_vector(["my", "sister", "sings"]), mean_vector(["sings", "sister", "my"])

    assert np.allclose(there, back, atol=1e-6)
    assert np.isclose(np.linalg.norm(there), 1.0, atol=1e-5)


def test_unknown_words_give_zeros():
    assert not mean_vector(["zqxvw"]).any()
    assert not mean_vector([]).any()
