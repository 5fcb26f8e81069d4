"""`agssl serve`: predictions over HTTP."""

from __future__ import annotations

import argparse
from typing import Any

from agssl.base.errors import SettingsError
from agssl.cli.common import command_parser, say
from agssl.cli.options import add_compute
from agssl.cli.source import Source, add_run, compute

_EXAMPLES = """\
examples:
  agssl serve runs/mine
  agssl serve runs/mine --port 9000 --workers 2
  curl -H 'content-type: application/json' -d '{"nodes": ["x7"]}' http://127.0.0.1:8000/predict

routes: POST /predict, GET /explain?node=ID, /health, /metrics, /docs, /openapi.json (docs/serving.md)
"""


def add_parser(subparsers: Any) -> None:
    """Add `serve`."""
    parser = command_parser(subparsers, "serve", "answer over HTTP for known and new nodes (extra serve)", _EXAMPLES)
    add_run(parser, "the mean of all")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1, this machine alone)")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000; 0: any that is free")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes; they share the model (default: 1)"
    )
    group = parser.add_argument_group("limits", "What is more is refused with a 4xx or 503 that says so.")
    group.add_argument("--max-body", type=int, default=1 << 20, metavar="BYTES", help="of a request (default: 1 MiB)")
    group.add_argument("--max-nodes", type=int, default=1000, metavar="N", help="of a request (default: 1000)")
    group.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="to arrive, and to answer (default: 10)"
    )
    rate = "requests a second of one address in each worker (default: 1000; 0: any number)"
    group.add_argument("--rate", type=float, default=1000.0, metavar="N", help=rate)
    add_compute(parser)
    parser.set_defaults(handler=run_serve)


def run_serve(args: argparse.Namespace) -> int:
    """Serve until it is stopped."""
    from agssl.base.install import missing_extra

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_extra("agssl serve needs starlette and uvicorn", "serve") from error
    from agssl.serve.app import LOCAL, App
    from agssl.serve.counters import Counters
    from agssl.serve.limits import Limits
    from agssl.serve.server import listen, serve
    from agssl.serve.service import Service

    compute(args)
    if args.workers < 1:
        raise SettingsError(f"workers = {args.workers}, but at least one is needed")
    limits = Limits(args.max_body, args.max_nodes, args.timeout, args.rate)
    source = Source.open(args)
    predictor = source.predictor(args, attached=True)
    with listen(args.host, args.port) as sock:
        host, port = sock.getsockname()[:2]
        local = args.host in LOCAL
        app = App(Service(predictor, Counters(args.workers), str(args.run)), limits, LOCAL if local else None)
        if not local:
            say(f"{args.host} is open to other machines, and nobody is asked for a password; put a proxy before it")
        shown = f"[{host}]" if ":" in host else host
        say(f"serving {args.run} on http://{shown}:{port} (docs: /docs); stop with Ctrl-C")
        serve(app, sock, limits, args.workers, say)
    return 0
