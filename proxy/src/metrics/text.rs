//! Numbers as Prometheus reads them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};
use prometheus::{Encoder as _, TextEncoder};

use super::durations::{BOUNDS, Durations, Sum};
use super::thread::{Labels, Thread};
use super::{Live, Metrics};

/// The media type of [`Metrics::render`].
pub(crate) const MEDIA_TYPE: &str = prometheus::TEXT_FORMAT;

impl Metrics {
    /// All of it in Prometheus' text format, version 0.0.4.
    ///
    /// # Complexity
    /// `n log n` in the series of all threads and the hosts with maps.
    pub(crate) fn render(&self, live: &Live) -> String {
        let threads: Vec<Arc<Thread>> =
            self.threads.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let families = [
            requests(&threads),
            histogram(
                "fingerpost_request_duration_seconds",
                "Time from a request's header to the end of its response.",
                threads.iter().map(|thread| &thread.durations),
            ),
            hits(&threads),
            gauges(
                "fingerpost_map_entries",
                "Prefixes in the map of a host.",
                live.entries.iter().map(|(host, count)| (vec![("host", host.as_str())], *count)),
            ),
            family(
                "fingerpost_snapshot_generation",
                "How many snapshots this process has loaded.",
                MetricType::GAUGE,
                vec![gauge(&[], live.generation as f64)],
            ),
            histogram(
                "fingerpost_reload_seconds",
                "Time that a checked configuration took to be served.",
                [&self.reloads],
            ),
            histogram(
                "fingerpost_flip_seconds",
                "Time from when this box heard of changed claims to when it served by them.",
                [&self.flips],
            ),
            gauges(
                "fingerpost_unresolved_entries",
                "Entries of claims that are not routed, by the report's code.",
                live.unresolved.iter().map(|(host, code, count)| {
                    (vec![("host", host.as_str()), ("code", *code)], *count)
                }),
            ),
        ];
        let families: Vec<_> =
            families.into_iter().filter(|family| !family.get_metric().is_empty()).collect();
        let mut text = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
            tracing::error!(%error, "metrics can't be written as text");
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn requests(threads: &[Arc<Thread>]) -> MetricFamily {
    let mut sums: BTreeMap<(Arc<str>, Arc<str>, u16), u64> = BTreeMap::new();
    each(threads, |labels, code, count| {
        *sums.entry((Arc::clone(&labels.route), Arc::clone(&labels.host), code)).or_default() +=
            count;
    });
    let metrics = sums.iter().map(|((route, host, code), count)| {
        counter(&[("route", route), ("host", host), ("code", &code.to_string())], *count)
    });
    let help = "Requests by route, pattern of the host, and status of the response.";
    family("fingerpost_requests_total", help, MetricType::COUNTER, metrics.collect())
}

fn hits(threads: &[Arc<Thread>]) -> MetricFamily {
    let mut sums: BTreeMap<(Arc<str>, &str), u64> = BTreeMap::new();
    each(threads, |labels, _, count| {
        if let Some(via) = labels.via {
            *sums.entry((Arc::clone(&labels.host), via.name())).or_default() += count;
        }
    });
    let metrics =
        sums.iter().map(|((host, via), count)| counter(&[("host", host), ("via", via)], *count));
    let help = "Requests that found a route: by the prefix map of their host, or among the routes of a tier.";
    family("fingerpost_route_hits_total", help, MetricType::COUNTER, metrics.collect())
}

fn each(threads: &[Arc<Thread>], mut take: impl FnMut(&Labels, u16, u64)) {
    for thread in threads {
        let series = thread.series.lock().unwrap_or_else(PoisonError::into_inner);
        for (labels, codes) in &*series {
            codes.iter().for_each(|(code, count)| take(labels, code, count));
        }
    }
}

fn histogram<'a>(
    name: &str,
    help: &str,
    parts: impl IntoIterator<Item = &'a Durations>,
) -> MetricFamily {
    let mut sum = Sum::default();
    parts.into_iter().for_each(|part| sum.add(part));
    let mut histogram = Histogram::default();
    let mut so_far = 0;
    // The encoder adds the bucket without a bound.
    let buckets = BOUNDS.into_iter().zip(sum.counts).map(|(bound, count)| {
        so_far += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(seconds(bound));
        bucket.set_cumulative_count(so_far);
        bucket
    });
    histogram.set_bucket(buckets.collect::<Vec<_>>());
    histogram.set_sample_count(sum.counts.iter().sum());
    histogram.set_sample_sum(seconds(sum.microseconds));
    let mut metric = Metric::default();
    metric.set_histogram(histogram);
    family(name, help, MetricType::HISTOGRAM, vec![metric])
}

fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

fn gauges<'a>(
    name: &str,
    help: &str,
    values: impl Iterator<Item = (Vec<(&'a str, &'a str)>, usize)>,
) -> MetricFamily {
    let metrics = values.map(|(labels, value)| gauge(&labels, value as f64));
    family(name, help, MetricType::GAUGE, metrics.collect())
}

fn counter(labels: &[(&str, &str)], value: u64) -> Metric {
    let mut counter = Counter::default();
    counter.set_value(value as f64);
    let mut metric = labelled(labels);
    metric.set_counter(counter);
    metric
}

fn gauge(labels: &[(&str, &str)], value: f64) -> Metric {
    let mut gauge = Gauge::default();
    gauge.set_value(value);
    let mut metric = labelled(labels);
    metric.set_gauge(gauge);
    metric
}

fn labelled(labels: &[(&str, &str)]) -> Metric {
    let pairs = labels.iter().map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    });
    let mut metric = Metric::default();
    metric.set_label(pairs.collect::<Vec<_>>());
    metric
}

fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}
