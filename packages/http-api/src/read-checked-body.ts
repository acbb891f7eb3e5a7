import type { IncomingMessage } from 'node:http';
import type { Reservation } from '@sluice/body-bytes';
import type { WorkPieces } from '@sluice/service-runtime';
import { checkText } from './check-text.ts';
import { dropNulls } from './drop-nulls.ts';
import { checkMediaType } from './media-type.ts';
import { defaultBodyLimitBytes, type Operation } from './operation.ts';
import { type JsonBody, readJsonBody } from './read-body.ts';
import { type Check, refuse } from './validate.ts';

/** A pass over a larger body may take ten milliseconds, so other requests get a turn between passes. */
const largeBody = 64 * 1024;

export interface BodyReading {
  check: Check;
  memory: Reservation;
  passes: WorkPieces;
  tenantId: string;
}

/** Checks the body by the operation's schema. @throws {ServiceError} 413, 415, and 400 with the position. */
export async function readCheckedBody(
  request: IncomingMessage,
  operation: Pick<Operation<never>, 'consumes' | 'bodyLimitBytes' | 'body' | 'opaque' | 'bodyOptional' | 'takesText'>,
  { check, memory, passes, tenantId }: BodyReading,
): Promise<JsonBody> {
  const { consumes = 'application/json', bodyLimitBytes = defaultBodyLimitBytes, body: schema, opaque } = operation;
  if (operation.bodyOptional && !hasBody(request)) return { json: {}, sizeBytes: 0 };
  checkMediaType(request.headers, consumes);
  const { text, ...body } = await readJsonBody(request, bodyLimitBytes, memory);
  const isLarge = body.sizeBytes > largeBody;
  if (isLarge) await passes.turn(tenantId);
  refuse(checkText(body.json, opaque));
  if (isLarge) await passes.turn(tenantId);
  // In a merge patch null means "remove" (RFC 7386), which the handler must see.
  if (consumes === 'application/json') dropNulls(body.json, schema);
  check(body.json);
  return operation.takesText ? { ...body, text } : body;
}

/** RFC 9112 section 6. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
