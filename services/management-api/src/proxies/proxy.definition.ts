import { listProxyMembers, type ProxyMemberName, type ProxyMembers, proxyMembers } from '@sluice/database';
import { bodyCheck, refuse, type TypeOf } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { type CompileError, TransformStopped } from '@sluice/sandbox';
import { findApplication } from '../applications/application.queries.ts';
import type { Context } from '../context.ts';
import { refuseHidden } from './hidden-values.ts';
import { faultsOfCalls } from './proxy.calls.ts';
import { faultsOfPlaces, faultsOfRequestHeaders } from './proxy.places.ts';
import { proxyBody } from './proxy.schema.ts';

export type ProxyDefinition = TypeOf<typeof proxyBody>;

/** Members that hold the code of a transform. */
const transformMembers = listProxyMembers().flatMap(([name, { kept }]) =>
  kept === 'code' ? [name as TransformMember] : [],
);

type TransformMember = {
  [M in ProxyMemberName]: ProxyMembers[M]['kept'] extends 'code' ? M : never;
}[ProxyMemberName];

const checkShape = bodyCheck(proxyBody);

/** Also fills in the defaults. */
export function isProxyDefinition(value: unknown): asserts value is ProxyDefinition {
  checkShape(value);
}

interface NamesApplication {
  application?: unknown;
  application_id?: unknown;
}

/**
 * Bodies may name the Application as `application_id`, as responses do. `application` takes precedence, even as null.
 */
export function withApplication<T extends NamesApplication>({ application_id: id, ...body }: T) {
  if (body.application !== undefined || id === undefined) return body;
  return { ...body, application: id === null ? null : { id } };
}

/** Checks rules that a schema cannot express. @throws {ServiceError} `validation_failed` by member. */
export async function checkDefinition(definition: ProxyDefinition, tenantId: string, context: Context): Promise<void> {
  checkSizes(definition);
  refuseHidden(definition);
  refuse({
    ...faultsOfPlaces(definition, context.headerPrefix),
    ...faultsOfRequestHeaders(definition, context.headerPrefix),
    ...faultsOfCalls(definition),
  });
  const destination = context.destinationPolicy.checkUrl(definition.destination_url);
  if (!destination.ok) throw validationFailed({ destination_url: [destination.reason] });
  if (definition.application) await checkApplication(definition.application.id, tenantId, context);
}

function checkSizes(definition: ProxyDefinition): void {
  for (const [name, { kept, mostBytes = Number.POSITIVE_INFINITY }] of listProxyMembers()) {
    const value = definition[name];
    if (value === undefined) continue;
    if (kept === 'code') checkTextSize(`${name}.code`, (value as { code: string }).code, mostBytes);
    if (kept === 'secret') checkJsonSize(name, value, mostBytes);
  }
}

function checkTextSize(path: string, text: string, mostBytes: number): void {
  if (Buffer.byteLength(text) <= mostBytes) return;
  throw validationFailed({ [path]: [`may have at most ${mostBytes} bytes`] });
}

function checkJsonSize(path: string, value: unknown, mostBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(value)) <= mostBytes) return;
  throw validationFailed({ [path]: [`may have at most ${mostBytes} bytes in total`] });
}

/** @throws {ServiceError} `validation_failed` for more than 64 KiB. */
export function checkConfigurationSize(configuration: Record<string, unknown> | undefined): void {
  if (configuration) checkJsonSize('configuration', configuration, proxyMembers.configuration.mostBytes);
}

/** @throws {ServiceError} `validation_failed` for a management Application, or one that does not exist. */
export async function checkApplication(id: string, tenantId: string, { db }: Pick<Context, 'db'>): Promise<void> {
  const application = await findApplication(db, tenantId, id);
  if (application && application.type !== 'management') return;
  throw validationFailed({ 'application.id': ['must be the id of a private or public Application'] });
}

/** A 422, so it comes after 400 and 404. @throws {ServiceError} `transform_does_not_compile` with line and column. */
export async function checkTransforms(
  definition: ProxyDefinition,
  tenantId: string,
  context: Pick<Context, 'transforms'>,
): Promise<void> {
  const given = transformMembers.filter((member) => definition[member]);
  for (const member of given) await checkCode(`${member}.code`, definition[member]?.code ?? '', { tenantId, context });
}

interface Checking {
  tenantId: string;
  context: Pick<Context, 'transforms'>;
  refusal?: 'transform_does_not_compile' | 'code_does_not_compile';
}

/** @throws {ServiceError} `validation_failed` for its size, the `refusal` with line and column. */
export async function checkCode(
  path: string,
  code: string,
  { tenantId, context, refusal = 'transform_does_not_compile' }: Checking,
): Promise<void> {
  checkTextSize(path, code, proxyMembers.request_transform.mostBytes);
  const fault = await context.transforms.compile(code, tenantId).then(inWords, ifStopped);
  if (fault === undefined) return;
  throw new ServiceError(refusal, `${path}: ${fault}`, { errors: { [path]: [fault] } });
}

const inWords = (fault: CompileError | undefined) =>
  fault && `${fault.message} (line ${fault.line}, column ${fault.column})`;

/** Code that takes too long to parse is an error of the code. */
function ifStopped(error: unknown): string {
  if (error instanceof ServiceError && error.cause instanceof TransformStopped) return error.detail;
  throw error;
}
