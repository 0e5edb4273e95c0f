"""How files come in over HTTP: straight to the store, counted, within limits, refused in words.

    @receives
    def upload(request: HttpRequest) -> HttpResponse:
        files = received(request)            # name, sha256, size; the bytes are kept already
        if request.POST.get("text"):
            files.append(keep("pasted.txt", request.POST["text"].encode()))

`receives` goes outermost. It also wraps a REST framework's `as_view()`, whose view calls
`received` with its own request, once it knows who is asking: nothing is read before. The files
are not in `request.FILES`: nobody needs them in memory.

Whatever is wrong is a ReceiveError. Let it pass: `receives` makes the answer of it, a page, or
`{"message", "fields"}` under /api/.
"""

from results.receiving.entrance import received, receives
from results.receiving.handler import MOST_BYTES, MOST_FIELDS, Received, keep
from results.receiving.refusals import ReceiveError, refusal

__all__ = [
    "MOST_BYTES",
    "MOST_FIELDS",
    "ReceiveError",
    "Received",
    "keep",
    "received",
    "receives",
    "refusal",
]
