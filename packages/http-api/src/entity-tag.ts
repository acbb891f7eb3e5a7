import { ServiceError } from '@sluice/problems';
import { type Operation, Reply, type RequireVersion, type Versioned } from './operation.ts';

/** The strong entity tag of a resource (RFC 9110 section 8.8.3). Undefined if its times are not shown. */
function entityTagOf({ created_at, modified_at }: Versioned): string | undefined {
  const changedAt = modified_at ?? created_at;
  return changedAt ? `"${changedAt}"` : undefined;
}

const listedTag = /(?:W\/)?"[^"]*"/g;

/** @throws {ServiceError} `bad_request` for a header that is neither `*` nor a list of entity tags. */
export function readIfMatch(header: string | undefined): RequireVersion {
  if (header === undefined || header.trim() === '*') return () => {};
  const tags = header.match(listedTag);
  if (!tags || /[^\t ,]/.test(header.replace(listedTag, ''))) {
    throw new ServiceError(
      'bad_request',
      'If-Match must be * or entity tags in double quotes, as the ETag header shows them: "2026-01-01T00:00:00.000Z"',
    );
  }
  return (row) => {
    const entityTag = entityTagOf(row);
    if (entityTag !== undefined && tags.includes(entityTag)) return;
    const detail = 'The resource was changed after you read it. Read it again, and send its current ETag as If-Match';
    throw new ServiceError('precondition_failed', detail, { entityTag });
  };
}

/** The operation takes `If-Match`. */
export function takesIfMatch({ method, versioned }: Pick<Operation<never>, 'method' | 'versioned'>): boolean {
  return versioned === true && (method === 'put' || method === 'patch' || method === 'delete');
}

/** Adds the `ETag` of the resource that the response shows. */
export function withEntityTag(reply: Reply): Reply {
  const { status, body, headers } = reply;
  const entityTag = typeof body === 'object' && body !== null ? entityTagOf(body) : undefined;
  return entityTag === undefined ? reply : new Reply(status, body, { ...headers, ETag: entityTag });
}

/** A 204 for a changed resource that the response does not show. */
export function changedTo(row: Versioned): Reply {
  const entityTag = entityTagOf(row);
  return new Reply(204, undefined, entityTag === undefined ? {} : { ETag: entityTag });
}
