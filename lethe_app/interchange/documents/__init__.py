"""Text of documents by heading and page: plain text, Markdown, HTML, EPUB, Word and PDF."""
