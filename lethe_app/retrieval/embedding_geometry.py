"""Scaling of cosines to one scale for all embedders, so that limits and weights hold for each of them.

Embedders differ in how near they put unrelated texts: all-MiniLM-L6-v2 near 0.1, e5 and bge between 0.4 and 0.8. A few
queries are compared with a few unrelated passages; the mean of these cosines is the embedder's background. A cosine is read
as the share of the way from the background to 1, and expressed in the units of the starter embedder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.retrieval import late_interaction

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]]

SAMPLE_QUERIES = (
    "Where did I leave the spare key?",
    "What did the doctor say about my knee?",
    "I finally booked the train to Vienna for the concert.",
    "Do you remember the name of my first teacher?",
    "My brother is thinking of selling his motorbike.",
    "Which soup did we cook when it was snowing?",
    "I can't sleep because of the neighbour's television.",
    "We planted three apple trees behind the shed.",
)
"""Everyday messages used as queries of the measurement."""
SAMPLE_PASSAGES = (
    '(4 March, 2021) Ana said, "The printer at work is broken again and nobody wants to order a new one."',
    '(19 July, 2022) Tom said, "I passed the driving test on the second try!"',
    "(2 May, 2023) Ana is allergic to peanuts.",
    '(30 October, 2020) Tom said, "Our cat caught a mouse and put it on the carpet."',
    '(11 January, 2024) Ana said, "The museum was closed, so we walked along the river instead."',
    "(23 June, 2021) Tom plays chess every Thursday.",
    '(8 August, 2022) Ana said, "My phone fell into the sink, the screen is gone."',
    '(15 December, 2023) Tom said, "The bakery on the corner makes the best rye bread."',
    "(6 April, 2020) Ana wants to learn Portuguese.",
    '(27 September, 2021) Tom said, "They are building a huge tower in front of our office window."',
    '(14 February, 2022) Ana said, "I am halfway through a novel about pirates."',
    "(3 November, 2024) Tom lost his umbrella on the bus.",
)
"""Everyday sentences, each about something else than all the queries."""


@dataclass(frozen=True)
class EmbedderGeometry:
    """Background of an embedder: mean cosines of unrelated texts and tokens."""

    texts: float
    """Mean cosine of a query and an unrelated passage."""
    tokens: float
    """Mean cosine of a query token and the nearest token of an unrelated passage."""

    def scale_texts(self, cosines: Floats) -> Floats:
        """Return text cosines in the scale of the starter embedder."""
        return _rescale(cosines, self.texts, STARTER.texts)

    def scale_tokens(self, cosines: Floats) -> Floats:
        """Return token cosines in the scale of the starter embedder."""
        return _rescale(cosines, self.tokens, STARTER.tokens)


def _rescale(cosines: Floats, background: float, target: float) -> Floats:
    """Map the background linearly to `target`; the cosine of a text and itself stays 1."""
    scaled: Floats = 1 - (1 - cosines) * np.float32((1 - target) / (1 - background))
    return scaled


STARTER = EmbedderGeometry(texts=0.067, tokens=0.139)
"""Background of all-MiniLM-L6-v2, the bundled embedder, as `measure_geometry` returns it."""
MAX_BACKGROUND = 0.98
"""Maximum background. An embedder above it is uninformative, and its cosines must not be stretched without limit."""


async def measure_geometry(embed_queries: Embed, embed_passages: Embed) -> EmbedderGeometry:
    """Measure the background of an embedder by embedding twenty short texts; that of the starter embedder if it fails.

    `embed_queries` embeds queries and `embed_passages` passages.
    """
    try:
        queries, passages = await embed_queries(SAMPLE_QUERIES), await embed_passages(SAMPLE_PASSAGES)
    except LetheError:
        return STARTER
    cosines = _stack_vectors(queries) @ _stack_vectors(passages).T
    blobs = [late_interaction.pack_tokens(embedding) for embedding in passages]
    query_rows = [
        late_interaction.query_tokens(embedding, dict.fromkeys(late_interaction.words_of(embedding.pieces), 1.0))[0]
        for embedding in queries
    ]
    nearest = np.concatenate([late_interaction.nearest_cosines(rows, blobs).ravel() for rows in query_rows])
    tokens = float(nearest.mean()) if len(nearest) else STARTER.tokens
    return EmbedderGeometry(min(float(cosines.mean()), MAX_BACKGROUND), min(tokens, MAX_BACKGROUND))


def _stack_vectors(meanings: Sequence[TextEmbedding]) -> Floats:
    return np.stack([np.frombuffer(embedding.vector, np.float32) for embedding in meanings])
