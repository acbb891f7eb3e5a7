import type { OpenApiDocument } from '@sluice/http-api';
import { type Problem, problemContentType } from '@sluice/problems';

interface Failure {
  description: string;
  content?: Record<string, { example: Problem }>;
}

/** What sets failures of one code apart, in their descriptions. */
const distinctions =
  /`\w+(:\w+)+`|[\d,]+ bytes|\d+ MiB|application\/[\w+-]+|existing resource|idempotency key|cookie|link|console/g;

/**
 * Moves each failure that at least three operations have into the components. Its name is made of its own code and text,
 * so operations that are added do not change it: `NotFound`, `ForbiddenTokenRead`, `ValidationFailedId`.
 * @throws {Error} if two failures would have the same name.
 */
export function shareFailures({ paths, components: { responses: shared = {} } }: OpenApiDocument): void {
  const uses = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .map(({ responses }) => responses as Record<string, Failure | { $ref: string }>)
    .flatMap((responses) => Object.entries(responses).map(([status, failure]) => ({ responses, status, failure })));
  for (const same of Map.groupBy(uses, ({ failure }) => JSON.stringify(failure)).values()) {
    const [{ failure } = {}] = same;
    if (same.length < 3 || !failure || '$ref' in failure) continue;
    const name = nameOf(failure);
    if (!name) continue;
    if (shared[name]) throw new Error(`Two failures would be ${name}: add what sets them apart to the distinctions`);
    shared[name] = { ...failure };
    for (const { responses, status } of same) responses[status] = { $ref: `#/components/responses/${name}` };
  }
}

/** Undefined for what is no failure. */
function nameOf({ description, content }: Failure): string | undefined {
  const problem = content?.[problemContentType]?.example;
  if (!problem) return undefined;
  const [member = ''] = Object.keys(problem.errors ?? {});
  const distinct = new Set(description.match(distinctions));
  const text = [problem.type.split(':').at(-1), member.replace('$', 'body'), ...distinct].join(' ');
  const words = text.match(/[a-z\d]+/gi) ?? [];
  return words.map(([first = '', ...rest]) => first.toUpperCase() + rest.join('')).join('');
}
