import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import type { OpenApiDocument, Part } from '@sluice/http-api';

/** The TypeScript types of the document's schemas and operations. Works without a network. */
export async function typesText(document: OpenApiDocument): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-types-'));
  try {
    await createClient({
      input: { ...withoutHeaders(document) },
      output: { path: folder, entryFile: false, postProcess: [] },
      plugins: [{ name: '@hey-api/typescript' }],
      logs: { level: 'silent', file: false },
    });
    return await readFile(join(folder, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the library's runtime handles by itself has no types: headers, failures, and the invocation, which is `fetch`. */
function withoutHeaders(document: OpenApiDocument): OpenApiDocument {
  const { paths, components, ...rest } = structuredClone(document);
  const kept = Object.entries(paths).map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).flatMap(([method, operation]) => reduced(method, operation))),
  ]);
  return { ...rest, paths: Object.fromEntries(kept), components: { schemas: components.schemas ?? {} } };
}

/** Their events have types of their own. */
function withoutEvents(content: unknown): Part {
  if (typeof content !== 'object' || content === null) return {};
  return { content: Object.fromEntries(Object.entries(content).filter(([type]) => type !== 'text/event-stream')) };
}

function reduced(method: string, operation: Part): [string, Part][] {
  if (operation['x-sluice-method'] === 'proxy') return [];
  const parameters = ((operation.parameters ?? []) as Part[]).filter((parameter) => parameter.in !== undefined);
  const responses = Object.entries(operation.responses as Record<string, Part>)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { headers: _, content, ...response }]) => [status, { ...response, ...withoutEvents(content) }]);
  return [[method, { ...operation, parameters, responses: Object.fromEntries(responses) }]];
}
