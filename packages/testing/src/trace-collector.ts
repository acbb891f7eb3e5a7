import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveHttp } from './serve.ts';

/** A span of OTLP 1.x in JSON, with its attributes as plain objects. */
export interface ExportedSpan {
  service: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, string | number>;
  isError: boolean;
  durationMs: number;
}

export interface TraceCollector {
  url: string;
  spans: ExportedSpan[];
  requests: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[];
  mode: 'takes' | 'hangs' | 'refuses';
}

interface WireAttribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number };
}

interface WireSpan extends Omit<ExportedSpan, 'service' | 'attributes' | 'isError' | 'durationMs'> {
  attributes?: WireAttribute[];
  status?: { code?: number };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface WireRequest {
  resourceSpans: { resource: { attributes: WireAttribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

const errorStatus = 2;

export async function startTraceCollector(stack: AsyncDisposableStack): Promise<TraceCollector> {
  const collector: TraceCollector = { url: '', spans: [], requests: [], mode: 'takes' };
  collector.url = await serveHttp(stack, async (request, response) => {
    const body = await text(request);
    collector.requests.push({ path: request.url, headers: request.headers, body });
    if (collector.mode === 'hangs') return;
    if (collector.mode === 'refuses') {
      response.writeHead(400).end();
      return;
    }
    collector.spans.push(...readSpans(JSON.parse(body)));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  return collector;
}

function readSpans({ resourceSpans }: WireRequest): ExportedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(plain(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(service, span)));
  });
}

function readSpan(service: string, span: WireSpan): ExportedSpan {
  const { name, kind, traceId, spanId, parentSpanId, links = [], status, attributes = [] } = span;
  return {
    service,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    links,
    attributes: plain(attributes),
    isError: status?.code === errorStatus,
    durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

function plain(attributes: readonly WireAttribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? Number(intValue ?? doubleValue),
    ]),
  );
}
