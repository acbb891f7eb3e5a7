import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Caller } from '@sluice/credentials';
import { type ServiceError, validationFailed } from '@sluice/problems';

export interface CursorScope {
  caller: Pick<Caller, 'id' | 'tenantId' | 'type'>;
  operation: string;
  /** Without the page size. */
  filter: unknown;
}

const macBytes = 16;

export const cursorQuery = {
  start: {
    type: 'string',
    maxLength: 4000,
    description: '`pagination.next` of the previous page. Leave it out for the first page',
  },
  size: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Results per page, at most 100' },
} as const;

export function signCursor(key: KeyObject, scope: CursorScope, position: readonly string[]): string {
  const text = Buffer.from(JSON.stringify(position));
  return Buffer.concat([macOf(key, scope, text), text]).toString('base64url');
}

/** @throws {ServiceError} `validation_failed` for a cursor that {@link signCursor} did not make for this scope. */
export function readCursor(key: KeyObject, scope: CursorScope, cursor: string): readonly string[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(macBytes);
  const isWhole = bytes.length > macBytes && bytes.toString('base64url') === cursor;
  if (!isWhole || !timingSafeEqual(bytes.subarray(0, macBytes), macOf(key, scope, text))) throw notACursor();
  return JSON.parse(text.toString());
}

function notACursor(): ServiceError {
  return validationFailed({ start: ['must be the pagination.next of a response to the same request'] });
}

/** Cursors of a session are only for that session, those of Applications for their Tenant. */
function macOf(key: KeyObject, { caller, operation, filter }: CursorScope, text: Buffer): Buffer {
  const holder = (caller.type as string) === 'session' ? caller.id : '';
  const scope = JSON.stringify(['cursor', caller.tenantId, holder, operation, filter]);
  return createHmac('sha256', key).update(`${scope}\n`).update(text).digest().subarray(0, macBytes);
}

export interface CursorPage<T> {
  pagination: { page_size: number; next?: string };
  data: T[];
}

export function toCursorPage<T>(data: T[], size: number, next: string | undefined): CursorPage<T> {
  return { pagination: { page_size: size, ...(next !== undefined && { next }) }, data };
}

export function cursorPageOf<const S extends { title: string; examples: readonly unknown[] }>(item: S) {
  const pagination = { page_size: 20, next: 'Zm9yIHRoZSBuZXh0IHBhZ2U' };
  return {
    type: 'object',
    title: `${item.title}CursorPage`,
    examples: [{ pagination, data: item.examples.slice(0, 1) }],
    required: ['pagination', 'data'],
    properties: {
      pagination: {
        type: 'object',
        title: 'CursorPagination',
        required: ['page_size'],
        properties: {
          page_size: { type: 'integer', description: 'Results per page, as requested' },
          next: { type: 'string', description: 'Send it as `start` to get the next page. Absent on the last page' },
        },
      },
      data: { type: 'array', items: item },
    },
  } as const;
}
