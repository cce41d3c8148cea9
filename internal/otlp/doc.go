// Package otlp sends spans to a collector that speaks OTLP over HTTP, by the OpenTelemetry
// SDK. It is the only package that knows that SDK: all others know package span.
//
// Spans wait in a bounded queue, from which one goroutine sends them in batches. A
// collector that is slow or gone delays nobody: what finds no room is dropped and
// counted. Besides the endpoint, the SDK's own environment variables hold: the headers
// and the time limit of OTEL_EXPORTER_OTLP_*, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES.
package otlp
