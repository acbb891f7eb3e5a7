/** With the names of the OpenTelemetry specification. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: 'string',
    pattern: '^https?://[^@?#\\s]+$',
    format: 'url',
    description: 'URL of the collector of spans (OTLP over HTTP), such as http://otel-collector:4318',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: 'string',
    writeOnly: true,
    description: 'Headers for the collector: name=value, comma separated, percent-encoded',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 1,
    description: 'Fraction of all requests for which spans are sent, from 0 (no request) to 1 (every request)',
  },
} as const;
