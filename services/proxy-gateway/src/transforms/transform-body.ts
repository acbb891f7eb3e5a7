import { ServiceError } from '@sluice/problems';
import type { ContentKind } from '../http/content-type.ts';

/**
 * A body as JSON text for `args.body`: JSON as it is, a form as an object with lists for repeated fields, other text as
 * a string, `{}` where there is none. Undefined where transforms do not see the body: binary, or no type and no JSON.
 * @throws {ServiceError} `bad_request` for a body that is not the JSON that its type says.
 */
export function toArgsBody(body: Buffer, kind: ContentKind): string | undefined {
  if (body.length === 0) return '{}';
  const text = body.toString();
  switch (kind) {
    case 'json':
      if (isJson(text)) return text;
      throw new ServiceError('bad_request', 'The body is not valid JSON');
    case 'none':
      return isJson(text) ? text : undefined;
    case 'form':
      return JSON.stringify(parseForm(text));
    case 'xml':
    case 'text':
      return JSON.stringify(text);
    default:
      return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parseForm(text: string): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields.get(name);
    if (Array.isArray(before)) before.push(value);
    else fields.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(fields);
}

/** The bytes of what a transform returned, by the content type that results: a string goes as it is. */
export function fromResultBody(json: string, kind: ContentKind): Buffer {
  if (json.startsWith('"')) return Buffer.from(String(JSON.parse(json)));
  return Buffer.from(kind === 'form' ? formatForm(JSON.parse(json)) : json);
}

function formatForm(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('transform_failed', 'The transform returned a body that is no object for a form');
  }
  const form = new URLSearchParams();
  for (const [name, field] of Object.entries(value)) {
    for (const item of Array.isArray(field) ? field : [field]) form.append(name, fieldText(item));
  }
  return form.toString();
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
