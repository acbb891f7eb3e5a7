/** With the names of the OpenTelemetry specification. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: 'string',
    pattern: '^https?://[^@?#\\s]+$',
    description:
      'Collector that spans are sent to by OTLP over HTTP, for example http://otel-collector:4318; none switches traces off',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: 'string',
    writeOnly: true,
    description: 'Headers that the collector asks for, as name=value, separated by commas, values percent-encoded',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 1,
    description: "Part of the traces that is sent, from 0 to 1; callers' sampling is ignored",
  },
} as const;
