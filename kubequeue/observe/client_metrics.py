"""client-go's metrics: the calls to the API server, their time and their wait for a token.

Mirrors pkg/metrics/client_go_adapter.go of controller-runtime v0.24.1, which registers the first of
the three; the other two are client-go's own (v0.36), which an operator has to register.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from kubequeue.observe.families import make_family
from kubequeue.observe.instruments import Histogram

HOST = "10.96.0.1:443"
"""The address of the API server, as seen from inside a cluster."""

CLIENT_BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Upper bounds of the buckets of both durations, in seconds."""


def _histogram() -> Histogram:
    return Histogram(CLIENT_BOUNDS)


class ClientMetrics:
    """The numbers of all clients; its methods are hooks of ``ClientObserver``."""

    def __init__(self) -> None:
        self.requests: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.request_duration: defaultdict[str, Histogram] = defaultdict(_histogram)
        self.rate_limiter_duration: defaultdict[str, Histogram] = defaultdict(_histogram)

    def throttled(self, method: str, waited_ns: int) -> None:
        self.rate_limiter_duration[method].observe(waited_ns)

    def answered(
        self, _verb: str, method: str, _kind: str, _key: str, code: int, took_ns: int, _error: str
    ) -> None:
        self.requests[str(code) if code else "<error>", method] += 1
        self.request_duration[method].observe(took_ns)


def client_families(clients: ClientMetrics) -> Iterator[Metric]:
    """The three families, as far as they have samples."""
    families = [
        make_family(
            CounterMetricFamily,
            "rest_client_requests_total",
            "Number of HTTP requests, partitioned by status code, method, and host.",
            ["code", "method", "host"],
            [([*labels, HOST], count) for labels, count in sorted(clients.requests.items())],
        ),
        make_family(
            HistogramMetricFamily,
            "rest_client_request_duration_seconds",
            "Request latency in seconds. Broken down by verb and host.",
            ["verb", "host"],
            [([verb, HOST], each) for verb, each in sorted(clients.request_duration.items())],
        ),
        make_family(
            HistogramMetricFamily,
            "rest_client_rate_limiter_duration_seconds",
            "Client side rate limiter latency in seconds. Broken down by verb, and host.",
            ["verb", "host"],
            [([verb, HOST], each) for verb, each in sorted(clients.rate_limiter_duration.items())],
        ),
    ]
    return (family for family in families if family.samples)
