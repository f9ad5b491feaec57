"""The content security policy: one for the whole site, and a narrower one for the worker that reads PDFs.

Every page sends it, the admin panel and the API reference too. Nothing is loaded from elsewhere, nothing
inline runs or styles, and there is no `eval`. What that took:

- The admin theme evaluates expressions in attributes. It gets the build of Alpine that parses them itself,
  without `eval` (`frontend/build.js`), and templates without inline styles (`templates/unfold`).
- The API reference is a page of ours; it runs no third-party script.
"""

from wsgiref.headers import Headers

DIRECTIVES = {
    # Scripts, styles, fonts, workers, media, frames.
    "default-src": ["'self'"],
    # The viewer makes pictures in the browser; the theme's style sheets have small ones within.
    "img-src": ["'self'", "data:", "blob:"],
    # The API, event streams and websockets.
    "connect-src": ["'self'"],
    "object-src": ["'none'"],
    # A page can't be told that its relative addresses belong to another site.
    "base-uri": ["'none'"],
    # No other site shows a page in a frame and lets people click on it.
    "frame-ancestors": ["'none'"],
    "form-action": ["'self'"],
}
"""Of the header `Content-Security-Policy`, by name."""

PDF_WORKER = "pdf-worker-"
PDF_WORKER_POLICY = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'"
"""The worker reads hostile files. It decodes some images by WebAssembly, which no page may. A worker has the
policy of its file and not that of its page, so this one has its own. It has no `eval` either."""


def add_static_headers(headers: Headers, path: str, url: str) -> None:
    """Give the PDF worker its policy; called once for each static file at the start."""
    if PDF_WORKER in url:
        headers["Content-Security-Policy"] = PDF_WORKER_POLICY
